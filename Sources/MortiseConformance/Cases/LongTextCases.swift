import Foundation
import MortiseCore

/// Texts that are the same for a long way: columns, keys of indexes and sort buffers have a greatest length.
extension ConformanceCase {
    private static let prefixHint =
        "The first bytes or characters of a text are compared: a key of an index, a sort buffer or a column has a greatest "
        + "length. Compare whole texts, or claim superset."

    /// Each text but the first and the last of its kind differs from the one before in its last character alone. The lengths are
    /// those of columns, keys and buffers, in bytes and in characters.
    private static let long: [String] = {
        var texts: [String] = []
        func add(_ unit: String, _ count: Int, _ ends: String...) {
            let beginning = String(repeating: unit, count: count)
            texts += ends.map { beginning + $0 }
        }
        for count in [254, 300, 1_024, 2_000, 8_000, 10_000, 66_000] { add("x", count, "b", "a") }
        for count in [128, 2_700] { add("日", count, "b", "a") }
        for count in [128, 2_500] { add("\u{1F600}", count, "b", "a") }
        for count in [300, 5_000] { add("\u{E9}", count, "b", "a") }
        // Characters of which the first byte is the same, and of several scalars.
        for count in [254, 7_999] { add("x", count, "\u{E8}", "\u{E9}", "e\u{301}", "e") }
        // What is composed lies across a border, with more behind it.
        for count in [255, 1_023] { add("y", count, "e\u{301}z", "\u{E9}z", "ez") }
        add("e\u{301}", 2_000, "q", "r")
        return texts
    }()

    private static func shown(_ text: String) -> String {
        "\(text.unicodeScalars.count) scalars \(ExactForm.text(String(text.prefix(1))))…\(ExactForm.text(String(text.suffix(2))))"
    }

    private static func storeTexts(_ c: CaseContext) throws {
        let a = try c.session()
        a.change("insert \(long.count) entries with long names") {
            for (place, text) in long.enumerated() { a.context.insert(Entry(text, rank: place)) }
        }
        try a.save()
    }

    /// Compares the places of the few that should be found, or counts the many.
    private static func expect(
        _ c: CaseContext, _ session: CaseSession, _ predicate: Predicate<Entry>, finds isFound: (String) -> Bool,
        _ what: String
    ) throws {
        let wanted = long.indices.filter { isFound(long[$0]) }
        let descriptor = FetchDescriptor(predicate: predicate)
        if wanted.count > 4 {
            return try c.expect(
                try session.context.fetchCount(descriptor), is: wanted.count, "count of texts \(what):")
        }
        let found = try session.context.fetch(descriptor).map { $0.rank ?? -1 }
        if found != wanted {
            let (more, less) = (Set(found).subtracting(wanted).sorted(), Set(wanted).subtracting(found).sorted())
            // A wrong store may give a rank that no text has.
            func texts(_ ranks: [Int]) -> [String] {
                ranks.prefix(3).map { long.indices.contains($0) ? shown(long[$0]) : "one of rank \($0)" }
            }
            throw c.failure(
                expected: "\(wanted.count) texts \(what)",
                found: "\(found.count), among them \(texts(more)), without \(texts(less))")
        }
    }

    private static func asked(
        _ id: String, _ requirement: String,
        _ body:
            @escaping @Sendable (
                _ wanted: String, _ expect: (Predicate<Entry>, (String) -> Bool, String) throws -> Void
            )
            throws -> Void
    ) -> ConformanceCase {
        ConformanceCase("text.\(id)", level: .core, requirement: requirement, hint: prefixHint) { c in
            try storeTexts(c)
            let b = try c.session()
            c.note("ask for each second of them")
            for (place, wanted) in long.enumerated() where place % 2 == 1 {
                try body(wanted) { try expect(c, b, $0, finds: $1, "\($2) \(shown(wanted))") }
            }
        }
    }

    static let longTextCases: [ConformanceCase] = [
        asked("long-equality", "Long texts that differ in their last character are not equal, by == and by !=.") {
            wanted, expect in
            try expect(#Predicate { $0.name == wanted }, { $0 == wanted }, "equal to")
            try expect(#Predicate { $0.name != wanted }, { $0 != wanted }, "unlike")
        },
        asked("long-among-captured", "A long text is found among captured ones by all of its characters.") {
            wanted, expect in
            let (one, some) = ([wanted], ["", wanted, String(wanted.dropLast())])
            try expect(#Predicate { some.contains($0.name) }, some.contains, "equal to one of")
            try expect(#Predicate { !one.contains($0.name) }, { $0 != wanted }, "unlike all of")
        },
        asked("long-bounds", "A long text is less or greater than another by its last character.") { wanted, expect in
            try expect(#Predicate { $0.name < wanted }, { $0 < wanted }, "less than")
            try expect(#Predicate { $0.name <= wanted }, { $0 <= wanted }, "at most")
            try expect(#Predicate { $0.name > wanted }, { $0 > wanted }, "greater than")
            try expect(#Predicate { $0.name >= wanted }, { $0 >= wanted }, "at least")
        },
        asked("long-beginnings", "A text begins with a long one by all of its characters.") { wanted, expect in
            // Characters are compared one by one.
            if wanted.utf8.count > 11_000 { return }
            try expect(#Predicate { $0.name.starts(with: wanted) }, { $0.starts(with: wanted) }, "that begin with")
        },
        ConformanceCase(
            "text.long-order", level: .core,
            requirement: "Long texts are in order by their last character, and equal ones by their place.",
            hint: prefixHint
        ) { c in
            try storeTexts(c)
            let b = try c.session()
            func order(_ isForward: Bool) -> [Int] {
                long.indices.sorted { left, right in
                    if long[left] == long[right] { return left < right }
                    return (long[left] < long[right]) == isForward
                }
            }
            for isForward in [true, false] {
                var descriptor = FetchDescriptor<Entry>(
                    sortBy: [SortDescriptor(\.name, order: isForward ? .forward : .reverse)])
                let expected = order(isForward)
                func check(_ expected: [Int], _ what: String) throws {
                    let found = try b.context.fetch(descriptor).map { $0.rank ?? -1 }
                    guard found != expected,
                        let place = zip(found, expected).enumerated().first(where: { $1.0 != $1.1 })
                    else {
                        return try c.expect(found.count, is: expected.count, "texts \(what):")
                    }
                    throw c.failure(
                        expected: "\(shown(long[place.element.1])) at place \(place.offset) \(what)",
                        found: long.indices.contains(place.element.0) ? shown(long[place.element.0]) : "another text")
                }
                c.note("sort by name, \(isForward ? "upwards" : "downwards")")
                try check(expected, isForward ? "upwards" : "downwards")
                (descriptor.fetchOffset, descriptor.fetchLimit) = (7, 20)
                try check(Array(expected[7..<27]), "in a window")
            }
        },
        ConformanceCase(
            "text.long-groups", level: .core,
            requirement: "Long texts that differ in their last character are different groups, and equal ones are one.",
            hint: "Groups are formed by the beginning of a text."
        ) { c in
            try storeTexts(c)
            let counts = Dictionary(grouping: long) { $0 }.mapValues(\.count)
            func check(_ groups: [(key: String, count: Int)], _ whose: String) throws {
                try c.expect(groups.count, is: counts.count, "\(whose) groups:")
                for group in groups {
                    try c.expect(
                        group.count, is: counts[group.key] ?? 0, "entries in \(whose) group of \(shown(group.key)):")
                }
            }
            let a = try c.session()
            c.note("group the entries by name")
            try check(
                try a.context.aggregate(FetchDescriptor<Entry>(), by: \.name, .count).map { ($0.key, $0.values) }, "the"
            )
            guard c.subject.capabilities.contains(.aggregates) else { return }
            let name = try PlanProbe(c).property("name")
            guard let answer = try c.store.aggregate(AggregateQuery(StoreQuery("Entry"), by: [name], [.count])) else {
                return
            }
            try check(
                try answer.groups.map { group in
                    guard case .string(let key)? = group.keys.first, case .integer(let count)? = group.values.first
                    else {
                        throw c.failure(expected: "a group of a text", found: "one of \(group.keys)")
                    }
                    return (key, Int(count))
                }, "the store's own")
        },
        ConformanceCase(
            "text.long-uniqueness", level: .core,
            requirement:
                "Long texts that differ in their last character are all stored in a unique property, and one that is equal to a "
                + "stored one updates it.",
            hint: "The constraint compares the beginning of a text: the key of its index has a greatest length."
        ) { c in
            // Of equal texts the last one counts.
            let texts = long.enumerated().filter { place, text in long[..<place].allSatisfy { $0 != text } }.map(
                \.element)
            let a = try c.session()
            a.change("insert \(texts.count) accounts with long addresses") {
                for (place, text) in texts.enumerated() {
                    a.context.insert(Account(text, country: "\(place)", number: 1, owner: "first"))
                }
            }
            try a.save()
            let found = try c.session().all(Account.self)
            try c.expect(found.count, is: texts.count, "accounts:")
            for (account, text) in zip(found, texts) where account.email != text {
                throw c.failure(expected: shown(text), found: shown(account.email))
            }
            let b = try c.session()
            b.change("insert accounts with each tenth address") {
                for (place, text) in texts.enumerated() where place % 10 == 0 {
                    b.context.insert(Account(text, country: "\(place)", number: 2, owner: "second"))
                }
            }
            try b.save()
            try c.expect(
                try c.session().all(Account.self).map(\.owner),
                is: texts.indices.map { $0 % 10 == 0 ? "second" : "first" }, "owners:")
        },
        ConformanceCase(
            "text.long-uniqueness-in-the-store", level: .core, capability: .uniqueness,
            requirement:
                "A store that enforces uniqueness takes long texts that differ in their last character, and refuses equal ones.",
            hint: "The constraint compares the beginning of a text: the key of its index has a greatest length."
        ) { c in
            for (place, count) in [190, 255, 300, 1_024, 2_000, 8_000, 10_000].enumerated() {
                let beginning = String(repeating: "x", count: count)
                for (number, end) in ["a", "b", "\u{E9}", "e"].enumerated() {
                    try c.store.save(inserted: [Account(beginning + end, country: "\(place)", number: number)])
                }
                for (number, end) in ["b", "e\u{301}"].enumerated() {
                    try c.expectError("an error from the store, for a text of \(count + 1) characters again") {
                        try c.store.save(inserted: [
                            Account(beginning + end, country: "other \(place)", number: number)
                        ])
                    }
                }
            }
            try c.expect(try c.session().count(FetchDescriptor<Account>()), is: 28, "accounts:")
        },
    ]
}
