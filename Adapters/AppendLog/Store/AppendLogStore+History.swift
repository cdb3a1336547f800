import Foundation
public import MortiseCore
import MortiseEngine

extension AppendLogStore {
    /// The token of the transaction that made a version.
    public func historyToken(ofVersion number: UInt64) -> (any HistoryToken)? {
        DefaultHistoryToken([identifier: Int64(clamping: number)])
    }
}

extension AppendLogStore: HistoryProviding {
    /// The type of the history's transactions.
    public static var historyType: DefaultHistoryTransaction.Type { DefaultHistoryTransaction.self }

    /// The saves that the log still has, oldest first unless the descriptor sorts. Reads the whole log.
    /// - Throws: `AppendLogError` for damage in the log, also before a checkpoint; what the predicate throws.
    public func fetchHistory(
        _ descriptor: HistoryDescriptor<DefaultHistoryTransaction>
    ) throws -> [DefaultHistoryTransaction] {
        var found: [DefaultHistoryTransaction] = []
        let limit = descriptor.fetchLimit == 0 ? Int.max : Int(clamping: descriptor.fetchLimit)
        try forEachTransaction { transaction in
            guard try descriptor.predicate?.evaluate(transaction) ?? true else { return true }
            found.append(transaction)
            return !descriptor.sortBy.isEmpty || found.count < limit
        }
        if !descriptor.sortBy.isEmpty { found.sort(using: descriptor.sortBy) }
        return found.count > limit ? Array(found.prefix(limit)) : found
    }

    /// Forgets the transactions that match, by a compaction. The records stay as they are. Files of data that nothing names
    /// are moved aside, unless this store has written them; only `compact()` removes them for good.
    public func deleteHistory(_ descriptor: HistoryDescriptor<DefaultHistoryTransaction>) throws {
        let sink = try writable()
        let doomed = Set(try fetchHistory(descriptor).map { UInt64(clamping: $0.transactionIdentifier) })
        guard !doomed.isEmpty else { return }
        // This may be an older copy, put back for a moment: what the newer one names has to stay.
        try sink.compact(MaintenanceProgress(isStopped: sink.isStopping), dropping: .written) { transaction, _ in
            !doomed.contains(transaction)
        }
    }

    /// Hands over the transactions that are published, in order, until the body returns false.
    private func forEachTransaction(_ body: (DefaultHistoryTransaction) throws -> Bool) throws {
        opened.follow()
        let last = engine.version.number
        let fileSystem = configuration.fileSystem
        // A compaction may exchange the file meanwhile; the one that is open stays whole.
        let file = try fileSystem.open(opened.path, mode: .read)
        defer { try? file.close() }
        let size = try file.info().size
        try AppendLogError.naming(opened.path) {
            let header = try FileHeader(
                try file.readAll(count: Int(min(size, Int64(FileHeader.size))), at: 0), expecting: .log)
            let reader = FrameReader(file, size: size, seed: header.seed)
            var catalog: LogCatalog?
            var names: CurrentNames?
            var begun: TransactionBuilder?
            _ = try reader.scan(from: .first, allowingGapsTo: header.base) { frame in
                if frame.header.kind == .schema {
                    let stored = try frame.reading { try $0.schema() }
                    catalog = LogCatalog(stored, store: identifier)
                    names = try CurrentNames(
                        of: stored, in: schema.stored, behind: frame, reader)
                    return true
                }
                guard frame.header.transaction <= last, let catalog, let names else { return false }
                var builder = TransactionBuilder(
                    schema: schema, catalog: catalog, names: names,
                    number: Int64(clamping: frame.header.transaction), behind: begun)
                try frame.reading { try $0.transaction(catalog, to: &builder) }
                begun = frame.isContinued ? builder : nil
                if frame.isContinued { return true }
                return try builder.transaction().map(body) ?? true
            }
        }
    }
}

/// The names that the program's schema has for the entities and properties of an earlier one.
private struct CurrentNames {
    /// By entity of the earlier one, those that the program's schema has; nil where both are equal.
    private var entities: [String: String]?
    /// By entity and slot of the earlier one; nil where both are equal.
    private var names: [String: [Int: String]]?

    /// Follows the properties from one schema of the log to the next, as opening has followed the records.
    init(
        of stored: StoredSchema, in current: StoredSchema, behind frame: ScannedFrame, _ reader: FrameReader
    ) throws {
        if stored == current { return }
        var steps: [StoredSchema] = []
        // A migration's schemas come one by one, and those before this one with it.
        let isPart = frame.wholeHeader.kind == .migration
        try reader.forEachSchema(from: isPart ? frame.position : frame.next) { steps.append($0) }
        if isPart, let place = steps.firstIndex(of: stored) { steps.removeFirst(place + 1) }
        if steps.last != current { steps.append(current) }
        var before = stored
        var found = stored.recordLayouts().mapValues { layout in
            Dictionary(uniqueKeysWithValues: layout.slots.indices.map { ($0, layout.slots[$0].name) })
        }
        var entities = found.reduce(into: [:]) { $0[$1.key] = $1.key }
        for next in steps where next != before {
            let mapping = try SchemaMapping(from: before, to: next, store: "")
            let layouts = before.recordLayouts()
            for (entity, names) in found {
                guard let known = entities[entity] else { continue }
                guard let moved = mapping.currentNames[known] else {
                    (found[entity], entities[entity]) = (nil, nil)
                    continue
                }
                found[entity] = names.compactMapValues { layouts[known]?.slot(named: $0).flatMap { moved[$0] } }
                entities[entity] = mapping.currentName(ofEntity: known)
            }
            before = next
        }
        (names, self.entities) = (found, entities)
    }

    /// Nil for a record of an entity that the program's schema has no more.
    func record(_ identifier: PersistentIdentifier) -> PersistentIdentifier? {
        guard let entities else { return identifier }
        guard let name = entities[identifier.entityName] else { return nil }
        return name == identifier.entityName ? identifier : identifier.ofEntity(named: name)
    }

    /// Nil for a property that the program's schema has no more.
    func name(_ layout: RecordLayout, _ slot: Int) -> String? {
        guard let names else { return layout.slots[slot].name }
        return names[layout.entityName]?[slot]
    }
}

/// Makes a history's transaction out of the log's.
private struct TransactionBuilder: TransactionVisitor {
    let schema: Schema
    let catalog: LogCatalog
    let names: CurrentNames
    let number: Int64
    private var origin: TransactionOrigin?
    private var changes: [HistoryChange] = []
    private var inserted: [PersistentIdentifier] = []
    private var nextChange: Int64 = 1

    /// Goes on with the changes of the same transaction under an earlier schema, if it has such.
    init(
        schema: Schema, catalog: LogCatalog, names: CurrentNames, number: Int64, behind earlier: TransactionBuilder?
    ) {
        self.schema = schema
        self.catalog = catalog
        self.names = names
        self.number = number
        if let earlier { (changes, inserted, nextChange) = (earlier.changes, earlier.inserted, earlier.nextChange) }
    }

    private mutating func append(_ make: (Int64) -> HistoryChange?) {
        guard let change = make(nextChange) else { return }
        changes.append(change)
        nextChange += 1
    }

    private func name(_ entity: Int, _ slot: Int) -> String? { names.name(catalog.layouts[entity], slot) }

    private func record(_ entity: Int, _ sequence: UInt64) -> PersistentIdentifier? {
        names.record(catalog.identifier(entity, sequence))
    }
    mutating func begin(_ origin: TransactionOrigin, isErasure: Bool, nextSequence: UInt64) throws {
        self.origin = origin
    }

    mutating func deleted(_ entity: Int, _ sequence: UInt64, preserved: [(slot: Int, value: StoredValue)]) throws {
        let values = preserved.compactMap { slot, value in name(entity, slot).map { (name: $0, value: value) } }
        guard let record = record(entity, sequence) else { return }
        append { [schema, number] in schema.deletion(of: record, preserved: values, change: $0, transaction: number) }
    }

    mutating func updated(_ entity: Int, _ sequence: UInt64, _ changes: [(slot: Int, value: StoredValue)]) throws {
        let names = changes.compactMap { name(entity, $0.slot) }
        guard let record = record(entity, sequence) else { return }
        append { [schema, number] in schema.update(of: record, properties: names, change: $0, transaction: number) }
    }

    mutating func inserted(_ entity: Int, _ sequence: UInt64, _ values: ContiguousArray<StoredValue>) throws {
        if let record = record(entity, sequence) { inserted.append(record) }
    }

    mutating func transaction() -> DefaultHistoryTransaction? {
        guard let origin else { return nil }
        // The log has them by entity; their numbers are the order in which they were inserted.
        for record in inserted.sorted() {
            append { [schema, number] in schema.insertion(of: record, change: $0, transaction: number) }
        }
        return DefaultHistoryTransaction(
            transactionIdentifier: number, timestamp: origin.timestamp, changes: changes,
            token: DefaultHistoryToken([catalog.store: number]), storeIdentifier: catalog.store,
            bundleIdentifier: origin.bundle, processIdentifier: origin.process, author: origin.author)
    }
}
