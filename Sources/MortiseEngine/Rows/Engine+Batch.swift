package import MortiseCore

extension Engine {
    /// Changes or deletes many records as one transaction: all of them, durable as the sink promises, or none.
    /// - Throws: `EngineError`; `ModelValidationError` where a delete rule forbids it; `QueryEvaluationError`;
    ///   `VersionSuperseded`; what the sink throws.
    package func execute(_ batch: StoreBatch) throws -> StoreBatchResult {
        try write(onTopOf: batch.baseVersion, author: batch.author) { transaction in
            var result = try transaction.execute(batch)
            // Only what a deletion clears may be changed several times.
            if case .delete = batch.change { transaction.changes.mergeUpdates() }
            result.changes = transaction.changes
            return result
        }
    }
}
