import MortiseCore

extension ConformanceCase {
    static let storeContractCases: [ConformanceCase] = [
        ConformanceCase(
            "store.save-returns-every-identifier", level: .core,
            requirement: "The result of a save pairs each inserted identifier with a new permanent one, and no other.",
            hint: "remappedIdentifiers holds the updated records too, or lacks one of two entities."
        ) { c in
            let inserted: [any PersistentModel] = [Entry("a"), Entry("b"), Team("t"), Truck("T", load: 1)]
            let temporary = inserted.map(\.persistentModelID)
            let store = try c.store
            let result = try store.save(inserted: inserted)
            try c.expect(result.storeIdentifier, is: store.identifier, "store identifier of the result:")
            try c.expect(
                Set(result.remapped.keys) == Set(temporary), "a pair for each inserted record",
                found: "\(result.remapped)")
            let permanent = temporary.compactMap { result.remapped[$0] }
            try c.expect(
                permanent.contains(where: \.isTemporary), is: false, "temporary identifiers among the new ones:")
            try c.expect(Set(permanent).count, is: 4, "different identifiers:")
            try c.expect(permanent.map(\.entityName), is: ["Entry", "Entry", "Team", "Truck"], "entity names:")
            try c.expect(
                try store.records(Entry.self).map(\.identifier), is: Array(permanent.prefix(2)), "identifiers stored:")
        },
        ConformanceCase(
            "store.snapshots-have-every-property", level: .core,
            requirement:
                "A fetched snapshot has a value, or an explicit null, for every property, inherited ones included.",
            hint: "A nil is left out instead of written as null."
        ) { c in
            try c.session().store(OptionalSample(label: "x"), Truck("T", load: 1), Person("Ada"))
            let store = try c.store
            let sample = try c.require(try store.records(OptionalSample.self).first, "a record of OptionalSample")
            for name in ["label", "flag", "text", "bytes", "moment", "link", "place", "words"] {
                try c.expect(
                    sample.values[name] != nil, "a value for \(name)",
                    found: "none among \(sample.values.keys.sorted())")
            }
            let truck = try c.require(try store.records(Truck.self).first, "a record of Truck")
            try c.expect(truck.values.keys.sorted(), is: ["load", "plate", "wheels"], "properties of a Truck:")
            let person = try c.require(try store.records(Person.self).first, "a record of Person")
            try c.expect(
                person.values.keys.sorted(), is: ["age", "badge", "mentor", "name", "projects", "pupils", "team"],
                "properties of a Person:")
        },
        ConformanceCase(
            "store.writes-what-has-changed", level: .core,
            requirement:
                "A save writes the properties that it names. What its snapshot has in the others need not be what is stored.",
            hint: "changedSlots is not looked at, and null is written for what the context has not read."
        ) { c in
            let a = try c.session()
            let team = Team("red")
            let (ada, bob) = (Person("Ada", age: 7, team: team), Person("Bob", age: 8, team: team))
            let entry = Entry("one", group: "g", rank: 1, score: 2, note: "n")
            try a.store(ada, bob, entry)
            entry.rank = 5
            ada.age = 9
            let store = try c.store
            guard try store.save(["rank"], of: entry), try store.save(["age"], of: ada) else { return }
            let b = try c.session()
            let found = try b.only(Entry.self)
            try c.expect(found.rank, is: 5, "the rank that was saved:")
            try c.expect(
                [found.name, found.group, found.note ?? "nil"], is: ["one", "g", "n"], "the texts beside it:")
            try c.expect(found.score, is: 2, "the score beside it:")
            let people = try b.all(Person.self)
            try c.expect(people.map(\.age), is: [9, 8], "ages, of which the first was saved:")
            try c.expect(people.map { $0.team?.name ?? "none" }, is: ["red", "red"], "teams beside them:")
        },
        ConformanceCase(
            "store.superclass-fetch-has-whole-records", level: .core,
            requirement:
                "A fetch of a superclass hands out its subclasses' records with all their properties, in order.",
            hint: "Records of subentities are cut to the superentity's properties, or come in blocks by entity."
        ) { c in
            try c.session().store(Truck("T", load: 1), Vehicle("V", wheels: 2), Truck("U", load: 2))
            let records = try c.store.records(Vehicle.self)
            try c.expect(records.map(\.identifier.entityName), is: ["Truck", "Vehicle", "Truck"], "entities in order:")
            try c.expect(
                records.map { $0.values.keys.contains("load") }, is: [true, false, true], "which have a load:")
        },
        ConformanceCase(
            "store.identifier-is-stable", level: .core, capability: .reopening,
            requirement: "The store has the same identifier whenever the same storage is opened.",
            hint: "Opening makes a new identifier. Keep it in the storage."
        ) { c in
            let before = try c.store.identifier
            try c.session().store(Entry("x"))
            try c.reopen()
            try c.expect(try c.store.identifier, is: before, "the store's identifier:")
        },
        ConformanceCase(
            "store.aggregates-are-answered", level: .core, capability: .aggregates,
            requirement:
                "A store that claims aggregates counts and groups all records of an entity.",
            hint: "aggregate(_:in:) returns nil. The framework then aggregates, and the claim is worth nothing."
        ) { c in
            try c.session().store(Entry("a", group: "x"), Entry("b", group: "y"), Entry("c", group: "x"))
            let query = StoreQuery("Entry")
            let group = try PlanProbe(c).property("group")
            let answer = try c.require(
                try c.store.aggregate(AggregateQuery(query, by: [group], [.count])), "an answer to an aggregation")
            try c.expect(answer.groups.map(\.keys), is: [[.string("x")], [.string("y")]], "keys:")
            try c.expect(answer.groups.map(\.values), is: [[.integer(2)], [.integer(1)]], "counts:")
        },
        ConformanceCase(
            "store.versions-are-held", level: .core, capability: .versions,
            requirement: "A version that was taken still reads as it did, after later saves.",
            hint: "The version shows the store's present state, or shares memory that a save changes."
        ) { c in
            let a = try c.session()
            let entry = Entry("one", rank: 1)
            try a.store(entry, Entry("two"))
            let store = try c.require(try c.store.store as? any VersionedDataStore, "a VersionedDataStore")
            let version = store.currentVersion
            let rows = try c.require(version.rows(ofEntity: "Entry"), "the rows of Entry")
            let row = try c.require(rows.row(of: entry.persistentModelID), "the row of the first entry")
            let before = (0..<6).map { rows.value(row: row, slot: $0) }
            a.change("the first entry") {
                entry.name = "changed"
                entry.rank = 2
            }
            try a.save()
            a.delete(entry)
            try a.save()
            try c.expect(rows.count, is: 2, "records in the version:")
            try c.expect((0..<6).map { rows.value(row: row, slot: $0) } == before, "the values as they were")
            try c.expect(store.currentVersion.number > version.number, "a later version with a higher number")
            try c.expect(store.currentVersion.rows(ofEntity: "Entry")?.count, is: 1, "records in the latest version:")
        },
        ConformanceCase(
            "store.history-is-provided", level: .core, capability: .history,
            requirement:
                "A store that claims history conforms to HistoryProviding and keeps a transaction of each save.",
            hint: "The history is written outside the save, or only for some kinds of change."
        ) { c in
            let a = try c.session()
            let entry = Entry("one")
            try a.store(entry)
            let provider = try c.require(try c.store.store as? any HistoryProviding, "a HistoryProviding")
            func identifiers<P: HistoryProviding>(_ provider: P) throws -> [[PersistentIdentifier]] {
                try provider.fetchHistory(HistoryDescriptor<P.HistoryType>()).map { transaction in
                    transaction.changes.map(\.changedPersistentIdentifier)
                }
            }
            try c.expect(try identifiers(provider), is: [[entry.persistentModelID]], "changes by transaction:")
            a.delete(entry)
            try a.save()
            try c.expect(
                try identifiers(provider), is: [[entry.persistentModelID], [entry.persistentModelID]],
                "changes by transaction:")
        },
    ]
}
