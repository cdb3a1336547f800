import Foundation
import MortiseCore

extension ConformanceCase {
    private static func history(
        _ id: String, level: Level = .core, and others: [StoreCapability] = [], _ requirement: String, hint: String,
        body: @escaping @Sendable (CaseContext, ModelContext) throws -> Void
    ) -> ConformanceCase {
        ConformanceCase(
            "history.\(id)", level: level, capability: .history, and: others, requirement: requirement, hint: hint
        ) { c in try body(c, try c.session().context) }
    }

    private static func all(_ context: ModelContext) throws -> [DefaultHistoryTransaction] {
        try context.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>())
    }

    /// The names of the properties that the cases change.
    private static var names: [AnyKeyPath: String] {
        [
            \Entry.rank: "rank", \Entry.note: "note", \Person.team: "team", \Person.age: "age", \Person.badge: "badge",
            \Person.mentor: "mentor", \Person.pupils: "pupils", \Person.projects: "projects", \Project.people: "people",
            \Puppy.legs: "legs", \Puppy.age: "age", \Puppy.weeks: "weeks", \Dog.name: "name",
        ]
    }

    /// A change as a line: what was done to which record, what it names or keeps.
    private static func text(_ change: HistoryChange) -> String {
        func record(_ identifier: PersistentIdentifier) -> String {
            "\(identifier.entityName) \(identifier.sequenceNumber ?? 0)"
        }
        func names<U: HistoryUpdate>(_ update: U) -> String {
            update.updatedAttributes.map { Self.names[$0 as AnyKeyPath] ?? "another" }.sorted().joined(separator: " ")
        }
        func kept<D: HistoryDelete>(_ deletion: D) -> String {
            deletion.tombstone.map { "\($0)" }.sorted().joined(separator: " ")
        }
        return switch change {
        case .insert(let insertion): "insert \(record(insertion.changedPersistentIdentifier))"
        case .update(let update): "update \(record(update.changedPersistentIdentifier)): \(names(update))"
        case .delete(let deletion): "delete \(record(deletion.changedPersistentIdentifier)): \(kept(deletion))"
        }
    }

    /// Saves one entry for each name, under the author of that name.
    private static func save(_ names: [String], in context: ModelContext) throws {
        for name in names {
            context.author = name
            context.insert(Entry(name))
            try context.save()
        }
    }

    static let wideHistoryCases: [ConformanceCase] = [
        history(
            "limit-with-predicate", "A limit counts the transactions that match the predicate, in the order asked for.",
            hint: "The limit is taken before the predicate is looked at."
        ) { c, context in
            try save(["x", "y", "x", "y", "x"], in: context)
            let numbers = try all(context).map(\.transactionIdentifier)
            guard numbers.count == 5 else {
                throw c.failure(expected: "5 transactions", found: "\(numbers.count)")
            }
            c.note("fetch 2 transactions of y, then of x, then of x latest first")
            var descriptor = HistoryDescriptor<DefaultHistoryTransaction>(predicate: #Predicate { $0.author == "y" })
            func found() throws -> [Int64] { try context.fetchHistory(descriptor).map(\.transactionIdentifier) }
            descriptor.fetchLimit = 2
            try c.expect(try found(), is: [numbers[1], numbers[3]], "the first two of y:")
            descriptor.fetchLimit = 1
            try c.expect(try found(), is: [numbers[1]], "the first of y:")
            descriptor.predicate = #Predicate { $0.author == "x" }
            descriptor.fetchLimit = 2
            try c.expect(try found(), is: [numbers[0], numbers[2]], "the first two of x:")
            descriptor.sortBy = [SortDescriptor(\.transactionIdentifier, order: .reverse)]
            try c.expect(try found(), is: [numbers[4], numbers[2]], "the latest two of x:")
            let second = numbers[1]
            descriptor.predicate = #Predicate { $0.transactionIdentifier > second }
            descriptor.sortBy = []
            try c.expect(try found(), is: [numbers[2], numbers[3]], "the first two after the second:")
        },
        history(
            "deletion-of-one-author", level: .full,
            "What is deleted of a history is what the predicate matches, in its middle too.",
            hint: "Everything up to the latest match is forgotten, or only what comes before the first other."
        ) { c, context in
            try save(["x", "y", "x", "y"], in: context)
            let numbers = try all(context).map(\.transactionIdentifier)
            c.note("forget the transactions of x")
            try context.deleteHistory(
                HistoryDescriptor<DefaultHistoryTransaction>(predicate: #Predicate { $0.author == "x" }))
            try c.expect(try all(context).map(\.author), is: ["y", "y"], "authors left:")
            try c.expect(
                try all(context).map(\.transactionIdentifier), is: [numbers[1], numbers[3]], "numbers left:")
        },
        history(
            "deletion-is-for-good", and: [.reopening], "Forgotten transactions stay forgotten after reopening.",
            hint: "History is deleted from memory, and read again with the storage."
        ) { c, context in
            try save(["a", "b", "c"], in: context)
            let kept = try c.require(try all(context).last, "a transaction").token
            c.note("forget the history before the last token")
            try context.deleteHistory(
                HistoryDescriptor<DefaultHistoryTransaction>(predicate: #Predicate { $0.token < kept }))
            try c.reopen()
            let again = try c.session()
            try c.expect(try all(again.context).map(\.author), is: ["c"], "authors after reopening:")
            try c.expect(try again.all(Entry.self).map(\.name), is: ["a", "b", "c"], "names after reopening:")
            try again.store(Entry("d"))
            try c.expect(try all(again.context).map(\.author), is: ["c", nil], "authors after another save:")
        },
        history(
            "numbers-are-not-used-again", level: .full, and: [.reopening],
            "Transactions after the whole history was forgotten have higher numbers than those.",
            hint:
                "Numbers start again from the number of transactions there are; tokens from before then hide what is new."
        ) { c, context in
            try save(["a", "b", "c"], in: context)
            let last = try c.require(try all(context).last, "a transaction")
            c.note("forget the whole history")
            try context.deleteHistory(HistoryDescriptor<DefaultHistoryTransaction>())
            try c.expect(try all(context).count, is: 0, "transactions after that:")
            context.insert(Entry("d"))
            try context.save()
            func check(_ context: ModelContext, _ count: Int) throws {
                let found = try all(context)
                try c.expect(found.count, is: count, "transactions after the next save:")
                try c.expect(
                    found.allSatisfy { $0.transactionIdentifier > last.transactionIdentifier && $0.token > last.token },
                    "numbers and tokens above \(last.transactionIdentifier)",
                    found: "\(found.map(\.transactionIdentifier))")
            }
            try check(context, 1)
            try c.reopen()
            let again = try c.session()
            try again.store(Entry("e"))
            try check(again.context, 2)
        },
        history(
            "whole-after-reopening", and: [.reopening],
            "After reopening a history has the same authors, changes, properties, tombstones, times and tokens.",
            hint: "Only numbers and records are written; the rest is kept in memory."
        ) { c, context in
            context.author = "Ada"
            let entry = Entry("a", rank: 1)
            let receipt = Receipt("R-1", total: 5)
            let team = Team("red")
            let person = Person("Eve")
            for model in [entry, receipt, team, person] as [any PersistentModel] { insert(model, into: context) }
            try context.save()
            context.author = nil
            entry.rank = 2
            entry.note = "n"
            person.team = team
            try context.save()
            context.author = "Bob"
            context.delete(receipt)
            try context.save()
            c.note("3 saves, by Ada, nobody and Bob, that insert, update and delete")
            let before = try all(context)
            try c.reopen()
            let after = try all(try c.session().context)
            try c.expect(after.map(\.author), is: before.map(\.author), "authors:")
            try c.expect(after.map(\.author), is: ["Ada", nil, "Bob"], "authors:")
            try c.expect(
                after.map { $0.changes.map(text) }, is: before.map { $0.changes.map(text) }, "changes, as from before:")
            try c.expect(after.last?.changes.map(text).first?.hasSuffix(": R-1"), is: true, "whether R-1 is preserved:")
            try c.expect(after.map(\.transactionIdentifier), is: before.map(\.transactionIdentifier), "numbers:")
            try c.expect(after.map(\.token) == before.map(\.token), "the tokens from before", found: "others")
            try c.expect(after.map(\.storeIdentifier), is: before.map(\.storeIdentifier), "store identifiers:")
            let differences = zip(after, before).map { abs($0.timestamp.timeIntervalSince($1.timestamp)) }
            try c.expect(
                differences.allSatisfy { $0 < 0.01 }, "the times from before",
                found: "times that differ by \(differences) s")
        },
        history(
            "relationships-in-updates", "An update names the relationships that changed, besides the attributes.",
            hint: "Only attributes are compared when the changed properties are written."
        ) { c, context in
            let (red, blue) = (Team("red"), Team("blue"))
            let (ada, bob) = (Person("Ada"), Person("Bob"))
            let badge = Badge(1)
            let project = Project("one")
            for model in [red, blue, ada, bob, badge, project] as [any PersistentModel] { insert(model, into: context) }
            ada.team = red
            try context.save()
            func updates(of model: any PersistentModel) throws -> [String] {
                let latest = try c.require(try all(context).last, "a transaction")
                return latest.changes.filter { $0.changedPersistentIdentifier == model.persistentModelID }.map {
                    change in
                    String(text(change).drop { $0 != ":" }.dropFirst(2))
                }
            }
            ada.team = blue
            try context.save()
            c.note("move Ada to another team, save")
            try c.expect(try updates(of: ada), is: ["team"], "changed properties of Ada:")
            try c.expect(try updates(of: bob), is: [], "changes of Bob:")
            ada.badge = badge
            ada.age = 30
            bob.mentor = ada
            try context.save()
            c.note("give Ada a badge, an age and a pupil, save")
            let changed = Set(try updates(of: ada).first?.split(separator: " ").map(String.init) ?? [])
            try c.expect(
                changed.isSuperset(of: ["age", "badge"]) && changed.isSubset(of: ["age", "badge", "pupils"]),
                "age and badge as changed properties of Ada", found: "\(changed.sorted())")
            try c.expect(try updates(of: bob), is: ["mentor"], "changed properties of Bob:")
            ada.projects = [project]
            try context.save()
            c.note("put Ada into a project, save")
            let sides = try updates(of: ada) + updates(of: project)
            try c.expect(
                !sides.isEmpty && sides.allSatisfy { ["projects", "people"].contains($0) },
                "projects of Ada or people of the project as changed", found: "\(sides)")
        },
        history(
            "subclasses", "Changes of records of subclasses name their own class and the properties of every level.",
            hint: "Changes are written under the superclass, or for the class that was asked for."
        ) { c, context in
            let (puppy, dog, cat) = (Puppy("p", weeks: 3), Dog("d", age: 4), Animal("c"))
            for animal in [puppy, dog, cat] { context.insert(animal) }
            try context.save()
            let inserted = try c.require(try all(context).last, "a transaction").changes
            try c.expect(
                inserted.map(\.changedPersistentIdentifier.entityName), is: ["Puppy", "Dog", "Animal"],
                "entities of the insertions:")
            try c.expect(
                inserted.map { change in
                    if case .insert(let insertion) = change { insertion is DefaultHistoryInsert<Puppy> } else { false }
                }, is: [true, false, false], "which of the insertions are of puppies:")
            puppy.legs = 3
            puppy.age = 1
            puppy.weeks = 60
            dog.name = "e"
            try context.save()
            c.note("change a puppy's properties of three levels, and a dog's inherited one, save")
            let updated = try c.require(try all(context).last, "a transaction").changes.map(text).sorted()
            try c.expect(
                updated.map { $0.split(separator: ":").last.map(String.init) ?? "" }, is: [" name", " age legs weeks"],
                "changed properties of dog and puppy:")
            context.delete(puppy)
            context.delete(cat)
            try context.save()
            let deleted = try c.require(try all(context).last, "a transaction").changes
            try c.expect(
                deleted.map(\.changedPersistentIdentifier.entityName).sorted(), is: ["Animal", "Puppy"],
                "entities of the deletions:")
        },
        history(
            "order-of-insertions",
            "The insertions of a transaction are in the order of insertion, whatever their entities.",
            hint: "The changes are in the order of a set, or of the entities."
        ) { c, context in
            let models: [any PersistentModel] = [
                Team("t"), Entry("e1"), Vehicle("v", wheels: 2), Badge(1), Truck("w", load: 1), Entry("e2"), Team("u"),
                Animal("a"), Badge(2), Puppy("p", weeks: 1), Entry("e3"), Receipt("r", total: 1),
            ]
            for model in models { insert(model, into: context) }
            try context.save()
            c.note("insert \(models.count) records of 8 entities, save")
            let found = try c.require(try all(context).last, "a transaction").changes
            try c.expect(
                found.map(\.changedPersistentIdentifier), is: models.map(\.persistentModelID), "inserted records:")
        },
        history(
            "order-of-changes",
            "The changes of a transaction are its insertions, then its updates, then its deletions, each in identity order.",
            hint:
                "Deletions come first, or changes are in the order in which they were made. Who replays them meets references to "
                + "records that are not there yet."
        ) { c, context in
            let entries = (0..<6).map { Entry("\($0)") }
            for entry in entries { context.insert(entry) }
            try context.save()
            for place in [4, 0, 2] { entries[place].rank = 1 }
            for place in [5, 1] { context.delete(entries[place]) }
            let new = (0..<3).map { Team("\($0)") }
            for team in new { context.insert(team) }
            try context.save()
            c.note("change entries 4, 0 and 2, delete 5 and 1, insert 3 teams, save")
            let found = try c.require(try all(context).last, "a transaction").changes
            try c.expect(
                found.map { String(text($0).prefix(6)) },
                is: Array(repeating: "insert", count: 3) + Array(repeating: "update", count: 3)
                    + Array(repeating: "delete", count: 2), "kinds of the changes, in order:")
            try c.expect(
                found.map(\.changedPersistentIdentifier),
                is: new.map(\.persistentModelID) + [0, 2, 4, 1, 5].map { entries[$0].persistentModelID },
                "records of the changes, in order:")
        },
        history(
            "each-record-once", "A record that one save inserts and changes, or changes and deletes, is one change.",
            hint: "Every assignment is written as a change."
        ) { c, context in
            let (kept, gone) = (Entry("kept"), Entry("gone"))
            context.insert(kept)
            context.insert(gone)
            kept.rank = 1
            kept.rank = 2
            try context.save()
            try c.expect(
                try all(context).last?.changes.map { String(text($0).prefix(6)) }, is: ["insert", "insert"],
                "changes of the first save:")
            kept.rank = 3
            kept.rank = 4
            gone.rank = 5
            context.delete(gone)
            try context.save()
            let found = try c.require(try all(context).last, "a transaction").changes
            try c.expect(
                found.map { String(text($0).prefix(6)) }.sorted(), is: ["delete", "update"],
                "changes of the second save:")
        },
        history(
            "changes-of-the-transaction", level: .full,
            "Each change names its transaction, and no two of a transaction have one identifier.",
            hint: "Changes are numbered through, or carry the number of the transaction before."
        ) { c, context in
            try save(["a", "b"], in: context)
            context.insert(Entry("c"))
            context.insert(Team("d"))
            try context.save()
            for transaction in try all(context) {
                let changes = transaction.changes.map { change -> (transaction: Int64?, change: Int64?) in
                    switch change {
                    case .insert(let one): (one.transactionIdentifier as? Int64, one.changeIdentifier as? Int64)
                    case .update(let one): (one.transactionIdentifier as? Int64, one.changeIdentifier as? Int64)
                    case .delete(let one): (one.transactionIdentifier as? Int64, one.changeIdentifier as? Int64)
                    }
                }
                try c.expect(
                    changes.map(\.transaction), is: changes.map { _ in transaction.transactionIdentifier },
                    "transactions that the changes name:")
                try c.expect(Set(changes.map(\.change)).count, is: changes.count, "identifiers of changes:")
            }
        },
        history(
            "store-identifiers", "Transactions, tokens and records name the store that has them.",
            hint: "The identifier is that of a configuration, or of the last store that was opened."
        ) { c, context in
            let identifier = try c.store.identifier
            try save(["a", "b"], in: context)
            func check(_ context: ModelContext, _ moment: String) throws {
                let found = try all(context)
                try c.expect(found.map(\.storeIdentifier), is: [identifier, identifier], "stores \(moment):")
                try c.expect(
                    found.map { $0.token.storeIdentifier }, is: [identifier, identifier], "stores of tokens \(moment):")
                try c.expect(
                    found.flatMap(\.changes).map(\.changedPersistentIdentifier.storeIdentifier),
                    is: [identifier, identifier], "stores of the records \(moment):")
            }
            try check(context, "of transactions")
            if c.subject.capabilities.contains(.reopening) {
                try c.reopen()
                try check(try c.session().context, "of transactions after reopening")
            }
        },
        history(
            "times-in-order", level: .full,
            "Each transaction has a time of its own save, not before that of the one before.",
            hint: "All transactions have the time of the opening, or of the latest save."
        ) { c, context in
            var bounds: [(earliest: Date, latest: Date)] = []
            for name in ["a", "b", "c"] {
                let earliest = Date.now
                context.insert(Entry(name))
                try context.save()
                bounds.append((earliest, .now))
                Thread.sleep(forTimeInterval: 0.02)
            }
            c.note("3 saves, 20 ms apart")
            func check(_ context: ModelContext, _ moment: String) throws {
                let times = try all(context).map(\.timestamp)
                try c.expect(times.count, is: 3, "transactions \(moment):")
                for (time, bound) in zip(times, bounds) {
                    try c.expect(
                        time > bound.earliest.addingTimeInterval(-0.01) && time < bound.latest.addingTimeInterval(0.01),
                        "a time during the save, \(moment)",
                        found: "one \(time.timeIntervalSince(bound.earliest)) s after its begin")
                }
                try c.expect(times == times.sorted(), "times that grow, \(moment)", found: "others")
            }
            try check(context, "in the same opening")
            if c.subject.capabilities.contains(.reopening) {
                try c.reopen()
                try check(try c.session().context, "after reopening")
            }
        },
        history(
            "erasure-keeps-it", level: .full, and: [.erase],
            "Erasing keeps the history and goes on with it; the erasure itself names no records.",
            hint: "The history is erased with the records, so that tokens from before mean nothing."
        ) { c, context in
            try save(["a", "b"], in: context)
            let before = try all(context)
            c.note("erase")
            try c.container.erase()
            let between = try all(try c.session().context)
            try c.expect(
                between.prefix(2).map { $0.changes.map(text) }, is: before.map { $0.changes.map(text) },
                "changes from before:")
            try c.expect(
                between.dropFirst(2).flatMap(\.changes).map(text), is: [], "changes that the erasure itself names:")
            let other = try c.session()
            try other.store(Entry("c"))
            let after = try all(other.context)
            try c.expect(after.count, is: between.count + 1, "transactions after the next save:")
            let last = try c.require(after.last, "a transaction")
            try c.expect(last.changes.map { String(text($0).prefix(6)) }, is: ["insert"], "changes of the next save:")
            try c.expect(
                between.allSatisfy { $0.token < last.token }, "a token above those from before", found: "another one")
        },
    ]

    private static func insert<M: PersistentModel>(_ model: M, into context: ModelContext) { context.insert(model) }
}
