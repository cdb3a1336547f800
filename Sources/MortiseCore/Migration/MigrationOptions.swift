/// What a migration plan asks for besides its stages.
///
/// A plan has them as its `migrationOptions`:
///
///     static var migrationOptions: MigrationOptions {
///         var options = MigrationOptions()
///         options.adopting = TripSchemaV1.self
///         options.loss = .declared
///         return options
///     }
public struct MigrationOptions {
    /// What happens where the next version has no place for something that a store holds.
    public enum LossPolicy: Sendable, Hashable {
        /// It is dropped, as in SwiftData. The store's adapter keeps a copy of the store.
        case allowed
        /// It is dropped where the mapping of the stage says `dropping`, and refused elsewhere.
        case declared
        /// The migration fails. Conversions that a mapping names are no loss.
        case refused
    }

    /// When a copy of the store as it was stays beside it.
    public enum CopyRule: Sendable, Hashable {
        /// Where the next version has no place for something, or where copying the store leaves out its history or changes identifiers.
        case whereSomethingIsLost
        /// With each migration.
        case always
    }

    /// What may come of identifiers.
    public enum IdentifierRule: Sendable, Hashable {
        /// Each record keeps its own, and so does the store, unless it has no records.
        case kept
        /// Records may get others: identifiers that were written down elsewhere lead to nothing then.
        case mayChange
    }

    /// The version that a store is taken for if no version of the plan has its schema: one that was made before the plan, or by models
    /// that were changed without a new version. The store has to fit that version without loss. Nil, the default, refuses such
    /// stores.
    public var adopting: (any VersionedSchema.Type)?
    /// What happens to what has no place; `.allowed` by default.
    public var loss: LossPolicy = .allowed
    /// When a copy stays; `.whereSomethingIsLost` by default.
    public var copies: CopyRule = .whereSomethingIsLost
    /// How many copies of a store stay beside it after a migration, the newest ones; nil, the default, keeps all. Removed is what has
    /// the name of such a copy and is not in use: those of earlier migrations, and of first saves that dropped something. All
    /// stay of a store whose name is so long that its copies have only a part of it.
    public var mostCopies: Int?
    /// What may come of identifiers; `.kept` by default. Only a store that is migrated by copying it into a new one, and that cannot be
    /// made anew under the same identifiers, needs `.mayChange`; its migration is refused otherwise.
    public var identifiers: IdentifierRule = .kept
    /// Whether values of enums, coded and transformed values are made to values of their types in the end, those of all records; false
    /// by default. One that cannot be, such as a case that an enum has no more, or a coded value without a member that its type
    /// requires now, ends the migration with `MigrationError.valuesNotRepresentable`. Otherwise who fetches such a record is the first
    /// to meet it. Takes the classes of the container, and a copy of the records where code of a stage takes one. Values whose transformer
    /// is another one in the next version of the plan are looked at in any case.
    public var verifiesValues = false
    /// How long the opening of a store that another container is migrating waits for that, on the thread that makes the container; 30
    /// seconds by default. Then, and at once where a container has no plan, it throws `MigrationError.migrationInProgress` with the process
    /// that migrates. Code of a stage that opens the store which it migrates does not wait either.
    public var waitForOthers: Duration = .seconds(30)
    /// Is told how far a migration has come: at the beginning of each part, then ten times a second at most, on the thread that makes
    /// the container.
    public var progress: (@Sendable (MigrationProgress) -> Void)?

    /// The defaults.
    public init() {}
}

/// How far a migration has come.
public struct MigrationProgress: Sendable, Hashable {
    /// What is being done.
    public enum Part: String, Sendable, Hashable {
        /// Records are brought to the next version of the schema.
        case mapping
        /// Code of the stage runs. It goes at its own speed, so that nothing is counted.
        case code
        /// The outcome is made durable. Cancelling is looked at between stores, and a last time before the first of them is replaced.
        case writing
    }

    /// The name of the store.
    public let store: String
    /// The version that it was at.
    public let from: Schema.Version
    /// The version that it comes to.
    public let to: Schema.Version
    /// The number of the stage, from 1.
    public let stage: Int
    /// How many stages there are.
    public let stages: Int
    /// What is being done.
    public let part: Part
    /// How many records were gone through in this part.
    public let completed: Int
    /// How many records the store has. A part may go through them more than once.
    public let records: Int
}
