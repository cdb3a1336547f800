import Foundation
import MortiseCore

extension ConformanceCase {
    private static func announcement(
        _ id: String, and others: [StoreCapability] = [], _ requirement: String, hint: String,
        body: @escaping @Sendable (CaseContext) throws -> Void
    ) -> ConformanceCase {
        ConformanceCase(
            "announcements.\(id)", level: .full, capability: .announcements, and: others, requirement: requirement,
            hint: hint, body: body)
    }

    private static let batchHint =
        "Saves and deletions are posted, and what a batch updates or inserts is not. Post every commit."

    private static func sixEntries(_ c: CaseContext) throws -> [PersistentIdentifier] {
        let a = try c.session()
        let entries = (0..<6).map { (number: Int) in
            Entry("entry \(number)", group: number < 3 ? "x" : "y", rank: number)
        }
        for entry in entries { a.insert(entry) }
        try a.save()
        return entries.map(\.persistentModelID)
    }

    static let batchAnnouncementCases: [ConformanceCase] = [
        announcement(
            "batch-updates", "A batch that updates posts every record that it has changed before it returns.",
            hint: batchHint
        ) { c in
            let records = try sixEntries(c)
            let followed = try Followed(c)
            let a = try c.session()
            c.note("A: update where group == x: rank = 10; then all: rank += 1; then all: note = n")
            try a.context.update(Entry.self, where: #Predicate { $0.group == "x" }) { $0.set(\.rank, to: 10) }
            try expect(c, followed.take(), toName: Array(records[..<3]), after: "the first batch")
            try a.context.update(Entry.self) { $0.increment(\.rank, by: 1) }
            try expect(c, followed.take(), toName: records, after: "the second batch")
            try a.context.update(Entry.self) { $0.set(\.note, to: "n") }
            try expect(c, followed.take(), toName: records, after: "the third batch")
        },
        announcement(
            "batch-updates-are-seen", "Another context shows what a batch has updated once it has fetched anything.",
            hint: batchHint
        ) { c in
            _ = try sixEntries(c)
            try c.session().store(Vehicle("V", wheels: 2), Truck("T", load: 1))
            let b = try c.session()
            let entries = try b.all(Entry.self)
            let vehicles = try b.all(Vehicle.self)
            try c.expect(entries.map(\.rank), is: Array(0..<6), "ranks before:")
            let a = try c.session()
            c.note("A: update Entry where group == y: rank = 7; update Vehicle: wheels = 3")
            try a.context.update(Entry.self, where: #Predicate { $0.group == "y" }) { $0.set(\.rank, to: 7) }
            try a.context.update(Vehicle.self) { $0.set(\.wheels, to: 3) }
            _ = try b.all(Badge.self)
            try c.expect(entries.map(\.rank), is: [0, 1, 2, 7, 7, 7], "ranks of the models from before:")
            try c.expect(vehicles.map(\.wheels), is: [3, 3], "wheels of the models from before:")
        },
        announcement(
            "batch-deletions-are-seen",
            "Another context no longer has the models that a batch has deleted, and none leads to them.",
            hint: batchHint
        ) { c in
            let a = try c.session()
            let team = Team("red")
            for name in ["Ada", "Bob"] {
                let person = Person(name, team: team)
                person.badge = Badge(name == "Ada" ? 1 : 2)
                a.insert(person)
            }
            try a.save()
            let b = try c.session()
            let people = try b.all(Person.self)
            let badges = try b.all(Badge.self)
            try c.expect(people.map { $0.badge?.number }, is: [1, 2], "badges before:")
            c.note("A: delete Badge where number == 1")
            try a.context.delete(model: Badge.self, where: #Predicate { $0.number == 1 })
            _ = try b.all(Entry.self)
            try c.expect(people.map { $0.badge?.number }, is: [nil, 2], "badges of the models from before:")
            try c.expect(badges.map(\.isDeleted), is: [true, false], "whether the badges are deleted:")
        },
        announcement(
            "batch-insertions", "A batch that inserts posts every record that it has made before it returns.",
            hint: batchHint
        ) { c in
            let followed = try Followed(c)
            let a = try c.session()
            c.note("A: insert 20 badges in a batch")
            let records = try a.context.insert(Badge.self, from: 0..<20) { try $0.set(\.number, to: $1) }
            try expect(c, followed.take(), toName: records, after: "the batch")
        },
        announcement(
            "batches-of-the-store", and: [.batchUpdate],
            "The store itself posts what it is asked to update and to delete in a batch, by a query or by names.",
            hint: batchHint
        ) { c in
            let records = try sixEntries(c)
            let followed = try Followed(c)
            let slot = try c.require(
                ConformanceModels.schema.stored.recordLayouts()["Entry"]?.slot(named: "rank"), "Entry.rank")
            let rank = QueryProperty(entity: "Entry", name: "rank", slot: slot)
            func update(_ selection: StoreBatch.Selection, _ value: Int64) throws {
                let assignment = StoreBatch.Assignment(property: rank, value: .constant(.integer(value)))
                _ = try c.store.execute(StoreBatch(selection, .update([assignment])))
            }
            try update(.records([records[1], records[4]]), 8)
            try expect(c, followed.take(), toName: [records[1], records[4]], after: "the update of two records")
            try update(.query(StoreQuery("Entry", purpose: .update)), 9)
            try expect(c, followed.take(), toName: records, after: "the update of all")
            _ = try c.store.execute(StoreBatch(.records([records[0]]), .delete))
            try expect(c, followed.take(), toName: [records[0]], after: "the deletion of one")
            _ = try c.store.execute(StoreBatch(.query(StoreQuery("Entry", purpose: .delete)), .delete))
            try expect(c, followed.take(), toName: Array(records.dropFirst()), after: "the deletion of all")
        },
    ]
}
