import Foundation

/// Takes the records out of a store, or puts records into one, whatever shape the store has. Code that copies stores uses it.
///
/// It is used on one thread, while nobody else changes the store. What it reads at a time is bounded where the store finds records by
/// their identifiers; of other stores all records of an entity are read at once.
public final class StoreTransfer<Store: DataStore> {
    private let store: Store
    private let conformances: StoreConformances
    private let layouts: [String: RecordLayout]
    /// By entity, classes whose records can be fetched by it.
    private let models: [String: any PersistentModel.Type]
    private let state = EditingState(author: MigrationAuthor.name)
    /// The last layout of the store's own that was found to be one of these, with that one.
    private var known: (theirs: RecordLayout, mine: RecordLayout)?

    /// Makes a transfer of an open store.
    /// - Parameters:
    ///   - store: the store, which the caller closes.
    ///   - models: classes of its entities, of any version: a store that is no `QueryableDataStore` is asked by them.
    public init(_ store: Store, models: [any PersistentModel.Type] = []) {
        self.store = store
        conformances = StoreConformances(store)
        layouts = store.schema.stored.recordLayouts()
        self.models = Dictionary(
            models.map { (Schema.entityName(for: $0), $0) }, uniquingKeysWith: { first, _ in first })
        store.initializeState(for: state)
    }

    /// A batch that was larger is followed by one of half as many records.
    private static var mostBytes: Int { 16 << 20 }

    deinit { store.invalidateState(for: state) }

    /// The identifier of the store.
    public var storeIdentifier: String { store.identifier }

    /// The number of the store's latest version, which every save raises; nil for a store without versions.
    public var versionNumber: UInt64? { conformances.versions?.currentVersion.number }

    /// Whether histories of the store can be fetched.
    public var keepsHistory: Bool { conformances.history != nil }

    /// Whether records can be put into the store under the identifiers that they have.
    public var keepsIdentifiers: Bool { store.capabilities.contains(.restoring) }

    /// The number of the record that the store inserts next; nil where `keepsIdentifiers` is false.
    public var nextRecordNumber: UInt64? { keepsIdentifiers ? store.nextRecordNumber : nil }

    // MARK: Reading

    /// The identifiers of the records of exactly one entity, in identity order.
    /// - Throws: the store's errors, also for records that it cannot read; `MigrationError.classNeeded` for a store that is asked by
    ///   classes, of which none is known; `ModelContextError.storeContract` for a store that tells an identifier twice, or
    ///   another number of identifiers than it counts.
    public func identifiers(ofEntity name: String) throws -> [PersistentIdentifier] {
        let found: [PersistentIdentifier]
        let count: Int
        if let versioned = conformances.versions {
            let version = versioned.currentVersion
            let rows = version.rows(ofEntity: name)
            found = (0..<(rows?.endRow ?? 0)).compactMap { row in
                rows?.contains(row: row) == true ? rows?.identifier(ofRow: row) : nil
            }
            count = rows?.count ?? 0
            // A table that cannot be read has no rows until this is asked.
            try version.check()
        } else if let queryable = conformances.queries {
            let query = StoreQuery(name, purpose: .identifiers, includesSubentities: false)
            found = try Self.identifiers(in: queryable, queryable.plan(query))
            let counting = StoreQuery(name, purpose: .count, includesSubentities: false)
            count = try Self.count(in: queryable, queryable.plan(counting))
        } else {
            (found, count) = try asked(byClassOf: name) { type in
                (try self.identifiers(type), try self.count(type))
            }
        }
        guard found.count == count else {
            throw fault("It told \(found.count) identifiers of \(name), and counts \(count) records.")
        }
        let sorted = found.filter { $0.entityName == name }.sorted()
        if let twice = zip(sorted, sorted.dropFirst()).first(where: { $0 == $1 }) {
            throw fault("It told the identifier of \(twice.0) twice.")
        }
        return sorted
    }

    /// The records of exactly one entity, from the first to the last in identity order, some at a time.
    /// - Parameters:
    ///   - name: the entity's name.
    ///   - count: how many records to hand over at once.
    /// - Returns: a function that returns the next records; none at the end. It throws the store's errors, and
    ///   `ModelContextError.storeContract` for records that are not what the store's schema says.
    /// - Throws: as `identifiers(ofEntity:)`.
    public func reader(ofEntity name: String, atMost count: Int) throws -> () throws -> [DefaultSnapshot] {
        reader(of: try identifiers(ofEntity: name), ofEntity: name, atMost: count)
    }

    /// Some records of exactly one entity, in the order given, some at a time: fewer where they are large.
    /// - Parameters:
    ///   - identifiers: the identifiers of the records.
    ///   - name: the entity's name.
    ///   - count: how many records to hand over at once.
    /// - Returns: a function as of `reader(ofEntity:atMost:)`; it throws `ModelContextError.storeContract` for a record that is not there.
    public func reader(
        of identifiers: [PersistentIdentifier], ofEntity name: String, atMost count: Int
    ) -> () throws -> [DefaultSnapshot] {
        guard let layout = layouts[name] else { return { [] } }
        var next = 0
        var count = max(1, count)
        // Nil as long as records are read by their identifiers.
        var all: [DefaultSnapshot]?
        return { [self] in
            let part = identifiers[next..<(next + min(count, identifiers.count - next))]
            if part.isEmpty { return [] }
            next = part.endIndex
            if let all { return Array(all[part.indices]) }
            let found = try records(part, layout)
            if found.reduce(0, { $0 + $1.approximateBytes }) > Self.mostBytes { count = max(1, count / 2) }
            if found.count > part.count {
                all = try ordered(found, by: identifiers[...])
                return Array((all ?? [])[part.indices])
            }
            return try ordered(found, by: part)
        }
    }

    /// The records with some identifiers; all records of the entity where the store does not find them by their identifiers.
    private func records(
        _ part: ArraySlice<PersistentIdentifier>, _ layout: RecordLayout
    ) throws -> [DefaultSnapshot] {
        if let versioned = conformances.versions {
            let version = versioned.currentVersion
            guard let rows = version.rows(ofEntity: layout.entityName) else { return [] }
            let found = try part.compactMap { identifier -> DefaultSnapshot? in
                guard let row = rows.row(of: identifier) else { return nil }
                return DefaultSnapshot(
                    persistentIdentifier: identifier, layout: layout,
                    values: ContiguousArray(try layout.slots.indices.map { try rows.readValue(row: row, slot: $0) }))
            }
            try version.check()
            return found
        }
        if let queryable = conformances.queries { return try records(part, layout, in: queryable) }
        return try asked(byClassOf: layout.entityName) { type in try self.records(type, part, layout) }
    }

    private func ordered(
        _ found: [DefaultSnapshot], by identifiers: ArraySlice<PersistentIdentifier>
    ) throws -> [DefaultSnapshot] {
        let known = Dictionary(found.map { ($0.persistentIdentifier, $0) }, uniquingKeysWith: { first, _ in first })
        return try identifiers.map { identifier in
            guard let record = known[identifier] else {
                throw fault("It told the identifier of \(identifier), and did not return the record.")
            }
            return record
        }
    }

    // MARK: Queries

    private static func identifiers<S: QueryableDataStore>(
        in store: S, _ plan: FetchPlan
    ) throws -> [PersistentIdentifier] {
        let rows = try store.rows(for: plan)
        return rows.identifiers ?? rows.snapshots.map(\.persistentIdentifier)
    }

    private static func count<S: QueryableDataStore>(in store: S, _ plan: FetchPlan) throws -> Int {
        let rows = try store.rows(for: plan)
        return rows.count ?? rows.identifiers?.count ?? rows.snapshots.count
    }

    private func records<S: QueryableDataStore>(
        _ part: ArraySlice<PersistentIdentifier>, _ layout: RecordLayout, in store: S
    ) throws -> [DefaultSnapshot] {
        // A store may leave out lists that are not asked for by name.
        let lists = layout.slots.filter(\.role.isToMany).map(\.name)
        func query(_ conjuncts: [QueryExpression]) -> StoreQuery {
            StoreQuery(layout.entityName, includesSubentities: false, conjuncts: conjuncts, prefetch: lists)
        }
        let wanted = part.map { QueryExpression.constant(.identifier($0)) }
        let selection = query([.contains(.list(wanted), .identifier(.variable(0)))])
        var plan = store.plan(selection)
        try plan.validate(adapter: "\(Store.self)", for: selection)
        if !plan.isExact || plan.isFullScan {
            let all = query([])
            plan = store.plan(all)
            try plan.validate(adapter: "\(Store.self)", for: all)
        }
        return try store.rows(for: plan).snapshots.compactMap { try record($0, layout) }
    }

    // MARK: Descriptors

    private func asked<R>(
        byClassOf name: String, _ ask: (any PersistentModel.Type) throws -> R
    ) throws -> R {
        guard let type = models[name] else {
            throw MigrationError.classNeeded(store: store.configuration.name, entity: name)
        }
        return try ask(type)
    }

    private func identifiers<T: PersistentModel>(_ type: T.Type) throws -> [PersistentIdentifier] {
        try store.fetchIdentifiers(DataStoreFetchRequest(descriptor: FetchDescriptor<T>(), editingState: state))
    }

    private func count<T: PersistentModel>(_ type: T.Type) throws -> Int {
        try store.fetchCount(DataStoreFetchRequest(descriptor: FetchDescriptor<T>(), editingState: state))
    }

    private func records<T: PersistentModel>(
        _ type: T.Type, _ part: ArraySlice<PersistentIdentifier>, _ layout: RecordLayout
    ) throws -> [DefaultSnapshot] {
        let wanted = Set(part)
        var descriptor = FetchDescriptor<T>(predicate: #Predicate { wanted.contains($0.persistentModelID) })
        func fetch() throws -> [DefaultSnapshot] {
            try store.fetch(DataStoreFetchRequest(descriptor: descriptor, editingState: state)).fetchedSnapshots
                .compactMap { try record($0, layout) }
        }
        do {
            return try fetch()
        } catch DataStoreError.preferInMemoryFilter {
            descriptor.predicate = nil
            return try fetch()
        }
    }

    // MARK: Snapshots

    /// A store's snapshot by the layout of its schema; nil for a record of another entity.
    private func record(_ snapshot: some DataStoreSnapshot, _ layout: RecordLayout) throws -> DefaultSnapshot? {
        let identifier = snapshot.persistentIdentifier
        guard identifier.entityName == layout.entityName else { return nil }
        var byName: [String: StoredValue] = [:]
        if let snapshot = snapshot as? DefaultSnapshot {
            if isSame(snapshot.layout, layout) {
                return DefaultSnapshot(
                    persistentIdentifier: identifier, layout: layout,
                    values: ContiguousArray(
                        try zip(layout.slots, snapshot.values).map { try value($1, of: $0, identifier) }))
            }
            for (slot, value) in zip(snapshot.layout.slots, snapshot.values) { byName[slot.name] = value }
        } else if case .object(let members) = try StoredValueEncoder().encode(snapshot) {
            byName = members
            byName[DataStoreSnapshotCodingKey.persistentIdentifier.stringValue] = nil
        }
        if let unknown = byName.keys.filter({ layout.slot(named: $0) == nil }).min() {
            throw fault(
                "Its snapshot of \(identifier) has a value for \(unknown), which \(layout.entityName) does not have.")
        }
        let values = try layout.slots.map { slot in
            guard let found = byName[slot.name] else {
                throw fault("Its snapshot of \(identifier) has no value for \(slot.name).")
            }
            return try value(found, of: slot, identifier)
        }
        return DefaultSnapshot(persistentIdentifier: identifier, layout: layout, values: ContiguousArray(values))
    }

    private func isSame(_ theirs: RecordLayout, _ mine: RecordLayout) -> Bool {
        if let known, known.theirs === theirs, known.mine === mine { return true }
        guard theirs.slots.map(\.name) == mine.slots.map(\.name) else { return false }
        known = (theirs, mine)
        return true
    }

    private func value(
        _ found: StoredValue, of slot: RecordLayout.Slot, _ record: PersistentIdentifier
    ) throws -> StoredValue {
        if found.isNull {
            if slot.role.isToMany { return .identifiers([]) }
            if !slot.property.isOptional, slot.property.attribute?.options.contains(.ephemeral) != true {
                throw fault("\(slot.name) of \(record) is null, but \(record.entityName) requires a value.")
            }
            return .null
        }
        switch (slot.role, found) {
        case (.attribute, _):
            if let kind = slot.property.attribute?.kind, let value = found.coerced(to: kind) { return value }
        case (.toOne, .identifier), (.toManyStored, .identifiers), (.toManyDerived, .identifiers): return found
        case (.toOne, _):
            if let target = try? StoredValueDecoder().decode(PersistentIdentifier.self, from: found) {
                return .identifier(target)
            }
        default:
            if let members = try? StoredValueDecoder().decode([PersistentIdentifier].self, from: found) {
                return .identifiers(members)
            }
        }
        throw fault("\(slot.name) of \(record) holds \(found.kindName), which is not a value of that property.")
    }

    private func fault(_ text: String) -> ModelContextError {
        .storeContract(store: store.configuration.locationOrName, fault: text)
    }

    // MARK: Writing

    /// Stores new records.
    /// - Parameter records: records with temporary identifiers, which may refer to each other and to records of the store.
    /// - Returns: the identifiers that the store has given to them.
    /// - Throws: the store's errors; `ModelContextError.storeContract` for a store that gives no identifier to a record.
    public func insert(_ records: [DefaultSnapshot]) throws -> [PersistentIdentifier: PersistentIdentifier] {
        let given = try store.save(
            DataStoreSaveChangesRequest(inserted: try snapshots(records), editingState: state)
        ).remappedIdentifiers
        for record in records where given[record.persistentIdentifier] == nil {
            throw fault("It returned no identifier for a new record of \(record.layout.entityName).")
        }
        return given
    }

    /// Stores other values of records.
    /// - Parameters:
    ///   - records: records of the store, with all their values.
    ///   - changed: for each record the slots that change.
    /// - Throws: the store's errors.
    public func update(_ records: [DefaultSnapshot], changed: [SlotSet]) throws {
        _ = try store.save(
            DataStoreSaveChangesRequest(
                updated: try snapshots(records), editingState: state, changedSlots: changed))
    }

    /// Stores records under the identifiers that they have in another store; see `DataStore.restore(_:ofStore:nextNumber:)`.
    /// - Throws: the store's errors; `DataStoreError.unsupportedFeature` where `keepsIdentifiers` is false.
    public func restore(_ records: [DefaultSnapshot], ofStore identifier: String, nextNumber: UInt64) throws {
        guard keepsIdentifiers else { throw DataStoreError.unsupportedFeature }
        try store.restore(records, ofStore: identifier, nextNumber: nextNumber)
    }

    /// The records in the store's own form, which every snapshot has its `Codable` form for.
    private func snapshots(_ records: [DefaultSnapshot]) throws -> [Store.Snapshot] {
        if let same = records as? [Store.Snapshot] { return same }
        return try records.map { record in
            try StoredValueDecoder().decode(Store.Snapshot.self, from: try StoredValueEncoder().encode(record))
        }
    }
}
