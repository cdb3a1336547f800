import Foundation
import MortiseCore

extension ConformanceCase {
    static let closingCases: [ConformanceCase] = [
        ConformanceCase(
            "lifecycle.closing-again", level: .core,
            requirement: "Closing a store again does nothing, and a closed store does not answer as if it were empty.",
            hint: "close() releases what is released already, or reports that the store is closed."
        ) { c in
            try c.session().store(Entry("one"))
            let store = try c.store.store
            for _ in 0..<3 {
                c.note("store.close")
                try store.close()
            }
            c.note("count what the closed store has")
            let counted = Result { try BareStore(store, log: nil).count(Entry.self) }
            if case .success(let count) = counted { try c.expect(count, is: 1, "an error, or a count of") }
            try c.close()
            c.note("store.close")
            try store.close()
            if c.subject.capabilities.contains(.reopening) {
                try c.reopen()
                try c.expect(try c.session().all(Entry.self).map(\.name), is: ["one"], "names after reopening:")
            }
        },
        ConformanceCase(
            "isolation.rollback-shows-the-latest", level: .core,
            requirement: "After a rollback a context shows the values that were saved last.",
            hint:
                "cachedSnapshots(for:editingState:) returns what the store once knew. Return the present values, or nothing."
        ) { c in
            let a = try c.session()
            let (one, two) = (Entry("one", rank: 1, note: "n"), Entry("two", rank: 2))
            try a.store(one, two)
            for rank in 10...12 {
                a.change("ranks") {
                    one.rank = rank
                    two.rank = -rank
                }
                try a.save()
                a.change("ranks, and roll back") {
                    one.rank = 0
                    one.note = nil
                    two.name = "other"
                }
                a.context.rollback()
                try c.expect(one.rank, is: rank, "rank of the first:")
                try c.expect(one.note, is: "n", "note of the first:")
                try c.expect(two.rank, is: -rank, "rank of the second:")
                try c.expect(two.name, is: "two", "name of the second:")
            }
        },
    ]
}
