import Foundation
import MortiseCore

/// Second looks at conditions and orders: the same meaning in a window, below a negation, in a batch, and with a third key.
extension ConformanceCase {
    private static func store(_ c: CaseContext, _ count: Int, _ fill: (ValueSample, Int) -> Void) throws {
        let a = try c.session()
        a.change("insert \(count) samples") {
            for place in 0..<count {
                let sample = ValueSample()
                fill(sample, place)
                sample.words = ["\(place)"]
                a.context.insert(sample)
            }
        }
        try a.save()
    }

    private static func places(_ c: CaseContext, _ descriptor: FetchDescriptor<ValueSample>) throws -> [Int] {
        try c.session().fetch(descriptor).map { $0.words.first.flatMap { Int($0) } ?? -1 }
    }

    static let conditionSecondCases: [ConformanceCase] = [
        ConformanceCase(
            "comparison.decimals-in-other-forms", level: .core,
            requirement:
                "Batches and counts find decimals among captured ones that are equal and have other places, and leave out others.",
            hint: "The digits or the texts of decimals are compared. 1.1 and 1.10 are one number."
        ) { c in
            let amounts = ["1.1", "100", "-0.5", "0.1", "0", "1e2"].compactMap { Decimal(string: $0) }
            try c.expect(amounts.count, is: 6, "decimals:")
            try store(c, amounts.count) { sample, place in sample.amount = amounts[place] }
            func decimals(_ texts: String...) -> [Decimal] { texts.compactMap { Decimal(string: $0) } }
            let (tenths, hundreds) = (decimals("1.100", "-0.50"), decimals("100.0", "7"))
            // Of all numbers, zero alone may keep the zeros behind its point.
            let zeros = decimals("0.00", "9")
            let b = try c.session()
            func expect(_ wanted: [Int], _ what: String, _ predicate: Predicate<ValueSample>) throws {
                let descriptor = FetchDescriptor(predicate: predicate)
                try c.expect(try places(c, descriptor), is: wanted, "places of \(what):")
                try c.expect(try b.count(descriptor), is: wanted.count, "count of \(what):")
            }
            try expect([0, 2], "1.1 and -0.5", #Predicate { tenths.contains($0.amount) })
            try expect([1, 5], "100", #Predicate { hundreds.contains($0.amount) })
            try expect([4], "0", #Predicate { zeros.contains($0.amount) })
            try expect(
                [3, 4], "what is neither", #Predicate { !tenths.contains($0.amount) && !hundreds.contains($0.amount) })
            let one = hundreds[0]
            c.note("delete the samples of 100 in a batch")
            try b.context.delete(model: ValueSample.self, where: #Predicate { $0.amount == one })
            try c.expect(try places(c, FetchDescriptor()), is: [0, 2, 3, 4], "places of what is left:")
        },
        ConformanceCase(
            "order.zeros-in-a-window", level: .core,
            requirement:
                "-0.0 and 0.0 are one place in an order: the next key decides, or the identity, in windows too.",
            hint: "Bits are sorted, in which the two differ."
        ) { c in
            let numbers = [0.0, -0.0, 1, -0.0, -1, 0.0]
            try store(c, numbers.count) { sample, place in
                (sample.real, sample.large) = (numbers[place], Int64(place % 3))
            }
            func expect(_ found: [SortDescriptor<ValueSample>], _ window: Range<Int>, _ wanted: [Int]) throws {
                var descriptor = FetchDescriptor<ValueSample>(sortBy: found)
                (descriptor.fetchOffset, descriptor.fetchLimit) = (window.lowerBound, window.count)
                try c.expect(try places(c, descriptor), is: wanted, "places \(window) of the order:")
            }
            try expect([SortDescriptor(\.real)], 0..<6, [4, 0, 1, 3, 5, 2])
            try expect([SortDescriptor(\.real)], 1..<3, [0, 1])
            try expect([SortDescriptor(\.real, order: .reverse)], 1..<4, [0, 1, 3])
            try expect([SortDescriptor(\.real), SortDescriptor(\.large, order: .reverse)], 1..<5, [5, 1, 0, 3])
        },
        ConformanceCase(
            "sort.three-keys", level: .core,
            requirement: "A third key orders what two leave equal, and the identity what all three do, in windows too.",
            hint: "One key or two are carried out, or the window is cut before the last."
        ) { c in
            let a = try c.session()
            for place in 0..<12 {
                a.context.insert(
                    Entry(
                        "\(place % 2)", group: ["x", "y"][place / 6], rank: place % 3 == 0 ? nil : place % 3,
                        score: Double(place)))
            }
            try a.save()
            func expect(_ found: [SortDescriptor<Entry>], _ window: Range<Int>, _ wanted: [Int]) throws {
                var descriptor = FetchDescriptor<Entry>(sortBy: found)
                (descriptor.fetchOffset, descriptor.fetchLimit) = (window.lowerBound, window.count)
                try c.expect(
                    try c.session().fetch(descriptor).map { Int($0.score) }, is: wanted,
                    "scores at places \(window) of the order:")
            }
            let keys = [SortDescriptor(\Entry.group, order: .reverse), SortDescriptor(\.rank), SortDescriptor(\.name)]
            try expect(keys, 0..<12, [6, 9, 10, 7, 8, 11, 0, 3, 4, 1, 2, 5])
            try expect(keys, 3..<8, [7, 8, 11, 0, 3])
            try expect(
                [SortDescriptor(\.name), SortDescriptor(\.rank, order: .reverse), SortDescriptor(\.group)], 0..<6,
                [2, 8, 4, 10, 0, 6])
        },
        ConformanceCase(
            "text.bounds-of-equal-forms", level: .core,
            requirement: "A bound reaches each of two forms of one text, or neither: in windows, counts and batches.",
            hint:
                "Texts are compared by their bytes, or as a library composes them. Some composed characters are composed again."
        ) { c in
            let texts = ["\u{AC01}", "\u{AC00}\u{11A8}", "\u{E9}", "e\u{301}", "\u{AC00}", "\u{AC02}", "z"]
            let a = try c.session()
            for (place, text) in texts.enumerated() { a.context.insert(Entry(text, rank: place)) }
            try a.save()
            for (place, text) in texts.enumerated() {
                let (below, from) = (
                    texts.indices.filter { texts[$0] < text }, texts.indices.filter { texts[$0] >= text }
                )
                let b = try c.session()
                try c.expect(
                    try b.fetch(FetchDescriptor<Entry>(predicate: #Predicate { $0.name < text })).map(\.rank),
                    is: below, "places of texts below text \(place):")
                try c.expect(
                    try b.count(FetchDescriptor<Entry>(predicate: #Predicate { !($0.name < text) })), is: from.count,
                    "count of texts that are not below text \(place):")
                var descriptor = FetchDescriptor<Entry>(predicate: #Predicate { $0.name >= text })
                (descriptor.fetchOffset, descriptor.fetchLimit) = (1, 3)
                try c.expect(
                    try b.fetch(descriptor).map(\.rank), is: Array(from.dropFirst().prefix(3)),
                    "places of a window of texts from text \(place) on:")
            }
            let bound = "\u{AC00}\u{11A8}"
            c.note("delete the texts above one in a batch")
            try a.context.delete(model: Entry.self, where: #Predicate { $0.name > bound })
            try c.expect(
                try c.session().all(Entry.self).map(\.rank), is: texts.indices.filter { texts[$0] <= bound },
                "places of what is left:")
        },
        ConformanceCase(
            "text.keys-beside-conditions", level: .core,
            requirement:
                "A key with marks is another key than that without, below a negation and beside other conditions.",
            hint: "Keys are folded, or looked up by their bytes."
        ) { c in
            let a = try c.session()
            let marks: [[String: Int]] = [["e": 1, "\u{E9}": 2], ["e\u{301}": 1], ["e": 2], [:]]
            for (place, keys) in marks.enumerated() {
                let item = Item("\(place)")
                item.marks = keys
                a.context.insert(item)
            }
            try a.save()
            let b = try c.session()
            func expect(_ names: [String], _ what: String, _ predicate: Predicate<Item>) throws {
                try c.expect(
                    try b.fetch(FetchDescriptor(predicate: predicate)).map(\.name), is: names, "items with \(what):")
            }
            let (plain, composed, decomposed) = ("e", "\u{E9}", "e\u{301}")
            try expect(["1"], "1 for the composed key", #Predicate { $0.marks[composed] == 1 })
            try expect(["0"], "2 for the decomposed key", #Predicate { $0.marks[decomposed] == 2 })
            try expect(["0"], "1 for the plain key", #Predicate { $0.marks[plain] == 1 })
            try expect(["1", "3"], "no plain key", #Predicate { $0.marks[plain] == nil })
            try expect(
                ["2"], "2 for the plain key, and no key with a mark",
                #Predicate { $0.marks[plain] == 2 && $0.marks[composed] == nil })
            try expect(
                ["0", "1"], "a key with a mark", #Predicate { !($0.marks[decomposed] == nil) && $0.name != "3" })
        },
        ConformanceCase(
            "values.digits-in-many-places", level: .core,
            requirement:
                "Texts of digits stay as they are written in updates, batches, unique values, lists and groups.",
            hint: "A column or a parameter takes a text that is a number for that number."
        ) { c in
            let texts = ["007", "1e3", "1.0", " 7", "0x1F", "+5", "1_0"]
            let a = try c.session()
            for (place, text) in texts.enumerated() {
                a.context.insert(Account(text, country: text + "0", number: place, owner: "before"))
            }
            try a.save()
            for account in try a.all(Account.self) { a.change("an owner") { account.owner = account.email } }
            try a.save()
            let b = try c.session()
            let found = try b.all(Account.self)
            try c.expect(found.map(\.email), is: texts, "unique texts:")
            try c.expect(found.map(\.owner), is: texts, "texts that an update has set:")
            try c.expect(found.map(\.country), is: texts.map { $0 + "0" }, "texts:")
            for text in texts {
                let asked = FetchDescriptor<Account>(predicate: #Predicate { $0.owner == text })
                try c.expect(try b.fetch(asked).map(\.email), is: [text], "accounts whose owner is \"\(text)\":")
            }
            let batched = "00120"
            c.note("update the owners in a batch")
            try b.context.update(Account.self) { $0.set(\.owner, to: batched) }
            try c.expect(
                try c.session().all(Account.self).map(\.owner), is: texts.map { _ in batched }, "owners by a batch:")
        },
    ]
}
