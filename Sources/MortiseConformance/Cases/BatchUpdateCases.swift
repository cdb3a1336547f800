import Foundation
import MortiseCore

/// Batch updates, carried out by the store if it claims to, else by the framework.
extension ConformanceCase {
    private static func expectUnchanged(_ c: CaseContext, _ what: String) throws {
        let entries = try c.session().all(Entry.self)
        try c.expect(entries.map(\.rank), is: [1, .max, 2], "ranks after \(what):")
        try c.expect(entries.map(\.note), is: [nil, nil, nil], "notes after \(what):")
    }

    static let batchUpdateCases: [ConformanceCase] = [
        ConformanceCase(
            "batch.update-where", level: .core,
            requirement: "update(_:where:) changes what matches, at once, counts it, and changes nothing else.",
            hint: "The condition is ignored, or the last record is left out."
        ) { c in
            try storeEntries(c)
            let a = try c.session()
            c.note("update Entry where group == \"x\": note = new")
            let count = try a.context.update(Entry.self, where: #Predicate { $0.group == "x" }) {
                $0.set(\.note, to: "new")
            }
            try c.expect(count, is: 3, "count of what matched:")
            let entries = try c.session().all(Entry.self)
            try c.expect(entries.map(\.note), is: ["new", nil, "new", nil, "new", nil], "notes:")
            try c.expect(entries.map(\.rank), is: [4, nil, 2, 4, nil, -7], "ranks, which were not set:")
        },
        ConformanceCase(
            "batch.update-counts-what-matched", level: .core,
            requirement: "update(_:where:) counts the matches, whether or not they differ afterwards.",
            hint: "Only records that differ are counted."
        ) { c in
            try storeEntries(c)
            let a = try c.session()
            c.note("update Entry where group == \"x\": group = x")
            let count = try a.context.update(Entry.self, where: #Predicate { $0.group == "x" }) {
                $0.set(\.group, to: "x")
            }
            try c.expect(count, is: 3, "count of what matched:")
            let none = try a.context.update(Entry.self, where: #Predicate { $0.group == "?" }) {
                $0.set(\.group, to: "!")
            }
            try c.expect(none, is: 0, "count where nothing matched:")
        },
        ConformanceCase(
            "batch.update-of-subclasses", level: .core,
            requirement: "An update reaches the records of subclasses, unless it excludes them.",
            hint: "includeSubclasses is ignored, or only the superclass's own records are found."
        ) { c in
            try c.session().store(Vehicle("V", wheels: 2), Truck("T", load: 1))
            let a = try c.session()
            c.note("update Vehicle: wheels = 3; update Vehicle without subclasses: wheels = 4")
            let all = try a.context.update(Vehicle.self) { $0.set(\.wheels, to: 3) }
            try c.expect(all, is: 2, "count with subclasses:")
            try c.expect(try c.session().all(Vehicle.self).map(\.wheels), is: [3, 3], "wheels after the first:")
            let own = try a.context.update(Vehicle.self, includeSubclasses: false) { $0.set(\.wheels, to: 4) }
            try c.expect(own, is: 1, "count without subclasses:")
            try c.expect(try c.session().all(Vehicle.self).map(\.wheels), is: [4, 3], "wheels after the second:")
        },
        ConformanceCase(
            "batch.update-sees-values-from-before", level: .core,
            requirement:
                "All values of an update are taken from the record as it was: two properties can be exchanged.",
            hint: "Assignments are made one after the other, and the second sees the first."
        ) { c in
            try storeEntries(c)
            c.note("update Entry where group == \"y\": name = group, group = name")
            try c.session().context.update(Entry.self, where: #Predicate { $0.group == "y" }) {
                $0.set(\.name, from: \.group)
                $0.set(\.group, from: \.name)
            }
            let entries = try c.session().all(Entry.self)
            try c.expect(entries.map(\.name), is: ["delta", "y", "charlie", "y", "Echo", "échelle"], "names:")
            try c.expect(entries.map(\.group), is: ["x", "alpha", "x", "bravo", "x", "z"], "groups:")
        },
        ConformanceCase(
            "batch.update-calculates", level: .core,
            requirement: "An update can add, multiply and clear; calculations with nil stay nil.",
            hint: "Nil is read as zero."
        ) { c in
            try storeEntries(c)
            c.note("update Entry: rank += 10, score *= 2, note = nil")
            try c.session().context.update(Entry.self) {
                $0.increment(\.rank, by: 10)
                $0.multiply(\.score, by: 2)
                $0.set(\.note, to: nil)
            }
            let entries = try c.session().all(Entry.self)
            try c.expect(entries.map(\.rank), is: [14, nil, 12, 14, nil, 3], "ranks:")
            try c.expect(entries.map(\.score), is: [3, -2, 0, .infinity, 3, 198], "scores:")
            try c.expect(entries.map(\.note), is: [nil, nil, nil, nil, nil, nil], "notes:")
        },
        ConformanceCase(
            "batch.update-is-seen-in-memory", level: .core,
            requirement:
                "Models that are in memory show the values of an update: here at once, elsewhere at the next fetch.",
            hint: "A cache does not learn which records a batch has changed."
        ) { c in
            let a = try c.session()
            let entry = Entry("one", rank: 1)
            try a.store(entry, Entry("two", rank: 2))
            let b = try c.session()
            let seen = try b.all(Entry.self)
            c.note("A: update Entry: rank += 10")
            try a.context.update(Entry.self) { $0.increment(\.rank, by: 10) }
            try c.expect(entry.rank, is: 11, "rank of a model in the context that updated:")
            _ = try b.all(Entry.self)
            try c.expect(seen.map(\.rank), is: [11, 12], "ranks of another context's models after its next fetch:")
            try c.expect(a.context.hasChanges, is: false, "unsaved changes in the context that updated:")
        },
        ConformanceCase(
            "batch.update-fails-whole", level: .core,
            requirement: "If one value of an update cannot be calculated, the update throws and changes nothing.",
            hint: "Records are written one by one, and those before the error stay changed."
        ) { c in
            let a = try c.session()
            try a.store(Entry("one", rank: 1), Entry("most", rank: .max), Entry("two", rank: 2))
            c.note("update Entry: note = new, rank += 1, which overflows for the second")
            try c.expectError("an error, since a rank would be too large") {
                try a.context.update(Entry.self) {
                    $0.set(\.note, to: "new")
                    $0.increment(\.rank, by: 1)
                }
            }
            try expectUnchanged(c, "the update failed")
            try a.store(Entry("later", rank: 3))
            try c.expect(try c.session().all(Entry.self).count, is: 4, "entries after a later save:")
        },
        ConformanceCase(
            "batch.update-of-unique-values", level: .core,
            requirement: "An update that would give two records the same unique values throws and changes nothing.",
            hint: "Batches bypass the check of unique values."
        ) { c in
            let a = try c.session()
            try a.store(Account("a@x", country: "NO", number: 1), Account("b@x", country: "SE", number: 2))
            c.note("update Account: email = same, owner = new")
            try c.expectError("an error, since both would have the same email") {
                try a.context.update(Account.self) {
                    $0.set(\.owner, to: "new")
                    $0.set(\.email, to: "same")
                }
            }
            let accounts = try c.session().all(Account.self)
            try c.expect(accounts.map(\.email), is: ["a@x", "b@x"], "emails after the update failed:")
            try c.expect(accounts.map(\.owner), is: ["", ""], "owners after the update failed:")
        },
        ConformanceCase(
            "batch.update-of-relationships", level: .core,
            requirement: "An update sets a to-one relationship in every record, and the other side follows.",
            hint: "The identifier is written, but not the side derived from it."
        ) { c in
            let a = try c.session()
            let team = Team("red")
            let badge = Badge(7)
            try a.store(team, badge, Person("Ada", age: 1), Person("Bob", age: 2), Person("Cid", age: 1))
            c.note("update Person where age == 1: team = red, badge = 7")
            try a.context.update(Person.self, where: #Predicate { $0.age == 1 }) {
                $0.set(\.team, to: team)
                $0.set(\.badge, to: badge)
            }
            let b = try c.session()
            try c.expect(try b.all(Person.self).map { $0.badge?.number }, is: [7, nil, 7], "badges:")
            try c.expect(try b.only(Team.self).members.map(\.name).sorted(), is: ["Ada", "Cid"], "members:")
        },
        ConformanceCase(
            "batch.update-after-reopening", level: .core, capability: .reopening,
            requirement: "The changes of an update are there when the storage is opened again.",
            hint: "A batch changes memory, and is written when something else is saved."
        ) { c in
            try storeEntries(c)
            c.note("update Entry: rank = 5")
            try c.session().context.update(Entry.self) { $0.set(\.rank, to: 5) }
            try c.reopen()
            try c.expect(
                try c.session().all(Entry.self).map(\.rank), is: [5, 5, 5, 5, 5, 5], "ranks after reopening:")
        },
        ConformanceCase(
            "batch.update-survives-a-crash", level: .full, capability: .durability,
            requirement: "The changes of an update that has returned survive the end of the process without closing.",
            hint: "A batch changes memory, and is written when the store is closed."
        ) { c in
            try storeEntries(c)
            c.note("update Entry: rank = 5")
            try c.session().context.update(Entry.self) { $0.set(\.rank, to: 5) }
            try c.crash()
            try c.expect(
                try c.session().all(Entry.self).map(\.rank), is: [5, 5, 5, 5, 5, 5], "ranks after the crash:")
        },
        ConformanceCase(
            "batch.update-with-failing-storage", level: .full, capability: .faultInjection,
            requirement: "An update that the storage refuses throws, and no reader sees any of it.",
            hint: "Memory is changed before the storage is."
        ) { c in
            let a = try c.session()
            try a.store(Entry("one", rank: 1), Entry("most", rank: .max), Entry("two", rank: 2))
            try c.faults.failOperation(1)
            c.note("fail the next operation of the storage; update Entry: note = new")
            try c.expectError("an error of the storage") {
                try a.context.update(Entry.self) { $0.set(\.note, to: "new") }
            }
            try c.faults.failOperation(nil)
            // A store that does not know any more what is on its storage may refuse to be read; it may not be wrong.
            if (try? c.session().all(Entry.self)) != nil { try expectUnchanged(c, "the update failed") }
        },
    ]
}
