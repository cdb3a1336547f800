import Foundation
import MortiseCore

extension ConformanceCase {
    private static func history(
        _ id: String, level: Level = .core, _ requirement: String, hint: String,
        body: @escaping @Sendable (CaseContext, ModelContext) throws -> Void
    ) -> ConformanceCase {
        ConformanceCase(
            "history.\(id)", level: level, capability: .history, requirement: requirement, hint: hint
        ) { c in try body(c, try c.session().context) }
    }

    private static func all(_ context: ModelContext) throws -> [DefaultHistoryTransaction] {
        try context.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>())
    }

    private static func kinds(_ transaction: DefaultHistoryTransaction) -> [String] {
        transaction.changes.map { change in
            switch change {
            case .insert(let change): "insert \(change.changedPersistentIdentifier.entityName)"
            case .update(let change): "update \(change.changedPersistentIdentifier.entityName)"
            case .delete(let change): "delete \(change.changedPersistentIdentifier.entityName)"
            }
        }
    }

    static let historyCases: [ConformanceCase] = [
        history(
            "empty", "A store that was never saved to has no transactions.",
            hint: "Opening writes one."
        ) { c, context in try c.expect(try all(context).count, is: 0, "transactions:") },
        history(
            "one-for-each-save", "Each save that changes something is one transaction, oldest first.",
            hint: "Each record makes its own transaction, or saves are merged."
        ) { c, context in
            for name in ["a", "b", "c"] {
                context.insert(Entry(name))
                context.insert(Team(name))
                try context.save()
            }
            c.note("3 saves of 2 records each")
            let found = try all(context)
            try c.expect(found.map(\.changes.count), is: [2, 2, 2], "changes of each transaction:")
            try c.expect(
                found.map(\.transactionIdentifier), is: found.map(\.transactionIdentifier).sorted(),
                "numbers, oldest first:")
        },
        history(
            "none-for-empty-saves", level: .full, "A save without changes makes no transaction.",
            hint: "Every call of save(_:) is written."
        ) { c, context in
            context.insert(Entry("a"))
            try context.save()
            try c.store.save()
            try c.expect(try all(context).count, is: 1, "transactions:")
        },
        history(
            "kinds-of-change", "A transaction tells insertions, updates and deletions apart, and their entities.",
            hint: "Everything is written as an update."
        ) { c, context in
            let changed = Entry("changed")
            let gone = Team("gone")
            context.insert(changed)
            context.insert(gone)
            try context.save()
            changed.rank = 1
            context.delete(gone)
            context.insert(Badge(1))
            try context.save()
            c.note("a save that inserts, updates and deletes")
            let found = try c.require(try all(context).last, "a transaction")
            try c.expect(kinds(found).sorted(), is: ["delete Team", "insert Badge", "update Entry"], "changes:")
        },
        history(
            "updated-properties", "An update names the properties that changed, and no others.",
            hint: "All properties of the record are named."
        ) { c, context in
            let entry = Entry("a", rank: 1)
            context.insert(entry)
            try context.save()
            entry.rank = 2
            try context.save()
            c.note("change the rank of an entry, save")
            guard case .update(let change)? = try all(context).last?.changes.first else {
                throw c.failure(expected: "an update", found: "another change, or none")
            }
            guard let change = change as? DefaultHistoryUpdate<Entry> else {
                throw c.failure(expected: "an update of an Entry", found: "\(type(of: change))")
            }
            try c.expect(
                change.updatedAttributes.map { $0 == \Entry.rank }, is: [true], "whether the properties are the rank:")
        },
        history(
            "tombstones", "A deletion keeps the values that its model preserves.",
            hint: "The values are looked for after the record is gone."
        ) { c, context in
            let receipt = Receipt("R-1", total: 5)
            context.insert(receipt)
            try context.save()
            context.delete(receipt)
            try context.save()
            c.note("delete a receipt whose code is preserved, save")
            guard case .delete(let change)? = try all(context).last?.changes.first,
                let change = change as? DefaultHistoryDelete<Receipt>
            else { throw c.failure(expected: "a deletion of a Receipt", found: "another change, or none") }
            try c.expect(change.tombstone[\.code] as? String, is: "R-1", "the preserved code:")
            try c.expect(
                change.tombstone[\.total] == nil, "no total, which is not preserved", found: "one")
        },
        history(
            "permanent-identifiers", "Changes name records by their permanent identifiers.",
            hint: "The history is written before identifiers are given."
        ) { c, context in
            let entry = Entry("a")
            context.insert(entry)
            try context.save()
            try c.expect(
                try all(context).flatMap(\.changes).map(\.changedPersistentIdentifier), is: [entry.persistentModelID],
                "records of the history:")
        },
        history(
            "author", "A transaction has the author of the context that saved.",
            hint: "editingState.author is not written."
        ) { c, context in
            context.author = "Ada"
            context.insert(Entry("a"))
            try context.save()
            c.note("a save by Ada")
            let other = try c.session().context
            other.insert(Entry("b"))
            try other.save()
            try c.expect(try all(context).map(\.author), is: ["Ada", nil], "authors:")
        },
        history(
            "tokens", "Tokens grow, and a predicate on them finds what came after.",
            hint: "All transactions of an opening have one token."
        ) { c, context in
            for name in ["a", "b", "c"] {
                context.insert(Entry(name))
                try context.save()
            }
            let tokens = try all(context).map(\.token)
            try c.expect(
                zip(tokens, tokens.dropFirst()).allSatisfy { $0 < $1 }, "tokens that grow", found: "\(tokens)")
            let first = try c.require(tokens.first, "a token")
            c.note("fetch the history after the first token")
            let later = try context.fetchHistory(
                HistoryDescriptor<DefaultHistoryTransaction>(predicate: #Predicate { $0.token > first }))
            try c.expect(later.map(\.token), is: Array(tokens.dropFirst()), "tokens after the first:")
        },
        history(
            "limit-and-order", level: .full, "A history is fetched in the order and up to the number asked for.",
            hint: "The limit is taken before the order, or 0 for nothing."
        ) { c, context in
            for name in ["a", "b", "c"] {
                context.insert(Entry(name))
                try context.save()
            }
            var descriptor = HistoryDescriptor<DefaultHistoryTransaction>(
                sortBy: [SortDescriptor(\.transactionIdentifier, order: .reverse)])
            let numbers = try all(context).map(\.transactionIdentifier)
            try c.expect(
                try context.fetchHistory(descriptor).map(\.transactionIdentifier), is: numbers.reversed(),
                "numbers, latest first:")
            descriptor.fetchLimit = 2
            try c.expect(
                try context.fetchHistory(descriptor).map(\.transactionIdentifier),
                is: Array(numbers.reversed().prefix(2)),
                "the latest two numbers:")
        },
        history(
            "deletion-of-history", level: .full,
            "Transactions that match are forgotten, the others and the records stay.",
            hint: "The records of forgotten transactions go with them, or everything is forgotten."
        ) { c, context in
            for name in ["a", "b", "c"] {
                context.insert(Entry(name))
                try context.save()
            }
            let tokens = try all(context).map(\.token)
            let last = try c.require(tokens.last, "a token")
            c.note("forget the history before the last token")
            try context.deleteHistory(
                HistoryDescriptor<DefaultHistoryTransaction>(predicate: #Predicate { $0.token < last }))
            try c.expect(try all(context).map(\.token), is: [last], "tokens left:")
            try c.expect(try c.session().all(Entry.self).map(\.name), is: ["a", "b", "c"], "names:")
        },
        history(
            "failed-saves-leave-none", "A save that fails makes no transaction.",
            hint: "The history is written before the save is known to succeed."
        ) { c, context in
            let gone = Entry("gone")
            context.insert(gone)
            try context.save()
            try c.store.save(deleted: [gone])
            let before = try all(context).count
            try c.expectError("an error") { try c.store.save(inserted: [Entry("never")], deleted: [gone]) }
            try c.expect(try all(context).count, is: before, "transactions:")
        },
        ConformanceCase(
            "history.after-reopening", level: .core, capability: .history, and: [.reopening],
            requirement: "The history survives reopening, and continues with higher numbers.",
            hint: "The history is kept in memory, or its numbers start again."
        ) { c in
            try c.session().store(Entry("a"))
            let before = try all(try c.session().context).map(\.transactionIdentifier)
            try c.reopen()
            try c.session().store(Entry("b"))
            let after = try all(try c.session().context).map(\.transactionIdentifier)
            try c.expect(Array(after.prefix(1)), is: before, "the transaction from before:")
            try c.expect(after.count, is: 2, "transactions:")
            try c.expect(after == after.sorted() && Set(after).count == 2, "numbers that grow", found: "\(after)")
        },
        history(
            "times", level: .full, "A transaction has the time of its save.",
            hint: "The time is that of the last opening, or of the fetch."
        ) { c, context in
            let before = Date.now.addingTimeInterval(-2)
            context.insert(Entry("a"))
            try context.save()
            let found = try c.require(try all(context).first, "a transaction").timestamp
            try c.expect(
                found >= before && found <= Date.now.addingTimeInterval(2), "a time between before and after the save",
                found: "\(found.timeIntervalSinceReferenceDate) s since 2001")
        },
    ]
}
