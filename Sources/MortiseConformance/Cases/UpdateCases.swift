import MortiseCore

extension ConformanceCase {
    static let updateCases: [ConformanceCase] = [
        ConformanceCase(
            "update.changes-that-and-nothing-else", level: .firstHour,
            requirement:
                "An update stores the changed property, and leaves the others and all other records as they were.",
            hint: "The update writes nulls for what did not change, or writes to the wrong record."
        ) { c in
            let a = try c.session()
            let middle = Entry("b", group: "g", rank: 2, score: 2.5, note: "n")
            try a.store(Entry("a", rank: 1, note: "x"), middle, Entry("c", rank: 3))
            a.change("rank of b") { middle.rank = 20 }
            try a.save()
            let found = try c.session().all(Entry.self)
            try c.expect(found.map(\.rank), is: [1, 20, 3], "ranks:")
            try c.expect(found.map(\.name), is: ["a", "b", "c"], "names:")
            try c.expect(found.map(\.note), is: ["x", "n", nil], "notes:")
            try c.expect(found.map(\.group), is: ["", "g", ""], "groups:")
            try c.expect(found.map(\.score), is: [0, 2.5, 0], "scores:")
        },
        ConformanceCase(
            "update.every-record-of-a-batch", level: .firstHour,
            requirement: "A save that updates many records updates every one, the first and the last too.",
            hint: "A loop over request.updated leaves one out."
        ) { c in
            let a = try c.session()
            let entries = (0..<12).map { (number: Int) in Entry("e\(number)", rank: number) }
            a.change("insert 12 entries") { for entry in entries { a.context.insert(entry) } }
            try a.save()
            a.change("add 100 to every rank") { for entry in entries { entry.rank = (entry.rank ?? 0) + 100 } }
            try a.save()
            try c.expect(
                try c.session().all(Entry.self).map(\.rank), is: (100..<112).map { $0 }, "ranks:")
        },
        ConformanceCase(
            "update.again-and-again", level: .core,
            requirement: "A record can be changed many times, in the context that made it and in others.",
            hint: "Only the first update of a record is written, or a context keeps values that another has replaced."
        ) { c in
            let a = try c.session()
            let entry = Entry("x", rank: 0)
            try a.store(entry)
            for rank in 1...5 {
                a.change("rank to \(rank)") { entry.rank = rank }
                try a.save()
                try c.expect(try c.session().only(Entry.self).rank, is: rank, "rank:")
            }
            let b = try c.session()
            let twin = try b.only(Entry.self)
            b.change("rank to 50") { twin.rank = 50 }
            try b.save()
            try c.expect(try a.only(Entry.self).rank, is: 50, "rank in the first context after its next fetch:")
        },
        ConformanceCase(
            "update.back-to-the-old-value", level: .core,
            requirement: "A value that is changed and changed back by a later save is the old one.",
            hint: "The store compares with the value of the wrong version."
        ) { c in
            try c.rewrite([1, 2, 1, nil, 1], of: \Entry.rank, "rank") { Entry("x", rank: 1) }
        },
        ConformanceCase(
            "update.with-insert-and-delete", level: .core,
            requirement: "One save can insert, update and delete, in one entity and in several.",
            hint: "A save with all three kinds of change carries out only some."
        ) { c in
            let a = try c.session()
            let changed = Entry("changed", rank: 1)
            let gone = Entry("gone")
            let team = Team("gone")
            try a.store(changed, gone, team, Entry("kept"))
            a.change("rank of changed") { changed.rank = 2 }
            a.delete(gone)
            a.delete(team)
            a.insert(Entry("new", rank: 9), Team("new"))
            try a.save()
            let b = try c.session()
            try c.expect(try b.all(Entry.self).map(\.name), is: ["changed", "kept", "new"], "entries:")
            try c.expect(try b.all(Entry.self).map(\.rank), is: [2, nil, 9], "ranks:")
            try c.expect(try b.all(Team.self).map(\.name), is: ["new"], "teams:")
        },
        ConformanceCase(
            "update.subclass-record", level: .core,
            requirement: "Inherited and own properties of a subclass's record can be updated, through either class.",
            hint: "The update looks for the record among those of the superentity only."
        ) { c in
            let a = try c.session()
            let truck = Truck("T", load: 1)
            try a.store(Vehicle("V", wheels: 2), truck)
            a.change("the truck's plate and load") {
                truck.plate = "T2"
                truck.load = 2
            }
            try a.save()
            let b = try c.session()
            let vehicles = try b.all(Vehicle.self)
            b.change("wheels of all vehicles") { for vehicle in vehicles { vehicle.wheels += 1 } }
            try b.save()
            let found = try c.session().all(Vehicle.self)
            try c.expect(found.map(\.plate), is: ["V", "T2"], "plates:")
            try c.expect(found.map(\.wheels), is: [3, 7], "wheels:")
            try c.expect((found.last as? Truck)?.load, is: 2, "the truck's load:")
        },
    ]
}
