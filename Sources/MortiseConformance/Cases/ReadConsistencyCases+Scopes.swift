import Foundation
import MortiseCore

extension ConformanceCase {
    private static func consistency(
        _ id: String, and others: [StoreCapability] = [], _ requirement: String, hint: String,
        body: @escaping @Sendable (CaseContext) throws -> Void
    ) -> ConformanceCase {
        ConformanceCase(
            "read-consistency.\(id)", level: .full, capability: .readConsistency, and: others,
            requirement: requirement, hint: hint, body: body)
    }

    private static let endHint =
        "What removes or changes records ends the states that contexts read from. A state ends with the next scope of its "
        + "context, and with invalidateState(for:) of that context."

    /// A team with some people, and contexts that have fetched it and not yet its members.
    private static func readers(_ c: CaseContext, _ count: Int) throws -> [(session: CaseSession, team: Team)] {
        let a = try c.session()
        let team = Team("team")
        a.insert(team)
        for name in ["Ada", "Bob"] { a.insert(Person(name, age: 36, team: team)) }
        try a.save()
        return try (0..<count).map { _ in
            let session = try c.session()
            return (session, try session.only(Team.self))
        }
    }

    private static func members(_ team: Team) -> [String] { team.members.map { "\($0.name) \($0.age ?? -1)" }.sorted() }

    private static func expect(
        _ c: CaseContext, _ readers: [(session: CaseSession, team: Team)], _ before: [String], then after: [String],
        _ what: String
    ) throws {
        for reader in readers {
            try c.expect(
                members(reader.team), is: before, "members in \(reader.session.name), which has fetched before \(what):"
            )
        }
        for reader in readers {
            _ = try reader.session.all(Entry.self)
            let teams = try reader.session.all(Team.self)
            try c.expect(
                teams.flatMap(members), is: after, "members in \(reader.session.name) after it has fetched again:")
        }
    }

    private static let old = ["Ada 36", "Bob 36"]

    static let scopeCases: [ConformanceCase] = [
        consistency(
            "many-contexts", "Twenty contexts each keep the state that they have fetched, whatever the others do.",
            hint: "Some states are kept, and the oldest are dropped. Keep one for each context until it ends."
        ) { c in
            let readers = try readers(c, 20)
            let other = try c.session()
            let people = try other.all(Person.self)
            other.change("all ages") { for person in people { person.age = 37 } }
            try other.save()
            try expect(c, readers, old, then: ["Ada 37", "Bob 37"], "the change")
        },
        consistency(
            "contexts-of-many-states", "Contexts that have fetched at different times each keep their own state.",
            hint: "States are shared by number, or an earlier one gives way to a later one."
        ) { c in
            var readers = try readers(c, 1)
            for age in 37..<47 {
                let other = try c.session()
                let people = try other.all(Person.self)
                other.change("all ages to \(age)") { for person in people { person.age = age } }
                try other.save()
                let session = try c.session()
                readers.append((session, try session.only(Team.self)))
            }
            let last = try c.session()
            for person in try last.all(Person.self) { person.age = 99 }
            try last.save()
            // The earliest last.
            for (place, reader) in readers.enumerated().reversed() {
                try c.expect(
                    members(reader.team), is: ["Ada \(36 + place)", "Bob \(36 + place)"],
                    "members in \(reader.session.name):")
            }
        },
        consistency(
            "beside-batches", "A batch of another context changes nothing of the state that a context has fetched.",
            hint: endHint
        ) { c in
            let readers = try readers(c, 3)
            let other = try c.session()
            c.note("\(other.name): update Person: age = 40, and delete Bob, in batches")
            try other.context.update(Person.self) { $0.set(\.age, to: 40) }
            try c.expect(members(readers[0].team), is: old, "members after a batch that updates:")
            try other.context.delete(model: Person.self, where: #Predicate { $0.name == "Bob" })
            try expect(c, Array(readers[1...]), old, then: ["Ada 40"], "the batches")
        },
        consistency(
            "beside-batches-of-the-store", and: [.batchUpdate],
            "A batch that the store is asked for itself changes nothing of the state that a context has fetched.",
            hint: endHint
        ) { c in
            let readers = try readers(c, 3)
            let slot = try c.require(
                ConformanceModels.schema.stored.recordLayouts()["Person"]?.slot(named: "age"), "Person.age")
            let age = QueryProperty(entity: "Person", name: "age", slot: slot)
            _ = try c.store.execute(
                StoreBatch(
                    .query(StoreQuery("Person", purpose: .update)),
                    .update([.init(property: age, value: .constant(.integer(40)))])))
            try expect(c, readers, old, then: ["Ada 40", "Bob 40"], "the batch")
        },
        consistency(
            "beside-an-erasure", and: [.erase],
            "An erasure changes nothing of the state that a context has fetched until that fetches again.",
            hint: endHint
        ) { c in
            let readers = try readers(c, 3)
            c.note("store.erase")
            try c.store.store.erase()
            try expect(c, readers, old, then: [], "the erasure")
        },
        consistency(
            "beside-contexts-that-end", "The end of one context leaves the states of the others as they are.",
            hint: "invalidateState(for:) forgets every state, whichever context it names."
        ) { c in
            let readers = try readers(c, 3)
            let other = try c.session()
            for person in try other.all(Person.self) { person.age = 37 }
            try other.save()
            c.note("store.invalidateState(for: a context that has read nothing), and end one that has")
            try c.store.store.invalidateState(for: EditingState())
            func end() throws { _ = try c.session().only(Team.self) }
            try end()
            try expect(c, readers, old, then: ["Ada 37", "Bob 37"], "the change")
        },
    ]
}
