import Foundation
import MortiseCore

extension ConformanceCase {
    private static func expect(_ names: [String], _ order: [SortDescriptor<Entry>], _ c: CaseContext) throws {
        try c.expect(
            try c.session().fetch(FetchDescriptor<Entry>(sortBy: order)).map(\.name), is: names, "names in order:")
    }

    static let sortCases: [ConformanceCase] = [
        ConformanceCase(
            "sort.up-and-down", level: .firstHour,
            requirement: "A fetch is sorted as asked, up and down.",
            hint: "Throw DataStoreError.preferInMemorySort for orders that the store does not sort by."
        ) { c in
            try c.session().store(
                Entry("b", score: 2), Entry("d", score: 4), Entry("a", score: 1), Entry("c", score: -3))
            try expect(["a", "b", "c", "d"], [SortDescriptor(\.name)], c)
            try expect(["d", "c", "b", "a"], [SortDescriptor(\.name, order: .reverse)], c)
            try expect(["c", "a", "b", "d"], [SortDescriptor(\.score)], c)
            try expect(["d", "b", "a", "c"], [SortDescriptor(\.score, order: .reverse)], c)
        },
        ConformanceCase(
            "sort.without-order-is-insertion", level: .core,
            requirement: "A fetch without order comes in identity order: that of insertion, over several saves.",
            hint: "Records come in the order of a hash table, or of their last change."
        ) { c in
            let a = try c.session()
            let names = ["m", "c", "z", "a", "k", "b"]
            let entries = names.map { Entry($0) }
            for entry in entries { try a.store(entry) }
            a.change("the first and the fourth entry") {
                entries[0].rank = 1
                entries[3].rank = 2
            }
            try a.save()
            try c.expect(try c.session().all(Entry.self).map(\.name), is: names, "names in order of insertion:")
            try c.expect(
                try c.store.records(Entry.self).map(\.identifier), is: entries.map(\.persistentModelID),
                "identifiers in the store's own order:")
        },
        ConformanceCase(
            "sort.ties-in-order-of-insertion", level: .core,
            requirement: "What the order leaves equal comes in order of insertion, upwards and downwards.",
            hint: "The sort is not stable, or a descending sort turns the ties around too."
        ) { c in
            let a = try c.session()
            a.change("insert 60 entries of three ranks") {
                for number in 0..<60 { a.context.insert(Entry("e\(number)", rank: number % 3)) }
            }
            try a.save()
            let ties = { (rank: Int) in (0..<60).filter { $0 % 3 == rank }.map { "e\($0)" } }
            try expect(ties(0) + ties(1) + ties(2), [SortDescriptor(\.rank)], c)
            try expect(ties(2) + ties(1) + ties(0), [SortDescriptor(\.rank, order: .reverse)], c)
        },
        ConformanceCase(
            "sort.nil-comes-first", level: .core,
            requirement: "nil sorts before every value, and after every value in descending order.",
            hint: "The database puts nulls last, or leaves them out."
        ) { c in
            try storeEntries(c)
            try expect(["alpha", "Echo", "échelle", "charlie", "delta", "bravo"], [SortDescriptor(\.rank)], c)
            try expect(
                ["delta", "bravo", "charlie", "échelle", "alpha", "Echo"], [SortDescriptor(\.rank, order: .reverse)], c)
            try expect(["alpha", "bravo", "échelle", "charlie", "Echo", "delta"], [SortDescriptor(\.note)], c)
        },
        ConformanceCase(
            "sort.several-keys", level: .core,
            requirement: "The second key orders what the first leaves equal, each in its own direction.",
            hint: "Only the first key is used, or the last one wins."
        ) { c in
            try storeEntries(c)
            try expect(
                ["delta", "charlie", "Echo", "bravo", "alpha", "échelle"],
                [SortDescriptor(\.group), SortDescriptor(\.rank, order: .reverse)], c)
            try expect(
                ["échelle", "alpha", "bravo", "Echo", "charlie", "delta"],
                [SortDescriptor(\.group, order: .reverse), SortDescriptor(\.rank)], c)
        },
        ConformanceCase(
            "sort.text-as-swift-does", level: .core,
            requirement: "Text sorts as Swift compares it, the same in every locale.",
            hint: "The database's collation puts a before B and é next to e; Swift's order is by normalized scalars."
        ) { c in
            try c.session().store(
                Entry("b"), Entry("B"), Entry("a"), Entry("é"), Entry("Z"), Entry("10"), Entry("9"), Entry(""),
                Entry("😀"),
                Entry("\u{FF5E}"))
            let found = try c.session().fetch(
                FetchDescriptor<Entry>(sortBy: [SortDescriptor(\.name, comparator: .lexical)])
            ).map(\.name)
            try c.expect(found, is: ["", "10", "9", "B", "Z", "a", "b", "é", "\u{FF5E}", "😀"], "names in order:")
        },
        ConformanceCase(
            "sort.pending-changes-take-part", level: .core,
            requirement: "Unsaved models are sorted among the stored ones; without order they come last.",
            hint: "The stored records are sorted by the store and the unsaved ones only appended."
        ) { c in
            let a = try c.session()
            try a.store(Entry("b"), Entry("d"))
            a.insert(Entry("c"), Entry("a"))
            try c.expect(
                try a.fetch(FetchDescriptor<Entry>(sortBy: [SortDescriptor(\.name)])).map(\.name),
                is: ["a", "b", "c", "d"], "names in order:")
            try c.expect(try a.all(Entry.self).map(\.name), is: ["b", "d", "c", "a"], "names without order:")
        },
    ]
}
