import Logging

extension ContextState {
    /// Whether a batch has to go through models, so that each change is recorded. A batch of more records than the
    /// journal can keep is not recorded: what was changed before it cannot be undone any more, because that would pass
    /// over the batch.
    func recordsBatch(of entity: String, _ count: () throws -> Int) rethrows -> Bool {
        guard let journal = tracker?.journal as? UndoJournal, !journal.passesOver else { return false }
        let count = try count()
        if count <= journal.policy.memoryLimit / UndoJournal.bytesOfBatchedRecord { return true }
        journal.clear()
        StoreEvents.emit(.undoForgotten(entity: entity, records: count))
        container.logger.warning(
            "a batch is too large to be undone, and so is what was changed before it",
            metadata: ["entity": "\(entity)", "records": "\(count)"])
        return false
    }

    /// Makes what a body changes one step.
    func asUndoStep<R>(_ body: () throws -> R) rethrows -> R {
        guard let context else { return try body() }
        return try context.withUndoGroup(nil, body)
    }
}

extension UndoJournal {
    /// About how much memory a record of a batch takes.
    static let bytesOfBatchedRecord = 512
}
