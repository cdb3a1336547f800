import Foundation
import MortiseCore

/// Second looks at states that contexts read from, at cursors, and at what queries name.
extension ConformanceCase {
    private static func consistency(
        _ id: String, and others: [StoreCapability] = [], _ requirement: String, hint: String,
        body: @escaping @Sendable (CaseContext) throws -> Void
    ) -> ConformanceCase {
        ConformanceCase(
            "read-consistency.\(id)", level: .full, capability: .readConsistency, and: others,
            requirement: requirement, hint: hint, body: body)
    }

    static let readConsistencySecondCases: [ConformanceCase] = [
        consistency(
            "beside-an-erasure-and-new-records", and: [.erase],
            "A context goes on reading from its state when another has erased everything and saved records anew.",
            hint: "An erasure ends all states, or new records take the numbers and places of those that a state shows."
        ) { c in
            let a = try c.session()
            let (root, engine) = (Node("root"), Project("engine"))
            a.insert(root, engine)
            for name in ["a", "b"] {
                let (node, person) = (Node(name), Person(name))
                a.insert(node, person)
                node.parent = root
                person.projects = [engine]
            }
            try a.save()
            let readers = try (0..<2).map { _ in
                let session = try c.session()
                return (
                    session, try session.first(Node.self, #Predicate { $0.name == "root" }),
                    try session.only(Project.self)
                )
            }
            c.note("store.erase")
            try c.store.store.erase()
            let other = try c.session()
            for name in ["x", "y", "z"] { other.insert(Node(name), Person(name)) }
            try other.save()
            for (session, root, engine) in readers {
                try c.expect(
                    root.children.map(\.name).sorted(), is: ["a", "b"],
                    "children in \(session.name), which has fetched before the erasure:")
                try c.expect(
                    engine.people.map(\.name).sorted(), is: ["a", "b"],
                    "people in \(session.name), which has fetched before the erasure:")
                try c.expect(
                    try session.all(Node.self).map(\.name), is: ["x", "y", "z"],
                    "nodes in \(session.name) after it has fetched again:")
            }
        },
        consistency(
            "cursor-beside-batches",
            "A cursor in an order keeps its state while its records are changed, deleted and joined by others in batches.",
            hint: "Each portion is found anew, by an offset or by the last key, in the latest state."
        ) { c in
            let a = try c.session()
            for number in 0..<9 { a.insert(Entry("entry \(number)", rank: number)) }
            try a.save()
            let rank = QueryProperty(
                entity: "Entry", name: "rank",
                slot: try c.require(
                    ConformanceModels.schema.stored.recordLayouts()["Entry"]?.slot(named: "rank"), "Entry.rank"))
            let query = StoreQuery("Entry", order: [.init(.property(.variable(0), rank), isAscending: false)])
            guard let next = try c.store.cursor(query) else { return }
            var records = try next(3)
            let other = try c.session()
            c.note("change all ranks and delete some entries in batches; insert others, save")
            try other.context.update(Entry.self) { $0.increment(\.rank, by: 100) }
            try other.context.delete(model: Entry.self, where: #Predicate { ($0.rank ?? 0) < 104 })
            for number in 0..<5 { other.insert(Entry("new \(number)", rank: number)) }
            try other.save()
            while case let portion = try next(3), !portion.isEmpty {
                try c.expect(records.count < 20, "an end after nine records", found: "\(records.count) and more")
                records += portion
            }
            try c.expect(
                records.map { "\($0.values["rank"] ?? .null)" },
                is: (0..<9).reversed().map { (rank: Int64) in "\(StoredValue.integer(rank))" },
                "ranks that the cursor handed out:")
        },
        consistency(
            "many-contexts-of-many-states",
            "Twenty-four contexts that have fetched at different times each read from their own state, the earliest last.",
            hint: "Some states are kept, and the oldest are dropped. Keep one for each context until it ends."
        ) { c in
            let writer = try c.session()
            let team = Team("team")
            writer.insert(team)
            try writer.save()
            var readers: [(session: CaseSession, team: Team)] = []
            for number in 0..<24 {
                let session = try c.session()
                readers.append((session, try session.only(Team.self)))
                let member = try c.session()
                let theirs = try member.only(Team.self)
                member.insert(Person("\(number)", age: number, team: theirs))
                try member.save()
            }
            for (place, reader) in readers.enumerated().reversed() {
                try c.expect(
                    reader.team.members.map { $0.age ?? -1 }.sorted(), is: Array(0..<place),
                    "ages of members in \(reader.session.name), which has fetched before member \(place):")
            }
        },
        ConformanceCase(
            "deferral.lists-named-with-a-condition", level: .full, capability: .deferredRelationships,
            requirement:
                "A list that a query with a condition, an order and a window names is returned, and no other has to be.",
            hint: "Only a query of all records gets what it names, or only lists of some kind."
        ) { c in
            let a = try c.session()
            let (ada, team) = (Person("Ada", age: 50), Team("team"))
            a.insert(ada, team)
            for number in 0..<3 {
                let person = Person("pupil \(number)", age: number, team: team)
                a.insert(person)
                person.mentor = ada
            }
            try a.save()
            let layout = try c.require(ConformanceModels.schema.stored.recordLayouts()["Person"], "Person")
            func property(_ name: String) throws -> QueryExpression {
                let slot = try c.require(layout.slot(named: name), "Person.\(name)")
                return .property(.variable(0), QueryProperty(entity: "Person", name: name, slot: slot))
            }
            var query = StoreQuery(
                "Person", conjuncts: [.compare(.equal, try property("name"), .constant(.string("Ada")))],
                order: [.init(try property("age"))], prefetch: ["pupils"])
            query.limit = 2
            for name in ["pupils", "projects"] {
                query.prefetch = [name]
                let found = try c.store.records(query)
                let own = found.filter { $0.values["name"] == .string("Ada") }
                guard own.count == 1, case .identifiers(let members)? = own[0].values[name] else {
                    throw c.failure(
                        expected: "Ada with the members of \(name), which the query names",
                        found: "\(own.map { "\($0.values[name] ?? .null)" })")
                }
                try c.expect(members.count, is: name == "pupils" ? 3 : 0, "members of \(name):")
            }
            let teams = try c.store.records(StoreQuery("Team", prefetch: ["members"]))
            guard teams.count == 1, case .identifiers(let members)? = teams[0].values["members"] else {
                throw c.failure(expected: "a team with its members, which the query names", found: "none")
            }
            try c.expect(members.count, is: 3, "members of the team:")
        },
        ConformanceCase(
            "aggregates.groups-of-three-properties", level: .full, capability: .aggregates,
            requirement:
                "A store that groups by three properties tells each combination from every other, and counts each.",
            hint: "The keys of a group are joined into one text, or the last key is left out."
        ) { c in
            let rows: [(group: String, name: String, note: String?)] = [
                ("x", "a", "b"), ("x", "a,b", nil), ("x,a", "b", nil), ("x", "a", "b"), ("x", "", "a"),
                ("", "x", "a"), ("x,a", "", "b"), ("x", "a,,b", nil), ("x", "a,", "b"), ("x", "a", nil),
                ("x", "a", "nil"),
            ]
            try AggregateProbe.insert(rows.map { Entry($0.name, group: $0.group, note: $0.note) }, c)
            guard
                let stored = try AggregateProbe.stored(
                    c, "Entry", by: ["group", "name", "note"], [.count], of: "note")
            else { return }
            var counts: [[String]: Int] = [:]
            for row in rows {
                let key = [row.group, row.name].map { AggregateProbe.text($0) } + [AggregateProbe.text(row.note)]
                counts[key, default: 0] += 1
            }
            try c.expect(
                stored.sorted(), is: counts.map { $0.key.joined(separator: ", ") + ": \($0.value)" }.sorted(),
                "groups by group, name and note, and how many each has:")
        },
        ConformanceCase(
            "store.capabilities-stay", level: .core,
            requirement: "A store says the same of what it can do after saves and reopening, and in every storage.",
            hint: "What a store can do is said by its first opening, or by some other part of the adapter."
        ) { c in
            let claimed = c.subject.capabilities.all.subtracting([.faultInjection]).sorted().map(\.rawValue)
            func check(_ container: ModelContainer, _ what: String) throws {
                let told = try c.bareStore(of: container).store.capabilities.all.sorted().map(\.rawValue)
                try c.expect(told, is: claimed, "capabilities \(what), as the subject claims:")
            }
            let a = try c.session()
            try check(c.container, "of a new storage")
            try a.store(Entry("one"))
            try check(c.container, "after a save")
            let other = try c.otherStorage()
            try check(other.context.container, "of another storage")
            if c.subject.capabilities.contains(.reopening) {
                try c.reopen()
                try check(c.container, "after reopening")
            }
        },
    ]
}
