/// A configuration whose store a container brings from one version of a schema to another by the stages of a migration plan, code
/// included.
///
/// Such a store is opened without a plan: the container has brought it to the configuration's schema before. Where there is no
/// plan, the opening of the store itself adapts its records, unless `adaptsWhenOpened` is false.
public protocol MigratableConfiguration: DataStoreConfiguration {
    /// The schema of the stored data; nil if the store does not exist yet. Takes no lock and changes nothing. If it is nil although
    /// there are records, a plan with code is refused (`MigrationError.plansNotRun`), provided that it is still nil once the store is
    /// open: opening a store must not write a schema for records that had none.
    /// - Throws: the adapter's errors for a store that cannot be read.
    func storedSchema() throws -> StoredSchema?

    /// Begins a migration of the store, which holds data: takes what keeps other writers away.
    /// - Throws: the adapter's errors for a store that is open elsewhere or cannot be read.
    func beginMigration() throws -> any StoreMigration

    /// As `beginMigration()`, for a store whose records can only be read through the classes of their models. What containers call;
    /// the default leaves the request aside.
    /// - Throws: as `beginMigration()`.
    func beginMigration(_ request: MigrationRequest) throws -> any StoreMigration

    /// Begins a migration that is never committed, to find out what one would do: takes no lock and changes nothing.
    /// - Throws: the adapter's errors for a store that cannot be read.
    func previewMigration() throws -> any StoreMigration

    /// As `previewMigration()`, with what `beginMigration(_:)` gets. The default leaves the request aside.
    /// - Throws: as `previewMigration()`.
    func previewMigration(_ request: MigrationRequest) throws -> any StoreMigration

    /// The migration that another process, or this one, says it is carrying out on the store; nil, the default, if none says so. Asked where
    /// the store is locked: takes no lock, and what it returns may be wrong.
    func migrationUnderWay() -> MigrationUnderWay?

    /// The room that a migration takes where the store is, as far as that can be said before it begins.
    /// - Parameter keepsCopy: whether a copy of the store stays for certain.
    /// - Returns: nil, the default, for a store that does not know.
    /// - Throws: the adapter's errors for a store that cannot be examined.
    func migrationSpace(keepingCopy keepsCopy: Bool) throws -> MigrationSpace?

    /// Whether the store may be changed. If false, a container does not open it while code of a plan is due.
    var allowsMigration: Bool { get }

    /// Whether opening the store brings its records to another schema as a lightweight stage does. If false, a container migrates
    /// the store before it opens it also where there is no plan, or where the plan's stages have no code.
    var adaptsWhenOpened: Bool { get }
}

extension MigratableConfiguration {
    /// Nil.
    public func migrationUnderWay() -> MigrationUnderWay? { nil }
    /// Not known.
    public func migrationSpace(keepingCopy keepsCopy: Bool) throws -> MigrationSpace? { nil }
    /// True: the store adapts its records.
    public var adaptsWhenOpened: Bool { true }
    /// `beginMigration()`.
    public func beginMigration(_ request: MigrationRequest) throws -> any StoreMigration { try beginMigration() }
    /// `previewMigration()`.
    public func previewMigration(_ request: MigrationRequest) throws -> any StoreMigration { try previewMigration() }
}

/// What a container knows of the models of a store that it is about to migrate.
public struct MigrationRequest {
    /// The versions of the plan, oldest first, and the schema that the store comes to, each with the classes of its models.
    public let schemas: [Schema]

    /// The version that the store comes to; nil where no schema is named.
    public var target: Schema.Version? { schemas.last?.version }

    /// Names the schemas.
    public init(schemas: [Schema] = []) { self.schemas = schemas }

    /// The classes of all schemas, those of the schemas with that content first.
    public func models(of stored: StoredSchema) -> [any PersistentModel.Type] {
        let (equal, others) = (schemas.filter { $0.stored == stored }, schemas.filter { $0.stored != stored })
        return (equal + others).flatMap { schema in schema.layouts.values.map(\.type) }
    }
}

/// The room that a migration takes on a disk, and what there is.
public struct MigrationSpace: Sendable, Hashable {
    /// The bytes that are written beside what the store has, or more.
    public let needed: Int64
    /// The bytes that are free; nil if that is not known.
    public let free: Int64?

    /// Describes the room.
    public init(needed: Int64, free: Int64?) {
        self.needed = needed
        self.free = free
    }

    /// Whether there is enough, as far as that is known.
    public var isEnough: Bool { free.map { $0 >= needed } ?? true }
}

/// A migration of one store, from the version that is stored to one that replaces it at once.
///
/// A container calls the methods from one thread, in this order: stores of the version in between and `adapt(to:)` as the stages
/// require, then `prepare(keepingCopy:atMost:)` and `commit()`. `abandon()` ends a migration at any point before `commit()`. Whatever
/// happens before `commit()` is called, the process's death included, the store is as it was. While `commit()` runs, and if it throws,
/// the store is as it was or as it was to be, whole, and opening it again tells.
///
/// Writing takes two steps because a container may have several stores to bring along. It prepares all of them before it commits any, so
/// that a full disk, or a value that a store cannot take, is found while all are as they were. There is no common transaction: what is
/// left between the first `commit()` and the last is short, but a process that dies there leaves some stores at the new version and
/// others at the old one. The next opening takes those along, and leaves alone what is done; nothing is lost, and no stage runs twice on
/// a store. Code that works on one store must not rely on another one being at the same version.
public protocol StoreMigration: AnyObject {
    /// The schema that the store holds.
    var storedSchema: StoredSchema { get }

    /// Whether each record, and the store, will have the identifier that it has now. True by default; if false, a container goes on
    /// only where `MigrationOptions.identifiers` allows that.
    var keepsIdentifiers: Bool { get }

    /// Whether the records go into a new store that takes the place of this one, and the history ends here. False by default.
    var isCopy: Bool { get }

    /// How many records there are now of exactly that entity of the schema that the store holds. The default counts those of
    /// `frozen(under:)`; called before `adapt(to:converting:)`.
    /// - Throws: the adapter's errors for records that cannot be read.
    func count(ofEntity name: String) throws -> Int

    /// The records as they are now, for reading: what is saved in the working store later, and what schema it comes to, does not
    /// show. It can be read until the migration has ended.
    /// - Parameter schema: as for `working(under:)`.
    /// - Returns: the store, which does not save.
    /// - Throws: the adapter's errors for records that cannot be read.
    func frozen(under schema: Schema) throws -> any VersionedDataStore

    /// The records as they are to be. What is saved there is part of the migration, and nobody else sees it.
    /// - Parameter schema: one whose `stored` is the schema of the last `adapt(to:)`, or `storedSchema` before any.
    /// - Returns: the store; the same records each time.
    /// - Throws: the adapter's errors for records that cannot be read.
    func working(under schema: Schema) throws -> any VersionedDataStore

    /// Brings the records to another schema, as opening the store with it would.
    /// - Parameters:
    ///   - schema: the schema.
    ///   - converted: by entity, names of properties of the schema before whose values were taken in another form: they are not
    ///     lost where the schema lacks them.
    /// - Returns: what the schema does not take of the records.
    /// - Throws: the adapter's errors for a schema to which records cannot be brought. The migration can only be abandoned then.
    @discardableResult
    func adapt(to schema: StoredSchema, converting converted: [String: Set<String>]) throws -> SchemaLoss

    /// Deletes records of the working store. References to them are cleared, on both sides; delete rules do not apply.
    /// - Throws: the adapter's errors for records that it does not have, and for references that are required.
    func delete(_ records: [PersistentIdentifier]) throws

    /// Is called by `adapt(to:converting:)` with the number of records that it has gone through since the last call, every thousand or
    /// so. What it throws ends the call, which throws it.
    var advance: (_ records: Int) throws -> Void { get set }

    /// Does all of the writing that can fail, so that `commit()` has nothing left to do but the switch: makes the outcome durable where
    /// nobody looks for it, and the copy of the store as it was. The store stays as it was, for everybody. Nothing can be changed in the
    /// migration afterwards; it can be committed or abandoned. What is left if the process dies is removed by the next opening.
    /// - Parameters:
    ///   - keepsCopy: whether a copy of the store as it was is to stay, also where nothing is lost.
    ///   - most: how many copies of the store stay beside it after `commit()`, the newest ones; nil for all. What is in use or cannot
    ///     be removed stays as well.
    /// - Throws: why the outcome cannot be stored. The migration can only be abandoned then.
    func prepare(keepingCopy keepsCopy: Bool, atMost most: Int?) throws

    /// Puts what was prepared into the place of what is stored, durably and in one step, and lets others open the store again.
    /// - Throws: `DataStoreError.unsupportedFeature` if nothing was prepared; why nothing was replaced, or why it is not known whether it
    ///   was. Others can open the store in any case.
    func commit() throws

    /// Where the copy of the store as it was is, once `commit()` has returned: a path, or what else opens it. Containers log it. Nil, the
    /// default, says that no copy was kept, or that its place is not known.
    var copyLocation: String? { get }

    /// Leaves the store as it was, removes what was prepared, and lets others open the store again. Does nothing after `commit()`.
    func abandon()
}

extension StoreMigration {
    /// True.
    public var keepsIdentifiers: Bool { true }
    /// False.
    public var isCopy: Bool { false }
    /// Nil.
    public var copyLocation: String? { nil }
    /// Counts the records of `frozen(under:)`.
    public func count(ofEntity name: String) throws -> Int {
        try frozen(under: Schema(stored: storedSchema)).currentVersion.rows(ofEntity: name)?.count ?? 0
    }
    /// `adapt(to:converting:)` where no value was converted.
    @discardableResult
    public func adapt(to schema: StoredSchema) throws -> SchemaLoss { try adapt(to: schema, converting: [:]) }
}

/// The author of what migrations change, in histories.
public enum MigrationAuthor {
    /// `mortise.migration`.
    public static let name = "mortise.migration"
}
