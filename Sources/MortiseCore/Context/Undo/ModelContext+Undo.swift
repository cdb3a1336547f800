import Foundation

extension ModelContext {
    private var undoJournal: UndoJournal? { tracker.journal as? UndoJournal }

    /// Records what undoes each change of the context's models; nil, at first, records nothing.
    ///
    ///     context.undoManager = UndoManager()
    ///     trip.name = "Rome"
    ///     context.delete(hotel)
    ///     context.undo()
    ///
    /// What changes in one of the manager's groups is undone together: values, both sides of relationships, insertions,
    /// and deletions with all that delete rules took along. A property that has its old value again when the group
    /// closes, and a model that came and went, are no steps. While the manager's registration is disabled, nothing is
    /// recorded, and what is changed then counts as changed by others; so do merges. Saves neither close groups nor
    /// forget steps: undoing what was saved is an unsaved change of its own. `rollback()` forgets the steps of this
    /// context, and so does setting another manager; those of others stay.
    ///
    /// The context keeps the manager, and the manager keeps neither the context nor its models. Several contexts may
    /// have one manager.
    public var undoManager: UndoManager? {
        get { undoSettings.manager }
        set {
            undoSettings.manager = newValue
            updateJournal()
        }
    }

    /// What is recorded, and what an undo does about changes of others.
    public var undoPolicy: UndoPolicy {
        get { undoSettings.policy }
        set {
            undoSettings.policy = newValue
            updateJournal()
        }
    }

    /// What the last undo or redo in this context has come to, also one that its manager was asked for; nil before the
    /// first, and if it had nothing to do here.
    public var lastUndo: UndoReport? { undoJournal?.lastUndo }

    private func updateJournal() {
        var manager = undoSettings.manager
        if manager == nil, undoSettings.policy.recordsWithoutManager {
            manager = undoSettings.own ?? UndoManager()
            undoSettings.own = manager
        } else {
            undoSettings.own = nil
        }
        if let journal = undoJournal, journal.manager === manager {
            journal.policy = undoSettings.policy
            return
        }
        tracker.propagateDeletes()
        undoJournal?.close()
        tracker.journal?.clear()
        tracker.journal = manager.map { UndoJournal($0, tracker, undoSettings.policy) }
        for table in state.tables.values { table.isJournaled = manager != nil }
        #if !canImport(Darwin)
        manager?.schedulesEnd = { [weak autosave] body in autosave?.schedule(body) ?? false }
        #endif
    }

    /// Undoes the last group of the manager that records this context's changes, after closing an event's group.
    /// Nothing recorded, or nothing to undo: does nothing.
    ///
    /// The context first moves to the latest version of every store, and then gives its models their old values: as
    /// unsaved changes, except for those that equal what is stored. Observers are notified; setters, `didSet` and
    /// initializers do not run, and no delete rule is followed. A model that was inserted leaves the context, or is
    /// deleted by the next save if it was saved. One that was deleted is the same object again; if its deletion was
    /// saved, the next save inserts its record anew: under its old identifier in a store that claims
    /// `restoresIdentifiers`, under a new one in any other, and the old one leads to it in this context. What others
    /// have changed since is treated as `undoPolicy` says, and `lastUndo` tells.
    /// - Throws: `UndoError`; `ModelContextError.containerClosed`. Nothing has changed then. A save throws what makes the state before
    ///   one that cannot be stored any more, such as a unique value that another record has by now; `redo()` helps.
    public func undo() throws {
        try replaying { manager in
            if manager.groupingLevel > 1 { throw UndoError.groupIsOpen(level: manager.groupingLevel) }
            manager.undo()
        }
    }

    /// Carries out again what was undone last: what that undo did, and not what it passed over. Nothing to redo: does
    /// nothing.
    /// - Throws: as `undo()`.
    public func redo() throws {
        try replaying { manager in
            #if canImport(Darwin)
            let isClosed = manager.groupingLevel <= 1
            #else
            let isClosed = manager.groupingLevel == 0 || manager.isInEvent
            #endif
            if !isClosed { throw UndoError.groupIsOpen(level: manager.groupingLevel) }
            manager.redo()
        }
    }

    private func replaying(_ body: (UndoManager) throws -> Void) throws {
        try container.checkOpen()
        guard let journal = undoJournal else { return }
        #if canImport(Darwin)
        let isBusy = journal.manager.isUndoing || journal.manager.isRedoing
        #else
        let isBusy = journal.manager.isBusy
        #endif
        if isBusy { throw UndoError.insideUndo }
        autosave.begin()
        defer { autosave.end() }
        journal.close()
        journal.isAskedByContext = true
        defer { journal.isAskedByContext = false }
        try body(journal.manager)
        if let refusal = journal.refusal.take() { throw refusal }
    }

    /// Whether there is something to undo; also what was changed just now and is in no closed group yet. False where
    /// nothing is recorded. With a manager that others use as well, it may be theirs.
    public var canUndo: Bool {
        undoJournal?.close()
        return undoJournal?.manager.canUndo ?? false
    }

    /// Whether there is something to redo. False where nothing is recorded.
    public var canRedo: Bool { undoJournal?.manager.canRedo ?? false }

    /// Runs a body whose changes are undone together. If it throws, the group closes, and what it has changed stays and
    /// can be undone.
    ///
    /// As with the manager's own groups, one inside another, an event's included, becomes a part of that. Where nothing
    /// is recorded the body simply runs.
    /// - Parameters:
    ///   - name: the name of the group, for menus; nil gives it none.
    ///   - body: changes models of this context.
    /// - Returns: what the body returns.
    /// - Throws: what the body throws.
    public func withUndoGroup<R>(_ name: String? = nil, _ body: () throws -> R) rethrows -> R {
        guard let journal = undoJournal else { return try body() }
        let manager = journal.manager
        manager.beginUndoGrouping()
        defer {
            journal.close()
            if let name { manager.setActionName(name) }
            manager.endUndoGrouping()
        }
        return try body()
    }

    /// Runs a body whose changes are not recorded: an undo leaves them, and passes over what they have changed. What
    /// could be redone stays.
    /// - Parameter body: changes models of this context.
    /// - Returns: what the body returns.
    /// - Throws: what the body throws.
    public func withoutUndo<R>(_ body: () throws -> R) rethrows -> R {
        guard let journal = undoJournal else { return try body() }
        tracker.propagateDeletes()
        journal.manager.disableUndoRegistration()
        defer { journal.manager.enableUndoRegistration() }
        return try body()
    }
}
