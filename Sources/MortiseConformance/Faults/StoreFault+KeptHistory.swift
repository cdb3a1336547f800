import Foundation
import MortiseCore

extension StoreFault {
    private static func history(
        _ id: String, _ summary: String, in kind: ReferenceKind = .planning, isOfSize: Bool = false,
        _ change: @escaping @Sendable (inout ReferenceSteps) -> Void
    ) -> StoreFault { StoreFault(id, summary, in: kind, isOfSize: isOfSize, change: change) }

    /// A store that writes other authors.
    private static func authors(
        _ id: String, _ summary: String, _ change: @escaping @Sendable (String) -> String?
    ) -> StoreFault {
        history(id, summary) { steps in
            steps.transaction = { transaction in
                guard var transaction else { return nil }
                transaction.author = transaction.author.flatMap(change)
                return transaction
            }
        }
    }

    /// A store in whose history a batch is otherwise.
    private static func batches(
        _ id: String, _ summary: String, in kind: ReferenceKind,
        _ change: @escaping @Sendable (inout ReferenceTransaction) -> Void
    ) -> StoreFault {
        history(id, summary, in: kind) { steps in
            steps.batchTransaction = { transaction in
                guard var transaction else { return nil }
                change(&transaction)
                return transaction
            }
        }
    }

    static let historyKeepingFaults: [StoreFault] = [
        history("preserves-what-is-asked", "keeps the values of the request of a deletion, and not the stored ones") {
            $0.preservesRequests = true
        },
        batches("batches-preserve-nothing", "keeps no values of what a batch deletes", in: .planning) { transaction in
            for place in transaction.changes.indices { transaction.changes[place].preserved = [] }
        },
        batches("batches-of-queries-preserve-nothing", "keeps no values of what a query deletes", in: .versioned) {
            transaction in
            for place in transaction.changes.indices { transaction.changes[place].preserved = [] }
        },
        batches("batches-preserve-one", "keeps the values of the first record that a batch deletes", in: .versioned) {
            transaction in
            for place in transaction.changes.indices.dropFirst() { transaction.changes[place].preserved = [] }
        },
        history("keeps-a-hundred-transactions", "keeps the last hundred transactions", isOfSize: true) { steps in
            steps.history = { Array($0.suffix(100)) }
        },
        history(
            "returns-a-hundred-transactions", "returns the first hundred transactions that match", isOfSize: true
        ) { steps in
            steps.historyLimit = { $0 == 0 ? 100 : min($0, 100) }
        },
        history("keeps-a-thousand-transactions", "keeps the last thousand transactions", isOfSize: true) { steps in
            steps.history = { Array($0.suffix(1_000)) }
        },
        history("returns-a-thousand-transactions", "returns a thousand transactions at most", isOfSize: true) { steps in
            steps.historyLimit = { $0 == 0 ? 1_000 : min($0, 1_000) }
        },
        history("numbers-go-on-from-what-is-kept", "goes on from the number of the last transaction that it finds") {
            steps in
            steps.open = { $0.lastTransaction = $0.history.last?.number ?? 0 }
        },
        authors("empty-authors-are-nil", "keeps no author who is an empty text") { $0.isEmpty ? nil : $0 },
        authors("trims-authors", "keeps authors without the spaces around them") {
            $0.trimmingCharacters(in: .whitespaces)
        },
        authors("cuts-authors", "keeps 255 characters of an author") { String($0.prefix(255)) },
        batches("empty-authors-of-batches-are-nil", "keeps no author of a batch who is an empty text", in: .versioned) {
            transaction in
            if transaction.author == "" { transaction.author = nil }
        },
    ]
}
