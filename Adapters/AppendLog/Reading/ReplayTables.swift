import MortiseCore
import MortiseEngine

/// The records of a store while its files are read: rows by entity, changed in place.
struct ReplayTables: TransactionVisitor {
    /// The rows of one entity, their numbers ascending.
    private struct Rows {
        var sequences: ContiguousArray<UInt64> = []
        var values: ContiguousArray<StoredValue> = []
        /// False for deleted rows, which stay until the end.
        var isLive: ContiguousArray<Bool> = []

        func row(_ sequence: UInt64) -> Int? {
            var low = 0
            var high = sequences.count
            while low < high {
                let middle = (low + high) / 2
                if sequences[middle] < sequence { low = middle + 1 } else { high = middle }
            }
            return low < sequences.count && sequences[low] == sequence && isLive[low] ? low : nil
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

    var count: Int { tables.reduce(0) { $0 + $1.isLive.count(where: { $0 }) } }

    private func fault(_ what: String) -> PayloadFault { PayloadFault(offset: 0, what: what) }

    mutating func begin(_ origin: TransactionOrigin, isErasure: Bool, nextSequence: UInt64) throws {
        if isErasure { tables = Array(repeating: Rows(), count: tables.count) }
        guard nextSequence >= self.nextSequence else { throw fault("takes numbers back") }
        self.nextSequence = nextSequence
    }

    mutating func deleted(_ entity: Int, _ sequence: UInt64, preserved: [(slot: Int, value: StoredValue)]) throws {
        guard let row = tables[entity].row(sequence) else { throw fault("deletes what is not there") }
        tables[entity].isLive[row] = false
        let width = catalog.layouts[entity].slots.count
        for slot in 0..<width { tables[entity].values[row * width + slot] = .null }
    }

    mutating func updated(_ entity: Int, _ sequence: UInt64, _ changes: [(slot: Int, value: StoredValue)]) throws {
        guard let row = tables[entity].row(sequence) else { throw fault("changes what is not there") }
        let width = catalog.layouts[entity].slots.count
        for (slot, value) in changes { tables[entity].values[row * width + slot] = value }
    }

    mutating func inserted(_ entity: Int, _ sequence: UInt64, _ values: ContiguousArray<StoredValue>) throws {
        guard sequence < nextSequence, sequence > tables[entity].sequences.last ?? 0 else {
            throw fault("inserts a record whose number is not new")
        }
        tables[entity].sequences.append(sequence)
        tables[entity].isLive.append(true)
        tables[entity].values.append(contentsOf: values)
    }

    /// Takes in records of the same schema that are not here and that are wanted.
    mutating func add(_ other: ReplayTables, where isWanted: (_ entity: Int, _ sequence: UInt64) -> Bool) {
        guard catalog.schema == other.catalog.schema else { return }
        nextSequence = max(nextSequence, other.nextSequence)
        for entity in tables.indices {
            let (mine, theirs) = (tables[entity], other.tables[entity])
            let width = catalog.layouts[entity].slots.count
            var merged = Rows()
            func take(_ row: Int, of rows: Rows) {
                merged.sequences.append(rows.sequences[row])
                merged.isLive.append(rows.isLive[row])
                merged.values.append(contentsOf: rows.values[(row * width)..<((row + 1) * width)])
            }
            var row = 0
            for extra in theirs.sequences.indices {
                let sequence = theirs.sequences[extra]
                guard theirs.isLive[extra], isWanted(entity, sequence) else { continue }
                while row < mine.sequences.count, mine.sequences[row] < sequence {
                    take(row, of: mine)
                    row += 1
                }
                // One that was deleted stays so.
                if row < mine.sequences.count, mine.sequences[row] == sequence { continue }
                take(extra, of: theirs)
            }
            while row < mine.sequences.count {
                take(row, of: mine)
                row += 1
            }
            tables[entity] = merged
        }
    }

    /// Takes empty strings for missing values, where the slot may have none.
    mutating func forgetEmptyStrings(ofEntity name: String, slot: Int) {
        guard let entity = catalog.numbers[name], catalog.layouts[entity].slots.indices.contains(slot),
            catalog.layouts[entity].slots[slot].property.isOptional
        else { return }
        let width = catalog.layouts[entity].slots.count
        for row in tables[entity].sequences.indices {
            if case .string("") = tables[entity].values[row * width + slot] {
                tables[entity].values[row * width + slot] = .null
            }
        }
    }

    /// Goes on under another schema.
    /// - Throws: `EngineError.schemaMismatch`.
    mutating func migrate(to schema: StoredSchema) throws {
        let mapping = try SchemaMapping(from: catalog.schema, to: schema, store: catalog.store)
        var next = ReplayTables(
            LogCatalog(schema, store: catalog.store, external: catalog.external), nextSequence: nextSequence)
        try forEach { entity, sequence, values in
            let name = catalog.names[entity]
            guard let number = next.catalog.numbers[name],
                let mapped = mapping.map(values, ofEntity: name, defaults: next.catalog.layouts[number])
            else { return }
            try next.inserted(number, sequence, mapped)
        }
        self = next
    }

    func forEach(_ body: (Int, UInt64, ContiguousArray<StoredValue>) throws -> Void) rethrows {
        for (entity, table) in tables.enumerated() {
            let width = catalog.layouts[entity].slots.count
            for row in table.sequences.indices where table.isLive[row] {
                let values = ContiguousArray(table.values[(row * width)..<((row + 1) * width)])
                try body(entity, table.sequences[row], values)
            }
        }
    }

    /// The version with these records.
    /// - Throws: `EngineError.notUnique`.
    func version(_ number: UInt64, schema: StoredSchema) throws -> EngineVersion {
        let loader = EngineLoader(
            Catalog(schema: schema, storeIdentifier: catalog.store, external: catalog.external))
        try forEach { entity, sequence, values in
            try loader.append(entity: catalog.names[entity], sequence: sequence, values)
        }
        return try loader.finish(number: number, nextSequence: nextSequence)
    }
}
