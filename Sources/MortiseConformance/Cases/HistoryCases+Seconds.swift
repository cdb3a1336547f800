import Foundation
import MortiseCore

/// Second looks at a history: it is read as one text, which holds all that a reader needs, and again after reopening.
extension ConformanceCase {
    private static func history(
        _ id: String, and others: [StoreCapability] = [], _ requirement: String, hint: String,
        body: @escaping @Sendable (CaseContext, ModelContext) throws -> Void
    ) -> ConformanceCase {
        ConformanceCase(
            "history.\(id)", level: .full, capability: .history, and: others, requirement: requirement, hint: hint
        ) { c in try body(c, try c.session().context) }
    }

    private static func all(
        _ context: ModelContext, _ predicate: Predicate<DefaultHistoryTransaction>? = nil
    ) throws -> [DefaultHistoryTransaction] {
        try context.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>(predicate: predicate))
    }

    private static var names: [AnyKeyPath: String] {
        [
            \Entry.rank: "rank", \Entry.note: "note", \Person.team: "team", \Person.age: "age", \Puppy.legs: "legs",
            \Puppy.weeks: "weeks",
        ]
    }

    /// A change as a line.
    private static func text(_ change: HistoryChange) -> String {
        func names<U: HistoryUpdate>(_ update: U) -> String {
            update.updatedAttributes.map { Self.names[$0 as AnyKeyPath] ?? "another" }.sorted().joined(separator: " ")
        }
        func kept<D: HistoryDelete>(_ deletion: D) -> String {
            deletion.tombstone.map { "\($0)" }.sorted().joined(separator: " ")
        }
        let entity = change.changedPersistentIdentifier.entityName
        return switch change {
        case .insert: "insert \(entity)"
        case .update(let update): "update \(entity) \(names(update))"
        case .delete(let deletion): "delete \(entity) \(kept(deletion))"
        }
    }

    /// A transaction as a line: its author, its changes in order. Whether a team has changed whose members did is up to the store.
    private static func text(_ transaction: DefaultHistoryTransaction) -> String {
        let author = transaction.author.map { "\"\($0)\"" } ?? "nobody"
        let changes = transaction.changes.map(text).filter { !$0.hasPrefix("update Team") }
        return "\(author): " + changes.joined(separator: ", ")
    }

    /// What makes two readings of one history the same, beside the lines.
    private static func expectWhole(
        _ c: CaseContext, _ found: [DefaultHistoryTransaction], since start: Date, _ moment: String
    ) throws {
        let store = try c.store.identifier
        let numbers = found.map(\.transactionIdentifier)
        try c.expect(
            numbers == numbers.sorted() && Set(numbers).count == numbers.count, "numbers that grow \(moment)",
            found: "\(numbers)")
        let tokens = found.map(\.token)
        try c.expect(
            zip(tokens, tokens.dropFirst()).allSatisfy { $0 < $1 }, "tokens that grow \(moment)", found: "\(tokens)")
        try c.expect(
            found.map(\.storeIdentifier) + tokens.map { $0.storeIdentifier ?? "nil" },
            is: Array(repeating: store, count: 2 * found.count), "stores that transactions and tokens name \(moment):")
        for transaction in found {
            let changes = transaction.changes.map { change -> [Int64?] in
                switch change {
                case .insert(let one): [one.transactionIdentifier as? Int64, one.changeIdentifier as? Int64]
                case .update(let one): [one.transactionIdentifier as? Int64, one.changeIdentifier as? Int64]
                case .delete(let one): [one.transactionIdentifier as? Int64, one.changeIdentifier as? Int64]
                }
            }
            try c.expect(
                changes.map(\.first), is: changes.map { _ in .some(transaction.transactionIdentifier) },
                "transactions that the changes name \(moment):")
            try c.expect(Set(changes.map(\.last)).count, is: changes.count, "identifiers of changes \(moment):")
        }
        let times = found.map { $0.timestamp.timeIntervalSince(start) }
        try c.expect(
            times == times.sorted() && times.allSatisfy { $0 > -1 && $0 < 600 },
            "times that grow, from the begin of the case \(moment)",
            found: "\(times) s after it")
    }

    static let historySecondCases: [ConformanceCase] = [
        history(
            "as-it-was",
            "A history tells who did what, in order and with what is preserved, at once and after reopening.",
            hint: "A part of a transaction is written in another form, in another order, or kept in memory."
        ) { c, context in
            let start = Date.now
            func save(_ author: String?) throws {
                context.author = author
                try context.save()
                // So that two saves have two times.
                Thread.sleep(forTimeInterval: 0.005)
            }
            let (entry, receipt, puppy) = (Entry("e", rank: 1), Receipt("R-1", total: 1), Puppy("p", weeks: 1))
            let (red, ada) = (Team("red"), Person("Ada"))
            for model in [red, ada] as [any PersistentModel] { insert(model, into: context) }
            for model in [entry, receipt, puppy] as [any PersistentModel] { insert(model, into: context) }
            try save(" Ada ")
            entry.rank = 2
            entry.note = "n"
            ada.team = red
            ada.age = 3
            puppy.legs = 3
            puppy.weeks = 2
            try save(nil)
            context.insert(Entry("f"))
            entry.rank = 3
            context.delete(receipt)
            try save(String(repeating: "a", count: 300))
            try c.store.save()
            c.note("save by \" Ada \", by nobody, by an author of 300 characters, and nothing")
            let lines = [
                "\" Ada \": insert Team, insert Person, insert Entry, insert Receipt, insert Puppy",
                "nobody: update Person age team, update Entry note rank, update Puppy legs weeks",
                "\"\(String(repeating: "a", count: 300))\": insert Entry, update Entry rank, delete Receipt R-1",
            ]
            let found = try all(context)
            try c.expect(found.map(text), is: lines, "transactions:")
            try expectWhole(c, found, since: start, "at once")
            try c.expect(
                Set(found.map(\.timestamp)).count, is: found.count, "times of their own:")
            guard c.subject.capabilities.contains(.reopening) else { return }
            try c.reopen()
            let again = try all(try c.session().context)
            try c.expect(again.map(text), is: lines, "transactions after reopening:")
            try expectWhole(c, again, since: start, "after reopening")
            try c.expect(again.map(\.token) == found.map(\.token), "the tokens from before", found: "others")
        },
        history(
            "read-in-pages",
            "A history is read page by page, latest first, and what is forgotten in between changes neither the rest nor records.",
            hint: "Order and limit are left out, or more is forgotten than was asked for; numbers begin again."
        ) { c, context in
            for number in 1...7 {
                context.author = number % 2 == 0 ? "even" : "odd"
                context.insert(Badge(number))
                try context.save()
            }
            let numbers = try all(context).map(\.transactionIdentifier)
            try c.expect(numbers.count, is: 7, "transactions:")
            func page(below bound: Int64) throws -> [Int64] {
                var descriptor = HistoryDescriptor<DefaultHistoryTransaction>(
                    predicate: #Predicate { $0.transactionIdentifier < bound },
                    sortBy: [SortDescriptor(\.transactionIdentifier, order: .reverse)])
                descriptor.fetchLimit = 3
                return try context.fetchHistory(descriptor).map(\.transactionIdentifier)
            }
            try c.expect(try page(below: .max), is: [numbers[6], numbers[5], numbers[4]], "the latest three:")
            try c.expect(try page(below: numbers[4]), is: [numbers[3], numbers[2], numbers[1]], "the next three:")
            c.note("forget what even has saved")
            try context.deleteHistory(
                HistoryDescriptor<DefaultHistoryTransaction>(predicate: #Predicate { $0.author == "even" }))
            try c.expect(
                try all(context).map(\.transactionIdentifier), is: [0, 2, 4, 6].map { numbers[$0] }, "numbers left:")
            try c.expect(try c.session().count(FetchDescriptor<Badge>()), is: 7, "records:")
            c.note("forget the rest, save once more")
            try context.deleteHistory(HistoryDescriptor<DefaultHistoryTransaction>())
            if c.subject.capabilities.contains(.reopening) { try c.reopen() }
            let later = try c.session().context
            later.insert(Badge(8))
            try later.save()
            let last = try all(later).map(\.transactionIdentifier)
            try c.expect(
                last.count == 1 && last.allSatisfy { $0 > numbers[6] }, "one number above \(numbers[6])",
                found: "\(last)")
            try c.expect(try c.session().count(FetchDescriptor<Badge>()), is: 8, "records after it:")
        },
        history(
            "of-refused-saves", "A save that is refused after others leaves the history as it was, at once and later.",
            hint: "The history is written before the save is known to succeed."
        ) { c, context in
            let (kept, gone) = (Entry("kept"), Entry("gone"))
            context.insert(kept)
            context.insert(gone)
            try context.save()
            try c.store.save(deleted: [gone])
            let before = try all(context).map(text)
            kept.rank = 5
            for _ in 0..<2 {
                try c.expectError("an error") {
                    try c.store.save(inserted: [Entry("never")], updated: [kept], deleted: [gone])
                }
            }
            try c.expect(try all(context).map(text), is: before, "transactions after two refused saves:")
            context.rollback()
            guard c.subject.capabilities.contains(.reopening) else { return }
            try c.reopen()
            try c.expect(try all(try c.session().context).map(text), is: before, "transactions after reopening:")
        },
        history(
            "across-an-erasure", and: [.erase], "What was saved before an erasure stays told, twice over.",
            hint: "The history is erased with the records, or a line is written for each record that goes."
        ) { c, context in
            context.author = "early"
            for number in 1...3 { context.insert(Receipt("R-\(number)", total: number)) }
            try context.save()
            for _ in 0..<2 {
                c.note("erase")
                try c.container.erase()
            }
            let found = try all(try c.session().context)
            try c.expect(
                found.prefix(1).map(text), is: ["\"early\": insert Receipt, insert Receipt, insert Receipt"],
                "the transaction from before:")
            try c.expect(found.dropFirst().flatMap(\.changes).map(text), is: [], "changes after it:")
        },
        history(
            "of-batches-by-conditions", and: [.batchUpdate],
            "Batches that delete by conditions tell their author as given, each record and what it preserves, also after reopening.",
            hint:
                "A batch is one line of the history, or tells the first record's values, or an empty author as nobody."
        ) { c, context in
            for number in 1...6 { context.insert(Receipt("R-\(number)", total: number)) }
            try context.save()
            let start = try all(context).count
            for (author, first) in [("", 1), (" b ", 4)] {
                let before = try all(context).count
                context.author = author
                let after = first + 3
                c.note("delete three receipts in a batch, by \(ExactForm.text(author))")
                try context.delete(
                    model: Receipt.self, where: #Predicate { $0.total >= first && $0.total < after })
                let found = try all(context).dropFirst(before)
                try c.expect(
                    found.flatMap(\.changes).map(text).sorted(), is: (first..<after).map { "delete Receipt R-\($0)" },
                    "changes of the batch:")
                try c.expect(Set(found.map(\.author)), is: [author], "authors of the batch:")
            }
            guard c.subject.capabilities.contains(.reopening) else { return }
            try c.reopen()
            let again = try all(try c.session().context).dropFirst(start)
            try c.expect(
                again.flatMap(\.changes).map(text).sorted(), is: (1...6).map { "delete Receipt R-\($0)" },
                "changes of both after reopening:")
            try c.expect(Set(again.map(\.author)), is: ["", " b "], "authors of both after reopening:")
        },
        history(
            "of-a-batch", and: [.batchDelete], "A batch tells its author and what its records preserve, each of them.",
            hint: "A batch looks at no record. Read what its models preserve before."
        ) { c, context in
            for number in 1...3 { context.insert(Receipt("R-\(number)", total: number)) }
            try context.save()
            let before = try all(context).count
            context.author = ""
            c.note("delete(model: Receipt) by an author whose name is empty")
            try context.delete(model: Receipt.self, where: #Predicate { $0.total > 1 })
            try context.save()
            let found = try all(context).dropFirst(before)
            try c.expect(
                found.flatMap(\.changes).map(text).sorted(), is: ["delete Receipt R-2", "delete Receipt R-3"],
                "changes of the batch:")
            try c.expect(Set(found.map(\.author)), is: [""], "authors of the batch:")
            let between = try all(context).count
            c.note("delete(model: Receipt), the rest")
            try context.delete(model: Receipt.self)
            try context.save()
            try c.expect(
                try all(context).dropFirst(between).flatMap(\.changes).map(text), is: ["delete Receipt R-1"],
                "changes of the batch that deletes the rest:")
        },
    ]

    private static func insert<M: PersistentModel>(_ model: M, into context: ModelContext) { context.insert(model) }
}
