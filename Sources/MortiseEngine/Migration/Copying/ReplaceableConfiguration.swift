public import MortiseCore

/// A configuration whose store a container migrates by copying it: for a store of any shape that cannot bring its own records to
/// another schema, or that has no working version which nobody sees.
///
/// The configuration says which schema is stored, names a place for a new store, and puts that in the place of the old one. The rest is
/// done for it: the old store is opened under the schema that it holds, and read; stages are carried out, with their code; the outcome
/// is written to the new store, some records at a time, read again and compared; and only then is the old one replaced. Whatever happens
/// before that leaves it as it was.
///
/// Opening has to be exclusive: while a store is open to be copied, nobody else may save into it, in this process or another one, since
/// that would be gone. The old store is open until the new one has taken its place. As a last defence,
/// `MigrationError.changedMeanwhile` is thrown and nothing is replaced if the schema, the number of the version or the identifiers that
/// the open store finds then differ from those that were copied. A change of values alone shows only in a store whose versions have
/// numbers, and a store that reads its content once, when it is opened, shows a change of the schema alone. If the plan has no code, and its stages come to one, the records are
/// taken over as they are read. Otherwise they are in memory while stages run, packed as an embedded store has them.
///
/// A store that claims `StoreCapability.restoring` keeps its identifier and those of its records. For any other a plan has to say
/// `MigrationOptions.identifiers = .mayChange`, and `MigrationError.identifiersWouldChange` is thrown if it does not. Histories are not
/// copied. The old store stays as a copy (`keepingCopy`) where the plan asks for it, where something is lost, where the store provides a
/// history, and where identifiers change. References to records that the store does not have count as lost; a required one ends the
/// migration with `ModelContextError.storeContract`. A store with Apple's shape alone is read through the classes of the plan's
/// versions, and `MigrationError.classNeeded` names the entity that has none.
public protocol ReplaceableConfiguration: MigratableConfiguration {
    /// The configuration of a store of the same kind that does not exist yet, so near to this one that it can take its place at once.
    /// What an interrupted migration left there is removed.
    /// - Throws: why there can be no such store.
    func sibling() throws -> Self

    /// Puts the store of a sibling, which is closed, into the place of this one, which is still open: in one step, so that the end of the
    /// process leaves the one or the other there, whole. Where that takes several steps, `storedSchema()` and the opening of the store
    /// finish or undo a replacement that the end of a process interrupted. What was put there is as durable as a save of the store.
    /// - Parameters:
    ///   - sibling: what `sibling()` returned.
    ///   - keepsCopy: whether the old store has to stay somewhere beside the new one; see `removeCopies(exceptNewest:)`.
    /// - Throws: why it was not replaced, or why it is not known whether it was. The sibling stays then: it may be the only store there
    ///   is.
    func replace(with sibling: Self, keepingCopy keepsCopy: Bool) throws

    /// Removes old stores that `replace(with:keepingCopy:)` has let stay, as far as they can be removed and are in nobody's use; called
    /// after it where `MigrationOptions.mostCopies` limits them.
    /// - Parameter most: how many stay, the newest ones.
    func removeCopies(exceptNewest most: Int)

    /// Where the newest of these old stores is: a path, or what else opens it. Called after `replace(with:keepingCopy:)` has let one stay,
    /// so that the log can name it; nil, the default, if that cannot be said.
    func newestCopy() -> String?

    /// The same store, to look at: opening it takes no lock that keeps a writer away, and changes nothing, whatever an interrupted
    /// program has left there. Its saves throw. A store that takes no lock when it is opened, and writes nothing, is its own.
    var readingOnly: Self { get }

    /// The same store, opened so that nobody else opens it for writing until it is closed: its opening throws where somebody has it open.
    /// The default is the configuration itself, for stores whose openings are exclusive anyway.
    var exclusive: Self { get }

    /// Removes the store of a sibling, which is closed, after a migration that came to nothing. Never called after
    /// `replace(with:keepingCopy:)` was, whatever came of that. The next `sibling()` does it, too.
    func discard(_ sibling: Self)
}

extension ReplaceableConfiguration {
    /// True: the store may be replaced.
    public var allowsMigration: Bool { true }
    /// False: the store is migrated also where no stage has code.
    public var adaptsWhenOpened: Bool { false }
    /// Not known.
    public func newestCopy() -> String? { nil }
    /// The configuration itself.
    public var exclusive: Self { self }
    /// Does nothing: what is left is removed when it is in the way.
    public func discard(_ sibling: Self) {}

    /// Opens the store, to copy it. Without the classes of its models, which `beginMigration(_:)` gets.
    /// - Throws: `MigrationError.storeGone`, `.openElsewhere`; what opening and reading the store throw.
    public func beginMigration() throws -> any StoreMigration { try beginMigration(MigrationRequest()) }

    /// Opens the store, to copy it.
    /// - Throws: as `beginMigration()`; `MigrationError.classNeeded`.
    public func beginMigration(_ request: MigrationRequest) throws -> any StoreMigration {
        try copyingMigration(request)
    }

    /// What `beginMigration(_:)` returns by default, for a configuration that has another way for some migrations.
    package func copyingMigration(_ request: MigrationRequest) throws -> any StoreMigration {
        try CopyingMigration(of: exclusive, request, isPreview: false)
    }

    /// Opens `readingOnly` to look at it. Another program may use the store meanwhile.
    /// - Throws: as `beginMigration()`.
    public func previewMigration() throws -> any StoreMigration { try previewMigration(MigrationRequest()) }

    /// As `previewMigration()`.
    /// - Throws: as `beginMigration(_:)`.
    public func previewMigration(_ request: MigrationRequest) throws -> any StoreMigration {
        try copyingPreview(request)
    }

    /// What `previewMigration(_:)` returns by default, for a configuration that has another way for some migrations.
    package func copyingPreview(_ request: MigrationRequest) throws -> any StoreMigration {
        try CopyingMigration(of: readingOnly, request, isPreview: true)
    }
}
