import Foundation
import MortiseCore

/// Second looks at what a store promises of queries, batches, constraints and announcements: in another place, where a store is
/// not right by chance.
extension ConformanceCase {
    private static func planning(
        _ id: String, _ requirement: String, hint: String, body: @escaping @Sendable (CaseContext) throws -> Void
    ) -> ConformanceCase {
        ConformanceCase(
            "planning.\(id)", level: .core, capability: .queries, requirement: requirement, hint: hint, body: body)
    }

    private static func text(_ value: String) -> QueryExpression { .constant(.string(value)) }
    private static func number(_ value: Int64) -> QueryExpression { .constant(.integer(value)) }

    static let planningVariationCases: [ConformanceCase] = [
        planning(
            "condition-beside-a-disjunction",
            "A condition beside a disjunction has to hold as well as one of its parts.",
            hint: "Parentheses were lost: AND binds more tightly than OR."
        ) { c in
            try storeEntries(c)
            let p = try PlanProbe(c)
            let (name, group, rank) = (try p.property("name"), try p.property("group"), try p.property("rank"))
            let score = try p.property("score")
            let either = QueryExpression.or([
                .compare(.equal, name, text("alpha")), .compare(.equal, rank, number(4)),
            ])
            let other = QueryExpression.or([
                .compare(.less, score, .constant(.double(1))), .compare(.equal, name, text("delta")),
            ])
            let inX = QueryExpression.compare(.equal, group, text("x"))
            for conjuncts in [
                [inX, either], [either, inX], [either, other],
                [.or([.and([inX, either]), .compare(.equal, name, text("none"))])],
                [.not(either), inX], [.not(.and([inX, either]))], [.and([inX, .or([either, other])])],
                [.or([.not(inX), .and([either, other])])],
            ] {
                try p.check(StoreQuery("Entry", conjuncts: conjuncts))
                try p.check(StoreQuery("Entry", purpose: .count, conjuncts: conjuncts))
                try p.check(StoreQuery("Entry", conjuncts: conjuncts, order: [.init(name)], offset: 1, limit: 1))
            }
        },
        planning(
            "references-to-what-is-gone",
            "A reference to a record that is gone counts as nil, in a condition and in its contrary.",
            hint:
                "The identifier that is still stored is compared. Claim such a condition as a superset, and leave its contrary to "
                + "the framework."
        ) { c in
            let a = try c.session()
            let (red, blue) = (Team("red"), Team("blue"))
            try a.store(Person("Ada", team: red), Person("Bob"), Person("Cyd", team: blue))
            let (gone, there) = (red.persistentModelID, blue.persistentModelID)
            do {
                try c.store.save(deleted: [red])
            } catch {
                // A store may refuse to delete what others refer to.
                c.note("→ \(type(of: error))")
                return
            }
            func expect(_ names: [String], _ predicate: Predicate<Person>) throws {
                let b = try c.session()
                try c.expect(try b.fetch(FetchDescriptor(predicate: predicate)).map(\.name), is: names, "names:")
                try c.expect(try b.count(FetchDescriptor(predicate: predicate)), is: names.count, "count of them:")
            }
            try expect([], #Predicate { $0.team?.persistentModelID == gone })
            try expect(["Ada", "Bob", "Cyd"], #Predicate { $0.team?.persistentModelID != gone })
            try expect(["Ada", "Bob", "Cyd"], #Predicate { !($0.team?.persistentModelID == gone) })
            try expect(
                ["Cyd"], #Predicate { $0.team?.persistentModelID == gone || $0.team?.persistentModelID == there })
            try expect(
                ["Ada", "Bob"],
                #Predicate { !($0.team?.persistentModelID == gone || $0.team?.persistentModelID == there) })
        },
        planning(
            "among-values-and-nil", "Among values, nil is found where it is one of them, and only there.",
            hint: "IN with null finds no null; NOT IN with null finds nothing at all."
        ) { c in
            try storeEntries(c)
            let p = try PlanProbe(c)
            let (rank, note) = (try p.property("rank"), try p.property("note"))
            let null = QueryExpression.constant(.null)
            for condition in [
                QueryExpression.contains(.list([null, number(2)]), rank), .contains(.list([null]), rank),
                .not(.contains(.list([null, number(4)]), rank)), .not(.contains(.list([number(4)]), rank)),
                .contains(.list([text(""), null]), note), .not(.contains(.list([text("")]), note)),
                .or([.contains(.list([null]), note), .compare(.equal, rank, number(4))]),
            ] {
                try p.check(StoreQuery("Entry", conjuncts: [condition]))
                try p.check(StoreQuery("Entry", purpose: .count, conjuncts: [condition]))
            }
        },
        planning(
            "window-of-a-family", "A window counts the records of a class and of its subclasses together.",
            hint: "Each entity gives as many rows as were asked for, or leaves out as many."
        ) { c in
            try c.session().store(
                Truck("T", load: 1), Vehicle("V", wheels: 2), Truck("U", load: 2), Vehicle("W", wheels: 3),
                Truck("X", load: 3), Vehicle("Y", wheels: 4))
            let p = try PlanProbe(c)
            let wheels = try p.property("wheels", of: "Vehicle")
            let some = QueryExpression.compare(.greater, wheels, number(2))
            for (offset, limit) in [(0, 2), (1, 3), (4, 5), (2, nil)] as [(Int, Int?)] {
                try p.check(StoreQuery("Vehicle", offset: offset, limit: limit))
                try p.check(StoreQuery("Vehicle", order: [.init(wheels)], offset: offset, limit: limit))
                try p.check(
                    StoreQuery("Vehicle", conjuncts: [some], order: [.init(wheels)], offset: offset, limit: limit))
                try p.check(StoreQuery("Vehicle", purpose: .identifiers, offset: offset, limit: limit))
                try p.check(StoreQuery("Vehicle", purpose: .count, conjuncts: [some], offset: offset, limit: limit))
            }
        },
        planning(
            "deletion-of-several-conditions", "A deletion with two conditions is of what both leave.",
            hint: "A deletion leaves conditions out."
        ) { c in
            try storeEntries(c)
            let p = try PlanProbe(c)
            let conjuncts: [QueryExpression] = [
                .compare(.equal, try p.property("group"), text("x")),
                .compare(.equal, try p.property("rank"), number(2)),
            ]
            try p.check(StoreQuery("Entry", purpose: .delete, conjuncts: conjuncts))
            try c.session().context.delete(
                model: Entry.self, where: #Predicate { $0.group == "x" && $0.rank == 2 })
            try c.expect(
                try c.session().all(Entry.self).map(\.name), is: ["delta", "alpha", "bravo", "Echo", "échelle"],
                "names left:")
        },
        planning(
            "entities-apart", "Entities that look alike are counted and listed apart.", hint: "The wrong table is read."
        ) { c in
            try c.session().store(
                Team("t"), Project("p"), Team("u"), Person("Ada"), Project("q"), Book("b"), Song("s"), Toy("toy"))
            let p = try PlanProbe(c)
            for entity in ["Team", "Project", "Book", "Song", "Toy", "Person", "Writer"] {
                try p.check(StoreQuery(entity))
                try p.check(StoreQuery(entity, purpose: .count))
                try p.check(StoreQuery(entity, purpose: .identifiers))
            }
        },
        planning(
            "whole-records-of-some-properties", "A query that names one property hands out all of every record.",
            hint: "Properties outside of the projection are handed out as nil."
        ) { c in
            try storeEntries(c)
            var descriptor = FetchDescriptor<Entry>(
                predicate: #Predicate { $0.group == "x" }, sortBy: [SortDescriptor(\.rank, order: .reverse)])
            descriptor.propertiesToFetch = [\.rank]
            try c.expect(
                try c.session().fetch(descriptor).map(\.name), is: ["delta", "charlie", "Echo"],
                "names, which were not among the properties:")
        },
        planning(
            "scanned-rows-of-everything", "The rows of an entity that are handed out were looked at.",
            hint: "The number is that of the last query, or 0."
        ) { c in
            try storeEntries(c)
            let p = try PlanProbe(c)
            for query in [
                StoreQuery("Entry"), StoreQuery("Entry", order: [.init(try p.property("name"))]),
                StoreQuery("Entry", conjuncts: [.compare(.notEqual, try p.property("name"), text("delta"))]),
            ] {
                let found = try p.rows(try p.plan(query))
                try c.expect(
                    found.scanned >= found.records.count, "\(found.records.count) rows looked at, or more",
                    found: "\(found.scanned)")
            }
        },
        planning(
            "full-scan-of-a-search-is-told", "A search inside texts that looks at every record says so.",
            hint: "isFullScan is false for conditions that no index can serve."
        ) { c in
            let a = try c.session()
            a.change("insert 60 entries") {
                for number in 0..<60 { a.context.insert(Entry("e\(number)", group: number == 50 ? "ax" : "y")) }
            }
            try a.save()
            let p = try PlanProbe(c)
            let plan = try p.plan(
                StoreQuery("Entry", conjuncts: [.containsSequence(try p.property("group"), text("x"))]))
            let scanned = try p.rows(plan).scanned
            try c.expect(
                plan.isFullScan || scanned < 60, "a plan that says to be a full scan, or looks at fewer rows",
                found: "\(scanned) of 60 rows looked at by \"\(plan.detail)\"")
        },
        planning(
            "after-several-updates", "A record that was changed twice is found by its last values alone.",
            hint: "An index keeps the values of the insertion, or of the last save but one."
        ) { c in
            try storeEntries(c)
            let a = try c.session()
            let delta = try c.require(try a.all(Entry.self).first, "an entry")
            for (group, score) in [("v", 500.0), ("w", -500.0)] {
                a.change("group and score of \(delta.name)") { (delta.group, delta.score) = (group, score) }
                try a.save()
            }
            let p = try PlanProbe(c)
            let (group, score) = (try p.property("group"), try p.property("score"))
            for value in ["v", "w", "x"] {
                try p.check(StoreQuery("Entry", conjuncts: [.compare(.equal, group, text(value))]))
            }
            try p.check(StoreQuery("Entry", conjuncts: [.compare(.less, score, .constant(.double(-100)))]))
            try p.check(StoreQuery("Entry", conjuncts: [.compare(.greater, score, .constant(.double(100)))]))
            try p.check(StoreQuery("Entry", order: [.init(score)], limit: 1))
        },
        planning(
            "after-a-deletion-and-an-insertion", "What is inserted after a deletion is found by its own values.",
            hint: "The new record took the place of the deleted one in an index."
        ) { c in
            try storeEntries(c)
            let a = try c.session()
            a.delete(try a.first(Entry.self, #Predicate { $0.name == "charlie" }))
            try a.save()
            try a.store(Entry("zulu", group: "u", rank: 11))
            let p = try PlanProbe(c)
            for value in ["x", "u", "z"] {
                try p.check(StoreQuery("Entry", conjuncts: [.compare(.equal, try p.property("group"), text(value))]))
            }
            for value in [2, 11] as [Int64] {
                try p.check(StoreQuery("Entry", conjuncts: [.compare(.equal, try p.property("rank"), number(value))]))
            }
        },
    ]

    static let contractVariationCases: [ConformanceCase] = [
        ConformanceCase(
            "lifecycle.empty-save-first", level: .core,
            requirement: "The first save of a store may be one without changes, also between others.",
            hint: "The store takes an empty request for an error."
        ) { c in
            try c.store.save()
            try c.session().store(Entry("one"))
            try c.store.save()
            try c.store.save()
            try c.session().store(Entry("two"))
            try c.expect(try c.session().all(Entry.self).map(\.name), is: ["one", "two"], "names:")
        },
        ConformanceCase(
            "erase.every-entity", level: .core, capability: .erase,
            requirement: "Erasing leaves no record of any entity, of any level of a family.",
            hint: "One table is left out: the last one, or those of subclasses."
        ) { c in
            func check(_ moment: String) throws {
                let b = try c.session()
                for (name, count) in [
                    ("Entry", try b.count(FetchDescriptor<Entry>())), ("Team", try b.count(FetchDescriptor<Team>())),
                    ("Badge", try b.count(FetchDescriptor<Badge>())),
                    ("Animal", try b.count(FetchDescriptor<Animal>())),
                    ("Vehicle", try b.count(FetchDescriptor<Vehicle>())),
                    ("Song", try b.count(FetchDescriptor<Song>())),
                    ("Account", try b.count(FetchDescriptor<Account>())),
                    ("Vault", try b.count(FetchDescriptor<Vault>())),
                    ("Node", try b.count(FetchDescriptor<Node>())), ("Keeper", try b.count(FetchDescriptor<Keeper>())),
                ] { try c.expect(count, is: 0, "records of \(name) \(moment):") }
            }
            try c.session().store(
                Entry("e"), Team("t"), Badge(1), Puppy("p", weeks: 1), Dog("d", age: 1), Animal("a"),
                Truck("t", load: 1), Song("s"), Account("a@x", country: "NO", number: 1), Node("n"), Keeper("k"))
            c.note("erase")
            try c.container.erase()
            try check("after erase()")
            if c.subject.capabilities.contains(.reopening) {
                try c.reopen()
                try check("after reopening")
            }
        },
        ConformanceCase(
            "uniqueness.nil-after-an-update", level: .core,
            requirement: "Records whose unique values an update clears do not conflict, in one save or several.",
            hint: "Null is compared like a value."
        ) { c in
            let a = try c.session()
            let accounts = (1...3).map { (number: Int) in Account("\(number)@x", country: "NO", number: number) }
            try a.store(accounts[0], accounts[1], accounts[2])
            a.change("clear the numbers of two accounts") { (accounts[0].number, accounts[1].number) = (nil, nil) }
            try a.save()
            a.change("clear the number of the third account") { accounts[2].number = nil }
            try a.save()
            let found = try c.session().all(Account.self)
            try c.expect(found.map(\.email), is: ["1@x", "2@x", "3@x"], "e-mail addresses:")
            try c.expect(found.map(\.number), is: [nil, nil, nil], "numbers:")
        },
        ConformanceCase(
            "uniqueness.enforced-compound-update", level: .core, capability: .uniqueness,
            requirement:
                "A store that enforces unique values refuses an update after which two sets of them are equal.",
            hint: "Only constraints of one property are enforced, or only for new records."
        ) { c in
            let a = try c.session()
            let (one, two) = (Account("1@x", country: "NO", number: 1), Account("2@x", country: "NO", number: 2))
            try a.store(one, two)
            two.number = 1
            try c.expectError("an error that two records would have the same country and number") {
                try c.store.save(updated: [two])
            }
            a.context.rollback()
            try c.expect(try c.session().all(Account.self).map(\.number), is: [1, 2], "numbers:")
        },
        ConformanceCase(
            "references.enforced-in-updated-to-many", level: .core, capability: .referentialIntegrity,
            requirement: "A store that checks references refuses an update that puts a missing record into a list.",
            hint: "Only to-one relationships are checked, or only new records."
        ) { c in
            let a = try c.session()
            let (keeper, puppy) = (Keeper("k"), Puppy("p", weeks: 1))
            try a.store(keeper, puppy)
            try c.store.save(deleted: [puppy])
            keeper.charges = [puppy]
            try c.expectError("an error that says which record is missing") { try c.store.save(updated: [keeper]) }
            a.context.rollback()
            try c.expect(try c.session().only(Keeper.self).charges.count, is: 0, "charges:")
        },
        ConformanceCase(
            "batch.delete-of-the-middle-alone", level: .core,
            requirement: "A batch delete that excludes subclasses leaves their records, and counts go on.",
            hint: "includeSubclasses is ignored, or identifiers start again."
        ) { c in
            let a = try c.session()
            let gone = Dog("Rex", age: 3)
            try a.store(Animal("Cat"), gone, Puppy("Pip", weeks: 3), Dog("Bella", age: 4))
            let before = try c.session().identifiers(FetchDescriptor<Animal>())
            c.note("delete(model: Dog, includeSubclasses: false)")
            try a.context.delete(model: Dog.self, includeSubclasses: false)
            try a.save()
            try c.expect(try c.session().all(Animal.self).map(\.name), is: ["Cat", "Pip"], "animals left:")
            let new = Dog("New", age: 0)
            try c.session().store(new)
            try c.expect(
                !before.contains(new.persistentModelID), "an identifier that no record had before",
                found: "\(new.persistentModelID)")
        },
        ConformanceCase(
            "batch.update-takes-values-from-before", level: .core,
            requirement: "Three properties that take each other's values in a circle take those from before.",
            hint: "Assignments are made one after the other, and the next sees the one before."
        ) { c in
            try c.session().store(Entry("n", group: "g", rank: 1), Entry("m", group: "h", rank: 2))
            c.note("update Entry: group = name, name = group")
            try c.session().context.update(Entry.self) {
                $0.set(\.group, from: \.name)
                $0.set(\.name, from: \.group)
            }
            let found = try c.session().all(Entry.self)
            try c.expect(found.map(\.group), is: ["n", "m"], "groups:")
            try c.expect(found.map(\.name), is: ["g", "h"], "names:")
        },
        ConformanceCase(
            "batch.update-fails-at-its-last", level: .core,
            requirement: "An update whose last record cannot be calculated changes none of those before.",
            hint: "Records are written one by one, and those before the error stay changed."
        ) { c in
            try c.session().store(Entry("one", rank: 1), Entry("two", rank: 2), Entry("most", rank: .max))
            c.note("update Entry where rank > 0: rank += 1, which overflows for the last")
            try c.expectError("an error, since a rank would be too large") {
                try c.session().context.update(Entry.self, where: #Predicate { ($0.rank ?? 0) > 0 }) {
                    $0.increment(\.rank, by: 1)
                }
            }
            try c.expect(try c.session().all(Entry.self).map(\.rank), is: [1, 2, .max], "ranks:")
        },
        ConformanceCase(
            "history.batch-update-of-several-properties", level: .core, capability: .history,
            requirement: "The history of a batch update names each property that it sets, and its author.",
            hint: "Batches bypass the history, or name no author and no properties."
        ) { c in
            let context = try c.session().context
            context.author = "Ada"
            for name in ["a", "b"] { context.insert(Entry(name, group: "x", rank: 1)) }
            try context.save()
            c.note("update Entry: rank = 5, note = new, by Bob")
            context.author = "Bob"
            try context.update(Entry.self) {
                $0.set(\.rank, to: 5)
                $0.set(\.note, to: "new")
            }
            let latest = try c.require(
                try context.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>()).last, "a transaction")
            try c.expect(latest.author, is: "Bob", "author:")
            let named = latest.changes.map { change -> Set<PartialKeyPath<Entry>> in
                guard case .update(let update) = change, let update = update as? DefaultHistoryUpdate<Entry> else {
                    return []
                }
                return Set(update.updatedAttributes.map { $0 as PartialKeyPath<Entry> })
            }
            try c.expect(
                named.count == 2 && named.allSatisfy { $0 == [\Entry.rank, \Entry.note] },
                "two updates of rank and note", found: "\(named.count) changes of \(named.map(\.count)) properties")
        },
        ConformanceCase(
            "history.without-failed-and-empty-saves", level: .core, capability: .history,
            requirement: "A save that failed or changed nothing leaves no transaction in the history.",
            hint: "The history is written before the save is known to succeed, or for every request."
        ) { c in
            let context = try c.session().context
            let gone = Entry("gone")
            context.insert(gone)
            context.insert(Entry("kept"))
            try context.save()
            try c.store.save(deleted: [gone])
            try c.store.save()
            try c.expectError("an error") { try c.store.save(updated: [gone]) }
            try c.store.save()
            try c.session().store(Entry("last"))
            let found = try context.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>())
            try c.expect(found.map(\.changes.count), is: [2, 1, 1], "changes of the transactions:")
        },
    ]
}
