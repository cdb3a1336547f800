/// A version of a schema, with the models as they were then.
public protocol VersionedSchema {
    static var models: [any PersistentModel.Type] { get }
    static var versionIdentifier: Schema.Version { get }
}

/// The way from each version of a schema to the next.
public protocol SchemaMigrationPlan {
    /// The versions, oldest first.
    static var schemas: [any VersionedSchema.Type] { get }
    static var stages: [MigrationStage] { get }
}

/// One step of a migration plan.
public enum MigrationStage {
    /// New properties take their default, removed ones are dropped, renamed ones are found by their original name.
    case lightweight(fromVersion: any VersionedSchema.Type, toVersion: any VersionedSchema.Type)
    /// `willMigrate` sees the old models before, `didMigrate` the new ones after that.
    case custom(
        fromVersion: any VersionedSchema.Type, toVersion: any VersionedSchema.Type,
        willMigrate: ((_ context: ModelContext) throws -> Void)?,
        didMigrate: ((_ context: ModelContext) throws -> Void)?)

    /// What the stage leads to, where it has code to run on the way.
    fileprivate var customTarget: Schema.Version? {
        guard case .custom(_, let target, let before, let after) = self, before != nil || after != nil else {
            return nil
        }
        return target.versionIdentifier
    }
}

/// What a migration plan asks for and a store does not do.
public enum MigrationError: Error, Hashable, Sendable {
    /// On the way from the store's schema to the container's, the plan has a stage whose code the store does not run.
    case customStage(store: String, from: Schema.Version, to: Schema.Version, stage: Schema.Version)
}

extension MigrationError: CustomStringConvertible, SwiftDataErrorConvertible, ClassifiedStoreError {
    public var description: String {
        switch self {
        case .customStage(let store, let from, let to, let stage):
            "The store \"\(store)\" holds version \(from) of the schema, and on the way to version \(to) the migration "
                + "plan has a custom stage to \(stage). This kind of store runs no code of a plan; it was left as it is. "
                + "Make that stage lightweight, or move the records into a new store in the program."
        }
    }
    public var swiftDataError: SwiftDataError { .loadIssueModelContainer }
    public var errorClass: StoreErrorClass { .unsupported }
}

extension SelfDescribingConfiguration {
    /// For a store that adapts its records to a new schema by itself and runs no code: makes sure that a plan asks for
    /// none on the way from the schema that it holds to the configuration's. A store that is not there yet, or holds that
    /// version already, has no way to go.
    /// - Throws: `MigrationError.customStage`; what `storedSchema()` throws.
    public func checkStages(of plan: (any SchemaMigrationPlan.Type)?) throws {
        let targets = plan?.stages.compactMap(\.customTarget) ?? []
        guard !targets.isEmpty, let target = schema?.stored.version, let stored = try storedSchema()?.version else {
            return
        }
        if let stage = targets.filter({ stored < $0 && $0 <= target }).min() {
            throw MigrationError.customStage(store: name, from: stored, to: target, stage: stage)
        }
    }
}
