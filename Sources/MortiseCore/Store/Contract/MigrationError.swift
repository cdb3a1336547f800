/// Why a store is not opened under a program's schema. The store was not changed.
public enum MigrationError: Error, Hashable, Sendable {
    /// Between the store's schema and the container's, the plan has a stage whose code the store does not run.
    case customStage(store: String, from: Schema.Version, to: Schema.Version, stage: Schema.Version)
    /// The plan has a stage with code to run, and the store leaves plans to the framework, which cannot tell whether the stage is
    /// due there.
    case plansNotRun(store: String, stage: Schema.Version)
    /// The store was written under a newer version of the schema than the program's. Writing and reading are both
    /// refused: an older program does not know what it would drop.
    case newerStore(store: String, stored: Schema.Version, program: Schema.Version)
    /// The store holds records of entities that the program's schema lacks, although the versions are equal.
    case unnamedEntities(store: String, version: Schema.Version, entities: [SchemaLoss.Entity])
}

extension MigrationError: CustomStringConvertible, SwiftDataErrorConvertible, ClassifiedStoreError {
    /// The store, the versions and the ways out, in one line.
    public var description: String {
        switch self {
        case .customStage(let store, let from, let to, let stage):
            return
                "The store \"\(store)\" holds version \(from) of the schema, and on the way to version \(to) the "
                + "migration plan has a custom stage to \(stage). This kind of store cannot run custom stages; "
                + "it was not changed. Make that stage lightweight, or move the records into a new store in the program."
        case .plansNotRun(let store, let stage):
            return
                "The migration plan has a custom stage to version \(stage) of the schema, and the store \"\(store)\" is of a "
                + "kind that runs no custom stages. It was not opened. Make that stage lightweight, move the records into a new "
                + "store in the program, or open the store without a plan if it holds version \(stage) already."
        case .newerStore(let store, let stored, let program):
            return "The store \"\(store)\" has schema version \(stored), but this program has version \(program). "
                + "Opening it could lose data that this program does not know, so it was not changed. "
                + "Update the program, or open a copy of the store that was made before the update."
        case .unnamedEntities(let store, let version, let entities):
            let counts = entities.map { "\($0.name) (\(SchemaLoss.plural($0.records, "record")))" }
            let names = entities.map { "\"\($0.name)\"" }.joined(separator: ", ")
            return
                "The store \"\(store)\" holds records of entities that the program's schema lacks, and both have version "
                + "\(version): \(counts.joined(separator: ", ")). It was not changed. Add the models to the container, "
                + "raise the version of the schema, or drop the records with dropping: [\(names)] in the configuration "
                + "(?dropping=\(entities.map(\.name).joined(separator: ",")) in a store URL)."
        }
    }
    /// The error of SwiftData that this one matches; `backwardMigration` for a newer store.
    public var swiftDataError: SwiftDataError {
        switch self {
        case .customStage, .plansNotRun: .loadIssueModelContainer
        case .newerStore: .backwardMigration
        case .unnamedEntities: .unknownDataStoreSchema
        }
    }
    /// `unsupported` for a stage that this kind of store cannot carry out, else `conflict`.
    public var errorClass: StoreErrorClass {
        switch self {
        case .customStage, .plansNotRun: .unsupported
        case .newerStore, .unnamedEntities: .conflict
        }
    }
}
