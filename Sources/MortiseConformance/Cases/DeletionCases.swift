import MortiseCore

extension ConformanceCase {
    static let deletionCases: [ConformanceCase] = [
        ConformanceCase(
            "delete.is-gone", level: .firstHour,
            requirement:
                "A deleted record is in no fetch, no count and no list of identifiers, and the others still are.",
            hint: "Deleted records are marked and not left out everywhere, or a neighbour was deleted."
        ) { c in
            let a = try c.session()
            let gone = Entry("b")
            try a.store(Entry("a"), gone, Entry("c"))
            let identifier = gone.persistentModelID
            a.delete(gone)
            try a.save()
            let b = try c.session()
            try c.expect(try b.all(Entry.self).map(\.name), is: ["a", "c"], "names:")
            try c.expect(try b.count(FetchDescriptor<Entry>()), is: 2, "count:")
            try c.expect(
                try !b.identifiers(FetchDescriptor<Entry>()).contains(identifier), "no identifier of the deleted record"
            )
            try c.expect(try c.store.count(Entry.self), is: 2, "the store's own count:")
            try c.expect(try c.store.identifiers(Entry.self).count, is: 2, "the store's own identifiers:")
        },
        ConformanceCase(
            "delete.every-record", level: .core,
            requirement: "All records of an entity can be deleted in one save, and new ones inserted afterwards.",
            hint: "A loop over request.deleted leaves one out, or the emptied entity counts as unknown."
        ) { c in
            let a = try c.session()
            let entries = (0..<10).map { Entry("e\($0)") }
            a.change("insert 10 entries") { for entry in entries { a.context.insert(entry) } }
            try a.save()
            a.change("delete them all") { for entry in entries { a.context.delete(entry) } }
            try a.save()
            try c.expect(try c.session().all(Entry.self).count, is: 0, "entries:")
            try c.session().store(Entry("new"))
            try c.expect(try c.session().all(Entry.self).map(\.name), is: ["new"], "entries:")
        },
        ConformanceCase(
            "delete.is-seen-by-other-contexts", level: .core,
            requirement: "A context that has a model of a record deleted elsewhere does not fetch it any more.",
            hint: "A cache of a context, or of the store, misses deletions."
        ) { c in
            let a = try c.session()
            let entry = Entry("a")
            try a.store(entry, Entry("b"))
            let b = try c.session()
            let twins = try b.all(Entry.self)
            a.delete(entry)
            try a.save()
            try c.expect(try b.all(Entry.self).map(\.name), is: ["b"], "names in the other context:")
            try c.expect(twins.map(\.isDeleted), is: [true, false], "isDeleted of the other context's models:")
            try c.expect(twins.map(\.name), is: ["a", "b"], "names of the other context's models:")
        },
        ConformanceCase(
            "delete.inserted-and-never-saved", level: .core,
            requirement: "A model that is inserted and deleted before the save never reaches the store.",
            hint: "The store is given, or keeps, what the context took back."
        ) { c in
            let a = try c.session()
            let entry = Entry("never")
            a.insert(entry, Entry("kept"))
            a.delete(entry)
            try a.save()
            try c.expect(try c.session().all(Entry.self).map(\.name), is: ["kept"], "names:")
        },
        ConformanceCase(
            "delete.subclass-record", level: .core,
            requirement: "A deleted record of a subclass is gone from its superclass's fetches too.",
            hint: "The record is kept once for each entity of its line, and deleted in one."
        ) { c in
            let a = try c.session()
            let truck = Truck("T", load: 1)
            try a.store(Vehicle("V", wheels: 2), truck, Truck("U", load: 2))
            a.delete(truck)
            try a.save()
            let b = try c.session()
            try c.expect(try b.all(Vehicle.self).map(\.plate), is: ["V", "U"], "plates of all vehicles:")
            try c.expect(try b.all(Truck.self).map(\.plate), is: ["U"], "plates of the trucks:")
            try c.expect(try b.count(FetchDescriptor<Vehicle>()), is: 2, "count of vehicles:")
        },
    ]
}
