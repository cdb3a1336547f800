import Foundation
public import MortiseCore

/// A migration of a store over an engine: the versions in between are in memory, and the adapter writes the last.
public final class EngineMigration: StoreMigration {
    /// A part of what leads from the stored records to the result.
    public enum Step {
        /// Changes of records.
        case changes(NetChanges)
        /// The schema that the records come to next, as in a lightweight stage.
        case schema(StoredSchema)
    }

    /// What an adapter has to make durable as one.
    public struct Outcome {
        /// The last changes, perhaps none, from a version under the last schema to the result.
        public let changes: NetChanges
        /// The records as they are to be. Their number is the one after that of the stored version.
        public var result: EngineVersion { changes.after }
        /// What the schemas do not take of the records.
        public let loss: SchemaLoss
        /// Whether a copy of the store as it was stays, also where nothing is lost.
        public let keepsCopy: Bool
        /// How many copies of the store stay beside it, the newest ones; nil for all.
        public let mostCopies: Int?
    }

    /// An outcome that an adapter has made durable beside the store, which is still as it was.
    public struct Prepared {
        let copy: String?
        let commit: () throws -> Void
        let discard: () -> Void

        /// What is left to do. One of both is called, once.
        /// - Parameters:
        ///   - copy: where the copy of the store as it was is; nil for none.
        ///   - commit: makes the outcome the store's, durably and in one step, or throws why it did not.
        ///   - discard: removes what was prepared.
        public init(
            copy: String? = nil, commit: @escaping () throws -> Void, discard: @escaping () -> Void = {}
        ) {
            self.copy = copy
            self.commit = commit
            self.discard = discard
        }
    }

    /// What an adapter does in a migration.
    public struct Adapter {
        /// Takes a step; nothing is durable yet. The versions of the step are let go of when it returns.
        let note: (Step) throws -> Void
        let prepare: (Outcome) throws -> Prepared
        /// Lets others open the store again. Called once, at the end.
        let release: () -> Void
        /// Makes a file that nobody else finds, for what memory has no room for; nil to keep all in memory.
        let scratch: (@Sendable () throws -> any OpenFile)?

        /// What an adapter does.
        /// - Parameters:
        ///   - note: takes a step before the outcome; nothing is durable yet. The versions of the step are let go of when it returns.
        ///   - prepare: makes all steps and the outcome durable where nobody looks for it, so that only the switch is left; or throws why
        ///     it cannot, and leaves nothing.
        ///   - scratch: makes a file that nobody else finds, for records that were changed and that memory has no room for; nil to keep
        ///     all in memory.
        ///   - release: lets others open the store again. Called once, at the end.
        public init(
            note: @escaping (Step) throws -> Void, prepare: @escaping (Outcome) throws -> Prepared,
            scratch: (@Sendable () throws -> any OpenFile)? = nil, release: @escaping () -> Void
        ) {
            self.note = note
            self.prepare = prepare
            self.scratch = scratch
            self.release = release
        }
    }

    /// The schema that the store holds.
    public let storedSchema: StoredSchema
    private let name: String
    /// The number of the stored version.
    private let initialNumber: UInt64
    private let external: ExternalFiles?
    /// The records as they are to be, under the last schema so far.
    private var engine: Engine
    /// What the steps so far lead to: the records without the changes since the last schema. It shares nothing with the engine's that
    /// is read later.
    private var base: EngineVersion
    /// Whether the engine's records are others than those of the base also if nothing was changed.
    private var isCompleted = false
    private var losses: [SchemaLoss] = []
    private let origin = ChangeSet.Commit(
        number: 0, timestamp: Date(), process: Engine.process, bundle: Engine.bundle, mark: HistoryMark.next())
    private var adapter: Adapter?
    private var prepared: Prepared?
    private let isPreview: Bool
    /// Called with how many more records were gone through; see `StoreMigration`. What it throws ends the migration.
    public var advance: (_ records: Int) throws -> Void = { _ in }
    /// The files of data that were there before: those that a migration writes go with it if it comes to nothing.
    private let files: Set<ExternalReference.Name>
    private let spill: ChunkSpill?
    /// How many bytes of changed chunks stay in memory.
    @TaskLocal package static var mostKept = 16 << 20
    private var mayNameFiles = false
    /// Where the copy of the store as it was is; nil for none, and before `commit()`.
    public private(set) var copyLocation: String?

    /// Begins with what is stored.
    /// - Parameters:
    ///   - version: the stored records, under the stored schema. Nobody else may change them until the migration ends.
    ///   - name: the store's name in errors and logs.
    ///   - adapter: what makes it durable.
    public convenience init(of version: EngineVersion, named name: String, _ adapter: Adapter) {
        self.init(version, name, adapter, isPreview: false)
    }

    /// A migration that is only to show what it would do, and cannot be committed.
    /// - Parameters:
    ///   - version: the stored records, under the stored schema.
    ///   - name: the store's name in errors and logs.
    ///   - release: lets go of the store; called once.
    public convenience init(
        previewing version: EngineVersion, named name: String, release: @escaping () -> Void
    ) {
        let adapter = Adapter(
            note: { _ in }, prepare: { _ in throw DataStoreError.unsupportedFeature }, release: release)
        self.init(version, name, adapter, isPreview: true)
    }

    private init(_ version: EngineVersion, _ name: String, _ adapter: Adapter, isPreview: Bool) {
        storedSchema = version.catalog.schema
        self.name = name
        self.adapter = adapter
        self.isPreview = isPreview
        initialNumber = version.number
        external = version.catalog.external
        // What is read here goes with it, and not with the store that it is the version of.
        base = version.unread()
        spill = adapter.scratch.map { ChunkSpill($0) }
        engine = Self.engine(of: version.unread(), spill)
        files = external?.writtenNames ?? []
    }

    deinit { abandon() }

    private static func engine(of version: EngineVersion, _ spill: ChunkSpill?) -> Engine {
        Engine(version, sink: spill.map { SpillingSink($0, besides: version.unread(), limit: mostKept) })
    }

    /// The records as they are now, to read from.
    public func frozen(under schema: Schema) throws -> any VersionedDataStore {
        // Its engine writes nothing: a version has one that follows it at most.
        MigrationStore(Engine(engine.version.unread()), schema, name: name, allowsSave: false)
    }

    /// The records as they are to be.
    public func working(under schema: Schema) throws -> any VersionedDataStore {
        MigrationStore(engine, schema, name: name, allowsSave: true)
    }

    /// Brings the records to another schema.
    /// - Returns: what the schema does not take of the records.
    /// - Throws: `EngineError.schemaMismatch`, `.notUnique`, `.sameDefault`; why a record cannot be read; the adapter's errors for
    ///   changes that it cannot write.
    public func adapt(to schema: StoredSchema, converting converted: [String: Set<String>]) throws -> SchemaLoss {
        try noteChanges()
        let mapped = try base.mapped(
            to: schema, writingExternal: !isPreview, completingPairs: true, spillingTo: spill, advance)
        let loss = mapped.loss
        // Who replays the steps completes nothing: what was completed counts as changed.
        isCompleted = mapped.hasPairs
        base =
            isCompleted
            ? try base.mapped(
                to: schema, writingExternal: !isPreview, completingPairs: false, spillingTo: spill, { _ in }
            ).version
            : mapped.version.unread()
        engine = Self.engine(of: mapped.version, spill)
        // With the names that are kept.
        try adapter?.note(.schema(mapped.version.catalog.schema))
        let lost = SchemaLoss(
            stored: loss.stored, opened: loss.opened, entities: loss.entities,
            properties: loss.properties.filter { converted[$0.entity]?.contains($0.name) != true })
        losses.append(lost)
        return lost
    }

    /// Deletes records of the working store, and the references to them.
    /// - Throws: `EngineError.noSuchRecord`; `EngineError.danglingReference` for references that are required.
    public func delete(_ records: [PersistentIdentifier]) throws {
        try engine.write(onTopOf: nil, author: MigrationAuthor.name) { try $0.deleteWithReferences(records) }
    }

    /// Makes a step of what was changed since the last schema.
    private func noteChanges() throws {
        if !isChanged { return }
        // What is mapped next keeps the chunks that it is made of.
        let current = try spill?.relieve(engine.version, besides: base) ?? engine.version
        let changes = try changes(to: current)
        if !changes.isEmpty { try adapter?.note(.changes(changes)) }
        base = current
        isCompleted = false
    }

    /// Each save gives the next number.
    private var isChanged: Bool { isCompleted || engine.version.number != base.number }

    private func changes(to version: EngineVersion, asNumber number: UInt64? = nil) throws -> NetChanges {
        var commit = origin
        commit.number = initialNumber + 1
        return try base.netChanges(
            to: version, isUnchanged: !isChanged, asNumber: number, commit, author: MigrationAuthor.name)
    }

    /// Makes the records as they are now durable beside the store.
    /// - Throws: `DataStoreError.unsupportedFeature` in a preview, after the end and a second time; the adapter's errors.
    public func prepare(keepingCopy keepsCopy: Bool, atMost most: Int?) throws {
        guard let adapter, prepared == nil else { throw DataStoreError.unsupportedFeature }
        let last = engine.version
        let outcome = Outcome(
            changes: try changes(to: last, asNumber: initialNumber + 1),
            loss: loss(under: last.catalog.schema.version), keepsCopy: keepsCopy, mostCopies: most)
        prepared = try adapter.prepare(outcome)
    }

    /// Makes what was prepared the store's.
    public func commit() throws {
        guard let prepared else { throw DataStoreError.unsupportedFeature }
        self.prepared = nil
        defer { abandon() }
        // Whatever comes of it, the store may name the files.
        mayNameFiles = true
        try prepared.commit()
        copyLocation = prepared.copy
    }

    private func loss(under version: Schema.Version) -> SchemaLoss {
        func sums<K: Hashable>(_ counts: [(K, Int)]) -> [K: Int] { Dictionary(counts, uniquingKeysWith: +) }
        let entities = sums(losses.flatMap { $0.entities.map { ($0.name, $0.records) } })
        let properties = sums(losses.flatMap { $0.properties.map { ([$0.entity, $0.name], $0.values) } })
        return SchemaLoss(
            stored: storedSchema.version, opened: version,
            entities: entities.map { SchemaLoss.Entity(name: $0.key, records: $0.value) },
            properties: properties.map { SchemaLoss.Property(entity: $0.key[0], name: $0.key[1], values: $0.value) })
    }

    /// Leaves the store as it was. Does nothing after `commit()`.
    public func abandon() {
        guard let adapter else { return }
        self.adapter = nil
        prepared?.discard()
        prepared = nil
        if !isPreview, !mayNameFiles, let external {
            external.abandon(Array(external.writtenNames.subtracting(files)))
        }
        adapter.release()
    }
}
