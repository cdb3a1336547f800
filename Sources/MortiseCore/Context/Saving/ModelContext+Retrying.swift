extension ModelContext {
    /// What a transaction has come to.
    public struct TransactionOutcome<Result> {
        /// What the block returned when it ran last.
        public let result: Result
        /// How often it ran, from 1.
        public let attempts: Int
    }

    /// Runs a block and saves; where others have changed meanwhile what the block has changed, or have taken a unique value of a
    /// model that it has made, drops its changes and runs it again on what is stored then.
    ///
    ///     try context.transaction(retrying: 5) { account.balance += 1 }
    ///
    /// So a counter is exact under any number of writers, whatever the context's merge policy is. The block has to read what it
    /// changes itself: values from before it are those of before. A record that it reads and does not change is not looked at
    /// again, and one that a newcomer meets that was inserted with `onConflict: .keep` is no conflict. Nor is a unique value that was
    /// taken when the block began, or that two of its own models have: it would be taken the next time, too. What it saves itself, and
    /// batches, are stored at once: they stay, and are repeated. It is not repeated after a save in which one of several stores had
    /// saved its part before another met the conflict.
    ///
    /// A store without versions, such as one on SQLite, cannot tell whether a unique value was taken when the block began. The first
    /// attempt that meets such values is repeated once, whatever `retries` is: those that it has met count as known from then on.
    /// - Parameters:
    ///   - retries: how often the block may run again after a conflict; negative numbers count as 0.
    ///   - block: changes models of this context. It may run several times, so it does nothing that cannot be repeated.
    /// - Returns: what the block returned, and how often it ran.
    /// - Throws: `ModelContextError.unsavedChanges` if there are changes already, which a repetition would lose. The conflict if the
    ///   last attempt had one as well: `SaveConflict`, `RecordsSuperseded`, `ModelContextError.notUnique`. `.noSuchModel` if
    ///   others have deleted what the block has changed, which is not repeated: the block may hold the model. What the block and
    ///   `save()` throw. In all these cases, except for the first, the unsaved changes of the block were dropped.
    @discardableResult
    public func transaction<Result>(retrying retries: Int, block: () throws -> Result) throws -> TransactionOutcome<
        Result
    > {
        if hasChanges { throw ModelContextError.unsavedChanges }
        let policy = mergePolicy
        autosave.begin()
        defer {
            mergePolicy = policy
            autosave.end()
        }
        mergePolicy = .error
        let outer = state.repeatable
        let start = RepeatableStart()
        state.repeatable = start
        defer { state.repeatable = outer }
        var attempt = 1
        var left = max(0, retries)
        while true {
            do {
                // What others have saved since the last fetch is no conflict yet.
                try refresh()
                start.begin(state.sessions)
                state.savedInPart = false
                let result = try block()
                try save()
                return TransactionOutcome(result: result, attempts: attempt)
            } catch {
                let isStoredInPart = state.savedInPart
                rollback()
                guard error.isConflict(since: start), !isStoredInPart else { throw error }
                if !error.isFirstMeeting(since: start) {
                    guard left > 0 else { throw error }
                    left -= 1
                }
                attempt += 1
            }
        }
    }
}

extension ModelContext.TransactionOutcome: Sendable where Result: Sendable {}

extension Error {
    /// Whether others have changed what was to be saved. What was stored when the block began it meets again each time.
    fileprivate func isConflict(since start: RepeatableStart) -> Bool {
        if self is SaveConflict || self is RecordsSuperseded || self is VersionSuperseded { return true }
        if case .notUnique? = self as? ModelContextError { return start.hasMetNews }
        return false
    }

    /// Whether nothing but a repetition can tell that this is a conflict.
    fileprivate func isFirstMeeting(since start: RepeatableStart) -> Bool {
        if case .notUnique? = self as? ModelContextError { return start.mayHaveMetOld }
        return false
    }
}
