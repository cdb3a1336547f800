import Foundation
import MortiseCore

extension StoreFault {
    private static func history(
        _ id: String, _ summary: String, _ change: @escaping @Sendable (inout ReferenceSteps) -> Void
    ) -> StoreFault { StoreFault(id, summary, in: .planning, change: change) }

    /// A store that writes something else into its history than what happened.
    private static func writing(
        _ id: String, _ summary: String, _ change: @escaping @Sendable (inout ReferenceTransaction) -> Void
    ) -> StoreFault {
        history(id, summary) { steps in
            steps.transaction = { transaction in
                guard var transaction else { return nil }
                change(&transaction)
                return transaction
            }
        }
    }

    /// A store whose history is another one once it was opened again.
    private static func rereading(
        _ id: String, _ summary: String, _ change: @escaping @Sendable (inout ReferenceTransaction) -> Void
    ) -> StoreFault {
        history(id, summary) { steps in
            steps.open = { state in for place in state.history.indices { change(&state.history[place]) } }
        }
    }

    static let wideHistoryFaults: [StoreFault] = [
        history("history-limit-before-predicate", "takes the limit of a history before it looks at the predicate") {
            $0.limitsHistoryFirst = true
        },
        history("forgotten-history-comes-back", "has what was deleted of its history again after reopening") { steps in
            let forget = steps.forget
            steps.forget = { numbers, state in
                state.debris.forgotten += state.history.filter { numbers.contains($0.number) }
                forget(numbers, &state)
            }
            steps.open = { state in
                state.history = (state.debris.forgotten + state.history).sorted { $0.number < $1.number }
                state.debris.forgotten = []
            }
        },
        history("forgets-all-before", "forgets everything before the last transaction that is to go") { steps in
            steps.forget = { numbers, state in
                let last = numbers.max() ?? 0
                state.history.removeAll { $0.number <= last }
            }
        },
        history("history-starts-again", "gives the numbers of a history that was forgotten to the next transactions") {
            steps in
            let forget = steps.forget
            steps.forget = { numbers, state in
                forget(numbers, &state)
                if state.history.isEmpty { state.lastTransaction = 0 }
            }
        },
        writing("no-relationships-in-updates", "names no relationships among the properties of an update") {
            transaction in
            let relationships: Set = ["team", "members", "projects", "people", "mentor", "pupils", "badge"]
            for place in transaction.changes.indices {
                transaction.changes[place].properties.removeAll(where: relationships.contains)
            }
        },
        writing(
            "relationships-without-attributes", "names the first changed property of a record that several changed in"
        ) {
            transaction in
            for place in transaction.changes.indices {
                transaction.changes[place].properties = Array(transaction.changes[place].properties.prefix(1))
            }
        },
        writing("history-of-the-superclass", "writes changes of a record under the first class of its family") {
            transaction in
            for place in transaction.changes.indices {
                let record = transaction.changes[place].record
                guard ["Dog", "Puppy"].contains(record.entityName) else { continue }
                transaction.changes[place].record = .numbered(
                    record.sequenceNumber ?? 0, storeIdentifier: record.storeIdentifier ?? "", entityName: "Animal")
            }
        },
        writing("no-history-of-subclasses", "writes no changes of records of the last of three classes") {
            transaction in
            transaction.changes.removeAll { $0.record.entityName == "Puppy" }
        },
        writing(
            "own-properties-in-updates", "names those changed properties alone that the record's own class declares"
        ) {
            transaction in
            for place in transaction.changes.indices where transaction.changes[place].record.entityName == "Puppy" {
                transaction.changes[place].properties.removeAll { $0 == "legs" || $0 == "age" }
            }
        },
        writing("insertions-backwards", "writes the insertions of a transaction from the last to the first") {
            transaction in
            let inserted = transaction.changes.filter { $0.kind == .insert }
            transaction.changes.removeAll { $0.kind == .insert }
            transaction.changes += inserted.reversed()
        },
        writing("insertions-by-entity", "writes the insertions of a transaction entity by entity") { transaction in
            let inserted = transaction.changes.filter { $0.kind == .insert }
            transaction.changes.removeAll { $0.kind == .insert }
            transaction.changes += Dictionary(grouping: inserted, by: \.record.entityName)
                .sorted { $0.key < $1.key }.flatMap(\.value)
        },
        writing("deletions-first", "writes the deletions of a transaction before its other changes") { transaction in
            transaction.changes =
                transaction.changes.filter { $0.kind == .delete } + transaction.changes.filter { $0.kind != .delete }
        },
        writing("updates-of-new-records", "writes an update after each insertion") { transaction in
            let inserted = transaction.changes.filter { $0.kind == .insert && $0.record.entityName == "Entry" }
            transaction.changes += inserted.map {
                ReferenceTransaction.Change(kind: .update, record: $0.record, properties: ["rank"])
            }
        },
        history("changes-of-another-transaction", "has changes name the transaction before theirs") {
            $0.transactionOfChanges = { $0 - 1 }
        },
        history("one-number-for-changes", "gives all changes of a transaction the same number") {
            $0.changeNumber = { _ in 1 }
        },
        history("history-of-another-store", "names another store in its transactions") {
            $0.storeOfHistory = { "other \($0)" }
        },
        history("tokens-of-another-store", "makes tokens that name another store") {
            $0.storeOfTokens = { "other \($0)" }
        },
        history("one-time-for-all", "gives every transaction the time of the first") { steps in
            steps.history = { history in
                history.map { transaction in
                    var transaction = transaction
                    transaction.timestamp = history.first?.timestamp ?? transaction.timestamp
                    return transaction
                }
            }
        },
        history("time-of-the-latest", "gives every transaction the time of the latest") { steps in
            steps.history = { history in
                history.map { transaction in
                    var transaction = transaction
                    transaction.timestamp = history.last?.timestamp ?? transaction.timestamp
                    return transaction
                }
            }
        },
        rereading("times-of-reopening", "gives its transactions the time at which the storage was opened again") {
            $0.timestamp = .now.addingTimeInterval(0.05)
        },
        rereading("authors-in-memory", "keeps authors until it is closed") { $0.author = nil },
        rereading("kinds-in-memory", "keeps the kinds of changes until it is closed") { transaction in
            for place in transaction.changes.indices { transaction.changes[place].kind = .update }
        },
        rereading("properties-in-memory", "keeps the properties of updates until it is closed") { transaction in
            for place in transaction.changes.indices { transaction.changes[place].properties = [] }
        },
        rereading("tombstones-in-memory", "keeps preserved values until it is closed") { transaction in
            for place in transaction.changes.indices { transaction.changes[place].preserved = [] }
        },
        history("history-numbered-anew", "numbers its transactions again whenever it is opened") { steps in
            steps.open = { state in
                for place in state.history.indices { state.history[place].number = Int64(place) + 100 }
                state.lastTransaction = state.history.last?.number ?? state.lastTransaction
            }
        },
        history("erases-history", "erases its history with its records") { steps in
            steps.erase = { state in
                state.records = [:]
                state.history = []
            }
        },
        history("erasure-names-records", "writes a deletion of each record for an erasure") { steps in
            steps.erase = { state in
                state.lastTransaction += 1
                state.history.append(
                    ReferenceTransaction(
                        number: state.lastTransaction, timestamp: .now, author: nil,
                        changes: state.records.values.map { .init(kind: .delete, record: $0.persistentIdentifier) }))
                state.records = [:]
            }
        },
    ]
}
