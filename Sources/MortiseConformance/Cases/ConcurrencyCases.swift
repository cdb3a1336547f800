import Dispatch
import Foundation
import MortiseCore
import Synchronization

extension ConformanceCase {
    /// Runs the body on several threads at once.
    /// - Throws: the first error of any.
    static func threads(_ count: Int, _ body: @escaping @Sendable (Int) throws -> Void) throws {
        let first = Mutex<(any Error)?>(nil)
        // Threads of their own: what dispatch runs at once depends on what else it runs.
        let done = DispatchSemaphore(value: 0)
        for number in 0..<count {
            Thread {
                do { try body(number) } catch { first.withLock { $0 = $0 ?? error } }
                done.signal()
            }.start()
        }
        for _ in 0..<count { done.wait() }
        if let error = first.withLock({ $0 }) { throw error }
    }

    /// A store that promises to be called from several threads.
    ///
    /// @unchecked Sendable: that is what the claim of concurrency promises, and what the cases put to the test.
    struct SharedStore: @unchecked Sendable {
        let store: BareStore
    }

    static let concurrencyCases: [ConformanceCase] = [
        ConformanceCase(
            "concurrency.saves-at-once", level: .core, capability: .concurrency,
            requirement: "Saves of several threads at once are all stored, each with its own identifiers.",
            hint: "A save reads the state before it holds the lock under which it writes."
        ) { c in
            let shared = SharedStore(store: try c.store.quietly())
            c.note("4 threads save 8 entries each, in the store itself")
            try threads(4) { thread in
                for number in 0..<8 { try shared.store.save(inserted: [Entry("\(thread)-\(number)")]) }
            }
            let names = try c.session().all(Entry.self).map(\.name)
            try c.expect(names.count, is: 32, "entries:")
            try c.expect(Set(names).count, is: 32, "different names:")
            try c.expect(Set(try c.store.identifiers(Entry.self)).count, is: 32, "different identifiers:")
        },
        ConformanceCase(
            "concurrency.saves-are-seen-whole", level: .core, capability: .concurrency,
            requirement: "A thread that reads while others save sees each save whole, or not at all.",
            hint: "Readers look at the state that a save is changing."
        ) { c in
            let shared = SharedStore(store: try c.store.quietly())
            let halves = Mutex<[Int]>([])
            let saving = Atomic(2)
            c.note("2 threads save pairs of entries, 2 threads count them meanwhile, in the store itself")
            try threads(4) { thread in
                if thread < 2 {
                    defer { saving.subtract(1, ordering: .relaxed) }
                    for number in 0..<8 {
                        try shared.store.save(inserted: [Entry("\(thread)-\(number)"), Entry("\(thread)-\(number)")])
                    }
                } else {
                    // As long as there is something to see, on a busy machine too.
                    repeat {
                        let count = try shared.store.records(Entry.self).count
                        if count % 2 != 0 { halves.withLock { $0.append(count) } }
                        Thread.sleep(forTimeInterval: 0.000_5)
                    } while saving.load(ordering: .relaxed) > 0
                }
            }
            try c.expect(Set(halves.withLock { $0 }).sorted(), is: [], "odd numbers of entries seen:")
            try c.expect(try c.store.count(Entry.self), is: 32, "entries at the end:")
        },
        ConformanceCase(
            "concurrency.updates-of-different-records", level: .full, capability: .concurrency,
            requirement: "Updates of different records by several threads at once all take effect.",
            hint: "The last writer writes the whole state back."
        ) { c in
            let a = try c.session()
            for number in 0..<4 { a.context.insert(Entry("e\(number)", rank: 0)) }
            try a.save()
            let container = try c.container
            c.note("4 threads count up the rank of an entry of their own, in contexts")
            try threads(4) { thread in
                let context = ModelContext(container)
                let name = "e\(thread)"
                for _ in 0..<6 {
                    let found = try context.fetch(FetchDescriptor<Entry>(predicate: #Predicate { $0.name == name }))
                    found.first?.rank = (found.first?.rank ?? 0) + 1
                    try context.save()
                }
            }
            try c.expect(try c.session().all(Entry.self).map(\.rank), is: [6, 6, 6, 6], "ranks:")
        },
        ConformanceCase(
            "isolation.identifiers-of-two-contexts", level: .core,
            requirement: "Two contexts that insert before either saves get identifiers of their own.",
            hint: "Identifiers are assigned from what each context has seen."
        ) { c in
            let a = try c.session()
            let b = try c.session()
            let one = Entry("one")
            let two = Entry("two")
            a.insert(one)
            b.insert(two)
            try b.save()
            try a.save()
            try c.expect(
                one.persistentModelID != two.persistentModelID, "two identifiers", found: "\(one.persistentModelID)")
            try c.expect(try c.session().all(Entry.self).map(\.name), is: ["two", "one"], "names in order of saving:")
        },
        ConformanceCase(
            "isolation.rollback-takes-everything-back", level: .core,
            requirement: "After a rollback a context shows what is stored, relationships and deletions included.",
            hint: "The store hands out the context's own snapshots again."
        ) { c in
            let a = try c.session()
            let team = Team("red")
            let ada = Person("Ada", age: 36, team: team)
            try a.store(ada, Person("Bob"))
            a.change("Ada's age and team") {
                ada.age = 37
                ada.team = Team("blue")
            }
            try a.save()
            a.change("Ada's age and team") {
                ada.age = 1
                ada.team = nil
            }
            a.delete(try a.first(Person.self, #Predicate { $0.name == "Bob" }))
            a.context.rollback()
            try c.expect(ada.age, is: 37, "Ada's age, saved twice:")
            try c.expect(ada.team?.name, is: "blue", "Ada's team:")
            try c.expect(try a.all(Person.self).map(\.name), is: ["Ada", "Bob"], "people:")
        },
        ConformanceCase(
            "isolation.save-of-nothing-changes-nothing", level: .full,
            requirement: "A context that has read and changed nothing writes nothing back when it saves.",
            hint: "A save writes all that a context has read."
        ) { c in
            let a = try c.session()
            let entry = Entry("one", rank: 1)
            try a.store(entry)
            let b = try c.session()
            _ = try b.all(Entry.self)
            a.change("rank") { entry.rank = 2 }
            try a.save()
            try b.save()
            try c.expect(try c.session().only(Entry.self).rank, is: 2, "rank:")
        },
        ConformanceCase(
            "store.capabilities-are-declared", level: .core,
            requirement: "The store says that it can do what its subject claims, and no more.",
            hint:
                "Queries, versions, history and batch deletion follow from protocols; the store declares the others itself."
        ) { c in
            let store = try c.store.store.capabilities.all
            let subject = c.subject.capabilities.all.subtracting([.faultInjection])
            try c.expect(
                store.subtracting(subject).sorted().map(\.rawValue), is: [],
                "what the store declares and its subject does not claim:")
            try c.expect(
                subject.subtracting(store).sorted().map(\.rawValue), is: [],
                "what the subject claims and its store does not declare:")
        },
        ConformanceCase(
            "store.updated-records-keep-their-pairs", level: .full,
            requirement: "The result of a save has no pairs for records that were updated or deleted.",
            hint: "Every record of the request is given a new identifier."
        ) { c in
            let a = try c.session()
            let kept = Entry("kept")
            let gone = Entry("gone")
            try a.store(kept, gone)
            let new = Entry("new")
            let result = try c.store.save(inserted: [new], updated: [kept], deleted: [gone])
            try c.expect(result.remapped.keys.map(\.entityName), is: ["Entry"], "entities of the pairs:")
            try c.expect(result.remapped[kept.persistentModelID], is: nil, "pair of the updated record:")
        },
        ConformanceCase(
            "store.values-set-by-the-store", level: .full,
            requirement: "Snapshots that a save returns for registration are those that the store then returns.",
            hint: "snapshotsToReregister holds the values before the save, or those of another record."
        ) { c in
            let a = try c.session()
            let entry = Entry("one", rank: 1)
            try a.store(entry)
            a.change("rank") { entry.rank = 2 }
            try a.save()
            let found = try c.session().only(Entry.self)
            try c.expect(entry.rank, is: found.rank, "rank in the context that saved, compared with a fresh one:")
            try c.expect(entry.name, is: found.name, "name in the context that saved, compared with a fresh one:")
        },
        ConformanceCase(
            "reopening.relationships-of-every-kind", level: .core, capability: .reopening,
            requirement: "To-one, to-many and many-to-many relationships, circles and those without inverse are kept.",
            hint: "Relationships are written by the side that is not stored, or in the order of a dictionary."
        ) { c in
            let a = try c.session()
            let ada = Person("Ada", team: Team("red"))
            let bob = Person("Bob")
            a.insert(ada, bob)
            ada.mentor = bob
            bob.mentor = ada
            ada.badge = Badge(3)
            let one = Project("one")
            a.insert(one)
            one.people = [ada, bob]
            bob.projects.append(Project("two"))
            try a.save()
            try c.reopen()
            let found = try c.session().all(Person.self)
            try c.expect(found.map { $0.mentor?.name }, is: ["Bob", "Ada"], "mentors:")
            try c.expect(found.map { $0.badge?.number }, is: [3, nil], "badges:")
            try c.expect(found.map { $0.projects.map(\.title) }, is: [["one"], ["one", "two"]], "projects:")
            try c.expect(found.map { $0.team?.name }, is: ["red", nil], "teams:")
        },
        ConformanceCase(
            "reopening.unique-values", level: .core, capability: .reopening,
            requirement: "A unique value is still taken after reopening; a new record with it updates the stored one.",
            hint: "The index of unique values is not built when the store is opened."
        ) { c in
            try c.session().store(Account("a@x", country: "NO", number: 1, owner: "old"))
            try c.reopen()
            try c.session().store(Account("a@x", country: "SE", number: 2, owner: "new"))
            try c.expect(try c.session().all(Account.self).map(\.owner), is: ["new"], "owners:")
        },
        ConformanceCase(
            "reopening.after-deleting-everything-once", level: .full, capability: .reopening,
            requirement:
                "Records inserted after all others were deleted keep their order and identifiers over reopening.",
            hint: "Numbering starts again at reopening where the store is empty in between."
        ) { c in
            let a = try c.session()
            let old = Entry("old")
            try a.store(old)
            let before = old.persistentModelID
            a.delete(old)
            try a.save()
            try c.reopen()
            let new = Entry("new")
            try c.session().store(new)
            try c.expect(new.persistentModelID != before, "an identifier other than \(before)", found: "the same")
        },
    ]
}
