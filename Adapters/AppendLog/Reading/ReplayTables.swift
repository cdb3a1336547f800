import MortiseCore
import MortiseEngine

/// The records of a store while its files are read: rows by entity, changed in place.
struct ReplayTables: TransactionVisitor {
    /// Some rows of one entity, their numbers ascending.
    private struct Block {
        static let capacity = 1_024

        var sequences: ContiguousArray<UInt64> = []
        /// False for deleted rows, which stay until the end.
        var isLive: ContiguousArray<Bool> = []
        var values: ContiguousArray<StoredValue> = []
    }

    /// The rows of one entity, in blocks: one array that grows would need its size once more, and then again.
    private struct Rows {
        var blocks: [Block] = []

        var last: UInt64 { blocks.last?.sequences.last ?? 0 }

        func place(_ sequence: UInt64) -> (block: Int, row: Int)? {
            let after = Self.firstIndex(blocks.count) { (blocks[$0].sequences.first ?? 0) > sequence }
            guard after > 0 else { return nil }
            let block = blocks[after - 1]
            let row = Self.firstIndex(block.sequences.count) { block.sequences[$0] >= sequence }
            guard row < block.sequences.count, block.sequences[row] == sequence else { return nil }
            return block.isLive[row] ? (after - 1, row) : nil
        }

        /// Binary search: the lowest index in `0..<count` for which the monotone predicate holds; `count` if for none.
        private static func firstIndex(_ count: Int, where isBehind: (Int) -> Bool) -> Int {
            var low = 0
            var high = count
            while low < high {
                let middle = (low + high) / 2
                if isBehind(middle) { high = middle } else { low = middle + 1 }
            }
            return low
        }

        mutating func append(_ sequence: UInt64, isLive: Bool, _ values: some Sequence<StoredValue>) {
            if blocks.last?.sequences.count ?? Block.capacity >= Block.capacity { blocks.append(Block()) }
            let end = blocks.count - 1
            blocks[end].sequences.append(sequence)
            blocks[end].isLive.append(isLive)
            blocks[end].values.append(contentsOf: values)
        }
    }

    private(set) var catalog: LogCatalog
    private(set) var nextSequence: UInt64
    private var tables: [Rows]

    init(_ catalog: LogCatalog, nextSequence: UInt64 = 1) {
        self.catalog = catalog
        self.nextSequence = nextSequence
        tables = Array(repeating: Rows(), count: catalog.names.count)
    }

    var count: Int {
        tables.reduce(0) { sum, table in
            table.blocks.reduce(sum) { $0 + $1.isLive.count(where: { $0 }) }
        }
    }

    func contains(_ record: PersistentIdentifier) -> Bool {
        guard let entity = catalog.numbers[record.entityName], let sequence = record.sequenceNumber else {
            return false
        }
        return record.storeIdentifier == catalog.store && tables[entity].place(sequence) != nil
    }

    /// The values of a record by slot; nil if it is not there.
    func values(_ entity: Int, _ sequence: UInt64) -> ContiguousArray<StoredValue>? {
        guard let (block, row) = tables[entity].place(sequence) else { return nil }
        let width = catalog.layouts[entity].slots.count
        return ContiguousArray(tables[entity].blocks[block].values[(row * width)..<((row + 1) * width)])
    }

    private func fault(_ what: String) -> PayloadFault { PayloadFault(offset: 0, what: what) }

    mutating func begin(_ origin: TransactionOrigin, isErasure: Bool, nextSequence: UInt64) throws {
        if isErasure { tables = Array(repeating: Rows(), count: tables.count) }
        guard nextSequence >= self.nextSequence else { throw fault("lowers the next record number") }
        self.nextSequence = nextSequence
    }

    mutating func deleted(_ entity: Int, _ sequence: UInt64, preserved: [(slot: Int, value: StoredValue)]) throws {
        guard let (block, row) = tables[entity].place(sequence) else {
            throw fault("deletes a record that does not exist")
        }
        tables[entity].blocks[block].isLive[row] = false
        let width = catalog.layouts[entity].slots.count
        for slot in 0..<width { tables[entity].blocks[block].values[row * width + slot] = .null }
    }

    mutating func updated(_ entity: Int, _ sequence: UInt64, _ changes: [(slot: Int, value: StoredValue)]) throws {
        guard let (block, row) = tables[entity].place(sequence) else {
            throw fault("updates a record that does not exist")
        }
        let width = catalog.layouts[entity].slots.count
        for (slot, value) in changes { tables[entity].blocks[block].values[row * width + slot] = value }
    }

    mutating func inserted(_ entity: Int, _ sequence: UInt64, _ values: ContiguousArray<StoredValue>) throws {
        guard sequence < nextSequence, sequence > tables[entity].last else {
            throw fault("inserts a record whose number was used before")
        }
        tables[entity].append(sequence, isLive: true, values)
    }

    /// Takes in records of the same schema that are not here and that are wanted.
    mutating func add(_ other: ReplayTables, where isWanted: (_ entity: Int, _ sequence: UInt64) -> Bool) {
        guard catalog.schema == other.catalog.schema else { return }
        nextSequence = max(nextSequence, other.nextSequence)
        for entity in tables.indices {
            let mine = tables[entity]
            let width = catalog.layouts[entity].slots.count
            var merged = Rows()
            var place = (block: 0, row: 0)
            /// Takes mine before a number.
            /// - Returns: whether that number is among mine; one that was deleted stays so.
            func take(before sequence: UInt64) -> Bool {
                while place.block < mine.blocks.count {
                    let block = mine.blocks[place.block]
                    while place.row < block.sequences.count {
                        let row = place.row
                        if block.sequences[row] >= sequence { return block.sequences[row] == sequence }
                        merged.append(
                            block.sequences[row], isLive: block.isLive[row],
                            block.values[(row * width)..<((row + 1) * width)])
                        place.row += 1
                    }
                    place = (place.block + 1, 0)
                }
                return false
            }
            for block in other.tables[entity].blocks {
                for row in block.sequences.indices where block.isLive[row] && isWanted(entity, block.sequences[row]) {
                    if take(before: block.sequences[row]) { continue }
                    merged.append(
                        block.sequences[row], isLive: true, block.values[(row * width)..<((row + 1) * width)])
                }
            }
            _ = take(before: .max)
            tables[entity] = merged
        }
    }

    /// Takes empty strings for missing values, where the slot may have none.
    mutating func forgetEmptyStrings(ofEntity name: String, slot: Int) {
        guard let entity = catalog.numbers[name], catalog.layouts[entity].slots.indices.contains(slot),
            catalog.layouts[entity].slots[slot].property.isOptional
        else { return }
        let width = catalog.layouts[entity].slots.count
        for block in tables[entity].blocks.indices {
            for row in tables[entity].blocks[block].sequences.indices {
                let place = row * width + slot
                if case .string("") = tables[entity].blocks[block].values[place] {
                    tables[entity].blocks[block].values[place] = .null
                }
            }
        }
    }

    /// Goes on under another schema, as its frame in the log says: that completes no pairs, because earlier programs did not.
    /// - Throws: `EngineError.schemaMismatch`.
    mutating func migrate(to schema: StoredSchema) throws {
        let mapping = try SchemaMapping(from: catalog.schema, to: schema, store: catalog.store)
        var next = ReplayTables(
            LogCatalog(schema, store: catalog.store, external: catalog.external), nextSequence: nextSequence)
        var released = ReleasedLinks(mapping)
        var tally = SchemaTally()
        try forEach { entity, sequence, values in
            let name = catalog.names[entity]
            mapping.count(values, ofEntity: name, in: &tally)
            guard let number = next.catalog.numbers[mapping.currentName(ofEntity: name)],
                let mapped = mapping.map(values, ofEntity: name, defaults: next.catalog.layouts[number])
            else { return }
            released.note(
                values, of: IdentifierNamespace(storeIdentifier: catalog.store, entityName: name)[sequence])
            try next.inserted(number, sequence, mapped)
        }
        try released.forEach { record, property, members in
            guard next.contains(record), let sequence = record.sequenceNumber,
                let number = next.catalog.numbers[record.entityName],
                let slot = next.catalog.layouts[number].slot(named: property)
            else { return }
            try next.updated(number, sequence, [(slot, members)])
        }
        _ = try mapping.loss(tally)
        self = next
    }

    func forEach(_ body: (Int, UInt64, ContiguousArray<StoredValue>) throws -> Void) rethrows {
        for (entity, table) in tables.enumerated() {
            let width = catalog.layouts[entity].slots.count
            for block in table.blocks {
                for row in block.sequences.indices where block.isLive[row] {
                    let values = ContiguousArray(block.values[(row * width)..<((row + 1) * width)])
                    try body(entity, block.sequences[row], values)
                }
            }
        }
    }

    /// Skips that many of the numbers that new records would get.
    mutating func skipNumbers(_ count: UInt64) {
        nextSequence = min(nextSequence + min(count, EngineVersion.numberLimit), EngineVersion.numberLimit - 1)
    }

    /// As few of the records as have unique values of others.
    /// - Throws: `EngineError.unfitValue`, `wrongDestination`.
    func duplicates() throws -> [PersistentIdentifier] { try loader(catalog.schema).duplicates() }

    /// The version with these records.
    /// - Throws: `EngineError.notUnique`, `unfitValue`, `wrongDestination`.
    func version(_ number: UInt64, schema: StoredSchema) throws -> EngineVersion {
        try loader(schema).finish(number: number, nextSequence: nextSequence)
    }

    private func loader(_ schema: StoredSchema) throws -> EngineLoader {
        let loader = EngineLoader(
            Catalog(schema: schema, storeIdentifier: catalog.store, external: catalog.external))
        try forEach { entity, sequence, values in
            try loader.append(entity: catalog.names[entity], sequence: sequence, values)
        }
        return loader
    }
}
