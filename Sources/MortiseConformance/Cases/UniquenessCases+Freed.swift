import Foundation
import MortiseCore

/// Unique values that one save frees and takes, that are nil, or that look alike where they are joined.
extension ConformanceCase {
    private static let freedHint =
        "The constraint is checked record by record, or against what is stored, before the save's own deletions and updates."
    private static let nilHint = "Nil counts as a value in a constraint. Records without a value never conflict."
    private static let joinedHint =
        "The values of a compound constraint are joined into one text before they are compared."

    /// A case by contexts, and one by the store itself, of which the store enforces the constraint.
    private static func unique(
        _ id: String, inTheStore: Bool = false, _ requirement: String, hint: String,
        body: @escaping @Sendable (CaseContext) throws -> Void
    ) -> ConformanceCase {
        ConformanceCase(
            "uniqueness.\(id)", level: .core, capability: inTheStore ? .uniqueness : nil, requirement: requirement,
            hint: hint, body: body)
    }

    private static func accounts(_ c: CaseContext) throws -> [String] {
        try c.session().all(Account.self).map {
            "\($0.email) \($0.country) \($0.number.map { "\($0)" } ?? "nil") \($0.owner)"
        }
    }

    /// Two accounts, in a session.
    private static func twoAccounts(_ c: CaseContext) throws -> (session: CaseSession, one: Account, two: Account) {
        let a = try c.session()
        let (one, two) = (
            Account("a@x", country: "NO", number: 1, owner: "one"),
            Account("b@x", country: "SE", number: 2, owner: "two")
        )
        try a.store(one, two)
        return (a, one, two)
    }

    static let freedValueCases: [ConformanceCase] = freedCases + nilValueCases + joinedCases

    // MARK: Freed in the same save

    private static let freedCases: [ConformanceCase] = [
        unique(
            "freed-in-the-same-save", "A save may delete a record and insert another one with its unique values.",
            hint: freedHint
        ) { c in
            let (a, one, _) = try twoAccounts(c)
            let old = one.persistentModelID
            a.delete(one)
            let new = Account("a@x", country: "NO", number: 1, owner: "new")
            a.insert(new)
            try a.save()
            try c.expect(try accounts(c).sorted(), is: ["a@x NO 1 new", "b@x SE 2 two"], "accounts:")
            try c.expect(new.persistentModelID != old, "another identifier than \(old)", found: "the same")
        },
        unique(
            "freed-compound-in-the-same-save",
            "A save may delete a record and insert one that has the same values in a compound constraint alone.",
            hint: freedHint
        ) { c in
            let (a, _, two) = try twoAccounts(c)
            a.delete(two)
            a.insert(Account("c@x", country: "SE", number: 2, owner: "new"))
            try a.save()
            try c.expect(try accounts(c).sorted(), is: ["a@x NO 1 one", "c@x SE 2 new"], "accounts:")
        },
        unique(
            "taken-from-a-deleted-record", "A save may delete a record and give its unique value to a stored one.",
            hint: freedHint
        ) { c in
            let (a, one, two) = try twoAccounts(c)
            a.delete(one)
            a.change("the second account") { (two.email, two.country, two.number) = ("a@x", "NO", 1) }
            try a.save()
            try c.expect(try accounts(c), is: ["a@x NO 1 two"], "accounts:")
        },
        unique(
            "exchanged-in-turn", "Three records can pass their unique values on to each other in one save.",
            hint: freedHint
        ) { c in
            let (a, one, two) = try twoAccounts(c)
            let three = Account("c@x", country: "DK", number: 3, owner: "three")
            try a.store(three)
            a.change("pass addresses and numbers on") {
                let all = [one, two, three]
                let old = all.map { ($0.email, $0.country, $0.number) }
                for (place, account) in all.enumerated() {
                    (account.email, account.country, account.number) = old[(place + 1) % 3]
                }
            }
            try a.save()
            try c.expect(
                try accounts(c), is: ["b@x SE 2 one", "c@x DK 3 two", "a@x NO 1 three"], "accounts:")
        },
        unique(
            "freed-in-the-same-save-of-the-store", inTheStore: true,
            "A store that enforces uniqueness takes a new record with the values of one that the same save deletes.",
            hint: freedHint
        ) { c in
            let (_, one, two) = try twoAccounts(c)
            try c.store.save(
                inserted: [Account("a@x", country: "NO", number: 1, owner: "new")], deleted: [one])
            try c.expect(try accounts(c).sorted(), is: ["a@x NO 1 new", "b@x SE 2 two"], "accounts:")
            try c.store.save(
                inserted: [Account("c@x", country: "SE", number: 2, owner: "newer")], deleted: [two])
            try c.expect(try accounts(c).sorted(), is: ["a@x NO 1 new", "c@x SE 2 newer"], "accounts after another:")
        },
        unique(
            "given-up-in-the-same-save-of-the-store", inTheStore: true,
            "A store that enforces uniqueness takes a new record with the values that an update of the same save gives up.",
            hint: freedHint
        ) { c in
            let (a, one, two) = try twoAccounts(c)
            (one.email, one.country) = ("z@x", "FI")
            try c.store.save(inserted: [Account("a@x", country: "NO", number: 1, owner: "new")], updated: [one])
            try c.expect(
                try accounts(c).sorted(), is: ["a@x NO 1 new", "b@x SE 2 two", "z@x FI 1 one"], "accounts:")
            (one.email, one.country, one.number) = ("b@x", "SE", 2)
            (two.email, two.country, two.number) = ("z@x", "FI", 1)
            try c.store.save(updated: [one, two])
            a.context.rollback()
            try c.expect(
                try accounts(c).sorted(), is: ["a@x NO 1 new", "b@x SE 2 one", "z@x FI 1 two"],
                "accounts after an exchange:")
            c.note("of two that are alike one is still refused")
            try c.expectError("an error from the store") {
                try c.store.save(inserted: [
                    Account("d@x", country: "A", number: 1), Account("d@x", country: "B", number: 1),
                ])
            }
        },
    ]

    // MARK: Nil

    /// Opens the storage for tickets alone, and closes it.
    private static func tickets(_ c: CaseContext, _ body: (ModelContainer) throws -> Void) throws {
        let container = try c.open(for: Ticket.schema)
        do {
            try body(container)
        } catch {
            try? container.close()
            throw error
        }
        try container.close()
    }

    private static func names(_ container: ModelContainer) throws -> [String] {
        try ModelContext(container).fetch(FetchDescriptor<Ticket>()).map(\.name)
    }

    private static let nilValueCases: [ConformanceCase] = [
        unique(
            "nil-in-a-unique-property",
            "Any number of records may have nil in a unique property, and take a value later.",
            hint: nilHint
        ) { c in
            try tickets(c) { container in
                let a = ModelContext(container)
                let all = ["one", "two", "three"].map { Ticket($0) }
                c.note("insert three tickets without code, row and seat, save; two more, save")
                for ticket in all { a.insert(ticket) }
                try a.save()
                let b = ModelContext(container)
                b.insert(Ticket("four"))
                b.insert(Ticket("five", code: "x"))
                try b.save()
                try c.expect(
                    try names(container), is: ["one", "two", "three", "four", "five"], "tickets:")
                c.note("give one a code, and take the code of five away, save")
                all[0].code = "y"
                try a.save()
                let five = try c.require(try b.fetch(FetchDescriptor<Ticket>()).last, "the last ticket")
                five.code = nil
                try b.save()
                let other = ModelContext(container)
                other.insert(Ticket("six", code: "x"))
                other.insert(Ticket("seven"))
                try other.save()
                let found = try ModelContext(container).fetch(FetchDescriptor<Ticket>())
                try c.expect(
                    found.map { "\($0.name) \($0.code ?? "nil")" },
                    is: ["one y", "two nil", "three nil", "four nil", "five nil", "six x", "seven nil"],
                    "tickets and their codes:")
            }
        },
        unique(
            "nil-in-compounds", "Nil in one or in both properties of a compound constraint makes no two records alike.",
            hint: nilHint
        ) { c in
            try tickets(c) { container in
                for round in 1...2 {
                    let a = ModelContext(container)
                    c.note("insert tickets with row, with seat, and with neither, save")
                    for (place, ticket) in [("A", nil), (nil, "1"), (nil, nil), ("A", nil), ("", nil)].enumerated() {
                        a.insert(Ticket("\(round).\(place)", row: ticket.0, seat: ticket.1))
                    }
                    try a.save()
                }
                try c.expect(try names(container).count, is: 10, "tickets:")
                let a = ModelContext(container)
                c.note("two tickets of the same row and seat are one")
                a.insert(Ticket("first", row: "A", seat: "1"))
                try a.save()
                let b = ModelContext(container)
                b.insert(Ticket("second", row: "A", seat: "1"))
                try b.save()
                try c.expect(Array(try names(container).dropFirst(10)), is: ["second"], "tickets of row A, seat 1:")
            }
        },
        unique(
            "nil-in-the-store", inTheStore: true,
            "A store that enforces uniqueness takes any number of nils, and refuses values that are alike.",
            hint: nilHint
        ) { c in
            try tickets(c) { container in
                let store = try c.bareStore(of: container)
                let rows: [(String?, String?)] = [("A", nil), (nil, "1"), (nil, nil), (nil, nil), ("A", nil)]
                try store.save(
                    inserted: rows.enumerated().map { Ticket("\($0.offset)", row: $0.element.0, seat: $0.element.1) })
                try store.save(
                    inserted: rows.enumerated().map { Ticket("\($0.offset)", row: $0.element.0, seat: $0.element.1) })
                try c.expect(try names(container).count, is: 10, "tickets:")
                try store.save(inserted: [Ticket("a", code: "x", row: "A", seat: "1")])
                try c.expectError("an error from the store, for a code that is taken") {
                    try store.save(inserted: [Ticket("b", code: "x")])
                }
                try c.expectError("an error from the store, for a seat that is taken") {
                    try store.save(inserted: [Ticket("b", row: "A", seat: "1")])
                }
                try c.expect(try names(container).count, is: 11, "tickets after the refused saves:")
            }
        },
    ]

    // MARK: Joined

    private static let pairs = [
        ("a", "bc"), ("ab", "c"), ("", "abc"), ("abc", ""), ("a,b", "c"), ("a", "b,c"), ("a|b", "c"), ("a", "b|c"),
        ("a\u{0}b", "c"), ("a", "b\u{0}c"), ("a b", "c"), ("a", "b c"), ("nil", ""), ("\u{1F}", "a"), ("", "\u{1F}a"),
        ("a\u{1F}b", "c"), ("a", "b\u{1F}c"), ("A", "bc"), ("a-b", "c"), ("a", "b-c"), ("a:b", "c"), ("a", "b:c"),
        ("a/b", "c"), ("a", "b/c"), ("a\tb", "c"), ("a", "b\tc"), ("a\", \"b", "c"), ("a", "b\", \"c"),
    ]

    private static let joinedCases: [ConformanceCase] = [
        unique(
            "compounds-are-not-joined", "Pairs of texts that are the same only where they are joined do not conflict.",
            hint: joinedHint
        ) { c in
            try tickets(c) { container in
                let a = ModelContext(container)
                c.note("insert \(pairs.count) tickets whose rows and seats differ, save")
                for (place, pair) in pairs.enumerated() { a.insert(Ticket("\(place)", row: pair.0, seat: pair.1)) }
                try a.save()
                try c.expect(try names(container), is: pairs.indices.map { "\($0)" }, "tickets:")
                let b = ModelContext(container)
                c.note("insert as many with the same rows and seats, save")
                for (place, pair) in pairs.enumerated() { b.insert(Ticket("new \(place)", row: pair.0, seat: pair.1)) }
                try b.save()
                try c.expect(
                    try names(container), is: pairs.indices.map { "new \($0)" }, "tickets after the same again:")
            }
        },
        unique(
            "compounds-are-not-joined-in-the-store", inTheStore: true,
            "A store that enforces uniqueness takes pairs of texts that are the same only where they are joined.",
            hint: joinedHint
        ) { c in
            try tickets(c) { container in
                let store = try c.bareStore(of: container)
                for (place, pair) in pairs.enumerated() {
                    try store.save(inserted: [Ticket("\(place)", row: pair.0, seat: pair.1)])
                }
                for pair in pairs {
                    try c.expectError("an error from the store, for the pair \(pair)") {
                        try store.save(inserted: [Ticket("again", row: pair.0, seat: pair.1)])
                    }
                }
                try c.expect(try names(container), is: pairs.indices.map { "\($0)" }, "tickets:")
            }
        },
    ]
}
