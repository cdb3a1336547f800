import Foundation
import MortiseCore

extension ConformanceCase {
    /// Entries with repeated, missing and unlike values.
    static func storeEntries(_ c: CaseContext) throws {
        try c.session().store(
            Entry("delta", group: "x", rank: 4, score: 1.5, note: "n"),
            Entry("alpha", group: "y", rank: nil, score: -1),
            Entry("charlie", group: "x", rank: 2, score: 0, note: ""),
            Entry("bravo", group: "y", rank: 4, score: .infinity),
            Entry("Echo", group: "x", rank: nil, score: 1.5, note: "N"),
            Entry("échelle", group: "z", rank: -7, score: 99))
    }

    private static func expect(_ names: [String], _ predicate: Predicate<Entry>, _ c: CaseContext) throws {
        try expect(names, predicate, \.name, c)
    }

    private static func expect<M: PersistentModel>(
        _ names: [String], _ predicate: Predicate<M>, _ name: (M) -> String, _ c: CaseContext
    ) throws {
        let session = try c.session()
        let descriptor = FetchDescriptor(predicate: predicate)
        try c.expect(try session.fetch(descriptor).map(name), is: names, "names that match:")
        try c.expect(try session.count(descriptor), is: names.count, "count of what matches:")
    }

    static let fetchCases: [ConformanceCase] = [
        ConformanceCase(
            "fetch.only-the-entity", level: .firstHour,
            requirement: "A fetch returns the records of its entity and of no other.",
            hint: "Records are kept together without their entity."
        ) { c in
            try c.session().store(
                Entry("entry"), Team("team"), Project("project"), Person("person"), Badge(1), Vehicle("V", wheels: 1))
            let a = try c.session()
            try c.expect(try a.all(Entry.self).map(\.name), is: ["entry"], "entries:")
            try c.expect(try a.all(Team.self).map(\.name), is: ["team"], "teams:")
            try c.expect(try a.all(Truck.self).count, is: 0, "trucks, where there are only other vehicles:")
            for record in try c.store.records(Project.self) {
                try c.expect(record.identifier.entityName, is: "Project", "entity of a record fetched for Project:")
            }
            try c.expect(try c.store.count(Badge.self), is: 1, "the store's own count of badges:")
        },
        ConformanceCase(
            "fetch.predicate-equality", level: .firstHour,
            requirement: "A predicate of equality finds equal values, and nothing else.",
            hint: "Throw DataStoreError.preferInMemoryFilter for predicates that the store does not evaluate."
        ) { c in
            try storeEntries(c)
            try expect(["delta"], #Predicate { $0.name == "delta" }, c)
            try expect([], #Predicate { $0.name == "Delta" }, c)
            try expect(["delta", "bravo"], #Predicate { $0.rank == 4 }, c)
            try expect(["delta", "charlie", "Echo"], #Predicate { $0.group != "y" && $0.group != "z" }, c)
            try expect(["delta", "Echo"], #Predicate { $0.score == 1.5 }, c)
        },
        ConformanceCase(
            "fetch.predicate-comparison", level: .core,
            requirement: "Predicates on numbers and dates find values in the range, ends included as written.",
            hint: "An end of a range is included that should not be, or nil counts as a small number."
        ) { c in
            try storeEntries(c)
            try expect(["delta", "bravo", "Echo", "échelle"], #Predicate { $0.score >= 1.5 }, c)
            try expect(["bravo", "échelle"], #Predicate { $0.score > 1.5 }, c)
            try expect(["alpha"], #Predicate { $0.score < 0 }, c)
            try expect(["alpha", "charlie"], #Predicate { $0.score <= 0 }, c)
            try expect(["delta", "charlie", "bravo"], #Predicate { ($0.rank ?? 0) > 1 }, c)
            let stamp = Date(timeIntervalSinceReferenceDate: 1)
            try expect(["delta", "bravo", "Echo", "échelle"], #Predicate { $0.stamp > stamp }, c)
        },
        ConformanceCase(
            "fetch.predicate-nil", level: .core,
            requirement: "A predicate tells nil from every value: nil equals nil and nothing else.",
            hint: "Null is compared as in SQL, where it equals nothing, not even null; or \"\" is read as nil."
        ) { c in
            try storeEntries(c)
            try expect(["alpha", "Echo"], #Predicate { $0.rank == nil }, c)
            try expect(["delta", "charlie", "bravo", "échelle"], #Predicate { $0.rank != nil }, c)
            try expect(["alpha", "charlie", "Echo", "échelle"], #Predicate { $0.rank != 4 }, c)
            try expect(["alpha", "bravo", "échelle"], #Predicate { $0.note == nil }, c)
            try expect(["charlie"], #Predicate { $0.note == "" }, c)
        },
        ConformanceCase(
            "fetch.predicate-text", level: .core,
            requirement: "Predicates on text compare as Swift does: by case, and canonically.",
            hint: "The store's collation ignores case or accents, or compares bytes."
        ) { c in
            try storeEntries(c)
            try expect(["échelle"], #Predicate { $0.name == "e\u{301}chelle" }, c)
            try expect(["Echo"], #Predicate { $0.name.starts(with: "E") }, c)
            try expect(["charlie"], #Predicate { $0.name.contains("harl") }, c)
            try expect([], #Predicate { $0.name.contains("HARL") }, c)
            try expect(["delta", "alpha", "charlie", "bravo", "échelle"], #Predicate { $0.name > "a" }, c)
        },
        ConformanceCase(
            "fetch.predicate-logic", level: .core,
            requirement: "And, or and not mean what they say, nested too, with nil among the operands.",
            hint: "One branch of an or is pushed down alone, or a not is applied to a superset."
        ) { c in
            try storeEntries(c)
            try expect(["delta", "charlie", "Echo"], #Predicate { $0.group == "x" || $0.name == "Echo" }, c)
            try expect(["alpha", "bravo", "échelle"], #Predicate { !($0.group == "x") }, c)
            let either = #Predicate<Entry> { ($0.group == "x" && $0.name < "d") || $0.group == "z" }
            try expect(["charlie", "Echo", "échelle"], either, c)
            let nilOrHigh = #Predicate<Entry> { $0.rank == nil || $0.score > 50 }
            try expect(["alpha", "bravo", "Echo", "échelle"], nilOrHigh, c)
            let neither = #Predicate<Entry> { !($0.rank == nil || $0.score > 50) }
            try expect(["delta", "charlie"], neither, c)
            try expect([], #Predicate { $0.group == "x" && $0.group == "y" }, c)
        },
        ConformanceCase(
            "fetch.predicate-relationship", level: .core,
            requirement: "Predicates follow relationships to one and to many.",
            hint: "Throw DataStoreError.preferInMemoryFilter for key paths that lead to other entities."
        ) { c in
            let a = try c.session()
            let red = Team("red")
            a.insert(red, Team("empty"), Person("Ada", age: 36, team: red))
            a.insert(Person("Bob", age: 20, team: Team("blue")), Person("Eve"))
            try a.save()
            let inRed = #Predicate<Person> { $0.team?.name == "red" }
            try expect(["Ada"], inRed, \.name, c)
            let withoutTeam = #Predicate<Person> { $0.team == nil }
            try expect(["Eve"], withoutTeam, \.name, c)
            let empty = #Predicate<Team> { $0.members.isEmpty }
            try expect(["empty"], empty, \.name, c)
            let withBob = #Predicate<Team> { team in team.members.contains { $0.name == "Bob" } }
            try expect(["blue"], withBob, \.name, c)
        },
        ConformanceCase(
            "fetch.by-identifier", level: .core,
            requirement: "A predicate on persistentModelID finds exactly that record.",
            hint: "Contexts read single records this way: let the store answer it, or throw preferInMemoryFilter."
        ) { c in
            let a = try c.session()
            let entry = Entry("two")
            try a.store(Entry("one"), entry, Entry("three"))
            let identifier = entry.persistentModelID
            try c.expect(
                try c.session().fetch(
                    FetchDescriptor<Entry>(predicate: #Predicate { $0.persistentModelID == identifier })
                )
                .map(\.name), is: ["two"], "names:")
            let found: Entry = try c.session().context.existingModel(for: identifier)
            try c.expect(found.name, is: "two", "name of the model for the identifier:")
        },
        ConformanceCase(
            "fetch.sees-pending-changes", level: .core,
            requirement: "A fetch takes the context's unsaved changes into account, unless it asks not to.",
            hint:
                "The store is asked for the filtered records, though unsaved changes may match where stored values do not."
        ) { c in
            try storeEntries(c)
            let a = try c.session()
            let delta = try a.first(Entry.self, #Predicate { $0.name == "delta" })
            a.change("rank of delta") { delta.rank = 100 }
            a.insert(Entry("new", rank: 50))
            a.delete(try a.first(Entry.self, #Predicate { $0.name == "bravo" }))
            var descriptor = FetchDescriptor<Entry>(predicate: #Predicate { ($0.rank ?? 0) >= 4 })
            try c.expect(try a.fetch(descriptor).map(\.name), is: ["delta", "new"], "names with unsaved changes:")
            try c.expect(try a.count(descriptor), is: 2, "count with unsaved changes:")
            descriptor.includePendingChanges = false
            try c.expect(try a.fetch(descriptor).map(\.name), is: ["delta", "bravo"], "names as stored:")
        },
    ]
}
