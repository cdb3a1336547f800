import MortiseCore

extension ConformanceCase {
    static let lifecycleCases: [ConformanceCase] = [
        ConformanceCase(
            "lifecycle.empty-store-answers-empty", level: .firstHour,
            requirement: "A fresh store answers every fetch with nothing, and throws no error.",
            hint: "The storage is not fresh for each case, or the first read fails before anything was written."
        ) { c in
            let a = try c.session()
            try c.expect(try a.all(Entry.self).count, is: 0, "models fetched:")
            try c.expect(try a.count(FetchDescriptor<Account>()), is: 0, "count:")
            try c.expect(try a.identifiers(FetchDescriptor<Person>()).count, is: 0, "identifiers:")
            try c.expect(try a.all(Vehicle.self).count, is: 0, "models of an entity with subentities:")
            try c.expect(try c.store.records(ValueSample.self).count, is: 0, "records in the store:")
        },
        ConformanceCase(
            "lifecycle.saved-is-fetched", level: .firstHour,
            requirement: "What one context saved, another context of the same container fetches.",
            hint: "save(_:) returns before fetch(_:) can see the records, or drops the inserted ones."
        ) { c in
            let a = try c.session()
            try a.store(Entry("one", rank: 1), Entry("two", rank: 2), Badge(7))
            let b = try c.session()
            try c.expect(try b.all(Entry.self).map(\.name), is: ["one", "two"], "names:")
            try c.expect(try b.all(Entry.self).map(\.rank), is: [1, 2], "ranks:")
            try c.expect(try b.all(Badge.self).map(\.number), is: [7], "numbers:")
        },
        ConformanceCase(
            "lifecycle.saving-nothing", level: .firstHour,
            requirement: "A save without changes succeeds and changes nothing.",
            hint: "The store takes an empty request for an error, or writes something for it."
        ) { c in
            let a = try c.session()
            try a.save()
            try a.store(Entry("one"))
            try a.save()
            try c.store.save()
            try c.expect(try c.session().all(Entry.self).map(\.name), is: ["one"], "names:")
        },
        ConformanceCase(
            "lifecycle.thousand-records", level: .core,
            requirement: "A thousand records saved at once come back in their order, each with its values.",
            hint: "The store writes in batches and loses one, or its order is that of a hash table."
        ) { c in
            let a = try c.session()
            a.change("insert 1000 entries") {
                for number in 0..<1000 { a.context.insert(Entry("entry \(number)", rank: number)) }
            }
            try a.save()
            let entries = try c.session().all(Entry.self)
            try c.expect(entries.count, is: 1000, "entries:")
            try c.expect(entries.map(\.rank), is: (0..<1000).map { $0 }, "ranks in order of insertion:")
            try c.expect(entries.map(\.name), is: (0..<1000).map { "entry \($0)" }, "names in order of insertion:")
        },
        ConformanceCase(
            "lifecycle.erase", level: .core, capability: .erase,
            requirement: "After erase() the store is empty and can be used as before.",
            hint: "An entity was forgotten, or a cache outlives what was erased."
        ) { c in
            let a = try c.session()
            try a.store(Entry("old"), Person("Ada", team: Team("red")), Vehicle("V1", wheels: 4), Truck("T1", load: 2))
            c.note("erase")
            try c.container.erase()
            let b = try c.session()
            try c.expect(try b.all(Entry.self).count, is: 0, "entries after erase:")
            try c.expect(try b.all(Person.self).count, is: 0, "people after erase:")
            try c.expect(try b.all(Vehicle.self).count, is: 0, "vehicles after erase:")
            try b.store(Entry("new"))
            try c.expect(try c.session().all(Entry.self).map(\.name), is: ["new"], "entries saved after erase:")
        },
        ConformanceCase(
            "lifecycle.closed-container-throws", level: .core, capability: .closing,
            requirement: "A closed container throws, and models keep the values they had.",
            hint: "The store does not survive close(), or close() fails when called with models still there."
        ) { c in
            let a = try c.session()
            let entry = Entry("one")
            try a.store(entry)
            let container = try c.container
            c.note("close the container, twice")
            try container.close()
            try container.close()
            try c.expect(entry.name, is: "one", "the model's name:")
            try c.expectError(
                "ModelContextError.containerClosed", matching: { $0 as? ModelContextError == .containerClosed }
            ) { _ = try a.all(Entry.self) }
            try c.reopen()
        },
    ]
}
