import Foundation
import MortiseCore
import Synchronization

/// Second looks at saves beside each other, after an erasure, after closing and after a rollback.
extension ConformanceCase {
    static let savingSecondCases: [ConformanceCase] = [
        ConformanceCase(
            "concurrency.contexts-see-saves-whole", level: .full, capability: .concurrency,
            requirement:
                "Contexts and the store itself tell other threads of the three records of each save together, or of none.",
            hint: "A context reads the state that a save is changing, record by record."
        ) { c in
            let container = try c.container
            let shared = SharedStore(store: try c.store.quietly())
            let torn = Mutex<[Int]>([])
            let saving = Atomic(2)
            let begun = Atomic(0)
            c.note(
                "2 threads save three teams each time, 2 threads fetch them meanwhile, in fresh contexts and from the store"
            )
            try threads(4) { thread in
                if thread < 2 {
                    defer { saving.subtract(1, ordering: .relaxed) }
                    for number in 0..<8 {
                        let teams = (0..<3).map { Team("\(thread).\(number).\($0)") }
                        // Each pair of saves begins at once, on a busy machine too.
                        begun.add(1, ordering: .relaxed)
                        while begun.load(ordering: .relaxed) < 2 * (number + 1), saving.load(ordering: .relaxed) == 2 {
                            Thread.sleep(forTimeInterval: 0.000_1)
                        }
                        if thread == 0 {
                            let context = ModelContext(container)
                            for team in teams { context.insert(team) }
                            try context.save()
                        } else {
                            try shared.store.save(inserted: teams)
                        }
                    }
                } else {
                    repeat {
                        let count =
                            thread == 2
                            ? try ModelContext(container).fetch(FetchDescriptor<Team>()).count
                            : try shared.store.records(Team.self).count
                        if count % 3 != 0 { torn.withLock { $0.append(count) } }
                        Thread.sleep(forTimeInterval: 0.000_5)
                    } while saving.load(ordering: .relaxed) > 0
                }
            }
            try c.expect(Set(torn.withLock { $0 }).sorted(), is: [], "numbers of teams seen that are no whole saves:")
            try c.expect(try c.session().count(FetchDescriptor<Team>()), is: 48, "teams at the end:")
        },
        ConformanceCase(
            "conflicts.deletion-among-others", level: .core,
            requirement:
                "A save that deletes a record which another save has changed, and changes and inserts others, is stored whole.",
            hint: "The deletion looks for the record with its old values, and the save is refused for it."
        ) { c in
            let a = try c.session()
            let (one, two) = (Entry("one", rank: 1), Entry("two", rank: 1))
            try a.store(one, two, Team("team"))
            let b = try c.session()
            let theirs = try b.all(Entry.self)
            guard theirs.count == 2 else { throw c.failure(expected: "2 entries", found: "\(theirs.count)") }
            a.change("rank and note of the first") {
                one.rank = 10
                one.note = "new"
            }
            try a.save()
            b.delete(theirs[0])
            b.change("rank of the second") { theirs[1].rank = 2 }
            b.insert(Entry("three", rank: 3))
            try b.save()
            try checkAlsoReopened(c) { session in
                try c.expect(
                    try session.all(Entry.self).map { "\($0.name) \($0.rank ?? 0)" }, is: ["two 2", "three 3"],
                    "names and ranks:")
            }
        },
        ConformanceCase(
            "conflicts.superseded-changes-and-deletions", level: .core, capability: .versions,
            requirement:
                "Updates and deletions on top of a version before the latest are refused with VersionSuperseded, alone or together.",
            hint: "The base is looked at for insertions alone, or it is enough that the named records are there."
        ) { c in
            let a = try c.session()
            let (one, two) = (Entry("one", rank: 1), Entry("two", rank: 1))
            try a.store(one, two)
            let store = try c.require(try c.store.store as? any VersionedDataStore, "a VersionedDataStore")
            let old = store.currentVersion.number
            for number in 0..<3 { try c.session().store(Team("since \(number)")) }
            a.change("rank of one, which is not saved") { one.rank = 2 }
            func expectRefusal(_ what: String, updated: [Entry], deleted: [Entry]) throws {
                c.note("save \(what) on top of version \(old), the latest being \(store.currentVersion.number)")
                try c.expectError("VersionSuperseded", matching: { $0 is VersionSuperseded }) {
                    try c.store.save(updated: updated, deleted: deleted, baseVersion: old)
                }
            }
            try expectRefusal("an update", updated: [one], deleted: [])
            try expectRefusal("a deletion", updated: [], deleted: [two])
            try expectRefusal("both", updated: [one], deleted: [two])
            a.context.rollback()
            try c.expect(
                try c.session().all(Entry.self).map { "\($0.name) \($0.rank ?? 0)" }, is: ["one 1", "two 1"],
                "names and ranks:")
        },
        ConformanceCase(
            "erase.frees-unique-values-for-updates", level: .core, capability: .uniqueness, and: [.erase],
            requirement: "Unique values of erased records can be taken by updates, in later saves and after reopening.",
            hint: "An index or a list of what is taken outlives the records."
        ) { c in
            try c.session().store(
                Account("a@x", country: "NO", number: 1), Account("b@x", country: "SE", number: 1))
            c.note("erase")
            try c.container.erase()
            let a = try c.session()
            let new = Account("new@x", country: "DK", number: 1)
            try a.store(new)
            a.change("email, country and number to those of an erased account") {
                (new.email, new.country, new.number) = ("a@x", "NO", 1)
            }
            try a.save()
            if c.subject.capabilities.contains(.reopening) { try c.reopen() }
            let b = try c.session()
            try b.store(Account("b@x", country: "SE", number: 1))
            try c.expect(try b.all(Account.self).map(\.email), is: ["a@x", "b@x"], "emails:")
        },
        ConformanceCase(
            "lifecycle.erase-twice", level: .core, capability: .erase,
            requirement:
                "Superclasses and subclasses of every family are gone after an erasure, for counts, fetches and identifiers, twice over.",
            hint: "Erasing goes through a list of entities in which one is missing."
        ) { c in
            for round in 1...2 {
                let a = try c.session()
                try a.store(
                    Vehicle("V", wheels: 2), Truck("T", load: 1), Animal("a"), Dog("d", age: 1),
                    Puppy("p", age: 0, weeks: 1), Item("i"), SpecialItem("s", size: 1, extra: 1))
                c.note("erase")
                try c.container.erase()
                func check(_ moment: String) throws {
                    let b = try c.session()
                    try c.expect(
                        [
                            try b.count(FetchDescriptor<Vehicle>()), try b.all(Truck.self).count,
                            try b.identifiers(FetchDescriptor<Vehicle>()).count, try b.all(Animal.self).count,
                            try b.count(FetchDescriptor<Puppy>()), try b.identifiers(FetchDescriptor<Dog>()).count,
                            try b.all(Item.self).count, try b.count(FetchDescriptor<SpecialItem>()),
                        ], is: Array(repeating: 0, count: 8), "records of three families \(moment), erasure \(round):")
                }
                try check("at once")
                if c.subject.capabilities.contains(.reopening) {
                    try c.reopen()
                    try check("after reopening")
                }
            }
        },
        ConformanceCase(
            "errors.closed-store-changes-nothing", level: .core, capability: .closing,
            requirement:
                "Batches, erasures and saves of a closed store throw; its records are there at the next opening.",
            hint: "What is done less often than saving does not look whether the store was closed."
        ) { c in
            let a = try c.session()
            let entry = Entry("kept", rank: 1)
            try a.store(entry, Badge(1))
            let store = try c.store
            try c.close()
            c.note("use the store itself")
            try c.expectError("an error: the store was closed") { try store.save(deleted: [entry]) }
            try c.expectError("an error: the store was closed") { try store.save(updated: [entry]) }
            if c.subject.capabilities.contains(.batchDelete) {
                try c.expectError("an error: the store was closed") { try store.deleteAll(Badge.self) }
            }
            if c.subject.capabilities.contains(.erase) {
                c.note("store.erase")
                try c.expectError("an error: the store was closed") { try store.store.erase() }
            }
            guard c.subject.capabilities.contains(.reopening) else { return }
            try c.reopen()
            let b = try c.session()
            try c.expect(try b.all(Entry.self).map(\.rank), is: [1], "ranks after reopening:")
            try c.expect(try b.count(FetchDescriptor<Badge>()), is: 1, "badges after reopening:")
        },
        ConformanceCase(
            "isolation.rollback-in-a-fresh-context", level: .core,
            requirement:
                "A context that has read two records, and rolls back changes of both, shows each with its own values.",
            hint:
                "cachedSnapshots(for:editingState:) returns values of another record, or those of the one asked for last."
        ) { c in
            let a = try c.session()
            for number in 1...4 { a.insert(Entry("entry \(number)", rank: number, note: "n\(number)")) }
            a.insert(Badge(7))
            try a.save()
            let b = try c.session()
            let found = try b.all(Entry.self)
            let badge = try b.only(Badge.self)
            func texts() -> [String] {
                found.map { "\($0.name) \($0.rank ?? 0) \($0.note ?? "-")" } + ["\(badge.number)"]
            }
            let before = texts()
            for round in 1...2 {
                b.change("all that was read, delete one, and roll back") {
                    for entry in found.reversed() {
                        entry.name = "changed"
                        entry.rank = nil
                    }
                    badge.number = 0
                    b.context.delete(found[1])
                }
                b.context.rollback()
                try c.expect(texts(), is: before, "names, ranks and notes after rollback \(round):")
            }
            b.change("rank of the third") { found[2].rank = 30 }
            try b.save()
            try c.expect(
                try c.session().all(Entry.self).map(\.rank), is: [1, 2, 30, 4], "ranks after a save of one:")
        },
    ]
}
