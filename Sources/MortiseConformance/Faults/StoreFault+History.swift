import Foundation
import MortiseCore

extension StoreFault {
    private static func history(
        _ id: String, _ summary: String, _ change: @escaping @Sendable (ReferenceTransaction?) -> ReferenceTransaction?
    ) -> StoreFault {
        StoreFault(id, summary, in: .planning) { $0.transaction = change }
    }

    private static func changing(
        _ id: String, _ summary: String, _ change: @escaping @Sendable (inout ReferenceTransaction) -> Void
    ) -> StoreFault {
        history(id, summary) { transaction in
            guard var transaction else { return nil }
            change(&transaction)
            return transaction
        }
    }

    static let historyFaults: [StoreFault] = [
        StoreFault("history-of-opening", "writes a transaction when it is opened", in: .planning) { steps in
            steps.open = { state in
                state.history.append(
                    ReferenceTransaction(
                        number: (state.history.last?.number ?? 0) + 1, timestamp: .now, author: nil, changes: []))
            }
        },
        changing("history-of-one-record", "writes the first change of a transaction") { transaction in
            transaction.changes = Array(transaction.changes.prefix(1))
        },
        history("history-of-empty-saves", "writes a transaction for a save without changes") { transaction in
            transaction ?? ReferenceTransaction(number: 99, timestamp: .now, author: nil, changes: [])
        },
        changing("everything-is-an-update", "writes every change as an update") { transaction in
            for place in transaction.changes.indices where transaction.changes[place].kind == .insert {
                transaction.changes[place].kind = .update
            }
        },
        changing("names-every-property", "names every property of an updated record") { transaction in
            for place in transaction.changes.indices where transaction.changes[place].kind == .update {
                transaction.changes[place].properties = ["name", "rank", "note"]
            }
        },
        changing("no-tombstones", "keeps no values of deleted records") { transaction in
            for place in transaction.changes.indices { transaction.changes[place].preserved = [] }
        },
        changing("history-of-other-records", "writes the identifiers of other records") { transaction in
            for place in transaction.changes.indices {
                let record = transaction.changes[place].record
                transaction.changes[place].record = .numbered(
                    (record.sequenceNumber ?? 0) + 1000, storeIdentifier: record.storeIdentifier ?? "",
                    entityName: record.entityName)
            }
        },
        changing("no-authors", "keeps no authors") { $0.author = nil },
        changing("times-of-another-day", "keeps the day of a transaction and not its time") { transaction in
            let day = transaction.timestamp.timeIntervalSinceReferenceDate / 86_400
            transaction.timestamp = Date(timeIntervalSinceReferenceDate: (day.rounded(.down) - 1) * 86_400)
        },
        StoreFault("one-token", "gives every transaction the same token", in: .planning) { $0.token = { _ in 1 } },
        StoreFault("history-without-predicates", "returns every transaction whatever the predicate", in: .planning) {
            $0.ignoresHistoryPredicates = true
        },
        StoreFault("history-without-order", "returns transactions oldest first whatever the order", in: .planning) {
            $0.ignoresHistoryOrder = true
        },
        StoreFault("history-without-limit", "returns all transactions whatever the limit", in: .planning) {
            $0.historyLimit = { _ in 0 }
        },
        StoreFault("latest-first", "returns the latest transaction first", in: .planning) {
            $0.history = { $0.reversed() }
        },
        StoreFault("forgets-everything", "forgets the whole history where some of it is to go", in: .planning) {
            steps in
            steps.forget = { _, state in state.history = [] }
        },
        StoreFault("forgets-records-too", "deletes records with the history in which they were inserted", in: .planning)
        {
            steps in
            steps.forget = { numbers, state in
                let gone = state.history.filter { numbers.contains($0.number) }
                for change in gone.flatMap(\.changes) where change.kind == .insert {
                    if let number = change.record.sequenceNumber { state.records[number] = nil }
                }
                state.history.removeAll { numbers.contains($0.number) }
                state.version += 1
            }
        },
        StoreFault("history-in-memory", "keeps its history until it is closed", in: .planning) { steps in
            steps.open = { $0.history = [] }
        },
        StoreFault("history-of-failed-saves", "writes a transaction before it looks for the records", in: .planning) {
            $0.writesHistoryFirst = true
        },
    ]
}
