import MortiseCore

extension StoreFault {
    private static func batch(
        _ id: String, _ summary: String, change: @escaping @Sendable (inout ReferenceSteps) -> Void
    ) -> StoreFault { StoreFault(id, summary, in: .versioned, change: change) }

    static let batchFaults: [StoreFault] = [
        batch("batch-without-its-last", "leaves out the last record of a batch of several") {
            $0.batchSelection = { $0.count > 1 ? $0.dropLast() : $0 }
        },
        batch("assigns-in-turn", "calculates the values of a batch from values that the batch has changed") {
            $0.assignsInTurn = true
        },
        batch("keeps-half-batches", "keeps what a batch has changed before it failed") { $0.keepsHalfBatches = true },
        batch("batch-on-any-version", "carries out a batch on another version than it was chosen in") {
            $0.checksBatchBase = false
        },
        batch("batch-passes-over-missing", "passes over the records of a batch that are gone") {
            $0.passesOverMissingInBatches = true
        },
        batch("counts-changed-records", "counts the records that a batch has changed, and not those that it was for") {
            $0.batchResult = { StoreBatchResult(count: $0.changes.count, changes: $0.changes) }
        },
        batch("tells-no-changes", "does not tell which records a batch has changed") {
            $0.batchResult = { StoreBatchResult(count: $0.count) }
        },
        batch("batch-without-history", "writes no transaction for a batch") { $0.batchTransaction = { _ in nil } },
        batch("batch-without-author", "writes no author for a batch") {
            $0.batchTransaction = { transaction in
                var transaction = transaction
                transaction?.author = nil
                return transaction
            }
        },
        batch("batch-names-no-properties", "does not write which properties a batch has changed") {
            $0.batchTransaction = { transaction in
                var transaction = transaction
                for place in transaction?.changes.indices ?? 0..<0 { transaction?.changes[place].properties = [] }
                return transaction
            }
        },
        batch("batch-in-memory", "writes a batch when something else is saved") { $0.writesBatches = false },
        batch("batch-around-uniqueness", "takes a batch after which two records have the same unique values") {
            $0.enforcesBatches = false
        },
        batch("store-batch-leaves-references", "leaves references to what it deletes by a query") {
            $0.clearAllReferences = { _, _ in }
        },
        StoreFault(
            "keeps-a-thousand", "keeps the first thousand of the records that are inserted together", in: .planning,
            isOfSize: true
        ) { steps in
            steps.finish = { before, state in
                let new = state.records.keys.filter { before.records[$0] == nil }.sorted()
                for number in new.dropFirst(1_000) { state.records[number] = nil }
            }
        },
        StoreFault("exchanges-identifiers", "gives records that are inserted together each other's identifiers") {
            steps in
            steps.pairs = { pairs in
                guard pairs.count > 2, Set(pairs.keys.map(\.entityName)).count == 1 else { return pairs }
                let temporary = pairs.keys.sorted()
                return Dictionary(
                    zip(temporary, temporary.reversed().compactMap { pairs[$0] }).map { ($0, $1) },
                    uniquingKeysWith: { first, _ in first })
            }
        },
        StoreFault("loses-the-first-of-a-page", "reads in pages of 100, and loses the first record of each next one") {
            steps in
            steps.answer = { records, _, _ in
                records.enumerated().filter { $0.offset == 0 || $0.offset % 100 != 0 }.map(\.element)
            }
        },
        StoreFault(
            "repeats-the-last-of-a-page", "reads in pages of 100, and begins each with the last of the one before"
        ) {
            steps in
            steps.answer = { records, _, _ in
                records.enumerated().flatMap { place, record in
                    place > 0 && place % 100 == 0 ? [records[place - 1], record] : [record]
                }
            }
        },
        StoreFault(
            "hangs", "waits for ever for a lock where a batch finds nothing to delete", in: .planning,
            timeLimit: .seconds(2)
        ) { $0.hangsWithoutRecords = true },
    ]
}
