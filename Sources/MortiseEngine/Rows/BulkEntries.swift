import MortiseCore

/// Entries of indexes and links that many new records bring, put in together when all records are there.
struct BulkEntries {
    /// Fewer records are not worth it.
    static let least = 64

    // By entity, then by the number of the index or the set of links. A link's heads are its owner and its member.
    private var indexes: [[SortedEntries]]
    private var links: [[SortedEntries]]

    init(_ catalog: Catalog) {
        indexes = catalog.plans.map { plan in plan.indexes.map { SortedEntries(isWide: $0.isWide) } }
        links = catalog.plans.map { Array(repeating: SortedEntries(isWide: true), count: $0.linkCount) }
    }

    mutating func append(
        _ key: UnsafeRawBufferPointer, row: UInt64, entity: Int, index: Int, isExempt: Bool
    ) {
        indexes[entity][index].append(key, row: row, isExempt: isExempt)
    }

    mutating func append(_ owner: UInt64, _ member: UInt64, _ target: Int, entity: Int, links set: Int) {
        links[entity][set].append(head: owner, second: member, row: UInt64(target))
    }

    /// Lets the body add to the entries of an index.
    mutating func withIndex<R>(
        _ index: Int, entity: Int, _ body: (inout SortedEntries) throws -> R
    ) rethrows -> R { try body(&indexes[entity][index]) }

    /// Lets the body add to a set of links.
    mutating func withLinks<R>(
        _ set: Int, entity: Int, _ body: (inout SortedEntries) throws -> R
    ) rethrows -> R { try body(&links[entity][set]) }

    /// Puts everything into the tables.
    /// - Throws: `EngineError.notUnique`; the tables are of no use then.
    mutating func finish(_ transaction: EngineTransaction) throws {
        for entity in indexes.indices {
            for number in indexes[entity].indices where !indexes[entity][number].isEmpty {
                let table = transaction.table(entity)
                indexes[entity][number].sort()
                try transaction.refuseDuplicates(in: indexes[entity][number], number, table)
                indexes[entity][number].insert(into: &table.indexes[number], owner: table.owner)
            }
            for set in links[entity].indices where !links[entity][set].isEmpty {
                let table = transaction.table(entity)
                links[entity][set].sort()
                table.links[set].insert(links[entity][set], transaction: table.owner)
            }
        }
    }
}

extension EngineTransaction {
    /// Puts in what was kept back; indexes and links are complete afterwards.
    /// - Throws: `EngineError.notUnique`.
    func finishBulk() throws {
        guard var entries = bulk else { return }
        bulk = nil
        try entries.finish(self)
    }
}
