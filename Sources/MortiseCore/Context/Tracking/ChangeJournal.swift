/// Hears of every change in a context before it is made, so that it can be taken back.
///
/// While it is suspended the changes are the framework's own: merges, and what a save settles.
class ChangeJournal {
    /// How many calls are at work whose changes nobody has made.
    var suspensions = 0
    /// Whether what follows from a change that was recorded is being recorded, whatever was disabled since.
    var isForced = false

    /// Why a save changes something that belongs to an earlier change.
    enum Cause {
        /// Delete rules reach what others have saved since.
        case deletion
        /// A new model has become the alias of another one.
        case insertion(any PersistentModel)
    }

    /// Whether changes are passed over now, but for what follows from others.
    var passesOver: Bool { true }
    /// Whether a change was recorded to which what follows belongs.
    var isRecordingStep: Bool { false }

    /// An attribute or a to-one relationship is about to change; of other slots nothing is noted.
    func willSet(_ model: any PersistentModel, at slot: Int, in layout: ModelLayout) {}
    /// A member is about to come into, or to leave, a to-many relationship.
    func willChange(_ member: any PersistentModel, of model: any PersistentModel, at slot: Int, isAdded: Bool) {}
    /// A model has come into the context, or its deletion was taken back.
    func noteEntered(_ model: any PersistentModel) {}
    /// A model is about to be deleted, or to leave the context.
    func willLeave(_ model: any PersistentModel) {}
    /// Others have stored other values in some slots of a model. The slots are only looked at where that matters.
    func noteForeign(_ model: any PersistentModel, _ slots: @autoclosure () -> [Int]) {}
    /// Others have deleted the record of a model.
    func noteForeignDeletion(of model: any PersistentModel) {}
    /// All changes were dropped.
    func clear() {}
    /// The context is saved, where nothing else may tell that an event is over.
    func endEventForSave() {}
    /// The save has ended; what it has added stays or is taken back.
    func endSave(isDone: Bool) {}
    /// Has what follows belong to the change that is its cause.
    /// - Returns: whether there is one; `endLate()` ends it then.
    func beginLate(_ cause: Cause) -> Bool { false }
    /// Ends what `beginLate` has begun.
    func endLate() {}

    /// Runs a body whose changes nobody has made.
    final func suspended<R>(_ body: () throws -> R) rethrows -> R {
        suspensions += 1
        defer { suspensions -= 1 }
        return try body()
    }

    /// Runs what follows from recorded changes.
    final func following<R>(_ body: () throws -> R) rethrows -> R {
        let outer = isForced
        isForced = isRecordingStep && suspensions == 0
        defer { isForced = outer }
        return try body()
    }

    /// Runs what a save does because of an earlier change.
    final func late<R>(_ cause: Cause, _ body: () throws -> R) rethrows -> R {
        guard beginLate(cause) else { return try body() }
        let (suspended, forced) = (suspensions, isForced)
        (suspensions, isForced) = (0, true)
        defer {
            (suspensions, isForced) = (suspended, forced)
            endLate()
        }
        return try body()
    }
}
