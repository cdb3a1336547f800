import Foundation
import MortiseCore

/// What text means in questions: as in Swift, where canonically equivalent texts are equal and a text is made of characters.
extension ConformanceCase {
    private static let bytesHint =
        "The store compares bytes, or composes text in another way than Swift. Compare CanonicalText.composed(_:), or claim residual."
    private static let charactersHint =
        "The store looks for bytes or scalars. A character is a letter with all that belongs to it: claim superset, and leave the rest."

    /// Texts of which some are equal, in forms that engines do not compose, decompose or order alike.
    private static let forms: [String] = [
        // A letter with one mark, with two in either order, and with one that has no composed form.
        "\u{E9}", "e\u{301}", "e", "\u{1E69}", "s\u{323}\u{307}", "s\u{307}\u{323}", "\u{1E63}\u{307}",
        "q\u{307}\u{323}",
        "q\u{323}\u{307}",
        // Signs that stand for others, and some that only look like it.
        "\u{212B}", "\u{C5}", "A\u{30A}", "\u{2126}", "\u{3A9}", "\u{F900}", "\u{8C48}", "\u{FB01}", "fi", "\u{FF21}",
        "A",
        // Hangul: a syllable with a trailing consonant, in three forms, and one without.
        "\u{AC01}", "\u{AC00}\u{11A8}", "\u{1100}\u{1161}\u{11A8}", "\u{AC00}", "\u{1100}\u{1161}",
        // What composition leaves decomposed: Devanagari, Hebrew, and signs of music beyond the basic plane.
        "\u{958}", "\u{915}\u{93C}", "\u{FB2A}", "\u{5E9}\u{5C1}", "\u{1D15E}", "\u{1D157}\u{1D165}",
        // Tibetan vowel signs, whose order follows from their classes, alone and beside a mark of another script.
        "\u{F40}\u{F73}", "\u{F40}\u{F71}\u{F72}", "\u{F40}\u{F72}\u{F71}", "\u{F40}\u{F74}\u{F71}",
        "\u{F40}\u{F71}\u{F74}",
        "\u{F40}\u{1AD0}\u{F72}", "\u{F40}\u{F72}\u{1AD0}",
        // Of another plane, and equal to nothing of the basic one that has the same last 16 bits.
        "\u{11F20}\u{301}", "\u{1F24}", "\u{13059}\u{3099}", "\u{305A}",
    ]

    /// Texts of which some begin with or contain others by their bytes, and not by their characters.
    private static let parts: [String] = [
        "q", "q\u{307}", "qq\u{307}", "q\u{307}q", "e\u{301}a", "\u{E9}a", "ea", "e\u{301}", "\u{E9}", "a", "\r\n",
        "\r", "\n",
        "a\r\nb", "👩‍👩‍👧", "👩", "👩‍👩", "🇳🇴", "🇳", "🇳🇴🇸🇪", "🇴🇸", "\u{AC01}", "\u{AC00}\u{11A8}", "\u{AC00}",
        "\u{1100}\u{1161}\u{11A8}\u{AC00}", "\u{1100}", "\u{F40}\u{F71}\u{F72}", "\u{F40}\u{F73}", "\u{F40}", "👍🏽", "👍",
        "s\u{323}\u{307}x", "\u{1E69}x", "\u{1E63}", "s", "x", "\u{212B}ngstr\u{F6}m", "\u{C5}", "A", "o\u{308}m", "om",
        "1\u{FE0F}\u{20E3}",
        "1",
    ]

    private static func storeTexts(_ texts: [String], _ c: CaseContext) throws {
        let a = try c.session()
        a.change("insert \(texts.count) entries with texts as names") {
            for (place, text) in texts.enumerated() { a.context.insert(Entry(text, rank: place)) }
        }
        try a.save()
    }

    private static func shown(_ text: String) -> String { ExactForm.text(text) }

    /// Asks for entries and their number, and compares the places of what is found with those of the texts that should be.
    private static func expect(
        _ predicate: Predicate<Entry>, finds texts: [String], where isFound: (String) -> Bool, _ what: String,
        in session: CaseSession, _ c: CaseContext
    ) throws {
        let wanted = texts.indices.filter { isFound(texts[$0]) }
        let found = try session.context.fetch(FetchDescriptor(predicate: predicate)).map { $0.rank ?? -1 }
        func list(_ places: [Int]) -> String {
            "[" + places.map { texts.indices.contains($0) ? shown(texts[$0]) : "?" }.joined(separator: ", ") + "]"
        }
        if found != wanted { throw c.failure(expected: "\(what): \(list(wanted))", found: list(found)) }
        let count = try session.context.fetchCount(FetchDescriptor(predicate: predicate))
        try c.expect(count, is: wanted.count, "count of \(what):")
    }

    private static func contains(_ text: String, _ part: String) -> Bool {
        let (text, part) = (Array(text), Array(part))
        if part.count > text.count { return false }
        return (0...(text.count - part.count)).contains { text[$0..<($0 + part.count)].elementsEqual(part) }
    }

    /// A case that puts queries about texts to a store that plans them.
    private static func planned(
        _ id: String, _ requirement: String, hint: String, _ texts: [String],
        _ queries: @escaping @Sendable (PlanProbe, _ name: QueryExpression) throws -> [StoreQuery]
    ) -> ConformanceCase {
        ConformanceCase(
            "text.\(id)", level: .core, capability: .queries, requirement: requirement, hint: hint
        ) { c in
            try storeTexts(texts, c)
            let probe = try PlanProbe(c)
            for query in try queries(probe, probe.property("name")) { try probe.check(query) }
        }
    }

    static let textMeaningCases: [ConformanceCase] = textEquality + textParts + textKeys + textOrders

    // MARK: Equality

    private static let textEquality: [ConformanceCase] = [
        ConformanceCase(
            "text.equality", level: .core,
            requirement: "A predicate finds the texts that Swift's == holds for equal, in every form, and no other.",
            hint: bytesHint
        ) { c in
            try storeTexts(forms, c)
            let b = try c.session()
            for form in forms {
                try expect(
                    #Predicate { $0.name == form }, finds: forms, where: { $0 == form },
                    "texts equal to \(shown(form))",
                    in: b, c)
            }
        },
        ConformanceCase(
            "text.inequality", level: .core,
            requirement: "!= and a negated equality leave out the texts that are equal, in every form.", hint: bytesHint
        ) { c in
            try storeTexts(forms, c)
            let b = try c.session()
            for form in forms where form.unicodeScalars.count > 1 || form.utf8.count > 1 {
                try expect(
                    #Predicate { $0.name != form }, finds: forms, where: { $0 != form },
                    "texts other than \(shown(form))",
                    in: b, c)
            }
            let (one, two) = ("e\u{301}", "\u{1100}\u{1161}\u{11A8}")
            try expect(
                #Predicate { !($0.name == one || $0.name == two) }, finds: forms, where: { $0 != one && $0 != two },
                "texts that are neither of two", in: b, c)
        },
        ConformanceCase(
            "text.among-captured", level: .core,
            requirement: "A text is found among captured ones in whichever form either is.", hint: bytesHint
        ) { c in
            try storeTexts(forms, c)
            let b = try c.session()
            let few = ["\u{E9}", "\u{AC01}", "s\u{307}\u{323}"]
            let many = Array(forms.reversed().prefix(20)) + ["", "x"]
            for list in [few, many] {
                try expect(
                    #Predicate { list.contains($0.name) }, finds: forms, where: list.contains,
                    "texts among \(list.count)",
                    in: b, c)
                try expect(
                    #Predicate { !list.contains($0.name) }, finds: forms, where: { !list.contains($0) },
                    "texts not among \(list.count)", in: b, c)
            }
        },
        ConformanceCase(
            "text.of-a-target", level: .core,
            requirement:
                "Text of a relationship's target, and of a member of a coded value, is compared like any other.",
            hint: bytesHint
        ) { c in
            let a = try c.session()
            let forms = ["\u{E9}", "e\u{301}", "\u{AC01}", "\u{AC00}\u{11A8}", "e", "\u{AC00}"]
            for form in forms {
                let item = Item("item")
                item.place = Place(name: form, latitude: 0)
                item.crate = Crate(form)
                a.context.insert(item)
            }
            try a.save()
            let b = try c.session()
            for form in forms {
                let crates = FetchDescriptor<Item>(predicate: #Predicate { $0.crate?.label == form })
                let places = FetchDescriptor<Item>(predicate: #Predicate { $0.place.name == form })
                let equal = forms.filter { $0 == form }.count
                try c.expect(try b.count(crates), is: equal, "items in crates with a label equal to \(shown(form)):")
                try c.expect(try b.count(places), is: equal, "items at places with a name equal to \(shown(form)):")
            }
        },
        ConformanceCase(
            "text.bounds", level: .core,
            requirement: "Texts that are equal are neither less nor greater than each other.", hint: bytesHint
        ) { c in
            let texts = ["\u{E9}", "e\u{301}", "\u{AC01}", "\u{AC00}\u{11A8}"]
            try storeTexts(texts, c)
            let b = try c.session()
            for text in texts {
                try expect(
                    #Predicate { $0.name >= text && $0.name <= text }, finds: texts, where: { $0 == text },
                    "texts from \(shown(text)) to the same", in: b, c)
                try expect(
                    #Predicate { $0.name < text || $0.name > text }, finds: texts, where: { $0 != text },
                    "texts less or greater than \(shown(text))", in: b, c)
            }
        },
    ]

    // MARK: Parts

    private static let textParts: [ConformanceCase] = [
        ConformanceCase(
            "text.beginning", level: .core,
            requirement:
                "A text begins with another by characters: \"q̇\" does not begin with \"q\", nor CR LF with CR.",
            hint: charactersHint
        ) { c in
            try storeTexts(parts, c)
            let b = try c.session()
            for part in parts + ["\u{301}", "\u{200D}", ""] {
                try expect(
                    #Predicate { $0.name.starts(with: part) }, finds: parts, where: { $0.starts(with: part) },
                    "texts that begin with \(shown(part))", in: b, c)
            }
        },
        ConformanceCase(
            "text.containment", level: .core,
            requirement: "A text contains another by characters, in whichever form either is.", hint: charactersHint
        ) { c in
            try storeTexts(parts, c)
            let b = try c.session()
            for part in parts + ["\u{301}", "\u{200D}", "\u{11A8}"] {
                try expect(
                    #Predicate { $0.name.contains(part) }, finds: parts, where: { contains($0, part) },
                    "texts that contain \(shown(part))", in: b, c)
            }
        },
        ConformanceCase(
            "text.parts-of-equal-texts", level: .core,
            requirement: "Equal texts begin with and contain the same, whatever their forms.", hint: bytesHint
        ) { c in
            let texts = forms.map { "x\($0)y" }
            try storeTexts(texts, c)
            let b = try c.session()
            for form in forms {
                let (beginning, part) = ("x\(form)", "\(form)y")
                try expect(
                    #Predicate { $0.name.starts(with: beginning) }, finds: texts, where: { $0.starts(with: beginning) },
                    "texts that begin with \(shown(beginning))", in: b, c)
                try expect(
                    #Predicate { $0.name.contains(part) }, finds: texts, where: { contains($0, part) },
                    "texts that contain \(shown(part))", in: b, c)
            }
        },
        planned(
            "planned-equality", "The rows for a claimed equality of texts are those that are equal in Swift.",
            hint: bytesHint, forms
        ) { _, name in
            forms.flatMap { form in
                [
                    StoreQuery("Entry", conjuncts: [.compare(.equal, name, .constant(.string(form)))]),
                    StoreQuery(
                        "Entry", purpose: .count, conjuncts: [.compare(.notEqual, name, .constant(.string(form)))]),
                ]
            }
        },
        planned(
            "planned-parts", "The rows for a claimed condition on parts of texts are those by characters.",
            hint: charactersHint, parts
        ) { _, name in
            parts.flatMap { part in
                [
                    StoreQuery("Entry", conjuncts: [.startsWith(name, .constant(.string(part)))]),
                    StoreQuery("Entry", conjuncts: [.containsSequence(name, .constant(.string(part)))]),
                ]
            }
        },
    ]

    // MARK: Keys

    private static let textKeys: [ConformanceCase] = [
        ConformanceCase(
            "text.grouping", level: .core,
            requirement: "Texts that are equal form one group, in every form.", hint: bytesHint
        ) { c in
            try storeTexts(forms, c)
            let a = try c.session()
            c.note("group the entries by name")
            let groups = try a.context.aggregate(FetchDescriptor<Entry>(), by: \.name, .count)
            let expected = Dictionary(grouping: forms) { $0 }.mapValues(\.count)
            try c.expect(groups.count, is: expected.count, "groups:")
            for group in groups {
                try c.expect(group.values, is: expected[group.key] ?? 0, "entries in the group of \(shown(group.key)):")
            }
            let keys = groups.map(\.key)
            let isAscending = zip(keys, keys.dropFirst()).allSatisfy { CanonicalText.precedes($0, $1) }
            try c.expect(isAscending, "groups in ascending order", found: "\(keys.map(shown))")
        },
        ConformanceCase(
            "text.grouping-in-the-store", level: .core, capability: .aggregates,
            requirement: "A store that aggregates puts texts that are equal into one group.", hint: bytesHint
        ) { c in
            try storeTexts(forms, c)
            let name = try PlanProbe(c).property("name")
            let answer = try c.require(
                try c.store.aggregate(AggregateQuery(StoreQuery("Entry"), by: [name], [.count])), "an answer")
            let expected = Dictionary(grouping: forms) { $0 }.mapValues(\.count)
            try c.expect(answer.groups.count, is: expected.count, "groups:")
            for group in answer.groups {
                guard case .string(let key)? = group.keys.first else {
                    throw c.failure(expected: "a group of a text", found: "one of \(group.keys)")
                }
                try c.expect(
                    group.values, is: [.integer(Int64(expected[key] ?? 0))], "entries in the group of \(shown(key)):")
            }
        },
        ConformanceCase(
            "text.uniqueness", level: .core,
            requirement: "Saving a record with a unique text equal to a stored one, in another form, updates that one.",
            hint: bytesHint
        ) { c in
            let pairs = [
                ("\u{E9}", "e\u{301}"), ("\u{AC01}", "\u{AC00}\u{11A8}"), ("\u{1100}\u{1161}\u{11A8}x", "\u{AC01}x"),
                ("s\u{323}\u{307}", "s\u{307}\u{323}"), ("\u{F40}\u{F72}\u{F71}", "\u{F40}\u{F73}"),
                ("\u{212B}", "\u{C5}"),
            ]
            let a = try c.session()
            for (place, pair) in pairs.enumerated() {
                a.context.insert(Account(pair.0, country: "\(place)", number: 1, owner: "old"))
            }
            a.change("insert \(pairs.count) accounts") {}
            try a.save()
            let b = try c.session()
            for (place, pair) in pairs.enumerated() {
                b.context.insert(Account(pair.1, country: "\(place)", number: 2, owner: "new"))
            }
            b.change("insert as many, with the same addresses in other forms") {}
            try b.save()
            let found = try c.session().all(Account.self)
            try c.expect(found.map(\.owner), is: pairs.map { _ in "new" }, "owners:")
            try c.expect(found.map(\.email), is: pairs.map(\.1), "addresses, in the last form:")
        },
        ConformanceCase(
            "text.uniqueness-of-unlike-texts", level: .core,
            requirement:
                "Texts that only look alike are unlike in a unique property: case, width, ligatures, marks, spaces.",
            hint: "The constraint compares by a collation."
        ) { c in
            let texts = [
                "a", "A", "\u{E1}", "\u{FF41}", "fi", "\u{FB01}", "a ", " a", "\u{AC00}", "\u{AC01}", "o", "\u{F8}",
                "\u{1F24}",
                "\u{11F20}\u{301}", "i", "\u{131}", "ss", "ß",
            ]
            let a = try c.session()
            for (place, text) in texts.enumerated() {
                a.context.insert(Account(text, country: "\(place)", number: place))
            }
            a.change("insert \(texts.count) accounts") {}
            try a.save()
            try c.expect(try c.session().all(Account.self).map(\.email), is: texts, "addresses:")
        },
        ConformanceCase(
            "text.uniqueness-in-the-store", level: .core, capability: .uniqueness,
            requirement: "A store that enforces uniqueness refuses a text equal to a stored one, in every form.",
            hint: bytesHint
        ) { c in
            for (place, pair) in [
                ("\u{E9}", "e\u{301}"), ("\u{AC00}\u{11A8}", "\u{AC01}"), ("\u{F40}\u{F73}", "\u{F40}\u{F72}\u{F71}"),
            ].enumerated() {
                try c.store.save(inserted: [Account(pair.0, country: "\(place)", number: 1)])
                try c.expectError("an error from the store, for \(shown(pair.1)) after \(shown(pair.0))") {
                    try c.store.save(inserted: [Account(pair.1, country: "\(place)", number: 2)])
                }
            }
            try c.expect(try c.session().count(FetchDescriptor<Account>()), is: 3, "accounts:")
        },
        ConformanceCase(
            "text.keys-of-dictionaries", level: .core,
            requirement: "A key of a dictionary is found in whichever form it is asked for.", hint: bytesHint
        ) { c in
            let a = try c.session()
            let item = Item("item")
            item.marks = ["e\u{301}": 1, "\u{AC01}": 2, "q": 3]
            try a.store(item)
            let b = try c.session()
            for (key, value) in [("\u{E9}", 1), ("e\u{301}", 1), ("\u{AC00}\u{11A8}", 2), ("q", 3)] {
                let asked = FetchDescriptor<Item>(predicate: #Predicate { $0.marks[key] == value })
                try c.expect(try b.count(asked), is: 1, "items with \(value) for \(shown(key)):")
            }
            for key in ["e", "\u{AC00}", "q\u{307}"] {
                let asked = FetchDescriptor<Item>(predicate: #Predicate { $0.marks[key] == nil })
                try c.expect(try b.count(asked), is: 1, "items without \(shown(key)):")
            }
        },
    ]

    // MARK: Orders

    /// Names on which the orders of bytes, of scalars, of a language and of numbers in text all differ.
    private static let names = ["b", "a10", "A2", "a9", "\u{E4}", "B", "z", "a1", "Z", "e\u{301}", "f", "A10", "E"]

    private static let textOrders: [ConformanceCase] = [
        ConformanceCase(
            "text.localized-standard-order", level: .core,
            requirement:
                "An order of localizedStandard is that of localizedStandardCompare: a9 before a10, A before b.",
            hint: "The sort key's stringOrder was ignored. Claim no order for a key that has one."
        ) { c in
            try storeTexts(names, c)
            let b = try c.session()
            let expected = names.sorted { $0.localizedStandardCompare($1) == .orderedAscending }
            let up = FetchDescriptor<Entry>(sortBy: [SortDescriptor(\.name, comparator: .localizedStandard)])
            let down = FetchDescriptor<Entry>(
                sortBy: [SortDescriptor(\.name, comparator: .localizedStandard, order: .reverse)])
            try c.expect(try b.fetch(up).map(\.name), is: expected, "names, upwards:")
            try c.expect(try b.fetch(down).map(\.name), is: expected.reversed(), "names, downwards:")
            var window = up
            (window.fetchOffset, window.fetchLimit) = (1, 4)
            try c.expect(try b.fetch(window).map(\.name), is: Array(expected[1..<5]), "names in a window:")
        },
        ConformanceCase(
            "text.localized-order", level: .core,
            requirement: "An order of localized is that of localizedCompare, digit by digit.",
            hint: "The sort key's stringOrder was ignored, or taken for localizedStandard."
        ) { c in
            try storeTexts(names, c)
            let b = try c.session()
            let expected = names.sorted { $0.localizedCompare($1) == .orderedAscending }
            let up = FetchDescriptor<Entry>(sortBy: [SortDescriptor(\.name, comparator: .localized)])
            try c.expect(try b.fetch(up).map(\.name), is: expected, "names, upwards:")
        },
        planned(
            "planned-orders", "A claimed order of texts is the one that the sort key names.",
            hint: "The sort key's stringOrder was ignored. Claim no order for a key that has one.", names
        ) { _, name in
            [StringOrder.localizedStandard, .localized, .lexical, nil].flatMap { order in
                [true, false].map { isAscending in
                    StoreQuery("Entry", order: [.init(name, isAscending: isAscending, stringOrder: order)])
                }
            }
        },
        planned(
            "planned-order-of-equal-texts", "Texts that are equal are ties of an order, whatever their forms.",
            hint: bytesHint, forms
        ) { probe, name in
            [
                StoreQuery("Entry", order: [.init(name), .init(try probe.property("rank"), isAscending: false)]),
                StoreQuery("Entry", order: [.init(name, isAscending: false)]),
            ]
        },
    ]
}
