import Foundation
import MortiseCore

/// What a history keeps: the values that were stored, every transaction, its author as it was given, and numbers that go on.
extension ConformanceCase {
    private static func history(
        _ id: String, level: Level = .core, and others: [StoreCapability] = [], _ requirement: String, hint: String,
        isLarge: Bool = false, body: @escaping @Sendable (CaseContext, ModelContext) throws -> Void
    ) -> ConformanceCase {
        ConformanceCase(
            "history.\(id)", level: level, capability: .history, and: others, requirement: requirement, hint: hint,
            isLarge: isLarge
        ) { c in try body(c, try c.session().context) }
    }

    private static func all(
        _ context: ModelContext, _ predicate: Predicate<DefaultHistoryTransaction>? = nil
    ) throws -> [DefaultHistoryTransaction] {
        try context.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>(predicate: predicate))
    }

    private static let preservedHint =
        "The preserved values are those of the request. A context may have changed them without saving, or not know them: take "
        + "them from what is stored, before it goes."

    /// The codes that deletions of receipts have kept, in the last transactions.
    private static func codes(_ context: ModelContext, ofLast count: Int = 1) throws -> [String?] {
        try all(context).suffix(count).flatMap(\.changes).compactMap { change -> String?? in
            guard case .delete(let deletion) = change, let deletion = deletion as? DefaultHistoryDelete<Receipt> else {
                return nil
            }
            return .some(deletion.tombstone[\.code] as? String)
        }
    }

    private static func receipts(_ context: ModelContext, _ count: Int) throws -> [Receipt] {
        let receipts = (1...count).map { Receipt("R-\($0)", total: $0) }
        for receipt in receipts { context.insert(receipt) }
        try context.save()
        return receipts
    }

    static let historyKeepingCases: [ConformanceCase] = preservingCases + countingCases + authorCases

    // MARK: Preserved values

    private static let preservingCases: [ConformanceCase] = [
        history(
            "tombstones-of-what-was-stored",
            "A deletion keeps the values that were stored, not those that were never saved.",
            hint: preservedHint
        ) { c, context in
            let receipts = try receipts(context, 3)
            c.note("change the codes of two receipts without saving, delete them and a third, save")
            receipts[0].code = "never"
            receipts[1].code = ""
            for receipt in receipts { context.delete(receipt) }
            try context.save()
            try c.expect(
                try codes(context).map { $0 ?? "nil" }.sorted(), is: ["R-1", "R-2", "R-3"], "the preserved codes:")
        },
        history(
            "tombstones-of-later-values", "A deletion keeps the value that another context has saved before.",
            hint: preservedHint
        ) { c, context in
            let receipt = try receipts(context, 1)[0]
            let other = try c.session()
            try other.only(Receipt.self).code = "R-1b"
            c.note("another context changes the code and saves; then the receipt is deleted by the store itself")
            try other.save()
            try c.store.save(deleted: [receipt])
            try c.expect(try codes(context), is: ["R-1b"], "the preserved code:")
        },
        history(
            "tombstones-of-the-store", "The store keeps the stored values of a deletion whose request has others.",
            hint: preservedHint
        ) { c, context in
            let receipt = try receipts(context, 1)[0]
            receipt.code = "never"
            try c.store.save(deleted: [receipt])
            context.rollback()
            try c.expect(try codes(try c.session().context), is: ["R-1"], "the preserved code:")
        },
        history(
            "tombstones-of-batches", "A batch that deletes keeps the values of each record.",
            hint: "A batch deletes by a condition, and looks at no record. Read what its models preserve before."
        ) { c, context in
            _ = try receipts(context, 5)
            c.note("delete(model: Receipt) where total < 3, then all")
            try context.delete(model: Receipt.self, where: #Predicate { $0.total < 3 })
            try c.expect(
                try codes(context).map { $0 ?? "nil" }.sorted(), is: ["R-1", "R-2"], "the codes preserved by the first:"
            )
            let before = try all(context).count
            try context.delete(model: Receipt.self)
            let count = try all(context).count - before
            try c.expect(
                try codes(context, ofLast: count).map { $0 ?? "nil" }.sorted(), is: ["R-3", "R-4", "R-5"],
                "the codes preserved by the second:")
            if c.subject.capabilities.contains(.reopening) {
                try c.reopen()
                let again = try c.session().context
                try c.expect(
                    try codes(again, ofLast: count).map { $0 ?? "nil" }.sorted(), is: ["R-3", "R-4", "R-5"],
                    "the codes after reopening:")
            }
        },
    ]

    // MARK: Every transaction

    /// Saves once for each number: new records, of which one is changed from the hundredth on. It is transactions that count, and
    /// a store of many records may take longer over each.
    private static func save(_ numbers: Range<Int>, in context: ModelContext, changingFrom limit: Int = 100) throws {
        var changed: Badge?
        for number in numbers {
            context.author = "\(number)"
            if number < limit {
                let badge = Badge(number)
                context.insert(badge)
                changed = badge
            } else {
                changed?.number = number
            }
            try context.save()
        }
    }

    /// Checks all, those after a token, a page and the latest.
    private static func expect(_ c: CaseContext, _ context: ModelContext, _ count: Int, _ when: String) throws {
        c.note("fetch the history, \(when)")
        let found = try all(context)
        try c.expect(found.count, is: count, "transactions \(when):")
        try c.expect(
            found.map { $0.author ?? "" } == (0..<count).map { "\($0)" }, "all of them in order, \(when)",
            found: "others")
        let (early, late) = (found[9].token, found[count - 2].token)
        try c.expect(
            try all(context, #Predicate { $0.token > early }).count, is: count - 10, "after the tenth token, \(when):")
        try c.expect(
            try all(context, #Predicate { $0.token > late }).map(\.author), is: ["\(count - 1)"],
            "after the last token but one, \(when):")
        try c.expect(
            try all(context, #Predicate { $0.author == "3" }).map(\.token), is: [found[3].token],
            "by one author, \(when):")
        var page = HistoryDescriptor<DefaultHistoryTransaction>(
            sortBy: [SortDescriptor(\.transactionIdentifier, order: .reverse)])
        page.fetchLimit = UInt64(count - 5)
        let latest = try context.fetchHistory(page).map { $0.author ?? "" }
        try c.expect(
            latest == (5..<count).reversed().map { "\($0)" }, "the latest \(count - 5), \(when)",
            found: "\(latest.count) others")
    }

    private static func keeping(_ count: Int, _ c: CaseContext, _ context: ModelContext) throws {
        c.note("save \(count) times")
        try save(0..<count, in: context)
        try expect(c, context, count, "in the same opening")
        if c.subject.capabilities.contains(.reopening) {
            try c.reopen()
            let again = try c.session().context
            try expect(c, again, count, "after reopening")
            try save(count..<(count + 3), in: again, changingFrom: .max)
            try expect(c, again, count + 3, "after three more saves")
        }
        let other = try c.session().context
        let before = try all(other)
        let bound = before[before.count - 4].token
        c.note("forget all but the latest four")
        try other.deleteHistory(
            HistoryDescriptor<DefaultHistoryTransaction>(predicate: #Predicate { $0.token < bound }))
        try c.expect(try all(other).map(\.author), is: before.suffix(4).map(\.author), "authors left:")
    }

    private static let countHint =
        "The history keeps or returns some transactions at most. Only deleteHistory(_:) removes any."

    private static let countingCases: [ConformanceCase] = [
        history(
            "130-transactions", level: .full, "130 transactions are all kept, returned, found and forgotten.",
            hint: countHint
        ) { c, context in try keeping(130, c, context) },
        history(
            "1200-transactions", level: .full, "1,200 transactions are all kept, returned, found and forgotten.",
            hint: countHint, isLarge: true
        ) { c, context in try keeping(1_200, c, context) },
        history(
            "1100-transactions-of-one-record", level: .full,
            "1,100 changes of one record are told by as many transactions, from the first to the last, also after a token.",
            hint: countHint, isLarge: true
        ) { c, context in
            let badge = Badge(0)
            context.insert(badge)
            c.note("save a badge, and 1,099 changes of it")
            for number in 0..<1_100 {
                context.author = "\(number % 7)"
                badge.number = number
                try context.save()
            }
            func check(_ context: ModelContext, _ moment: String) throws {
                let found = try all(context)
                try c.expect(found.count, is: 1_100, "transactions \(moment):")
                let first = try c.require(found.first, "a first transaction")
                try c.expect(
                    first.changes.map { if case .insert = $0 { true } else { false } }, is: [true],
                    "whether the first is the insertion, \(moment):")
                let token = first.token
                try c.expect(
                    try all(context, #Predicate { $0.token > token }).count, is: 1_099,
                    "transactions after the first, \(moment):")
                var page = HistoryDescriptor<DefaultHistoryTransaction>()
                page.fetchLimit = 1_050
                try c.expect(try context.fetchHistory(page).count, is: 1_050, "transactions of a page, \(moment):")
            }
            try check(context, "in the same opening")
            guard c.subject.capabilities.contains(.reopening) else { return }
            try c.reopen()
            try check(try c.session().context, "after reopening")
        },
        history(
            "goes-on-after-an-empty-one", level: .full, and: [.reopening],
            "After the whole history was forgotten and the storage opened again, the next save comes after the last token.",
            hint:
                "Numbers go on from the last transaction that is kept. Keep the last number itself: a follower asks for what "
                + "comes after it."
        ) { c, context in
            try save(0..<3, in: context)
            let last = try c.require(try all(context).last, "a transaction")
            let token = last.token
            c.note("forget the whole history")
            try context.deleteHistory(HistoryDescriptor<DefaultHistoryTransaction>())
            for round in 3...4 {
                try c.reopen()
                let again = try c.session().context
                try c.expect(try all(again).count, is: round - 3, "transactions after reopening:")
                try save(round..<(round + 1), in: again)
                try c.expect(
                    try all(again, #Predicate { $0.token > token }).map(\.author), is: (3...round).map { "\($0)" },
                    "authors of what came after the last token:")
                let numbers = try all(again).map(\.transactionIdentifier)
                try c.expect(
                    numbers.allSatisfy { $0 > last.transactionIdentifier } && Set(numbers).count == numbers.count,
                    "numbers above \(last.transactionIdentifier)", found: "\(numbers)")
            }
            c.note("forget the whole history, in the opening of the last save")
            // A token from before what was forgotten may have expired.
            let latest = try c.require(try all(c.session().context).last, "a transaction").token
            try c.session().context.deleteHistory(HistoryDescriptor<DefaultHistoryTransaction>())
            try c.reopen()
            try c.reopen()
            let again = try c.session().context
            try save(5..<6, in: again)
            try c.expect(
                try all(again, #Predicate { $0.token > latest }).map(\.author), is: ["5"], "authors after all:")
        },
    ]

    // MARK: Authors

    private static let authorCases: [ConformanceCase] = [
        history(
            "authors-as-they-are", "An author is kept as it was given: the empty one is not nil, and nothing is cut.",
            hint: "An empty text is kept as nil, or authors are trimmed."
        ) { c, context in
            let authors: [String?] = [
                "", nil, " ", "  Ada ", "nil", "NULL", "e\u{301}", "\u{E9}", "a\u{0}b", "\n",
                "\u{1F469}\u{200D}\u{1F680}", "\"',;",
                String(repeating: "long ", count: 200), "", nil,
            ]
            for (place, author) in authors.enumerated() {
                context.author = author
                context.insert(Badge(place))
                try context.save()
            }
            c.note("\(authors.count) saves by as many authors")
            func check(_ context: ModelContext, _ when: String) throws {
                try c.expect(try all(context).map(\.author), is: authors, "authors \(when):")
                try c.expect(
                    try all(context, #Predicate { $0.author == "" }).count, is: 2,
                    "transactions by the empty author \(when):")
                try c.expect(
                    try all(context, #Predicate { $0.author == nil }).count, is: 2, "transactions by nobody \(when):")
            }
            try check(context, "in the same opening")
            if c.subject.capabilities.contains(.reopening) {
                try c.reopen()
                try check(try c.session().context, "after reopening")
            }
        },
        history(
            "authors-of-batches", "A batch has the author of its context, the empty one too.",
            hint: "An empty text is kept as nil, or a batch does not tell its author."
        ) { c, context in
            context.insert(Entry("a", rank: 1))
            context.insert(Entry("b", rank: 2))
            try context.save()
            for author in ["", "Ada"] {
                context.author = author
                c.note("update and delete in batches, by \(ExactForm.text(author))")
                var before = try all(context).count
                try context.update(Entry.self) { $0.increment(\.rank, by: 1) }
                try c.expect(
                    try all(context).dropFirst(before).map(\.author), is: [author], "authors of the update:")
                before = try all(context).count
                let name = author.isEmpty ? "a" : "b"
                try context.delete(model: Entry.self, where: #Predicate { $0.name == name })
                try c.expect(
                    try all(context).dropFirst(before).map(\.author), is: [author], "authors of the deletion:")
            }
        },
    ]
}
