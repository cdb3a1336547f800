import Foundation
public import MortiseCore

/// A migration of a store over an engine: the versions in between are in memory, and the adapter writes the last.
public final class EngineMigration: StoreMigration {
    /// A part of what an adapter has to make durable.
    public enum Step {
        /// Changes without values, and the versions before and after them.
        case changes(ChangeSet, from: EngineVersion, to: EngineVersion)
        /// The schema that the records come to next, as in a lightweight stage.
        case schema(StoredSchema)
    }

    /// What an adapter has to make durable as one.
    public struct Outcome {
        /// What leads from the stored records to the result, in order; the last are changes, perhaps none.
        public let steps: [Step]
        /// The records as they are to be. Their number is the one after that of the stored version.
        public let result: EngineVersion
        /// What the schemas do not take of the records.
        public let loss: SchemaLoss
    }

    /// The schema that the store holds.
    public let storedSchema: StoredSchema
    private let name: String
    private let initial: EngineVersion
    /// The records as they are to be, under the last schema so far.
    private var engine: Engine
    /// What the steps so far lead to: the records without the changes since the last schema.
    private var base: EngineVersion
    private var steps: [Step] = []
    private var losses: [SchemaLoss] = []
    private let origin = ChangeSet.Commit(
        number: 0, timestamp: Date(), process: Engine.process, bundle: Engine.bundle)
    private let write: (Outcome) throws -> Void
    private var release: (() -> Void)?

    /// Begins with what is stored.
    /// - Parameters:
    ///   - version: the stored records, under the stored schema. Nobody else may change them until the migration ends.
    ///   - name: the store's name in errors and logs.
    ///   - write: makes the outcome durable, all of it or nothing, and throws why it did not.
    ///   - release: lets others open the store again; called once, after `write` or instead of it.
    public init(
        of version: EngineVersion, named name: String, write: @escaping (Outcome) throws -> Void,
        release: @escaping () -> Void
    ) {
        storedSchema = version.catalog.schema
        self.name = name
        self.write = write
        self.release = release
        initial = version
        base = version
        engine = Engine(version)
    }

    /// A migration that is only to show what it would do, and cannot be committed.
    /// - Parameters:
    ///   - version: the stored records, under the stored schema.
    ///   - name: the store's name in errors and logs.
    ///   - release: lets go of the store; called once.
    public convenience init(
        previewing version: EngineVersion, named name: String, release: @escaping () -> Void
    ) {
        self.init(
            of: version, named: name, write: { _ in throw DataStoreError.unsupportedFeature }, release: release)
    }

    deinit { abandon() }

    /// The records as they are now, to read from.
    public func frozen(under schema: Schema) throws -> any VersionedDataStore {
        // Its engine writes nothing: a version has one that follows it at most.
        MigrationStore(Engine(engine.version), schema, name: name, allowsSave: false)
    }

    /// The records as they are to be.
    public func working(under schema: Schema) throws -> any VersionedDataStore {
        MigrationStore(engine, schema, name: name, allowsSave: true)
    }

    /// Brings the records to another schema.
    /// - Returns: what the schema does not take of the records.
    /// - Throws: `EngineError.schemaMismatch`, `.notUnique`, `.sameDefault`; why a record cannot be read.
    public func adapt(to schema: StoredSchema) throws -> SchemaLoss {
        try noteChanges()
        let (next, loss, hasPairs) = try base.mapped(to: schema, completingPairs: true)
        // Who replays the steps completes nothing: what was completed counts as changed.
        base = hasPairs ? try base.mapped(to: schema, completingPairs: false).version : next
        engine = Engine(next)
        steps.append(.schema(schema))
        if !loss.isEmpty { losses.append(loss) }
        return loss
    }

    /// Makes a step of what was changed since the last schema.
    private func noteChanges() throws {
        let current = engine.version
        if current === base { return }
        var changes = try base.netChanges(to: current)
        if !changes.isEmpty {
            note(&changes)
            steps.append(.changes(changes, from: base, to: current))
        }
        base = current
    }

    private func note(_ changes: inout ChangeSet) {
        changes.author = MigrationAuthor.name
        changes.commit = origin
        changes.commit?.number = initial.number + 1
    }

    /// Makes the records as they are now the store's.
    public func commit() throws {
        guard release != nil else { throw DataStoreError.unsupportedFeature }
        defer { abandon() }
        try noteChanges()
        let result = base.numbered(initial.number + 1, nextSequence: base.nextSequence)
        if case .changes(let changes, let before, _)? = steps.last {
            steps[steps.count - 1] = .changes(changes, from: before, to: result)
        } else {
            var nothing = ChangeSet()
            note(&nothing)
            steps.append(.changes(nothing, from: base, to: result))
        }
        try write(
            Outcome(
                steps: steps, result: result,
                loss: SchemaLoss(
                    stored: storedSchema.version, opened: result.catalog.schema.version,
                    entities: losses.flatMap(\.entities), properties: losses.flatMap(\.properties))))
    }

    /// Leaves the store as it was. Does nothing after `commit()`.
    public func abandon() {
        release?()
        release = nil
    }
}
