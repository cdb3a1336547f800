/// Entries of indexes and links that many new records bring: sorted first and then put in, neighbour after neighbour, which
/// costs a fraction of putting them in as they come.
struct BulkEntries {
    /// Fewer records are not worth it.
    static let least = 64

    private struct Link {
        let owner: UInt64
        let member: UInt64
        let target: Int
    }
    // By entity, then by the number of the index or the set of links.
    private var indexes: [[SortedEntries]]
    private var links: [[Int: [Link]]]

    init(_ catalog: Catalog) {
        indexes = catalog.plans.map { plan in plan.indexes.map { SortedEntries(isWide: $0.isWide) } }
        links = catalog.plans.map { _ in [:] }
    }

    mutating func append(_ key: UnsafeRawBufferPointer, row: UInt64, entity: Int, index: Int) {
        indexes[entity][index].append(key, row: row)
    }

    mutating func append(_ owner: UInt64, _ member: UInt64, _ target: Int, entity: Int, links set: Int) {
        links[entity][set, default: []].append(Link(owner: owner, member: member, target: target))
    }

    /// Puts everything into the tables.
    func finish(_ table: (_ entity: Int) -> TableWriter) {
        for (entity, entries) in indexes.enumerated() {
            for (number, entries) in entries.enumerated() where !entries.isEmpty {
                let table = table(entity)
                entries.insert(into: &table.indexes[number], owner: table.owner)
            }
        }
        for (entity, sets) in links.enumerated() {
            for (set, links) in sets {
                let table = table(entity)
                // Members ascend already, since records are numbered as they come.
                let sorted = links.sorted { $0.owner != $1.owner ? $0.owner < $1.owner : $0.member < $1.member }
                if table.links[set].pairs.count > 0 {
                    for link in sorted {
                        table.links[set].insert(link.owner, link.member, link.target, transaction: table.owner)
                    }
                    continue
                }
                var builder = OrderedIndexBuilder(isWide: true, owner: table.owner)
                var last: Link?
                for link in sorted where last?.owner != link.owner || last?.member != link.member {
                    builder.append(LinkSet.probe(link.owner, link.member, link.target))
                    last = link
                }
                table.links[set] = LinkSet(pairs: builder.finish())
            }
        }
    }
}

extension EngineTransaction {
    /// Puts in what was kept back; indexes and links are complete afterwards.
    func finishBulk() {
        guard let entries = bulk else { return }
        bulk = nil
        entries.finish(table)
    }
}
