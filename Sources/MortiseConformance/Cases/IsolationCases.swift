import Dispatch
import Foundation
import MortiseCore
import Synchronization

extension ConformanceCase {
    static let isolationCases: [ConformanceCase] = [
        ConformanceCase(
            "isolation.unsaved-is-invisible", level: .firstHour,
            requirement: "Unsaved changes of a context are seen by no other, and rolling back leaves no trace.",
            hint: "Contexts share objects, or changes reach the store before save(_:)."
        ) { c in
            let a = try c.session()
            let entry = Entry("one", rank: 1)
            try a.store(entry, Entry("two"))
            a.change("rank of one") { entry.rank = 99 }
            a.insert(Entry("three"))
            let b = try c.session()
            try c.expect(try b.all(Entry.self).map(\.name), is: ["one", "two"], "names in another context:")
            try c.expect(try b.all(Entry.self).map(\.rank), is: [1, nil], "ranks in another context:")
            try c.expect(try c.store.count(Entry.self), is: 2, "the store's own count:")
            a.context.rollback()
            try c.expect(entry.rank, is: 1, "rank after rolling back:")
            try c.expect(try a.all(Entry.self).map(\.name), is: ["one", "two"], "names after rolling back:")
        },
        ConformanceCase(
            "isolation.saved-is-seen-at-the-next-fetch", level: .firstHour,
            requirement: "A context sees at its next fetch what another has inserted, changed and deleted.",
            hint: "A cache is not emptied by every kind of change."
        ) { c in
            let a = try c.session()
            let one = Entry("one", rank: 1)
            let two = Entry("two", rank: 2)
            try a.store(one, two)
            let b = try c.session()
            try c.expect(try b.all(Entry.self).map(\.rank), is: [1, 2], "ranks at first:")
            a.change("rank of one") { one.rank = 10 }
            try a.save()
            try c.expect(try b.all(Entry.self).map(\.rank), is: [10, 2], "ranks after the update:")
            try a.store(Entry("three", rank: 3))
            try c.expect(try b.all(Entry.self).map(\.rank), is: [10, 2, 3], "ranks after the insertion:")
            a.delete(two)
            try a.save()
            try c.expect(try b.all(Entry.self).map(\.rank), is: [10, 3], "ranks after the deletion:")
            try c.expect(try b.count(FetchDescriptor<Entry>()), is: 2, "count after the deletion:")
        },
        ConformanceCase(
            "isolation.own-changes-hide-others", level: .core,
            requirement: "A fetch brings another context's save, and keeps this context's unsaved changes on top.",
            hint: "A fetch overwrites the values of models with unsaved changes."
        ) { c in
            let a = try c.session()
            let entry = Entry("one", group: "old", rank: 1)
            try a.store(entry)
            let b = try c.session()
            let twin = try b.only(Entry.self)
            b.change("rank in the second context") { twin.rank = 50 }
            a.change("group in the first context") { entry.group = "new" }
            try a.save()
            _ = try b.all(Entry.self)
            try c.expect(twin.rank, is: 50, "rank, changed here and not saved:")
            try c.expect(twin.group, is: "new", "group, saved elsewhere:")
            try b.save()
            let found = try c.session().only(Entry.self)
            try c.expect(found.rank, is: 50, "rank after both saves:")
            try c.expect(found.group, is: "new", "group after both saves:")
        },
        ConformanceCase(
            "isolation.containers-do-not-share", level: .core,
            requirement: "Two storages of the subject have nothing in common.",
            hint: "Something static, or a default path, holds the data."
        ) { c in
            try c.session().store(Entry("here"))
            let other = try c.subject.storage()
            defer { try? other.cleanUp() }
            c.note("open a second storage of the subject")
            let container = try ModelContainer(for: ConformanceModels.schema, configurations: [other.open()])
            let context = ModelContext(container)
            try c.expect(try context.fetch(FetchDescriptor<Entry>()).map(\.name), is: [], "entries there:")
            context.insert(Entry("there"))
            try context.save()
            try container.close()
            try c.expect(try c.session().all(Entry.self).map(\.name), is: ["here"], "entries here:")
        },
        ConformanceCase(
            "isolation.many-threads", level: .core,
            requirement: "Contexts on several threads save and fetch at once; every save is there, whole, at the end.",
            hint: "The store has state that is not behind a lock, or claims concurrency too early."
        ) { c in
            let container = try c.container
            let faults = Mutex<[String]>([])
            c.note("4 threads insert 10 × 2 entries each, 2 threads fetch meanwhile")
            DispatchQueue.concurrentPerform(iterations: 6) { thread in
                do {
                    let context = ModelContext(container)
                    for round in 0..<10 {
                        if thread < 4 {
                            context.insert(Entry("\(thread)-\(round)", group: "a", rank: thread))
                            context.insert(Entry("\(thread)-\(round)", group: "b", rank: thread))
                            try context.save()
                        } else {
                            let names = try context.fetch(FetchDescriptor<Entry>()).map(\.name)
                            let halves = Dictionary(grouping: names, by: { $0 }).filter { $0.value.count != 2 }.keys
                            if let half = halves.first { faults.withLock { $0.append("half of the save of \(half)") } }
                        }
                    }
                } catch {
                    faults.withLock { $0.append("\(error)") }
                }
            }
            let found = faults.withLock { $0 }
            try c.expect(found.isEmpty, "no error and no half of a save", found: found.first ?? "")
            let names = try c.session().all(Entry.self).map(\.name)
            try c.expect(names.count, is: 80, "entries:")
            try c.expect(Set(names).count, is: 40, "different names:")
            try c.expect(
                Set(try c.session().identifiers(FetchDescriptor<Entry>())).count, is: 80, "different identifiers:")
        },
    ]
}
