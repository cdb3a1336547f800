import Foundation

/// The records before a stage of a migration, to read from.
///
/// It is valid in the closure that gets it, on its thread. What is read of it is not kept: a loop over any number of records
/// takes the memory of a few.
public final class MigrationSource {
    private let version: any StoreVersion
    private let schema: StoredSchema
    private let layouts: [String: RecordLayout]
    private let context: ModelContext

    init(_ store: any VersionedDataStore, _ container: ModelContainer) {
        version = store.currentVersion
        context = ModelContext(container)
        schema = container.schema.stored
        layouts = schema.recordLayouts()
    }

    /// The models of a class of this version, in the order of insertion or in that of the descriptor.
    /// - Throws: what `ModelContext.fetch(_:)` throws, `ModelContextError` for a class of another version among it.
    public func fetch<T: PersistentModel>(_ descriptor: FetchDescriptor<T>) throws -> FetchResultsCollection<T> {
        try context.fetch(descriptor, batchSize: 1_000)
    }

    /// All models of a class of this version, in the order of insertion.
    /// - Throws: as `fetch(_:)`.
    public func fetch<T: PersistentModel>(_ type: T.Type) throws -> FetchResultsCollection<T> {
        try fetch(FetchDescriptor<T>())
    }

    /// The records of an entity and of those that inherit from it, in the order of insertion.
    /// - Throws: `MigrationRecordError.unknownEntity`.
    public func records(_ entity: String) throws -> StoredRecords {
        try StoredRecords(ofEntity: entity, in: version, schema, layouts)
    }

    /// The names of the entities.
    public var entities: [String] { schema.entities.map(\.name) }

    /// The record with that identifier; nil if it is missing.
    public func record(_ identifier: PersistentIdentifier) -> StoredRecord? {
        guard let rows = version.rows(ofEntity: identifier.entityName), let row = rows.row(of: identifier),
            let layout = layouts[identifier.entityName]
        else { return nil }
        return StoredRecord(rows, row: row, layout)
    }

    /// How many records there are of an entity and of those that inherit from it.
    /// - Throws: `MigrationRecordError.unknownEntity`.
    public func count(_ entity: String) throws -> Int {
        guard layouts[entity] != nil else { throw MigrationRecordError.unknownEntity(entity) }
        return schema.subtree(of: entity).reduce(0) { $0 + (version.rows(ofEntity: $1)?.count ?? 0) }
    }

    /// - Throws: why something that was read is not what is stored.
    func check() throws { try version.check() }
}

/// The records after a stage of a migration, in the making.
///
/// It is valid in the closure that gets it, on its thread; later calls throw. What it changes is part of the migration: nobody else
/// sees it before the whole migration succeeds.
public final class MigrationTarget {
    private let store: any VersionedDataStore
    private let layouts: [String: RecordLayout]
    private let described: Schema
    private let schema: StoredSchema
    private let author: EditingState
    /// For models: what is changed in it is saved by `flush()`, when the closure returns, and every thousand calls of
    /// `model(_:for:)` and `insert(_:)`. Rolling it back takes back what came after the last of these saves.
    public let context: ModelContext
    private let migration: any StoreMigration
    private var isClosed = false
    /// How many models were given out or inserted since the last save, and how many there are at the next.
    private var touched = 0
    private var next = mostTouched
    private static let mostTouched = 1_000
    /// What a save in between has met that no later one would tell.
    private var failure: (any Error)?

    /// By name of an entity of the source, its name here, where that is another.
    private let names: [String: String]

    init(
        _ store: any VersionedDataStore, _ container: ModelContainer, in migration: any StoreMigration,
        renaming names: [String: String]
    ) {
        self.names = names
        self.store = store
        self.migration = migration
        described = container.schema
        schema = container.schema.stored
        layouts = schema.recordLayouts()
        context = ModelContext(container)
        context.author = MigrationAuthor.name
        author = EditingState(author: MigrationAuthor.name)
    }

    /// What a record of the source became; nil if it is gone. Here and below, an identifier of the source leads to the record also if
    /// its entity has another name now. What was changed in models before is saved every thousand calls, so that any number of
    /// records takes the memory of a few, as long as parts of it can be saved by themselves.
    /// - Throws: `ModelContextError` for a class of another version; what a fetch throws, and what reading or saving before has met.
    public func model<T: PersistentModel>(_ type: T.Type, for identifier: PersistentIdentifier) throws -> T? {
        saveWhatIsDone()
        if let failure { throw failure }
        // Not a fetch, which would look at all that is unsaved.
        _ = try context.state.tables(under: type)
        if let found = try context.state.find(identifier) as? T { return found }
        return names.isEmpty ? nil : try context.state.find(identifier.renamed(names)) as? T
    }

    /// The records of an entity and of those that inherit from it, in the order of insertion, as they are now: what is changed while
    /// they are gone through does not show.
    /// - Throws: `MigrationRecordError.unknownEntity`.
    public func records(_ entity: String) throws -> StoredRecords {
        try StoredRecords(ofEntity: entity, in: store.currentVersion, schema, layouts)
    }

    /// Inserts a model of the new version, with those that it is related to. It is saved by `flush()`, or as with `model(_:for:)`.
    public func insert(_ model: some PersistentModel) {
        saveWhatIsDone()
        context.insert(model)
    }

    /// Saves now and then what has been changed, but not what is about to be.
    private func saveWhatIsDone() {
        touched += 1
        if isClosed || touched <= next || failure != nil { return }
        touched = 1
        guard context.hasChanges else { return }
        // A record with the same unique values may be about to be changed or deleted: nothing is merged before the last save.
        let policy = context.uniqueConflictPolicy
        context.uniqueConflictPolicy = .fail
        defer { context.uniqueConflictPolicy = policy }
        do {
            try context.save()
            next = Self.mostTouched
        } catch is ModelValidationError {
            waitForMore()
        } catch ModelContextError.notUnique {
            waitForMore()
        } catch {
            // A deletion that a rule refuses now may be allowed when what it holds on to is gone.
            let refused = context.state.tracker?.refusals.first?.error
            if let refused, "\(refused)" == "\(error)" { waitForMore() } else { failure = error }
        }
    }

    /// What is refused may only be unfinished: the last save tells. Trying again and again would go through all of it each time.
    private func waitForMore() {
        next = max(Self.mostTouched, context.state.tracker?.count ?? 0)
    }

    /// Inserts a record at once. Properties that are not named take their default, nil or no members. The other side of a one-to-one
    /// relationship follows, as with `update(_:_:)`.
    /// - Returns: the identifier of the record.
    /// - Throws: `MigrationRecordError`; what the store throws, such as `EngineError.notUnique`.
    @discardableResult
    public func insert(_ entity: String, _ values: [String: StoredValue]) throws -> PersistentIdentifier {
        try checkOpen()
        guard let layout = layouts[entity] else { throw MigrationRecordError.unknownEntity(entity) }
        let temporary = PersistentIdentifier.temporary(entityName: entity)
        let defaults = ContiguousArray(
            layout.slots.map { slot -> StoredValue in
                slot.role.isToMany ? .identifiers([]) : slot.property.attribute?.defaultValue ?? .null
            })
        let (all, slots) = try Self.values(current(values), over: defaults, layout, record: temporary)
        var pairs = PairedChange(in: store, layouts)
        try pairs.insert(temporary, layout, all, slots)
        return try pairs.save(editing: author).remappedIdentifiers[temporary] ?? temporary
    }

    /// Changes values of a record at once; the others stay. The other side of a one-to-one relationship follows, and those who were
    /// partners before have none any more.
    /// - Throws: as `insert(_:_:)`, and `MigrationRecordError.noSuchRecord`.
    public func update(_ identifier: PersistentIdentifier, _ values: [String: StoredValue]) throws {
        try checkOpen()
        let record = try record(identifier)
        let identifier = record.identifier
        let (all, slots) = try Self.values(current(values), over: record.values(), record.layout, record: identifier)
        var pairs = PairedChange(in: store, layouts)
        try pairs.update(identifier, record.layout, all, slots)
        try pairs.save(editing: author)
    }

    /// Deletes a record at once, and references to it; delete rules do not apply.
    /// - Throws: as `update(_:_:)`; the store's error where a reference to the record is required.
    public func delete(_ identifier: PersistentIdentifier) throws {
        try checkOpen()
        try migration.delete([try record(identifier).identifier])
    }

    /// Saves what was changed in models.
    /// - Throws: what `ModelContext.save()` throws.
    public func flush() throws {
        try checkOpen()
        if let failure { throw failure }
        if context.hasChanges { try context.save() } else { try context.state.throwLatched() }
    }

    /// From now on nothing can be changed by it.
    func close() { isClosed = true }

    private func checkOpen() throws(MigrationRecordError) { if isClosed { throw .stageEnded } }

    /// - Throws: `CancellationError` if the task that makes the container is cancelled, or the progress that its opening was given. A closure that takes long calls it from
    ///   time to time.
    public func checkCancellation() throws { try MigrationMeter.Reporting.checkCancellation() }

    /// Values whose references to records of the source lead to what these became.
    private func current(_ values: [String: StoredValue]) -> [String: StoredValue] {
        if names.isEmpty { return values }
        let version = store.currentVersion
        func current(_ identifier: PersistentIdentifier) -> PersistentIdentifier {
            let isThere = version.rows(ofEntity: identifier.entityName)?.row(of: identifier) != nil
            return isThere ? identifier : identifier.renamed(names)
        }
        return values.mapValues { value in
            switch value {
            case .identifier(let identifier): .identifier(current(identifier))
            case .identifiers(let identifiers): .identifiers(identifiers.map(current))
            default: value
            }
        }
    }

    private func record(
        _ identifier: PersistentIdentifier
    ) throws -> (
        identifier: PersistentIdentifier, layout: RecordLayout, values: () throws -> ContiguousArray<StoredValue>
    ) {
        let version = store.currentVersion
        func find(_ identifier: PersistentIdentifier) -> (PersistentIdentifier, RowSource, Int)? {
            version.rows(ofEntity: identifier.entityName).flatMap { rows in
                rows.row(of: identifier).map { (identifier, rows, $0) }
            }
        }
        let found = described.resolve(identifier, find) ?? (names.isEmpty ? nil : find(identifier.renamed(names)))
        guard let (identifier, rows, row) = found, let layout = layouts[identifier.entityName] else {
            throw MigrationRecordError.noSuchRecord(identifier)
        }
        return (identifier, layout, { try StoredRecord(rows, row: row, layout).values() })
    }

    private static func values(
        _ values: [String: StoredValue], over all: ContiguousArray<StoredValue>, _ layout: RecordLayout,
        record: PersistentIdentifier
    ) throws -> (all: ContiguousArray<StoredValue>, changed: SlotSet) {
        var all = all
        var slots = SlotSet()
        for (name, value) in values {
            guard let slot = layout.slot(named: name) else {
                throw MigrationRecordError.unknownProperty(entity: layout.entityName, property: name)
            }
            guard value.fits(layout.slots[slot]) else {
                throw MigrationRecordError.unfit(value, layout.slots[slot], record: record)
            }
            all[slot] = value
            slots.insert(slot)
        }
        return (all, slots)
    }
}

extension MigrationRecordError {
    /// Why a value may not be in a slot.
    static func unfit(_ value: StoredValue, _ slot: RecordLayout.Slot, record: PersistentIdentifier) -> Self {
        if slot.role == .toManyDerived, let relationship = slot.property.relationship {
            return .keptElsewhere(
                record: record, property: slot.name,
                inverse: "\(relationship.destination).\(relationship.inverse ?? "")")
        }
        return .otherType(
            record: record, property: slot.name,
            expected: slot.property.attribute?.kind.rawValue
                ?? (slot.role.isToMany ? "list of references" : "reference"))
    }
}

extension StoredValue {
    /// Whether the value may be in a slot.
    func fits(_ slot: RecordLayout.Slot) -> Bool {
        if slot.role == .toManyDerived { return false }
        if isNull { return slot.property.isOptional }
        if let attribute = slot.property.attribute { return fits(attribute.kind) }
        return switch self {
        case .identifier: slot.role == .toOne
        case .identifiers: slot.role == .toManyStored
        default: false
        }
    }
}
