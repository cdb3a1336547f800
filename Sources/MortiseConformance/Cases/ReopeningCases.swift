import Foundation
import MortiseCore

extension ConformanceCase {
    static let reopeningCases: [ConformanceCase] = [
        ConformanceCase(
            "reopening.same-records", level: .firstHour, capability: .reopening,
            requirement: "Records, values and relationships are the same after the store is closed and opened again.",
            hint: "A save is not on the storage when it returns, or the subject opens another storage each time."
        ) { c in
            let a = try c.session()
            let ada = Person("Ada", age: 36, team: Team("red"))
            ada.projects = [Project("one"), Project("two")]
            ada.mentor = Person("Bob")
            try a.store(ada, Truck("T", load: 2.5))
            try c.reopen()
            let b = try c.session()
            let found = try b.first(Person.self, #Predicate { $0.name == "Ada" })
            try c.expect(found.age, is: 36, "age:")
            try c.expect(found.team?.name, is: "red", "team:")
            try c.expect(found.projects.map(\.title), is: ["one", "two"], "projects:")
            try c.expect(found.mentor?.pupils.map(\.name), is: ["Ada"], "pupils of the mentor:")
            try c.expect(try b.all(Vehicle.self).map(\.plate), is: ["T"], "vehicles:")
        },
        ConformanceCase(
            "reopening.after-every-kind-of-change", level: .core, capability: .reopening,
            requirement: "Updates and deletions are there after reopening, as insertions are.",
            hint: "Closing writes what was first read, or deletions are made in memory only."
        ) { c in
            var a = try c.session()
            try a.store(Entry("changed", rank: 1), Entry("gone"), Entry("kept"))
            try c.reopen()
            a = try c.session()
            let changed = try a.first(Entry.self, #Predicate { $0.name == "changed" })
            a.change("rank of changed") { changed.rank = 2 }
            a.delete(try a.first(Entry.self, #Predicate { $0.name == "gone" }))
            a.insert(Entry("new"))
            try a.save()
            try c.reopen()
            let found = try c.session().all(Entry.self)
            try c.expect(found.map(\.name), is: ["changed", "kept", "new"], "names in order of insertion:")
            try c.expect(found.map(\.rank), is: [2, nil, nil], "ranks:")
        },
        ConformanceCase(
            "reopening.unsaved-is-gone", level: .core, capability: .reopening,
            requirement: "Unsaved changes, and those of failed saves, are not there after reopening.",
            hint: "Closing writes what no save has written."
        ) { c in
            let a = try c.session()
            let entry = Entry("saved", rank: 1)
            let vault = Vault("v")
            try a.store(entry, Coin(1, vault: vault))
            a.insert(Entry("unsaved"))
            a.change("rank") { entry.rank = 2 }
            a.delete(vault)
            try c.expectError("ModelValidationError") { try a.save() }
            try c.reopen()
            let b = try c.session()
            try c.expect(try b.all(Entry.self).map(\.name), is: ["saved"], "names:")
            try c.expect(try b.all(Entry.self).map(\.rank), is: [1], "ranks:")
            try c.expect(try b.all(Vault.self).count, is: 1, "vaults:")
        },
        ConformanceCase(
            "reopening.empty-store", level: .core, capability: .reopening,
            requirement: "A store that was opened and never written, or emptied, opens again and is empty.",
            hint: "An empty file is treated as damaged."
        ) { c in
            _ = try c.session().all(Entry.self)
            try c.reopen()
            let a = try c.session()
            try c.expect(try a.all(Entry.self).count, is: 0, "entries:")
            let entry = Entry("x")
            try a.store(entry)
            a.delete(entry)
            try a.save()
            try c.reopen()
            try c.expect(try c.session().all(Entry.self).count, is: 0, "entries after the last one was deleted:")
            try c.session().store(Entry("y"))
            try c.expect(try c.session().all(Entry.self).map(\.name), is: ["y"], "names:")
        },
        ConformanceCase(
            "reopening.many-times", level: .core, capability: .reopening,
            requirement: "Every reopening shows all earlier saves, in the order of insertion.",
            hint: "Opening replaces instead of adding, or the counter of identifiers starts again."
        ) { c in
            var names: [String] = []
            for round in 0..<5 {
                try c.session().store(Entry("e\(round)"))
                names.append("e\(round)")
                try c.reopen()
                try c.expect(try c.session().all(Entry.self).map(\.name), is: names, "names:")
            }
        },
    ]
}
