import Foundation
import MortiseCore

extension ConformanceCase {
    static let batchCases: [ConformanceCase] = [
        ConformanceCase(
            "batch.delete-where", level: .core,
            requirement: "delete(model:where:) deletes what matches, at once, and nothing else.",
            hint:
                "A store that cannot evaluate the predicate throws preferInMemoryFilter instead of deleting everything."
        ) { c in
            try storeEntries(c)
            let a = try c.session()
            c.note("delete(model: Entry, where: group == \"x\")")
            try a.context.delete(model: Entry.self, where: #Predicate { $0.group == "x" })
            try c.expect(
                try c.session().all(Entry.self).map(\.name), is: ["alpha", "bravo", "échelle"], "names left:")
            try c.expect(try a.count(FetchDescriptor<Entry>()), is: 3, "count in the context that deleted:")
        },
        ConformanceCase(
            "batch.delete-all", level: .core,
            requirement: "delete(model:) deletes all records of the entity, and only those.",
            hint: "The batch delete forgets the entity, or its subentities."
        ) { c in
            try storeEntries(c)
            try c.session().store(Team("kept"), Vehicle("V", wheels: 2), Truck("T", load: 1))
            let a = try c.session()
            c.note("delete(model: Entry), delete(model: Vehicle)")
            try a.context.delete(model: Entry.self)
            try a.context.delete(model: Vehicle.self)
            let b = try c.session()
            try c.expect(try b.all(Entry.self).count, is: 0, "entries:")
            try c.expect(try b.all(Vehicle.self).count, is: 0, "vehicles:")
            try c.expect(try b.all(Team.self).map(\.name), is: ["kept"], "teams:")
        },
        ConformanceCase(
            "batch.delete-without-subclasses", level: .core,
            requirement: "delete(model:includeSubclasses: false) leaves the subclasses' records.",
            hint: "includeSubclasses is ignored."
        ) { c in
            try c.session().store(Vehicle("V", wheels: 2), Truck("T", load: 1))
            let a = try c.session()
            c.note("delete(model: Vehicle, includeSubclasses: false)")
            try a.context.delete(model: Vehicle.self, includeSubclasses: false)
            try c.expect(try c.session().all(Vehicle.self).map(\.plate), is: ["T"], "plates left:")
        },
        ConformanceCase(
            "batch.delete-follows-the-rules", level: .core,
            requirement: "A batch delete follows the delete rules: it cascades and nullifies.",
            hint: "The store deletes without checking references to the deleted records."
        ) { c in
            let a = try c.session()
            a.insert(Track("t", album: Album("a")), Person("Ada", team: Team("red")))
            try a.save()
            let b = try c.session()
            c.note("delete(model: Album), delete(model: Team)")
            try b.context.delete(model: Album.self)
            try b.context.delete(model: Team.self)
            let found = try c.session()
            try c.expect(try found.all(Track.self).count, is: 0, "tracks of the deleted albums:")
            try c.expect(try found.only(Person.self).team?.name, is: nil, "team of Ada:")
        },
        ConformanceCase(
            "batch.protocol-is-there", level: .core, capability: .batchDelete,
            requirement: "A store that claims batch delete carries out one without predicate by itself.",
            hint: "The store conforms to DataStoreBatching and then refuses everything."
        ) { c in
            try storeEntries(c)
            try c.store.deleteAll(Entry.self)
            try c.expect(try c.store.count(Entry.self), is: 0, "the store's own count:")
            try c.expect(try c.session().all(Entry.self).count, is: 0, "entries:")
        },
    ]
}
