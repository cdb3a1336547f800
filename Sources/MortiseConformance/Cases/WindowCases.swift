import Foundation
import MortiseCore

extension ConformanceCase {
    private static func descriptor(
        offset: Int? = nil, limit: Int? = nil, _ order: [SortDescriptor<Entry>] = [],
        _ predicate: Predicate<Entry>? = nil
    ) -> FetchDescriptor<Entry> {
        var descriptor = FetchDescriptor<Entry>(predicate: predicate, sortBy: order)
        descriptor.fetchOffset = offset
        descriptor.fetchLimit = limit
        return descriptor
    }

    private static func storeLetters(_ c: CaseContext) throws {
        try c.session().store(Entry("a"), Entry("b"), Entry("c"), Entry("d"), Entry("e"), Entry("f"))
    }

    static let windowCases: [ConformanceCase] = [
        ConformanceCase(
            "window.limit-and-offset", level: .firstHour,
            requirement: "Offset skips that many at the start, then limit returns at most that many.",
            hint: "Off by one, or the limit is applied before the offset."
        ) { c in
            try storeLetters(c)
            let a = try c.session()
            try c.expect(try a.fetch(descriptor(limit: 2)).map(\.name), is: ["a", "b"], "first two:")
            try c.expect(try a.fetch(descriptor(offset: 4)).map(\.name), is: ["e", "f"], "after four:")
            try c.expect(try a.fetch(descriptor(offset: 1, limit: 2)).map(\.name), is: ["b", "c"], "two after one:")
            try c.expect(
                try a.fetch(descriptor(offset: 1, limit: 2, [SortDescriptor(\.name, order: .reverse)])).map(\.name),
                is: ["e", "d"], "two after one, downwards:")
        },
        ConformanceCase(
            "window.at-its-ends", level: .core,
            requirement:
                "A limit of 0, and an offset at or beyond the end, leave nothing; large limits return what exists.",
            hint: "0 is read as \"no limit\", or an index runs past the end."
        ) { c in
            try storeLetters(c)
            let a = try c.session()
            try c.expect(try a.fetch(descriptor(limit: 0)).map(\.name), is: [], "limit 0:")
            try c.expect(try a.fetch(descriptor(offset: 6)).map(\.name), is: [], "offset at the end:")
            try c.expect(try a.fetch(descriptor(offset: 7, limit: 3)).map(\.name), is: [], "offset beyond the end:")
            try c.expect(try a.fetch(descriptor(offset: 5, limit: 3)).map(\.name), is: ["f"], "limit beyond the end:")
            try c.expect(try a.fetch(descriptor(offset: 0, limit: .max)).count, is: 6, "the largest limit:")
            try c.expect(try a.fetch(descriptor(offset: .max, limit: .max)).count, is: 0, "the largest offset:")
            try c.expect(try a.fetch(descriptor(offset: -1, limit: 1)).map(\.name), is: ["a"], "negative offset:")
            try c.expect(try a.fetch(descriptor(limit: -1)).map(\.name), is: [], "negative limit:")
        },
        ConformanceCase(
            "window.after-the-filter", level: .core,
            requirement: "Limit and offset count what the predicate matches, not what is stored.",
            hint: "The store honors the limit of a fetch whose predicate it leaves to the framework."
        ) { c in
            let a = try c.session()
            a.change("insert 20 entries of two groups") {
                for number in 0..<20 { a.context.insert(Entry("e\(number)", group: number % 2 == 0 ? "even" : "odd")) }
            }
            try a.save()
            let b = try c.session()
            try c.expect(
                try b.fetch(descriptor(offset: 2, limit: 3, [], #Predicate { $0.group == "odd" })).map(\.name),
                is: ["e5", "e7", "e9"], "three after two of the odd:")
            try c.expect(
                try b.fetch(descriptor(limit: 2, [SortDescriptor(\.name)], #Predicate { $0.group == "odd" })).map(
                    \.name),
                is: ["e1", "e11"], "first two of the odd by name:")
        },
        ConformanceCase(
            "window.pages-cover-everything", level: .core,
            requirement: "Pages of a sorted fetch, taken one after the other, give every record once, in order.",
            hint: "Ties are ordered differently at every fetch."
        ) { c in
            let a = try c.session()
            a.change("insert 50 entries of four ranks") {
                for number in 0..<50 { a.context.insert(Entry("e\(number)", rank: number % 4)) }
            }
            try a.save()
            let b = try c.session()
            let order = [SortDescriptor(\Entry.rank)]
            let whole = try b.fetch(descriptor(order)).map(\.name)
            var pages: [String] = []
            for page in 0..<8 { pages += try b.fetch(descriptor(offset: page * 7, limit: 7, order)).map(\.name) }
            try c.expect(pages, is: whole, "names of all pages:")
            try c.expect(Set(pages).count, is: 50, "different records:")
        },
        ConformanceCase(
            "window.in-the-store-itself", level: .core,
            requirement: "The store's own fetch, count and identifiers agree on every limit and offset.",
            hint: "fetchCount or fetchIdentifiers uses another query, without limit or offset."
        ) { c in
            try storeLetters(c)
            let store = try c.store
            let all = try store.records(Entry.self).map(\.identifier)
            for (offset, limit) in [(nil, 2), (1, 2), (4, 4), (6, 1), (0, 0), (9, nil), (2, nil)] as [(Int?, Int?)] {
                let expected = Array(all[descriptor(offset: offset, limit: limit).window(of: all.count)])
                try c.expect(
                    try store.records(Entry.self, offset: offset, limit: limit).map(\.identifier), is: expected,
                    "records fetched:")
                try c.expect(
                    try store.identifiers(Entry.self, offset: offset, limit: limit), is: expected,
                    "identifiers fetched:")
                try c.expect(try store.count(Entry.self, offset: offset, limit: limit), is: expected.count, "count:")
            }
        },
    ]
}
