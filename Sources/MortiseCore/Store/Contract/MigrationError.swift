/// Why a store cannot be opened under a schema, or not be brought to it.
///
/// All match `SwiftDataError.loadIssueModelContainer`, and some an error of SwiftData that says more as well. No error has values of
/// records.
public enum MigrationError: Error, Hashable, Sendable {
    // MARK: The store

    /// Between the store's schema and the container's, the plan has a stage whose code the store does not run.
    case customStage(store: String, from: Schema.Version, to: Schema.Version, stage: Schema.Version)
    /// The plan has a stage to that version, and the framework cannot tell whether the stage is due: the store leaves plans to it, and
    /// does not say which schema its records have.
    case plansNotRun(store: String, stage: Schema.Version)
    /// The stages of the plan come to other records than bringing them from the first schema to the last at once, which is all that this
    /// kind of store does.
    case stagesNotFollowed(store: String, from: Schema.Version, to: Schema.Version)
    /// The plan's options ask for what this kind of store does not do: `options` has their names.
    case optionsNotFollowed(store: String, options: [String])
    /// The store was written under a newer version of the schema than the program's. Writing and reading are both
    /// refused: an older program does not know what it would drop.
    case newerStore(store: String, stored: Schema.Version, program: Schema.Version)
    /// The store holds records of entities that the program's schema lacks, although the versions are equal.
    case unnamedEntities(store: String, version: Schema.Version, entities: [SchemaLoss.Entity])
    /// The schema has something that was renamed from `original`, which the store does not have, and no place for `candidates`, of
    /// which one may have been called that later. No plan says so: the version in between is missing.
    case unknownOrigin(store: String, name: String, original: String, candidates: [String])
    /// The store holds a version of the plan by its number, with other models than the plan gives to it: somebody changed them
    /// after a store was made. `differences` has at most ten, in words.
    case versionChanged(store: String, version: Schema.Version, differences: [String])
    /// The store holds a schema that the plan does not have. `nearest` is the plan's version that differs least, and
    /// `differences` has at most ten of its differences from the store, in words.
    case unknownVersion(store: String, stored: Schema.Version, nearest: Schema.Version, differences: [String])
    /// Several versions of the plan have the models that the store holds, and none has its number.
    case ambiguousVersion(store: String, stored: Schema.Version, candidates: [Schema.Version])
    /// Code of the plan is due, and the store was opened for reading only.
    case migrationNeeded(store: String, from: Schema.Version, to: Schema.Version)
    /// The store is open in this process, so that it cannot be brought to another version.
    case openElsewhere(store: String)
    /// Another container brings the store to another version at the moment, and was not done in the time that the plan's options allow.
    case migrationInProgress(store: String, migration: MigrationUnderWay)
    /// Two attempts in succession to bring the store to that version ended with their processes. The next opening tries again.
    case attemptsDied(store: String, from: Schema.Version, to: Schema.Version, attempts: Int)
    /// Other processes may have the store open, so that it cannot be brought to another version.
    case sharedElsewhere(store: String)
    /// The next version has no place for what the store holds, and the plan's options do not allow that it goes.
    case lossRefused(store: String, loss: SchemaLoss)
    /// The store does not fit the version that the plan's options take it for.
    case adoptionLosesData(store: String, loss: SchemaLoss)
    /// The store was changed while it was being copied, by someone who should have been kept out.
    case changedMeanwhile(store: String)
    /// The store was removed while it was being opened.
    case storeGone(store: String)
    /// The store has an entity that the container keeps in another store now. A migration moves nothing between stores.
    case entityInAnotherStore(store: String, entity: String, other: String)
    /// The records would get new identifiers, which the plan's options do not allow.
    case identifiersWouldChange(store: String)
    /// The store can only be read through classes of its models, and no version of the plan has one for that entity.
    case classNeeded(store: String, entity: String)
    /// The disk has less room than the migration takes. Nothing was begun.
    case notEnoughSpace(store: String, space: MigrationSpace)

    // MARK: The plan

    /// The plan has no version with the models of the container. `nearest` is the one that differs least, and `differences`
    /// has at most ten of its differences from the container's schema, in words.
    case targetNotInPlan(program: Schema.Version, nearest: Schema.Version, differences: [String])
    /// Two schemas of the plan have one number and different models.
    case duplicateVersion(Schema.Version)
    /// A stage leads to the same version or to an earlier one.
    case backwardStage(from: Schema.Version, to: Schema.Version)
    /// No stages lead from one version to the other.
    case missingStage(from: Schema.Version, to: Schema.Version)
    /// Stages lead from one version to the other in more than one way.
    case ambiguousPath(from: Schema.Version, to: Schema.Version)

    /// A rule of a stage's mapping cannot be carried out: it names a property that the new schema lacks, or one that comes from
    /// none. `reason` says so in words.
    case invalidMapping(property: String, reason: String)

    // MARK: Its run

    /// Records have values that a property's new kind cannot have. `examples` has at most ten of them.
    case valuesNotRepresentable(entity: String, property: String, count: Int, examples: [PersistentIdentifier])
    /// Records have the same unique values. `examples` has at most ten of them.
    case duplicates(entity: String, properties: [String], groups: Int, records: Int, examples: [PersistentIdentifier])
    /// A stage failed. The store is as it was.
    case stageFailed(MigrationStageFailure)
}

/// A stage of a migration that failed, and what it failed with.
public struct MigrationStageFailure: Hashable, Sendable {
    /// The parts of a stage, in the order in which they run.
    public enum Part: String, Hashable, Sendable {
        /// `willMigrate`, under the version before.
        case willMigrate
        /// Bringing the records to the next version.
        case mapping
        /// `didMigrate`, under the version after.
        case didMigrate
        /// Code that sees both versions.
        case migrate
        /// Code that looks at the outcome, and what `MigrationOptions.verifiesValues` asks for.
        case validate
    }

    /// The name of the store.
    public let store: String
    /// The version before the stage.
    public let from: Schema.Version
    /// The version after it.
    public let to: Schema.Version
    /// The part that failed.
    public let part: Part
    /// What it failed with.
    public let underlying: any Error

    /// Describes the failure of a stage.
    public init(store: String, from: Schema.Version, to: Schema.Version, part: Part, underlying: any Error) {
        self.store = store
        self.from = from
        self.to = to
        self.part = part
        self.underlying = underlying
    }

    /// Two failures are equal if they concern the same part and have the same cause in words.
    public static func == (lhs: Self, rhs: Self) -> Bool {
        lhs.store == rhs.store && lhs.from == rhs.from && lhs.to == rhs.to && lhs.part == rhs.part
            && "\(lhs.underlying)" == "\(rhs.underlying)"
    }
    /// Consistent with `==`.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(store)
        hasher.combine(to)
        hasher.combine(part)
    }
}

extension MigrationError {
    /// Whether the plan has no version with the store's schema.
    var isUnknownSchema: Bool {
        switch self {
        case .versionChanged, .unknownVersion: true
        default: false
        }
    }
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
                "The migration plan has a stage to version \(stage) of the schema, and the store \"\(store)\" neither takes care of plans "
                + "nor says which schema its records have. It was not opened. Move the records into a new store in the program, open the "
                + "store without a plan if it holds version \(stage) already, or make its configuration one that can be migrated "
                + "(MigratableConfiguration, ReplaceableConfiguration)."
        case .stagesNotFollowed(let store, let from, let to):
            return
                "The store \"\(store)\" holds version \(from) of the schema. The stages that lead from there to version \(to) come to "
                + "other records than one step from the first to the last, and this kind of store takes one step only. It was not "
                + "changed. Open it with each version in turn, or copy its records into a store that can be migrated."
        case .optionsNotFollowed(let store, let options):
            return
                "The options of the migration plan ask for \(options.joined(separator: ", ")), which this kind of store does not follow. The "
                + "store \"\(store)\" was not opened. Leave these options out, or copy its records into a store that can be migrated."
        case .newerStore(let store, let stored, let program):
            return "The store \"\(store)\" has schema version \(stored), but this program has version \(program). "
                + "Opening it could lose data that this program does not know, so it was not changed. "
                + "Update the program, or put back a copy that was made before the update: mortise migrate STORE --backups lists those beside the "
                + "store."
        case .unnamedEntities(let store, let version, let entities):
            let counts = entities.map { "\($0.name) (\(SchemaLoss.plural($0.records, "record")))" }
            let names = entities.map { "\"\($0.name)\"" }.joined(separator: ", ")
            return
                "The store \"\(store)\" holds records of entities that the program's schema lacks, and both have version "
                + "\(version): \(counts.joined(separator: ", ")). It was not changed. Add the models to the container, "
                + "raise the version of the schema, or drop the records with dropping: [\(names)] in the configuration "
                + "(?dropping=\(entities.map(\.name).joined(separator: ",")) in a store URL)."
        case .unknownOrigin(let store, let name, let original, let candidates):
            let isEntity = !name.contains(".")
            return
                "The store \"\(store)\" has no \(original), from which \(name) was renamed, and it holds "
                + "\(candidates.joined(separator: ", ")), for which the schema has no place. It was not changed. If that is what "
                + "\(original) was called earlier, open the store with a migration plan that has the version in between, or give "
                + "\(name) the name that the store has as its original name. If not, "
                + (isEntity
                    ? "drop the records with dropping: [\(candidates.map { "\"\($0)\"" }.joined(separator: ", "))] in the configuration."
                    : "open it with a migration plan in which a stage leads from the store's version to this one.")
        case .versionChanged(let store, let version, let differences):
            return
                "The store \"\(store)\" holds version \(version) of the schema with other models than the migration plan has "
                + "under that number: \(Self.list(differences)). It was not changed. Restore the models of version "
                + "\(version) in the plan, and give the changed ones a version and a stage of their own."
        case .unknownVersion(let store, let stored, let nearest, let differences):
            return
                "The store \"\(store)\" holds a schema of version \(stored) that the migration plan does not have. Compared with "
                + "the plan's version \(nearest): \(Self.list(differences)). It was not changed. Add a version with the "
                + "store's models to the plan, and stages that lead on from it."
        case .ambiguousVersion(let store, let stored, let candidates):
            return
                "The store \"\(store)\" holds a schema of version \(stored), and the plan's versions "
                + "\(candidates.map(\.description).joined(separator: ", ")) all have its models. It was not changed. Open it "
                + "with a plan in which one version has the number \(stored)."
        case .migrationNeeded(let store, let from, let to):
            return
                "The store \"\(store)\" holds version \(from) of the schema, and stages of the migration plan lead to version "
                + "\(to), but the store was opened for reading only. Open it once for writing."
        case .openElsewhere(let store):
            return
                "The store \"\(store)\" is open in this process, so it cannot be brought to another version of the schema. Close "
                + "its containers first."
        case .migrationInProgress(let store, let migration):
            return
                "The store \"\(store)\" is being brought to another version of the schema by \(migration). Wait until that is done, then open "
                + "it again; a plan's options say how long opening waits (waitForOthers)."
        case .attemptsDied(let store, let from, let to, let attempts):
            return
                "The last \(attempts) attempts to bring the store \"\(store)\" from version \(from) of the schema to version \(to) ended with "
                + "their processes, so that this opening began none. The store was not changed. Look for what ends the process (a stage "
                + "that crashes or takes too long or too much memory), or open the store with a program of version \(from). The next "
                + "opening tries again."
        case .sharedElsewhere(let store):
            return
                "The store \"\(store)\" is shared with other processes, so it cannot be brought to another version of the schema. Close "
                + "it in all of them, open it once unshared (without ?shared in a store URL), and share it again."
        case .lossRefused(let store, let loss):
            return
                "The store \"\(store)\" holds \(loss), for which version \(loss.opened) of the schema has no place, or which leads to "
                + "records that are missing. It was not changed. Move the values in the code of a stage, say in its mapping that they are dropped, or allow the loss in the options "
                + "of the plan."
        case .adoptionLosesData(let store, let loss):
            return
                "The store \"\(store)\" cannot be taken for version \(loss.opened) of the schema, which has no place for \(loss), or it "
                + "lacks records to which these lead. It was not changed. Add a version with the store's own models to the plan."
        case .changedMeanwhile(let store):
            return
                "The store \"\(store)\" was changed while it was being brought to another version, so that nothing was replaced. Close it "
                + "everywhere else, then open it again."
        case .storeGone(let store):
            return "The store \"\(store)\" was removed while it was being opened. Open it again to make a new one."
        case .entityInAnotherStore(let store, let entity, let other):
            return
                "The store \"\(store)\" holds \(entity), which the container keeps in \"\(other)\" now. A migration moves no records "
                + "between stores. Copy them in a program that opens both, or keep \(entity) where it is."
        case .identifiersWouldChange(let store):
            return
                "The store \"\(store)\" comes to another version by a copy, in which its records get new identifiers. It was not changed. "
                + "If nothing outside of the store keeps identifiers of it, say so in the options of the plan: identifiers = .mayChange."
        case .classNeeded(let store, let entity):
            return
                "The store \"\(store)\" holds records of \(entity), which it hands out by the class alone, and no version of the migration "
                + "plan has a class of that name. It was not changed. Add the store's version to the plan, with its models."
        case .notEnoughSpace(let store, let space):
            return
                "Bringing the store \"\(store)\" to another version takes up to \(space.needed) bytes, and "
                + "\(space.free.map { "\($0)" } ?? "fewer") are free. It was not changed. Make room on its disk, then open it again."
        case .targetNotInPlan(let program, let nearest, let differences):
            return
                "The migration plan has no version with the models of the container, whose schema has version \(program). Compared "
                + "with the plan's version \(nearest): \(Self.list(differences)). Add a version with these models to the plan, "
                + "and a stage that leads to it."
        case .duplicateVersion(let version):
            return
                "Two schemas of the migration plan have version \(version) and different models. Give one of them another number."
        case .backwardStage(let from, let to):
            return
                "A stage of the migration plan leads from version \(from) to version \(to), which is not a later one. Change the "
                + "stage or the numbers."
        case .missingStage(let from, let to):
            return
                "The migration plan has no stages that lead from version \(from) of the schema to version \(to). Add the stage "
                + "that is missing."
        case .ambiguousPath(let from, let to):
            return
                "The stages of the migration plan lead from version \(from) of the schema to version \(to) in more than one way. "
                + "Remove the stages of all ways but one."
        case .invalidMapping(let property, let reason):
            return "The mapping of a migration stage has a rule for \(property), which \(reason). Correct the rule."
        case .valuesNotRepresentable(let entity, let property, let count, let examples):
            return
                "\(property) of \(SchemaLoss.plural(count, "record")) of \(entity) has a value that its new type cannot have: "
                + "\(examples.map { "\($0)" }.joined(separator: ", ")). Round, clamp or replace such values in the mapping."
        case .duplicates(let entity, let properties, let groups, let records, let examples):
            return
                "\(records) records of \(entity) have values of \(properties.joined(separator: ", ")) that others have too, in "
                + "\(SchemaLoss.plural(groups, "group")): \(examples.map { "\($0)" }.joined(separator: ", ")). Keep one of each "
                + "group by a rule of the stage, or change the values before it."
        case .stageFailed(let failure):
            return
                "The migration of the store \"\(failure.store)\" from version \(failure.from) to version \(failure.to) failed in "
                + "\(failure.part.rawValue), and the store was not changed: \(failure.underlying)"
        }
    }

    private static func list(_ differences: [String]) -> String {
        differences.isEmpty ? "no difference in what is stored" : differences.joined(separator: "; ")
    }

    /// The error of SwiftData that says most: `backwardMigration` for a newer store, `unknownDataStoreSchema` for one with a schema that
    /// the program does not know.
    public var swiftDataError: SwiftDataError {
        switch self {
        case .newerStore: .backwardMigration
        case .unnamedEntities, .versionChanged, .unknownVersion, .ambiguousVersion: .unknownDataStoreSchema
        default: .loadIssueModelContainer
        }
    }

    /// `loadIssueModelContainer`, which all of these errors match.
    public var furtherSwiftDataErrors: [SwiftDataError] { [.loadIssueModelContainer] }

    /// `unsupported` for a stage that this kind of store cannot carry out, `locked` for a store that is open or is being migrated,
    /// `missing` for one that was removed, `failedInputOutput` for a disk without room, that of its cause for a failed stage, else `conflict`.
    public var errorClass: StoreErrorClass {
        switch self {
        case .customStage, .plansNotRun, .stagesNotFollowed, .optionsNotFollowed: .unsupported
        case .openElsewhere, .sharedElsewhere, .migrationInProgress: .locked
        case .storeGone: .missing
        case .notEnoughSpace: .failedInputOutput
        case .stageFailed(let failure): (failure.underlying as? any ClassifiedStoreError)?.errorClass ?? .conflict
        default: .conflict
        }
    }
}
