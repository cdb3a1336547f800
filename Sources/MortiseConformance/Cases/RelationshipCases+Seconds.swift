import Foundation
import MortiseCore

/// Second looks at relationships: pairs that are set from either side, lists of one name that change, and families in conditions.
extension ConformanceCase {
    static let relationshipSecondCases: [ConformanceCase] = [
        ConformanceCase(
            "relationships.pairs-from-either-side", level: .core,
            requirement:
                "Pairs of a relationship that is its own inverse, and chains of a one-to-one relationship of an entity with "
                + "itself, show from both ends, whichever end was set, exchanged or deleted.",
            hint: "A pair is kept in one direction, or both ends of a record are one column."
        ) { c in
            let a = try c.session()
            let nodes = ["a", "b", "c", "d"].map { Node($0) }
            a.change("insert 4 nodes with mates and twins, set from either side") {
                for node in nodes { a.context.insert(node) }
                nodes[0].mates = [nodes[3]]
                nodes[2].mates = [nodes[0], nodes[1]]
                nodes[0].twin = nodes[1]
                nodes[1].twin = nodes[2]
                nodes[3].twinOf = nodes[2]
            }
            try a.save()
            func check(_ mates: [[String]], _ twins: [String], _ twinsOf: [String]) throws {
                try checkAlsoReopened(c) { b in
                    let found = try b.all(Node.self)
                    try c.expect(found.map { $0.mates.map(\.name).sorted() }, is: mates, "mates:")
                    try c.expect(found.map { $0.twin?.name ?? "-" }, is: twins, "twins:")
                    try c.expect(found.map { $0.twinOf?.name ?? "-" }, is: twinsOf, "whose twins they are:")
                    let mated = FetchDescriptor<Node>(predicate: #Predicate { $0.mates.contains { $0.name == "c" } })
                    try c.expect(
                        try b.fetch(mated).map(\.name),
                        is: zip(found, mates).filter { $1.contains("c") }.map(\.0.name), "mates of c, by a condition:")
                    let first = FetchDescriptor<Node>(predicate: #Predicate { $0.twin != nil && $0.twinOf == nil })
                    try c.expect(
                        try b.fetch(first).map(\.name),
                        is: found.indices.filter { twins[$0] != "-" && twinsOf[$0] == "-" }.map { found[$0].name },
                        "the first of a chain of twins, by a condition:")
                }
            }
            try check([["c", "d"], ["c"], ["a", "b"], ["a"]], ["b", "c", "d", "-"], ["-", "a", "b", "c"])
            let b = try c.session()
            let found = try b.all(Node.self)
            guard found.count == 4 else { throw c.failure(expected: "4 nodes", found: "\(found.count)") }
            b.change("mates of b, the twin of b; delete a") {
                found[1].mates = [found[3]]
                found[1].twin = nil
                b.context.delete(found[0])
            }
            try b.save()
            try check([["d"], [], ["b"]], ["-", "d", "-"], ["-", "-", "c"])
        },
        ConformanceCase(
            "relationships.pairs-of-two-lists", level: .core,
            requirement:
                "Of two many-to-many relationships between two entities, one that is changed or emptied leaves the other's pairs.",
            hint: "The pairs of both are in one table, or a list takes the members of the other."
        ) { c in
            let a = try c.session()
            let (ann, ben) = (Writer("Ann"), Writer("Ben"))
            let books = ["one", "two"].map { Book($0) }
            a.change("insert 2 writers and 2 books; readers of each, reviewers of one") {
                a.context.insert(ann)
                a.context.insert(ben)
                for book in books {
                    a.context.insert(book)
                    book.readers = [ann, ben]
                }
                books[1].reviewers = [ben]
            }
            try a.save()
            func check(_ readers: [[String]], _ reviewers: [[String]]) throws {
                try checkAlsoReopened(c) { b in
                    let found = try b.all(Book.self)
                    try c.expect(found.map { $0.readers.map(\.name) }, is: readers, "readers:")
                    try c.expect(found.map { $0.reviewers.map(\.name) }, is: reviewers, "reviewers:")
                    let writers = try b.all(Writer.self)
                    func titles(_ lists: [[String]]) -> [[String]] {
                        ["Ann", "Ben"].map { name in
                            zip(["one", "two"], lists).filter { $1.contains(name) }.map(\.0)
                        }
                    }
                    try c.expect(writers.map { $0.read.map(\.title) }, is: titles(readers), "books read:")
                    try c.expect(writers.map { $0.reviewed.map(\.title) }, is: titles(reviewers), "books reviewed:")
                    let many = FetchDescriptor<Book>(predicate: #Predicate { $0.reviewers.count > 1 })
                    try c.expect(
                        try b.count(many), is: reviewers.filter { $0.count > 1 }.count, "books of several reviewers:")
                }
            }
            try check([["Ann", "Ben"], ["Ann", "Ben"]], [[], ["Ben"]])
            let b = try c.session()
            let writers = try b.all(Writer.self)
            guard writers.count == 2 else { throw c.failure(expected: "2 writers", found: "\(writers.count)") }
            try b.change("what Ben has read, and what Ann has reviewed") {
                writers[1].read = []
                writers[0].reviewed = try b.context.fetch(FetchDescriptor<Book>())
            }
            try b.save()
            try check([["Ann"], ["Ann"]], [["Ann"], ["Ann", "Ben"]])
        },
        ConformanceCase(
            "references.of-new-records-to-the-deleted", level: .core,
            requirement:
                "A new record that refers to a deleted one is refused, or its references and lists lead to nothing, and not to "
                + "records that come later.",
            hint:
                "The reference is kept as a number, and leads to whatever is found there later; or the deleted record is written "
                + "again to be referred to."
        ) { c in
            let a = try c.session()
            let (gone, kept) = (Node("gone"), Node("kept"))
            try a.store(gone, kept)
            try c.store.save(deleted: [gone])
            let new = Node("new")
            a.insert(new)
            a.change("next, last and links of a new node to the deleted one") {
                (new.next, new.last) = (gone, kept)
                new.links = [gone, kept]
            }
            var isTaken = false
            do {
                try c.store.save(inserted: [new])
                isTaken = true
            } catch {
                c.note("→ \(type(of: error))")
            }
            a.context.rollback()
            try c.session().store(Node("later"))
            try checkAlsoReopened(c) { b in
                let nodes = try b.all(Node.self)
                try c.expect(
                    nodes.map(\.name).sorted(), is: ["kept", "later"] + (isTaken ? ["new"] : []), "names of nodes:")
                try c.expect(nodes.compactMap { $0.next?.name }, is: [], "names of next ones:")
                try c.expect(
                    nodes.flatMap { $0.links.map(\.name) }.filter { $0 != "kept" }, is: [], "names of other links:")
                let next = FetchDescriptor<Node>(predicate: #Predicate { $0.next?.name != nil })
                try c.expect(try b.count(next), is: 0, "nodes whose next one has a name:")
            }
        },
        ConformanceCase(
            "identity.beyond-32-bits", level: .full,
            requirement:
                "An identifier that differs from a record's beyond its last 32 bits is of no record, as target or in lists.",
            hint: "The number is cut to 32 bits on its way into a condition."
        ) { c in
            let a = try c.session()
            for name in ["a", "b", "c"] { a.insert(Team(name)) }
            try a.save()
            for team in try a.all(Team.self) { a.insert(Person("of \(team.name)", team: team)) }
            try a.save()
            let teams = try a.all(Team.self)
            let numbers = teams.compactMap(\.persistentModelID.sequenceNumber)
            guard numbers.count == teams.count else {
                throw Untried(reason: "the subject's identifiers are no numbers")
            }
            let (store, b) = (try c.store.identifier, try c.session())
            let wrong = numbers.map {
                PersistentIdentifier.numbered($0 + 1 << 32, storeIdentifier: store, entityName: "Team")
            }
            for one in wrong {
                let (of, named) = (
                    FetchDescriptor<Person>(predicate: #Predicate { $0.team?.persistentModelID == one }),
                    FetchDescriptor<Team>(predicate: #Predicate { $0.persistentModelID == one })
                )
                try c.expect(try b.fetch(of).map(\.name), is: [], "people of a team \(one):")
                try c.expect(try b.fetch(named).map(\.name), is: [], "teams that are \(one):")
            }
            let others = FetchDescriptor<Team>(predicate: #Predicate { !wrong.contains($0.persistentModelID) })
            try c.expect(try b.fetch(others).map(\.name), is: ["a", "b", "c"], "teams other than these:")
        },
        ConformanceCase(
            "identity.targets-after-a-copy", level: .core, capability: .reopening,
            requirement:
                "In a copy of a storage, references, lists and tokens name the same store as before, and lead to the same records.",
            hint: "The store identifier is made of the storage's place. Keep it within the data."
        ) { c in
            let a = try c.session()
            let (team, engine) = (Team("red"), Project("engine"))
            a.insert(team, engine)
            for name in ["Ada", "Bob"] {
                let person = Person(name, team: team)
                a.insert(person)
                person.projects = [engine]
            }
            try a.save()
            let (store, oldTeam) = (try c.store.identifier, team.persistentModelID)
            for round in 1...2 {
                try c.copy()
                let b = try c.session()
                let people = try b.all(Person.self)
                let targets =
                    people.compactMap { $0.team?.persistentModelID }
                    + people.flatMap(\.projects).map(\.persistentModelID)
                try c.expect(
                    targets.map { $0.storeIdentifier ?? "none" } + [try c.store.identifier],
                    is: Array(repeating: store, count: 5), "stores that targets name in copy \(round):")
                let members = FetchDescriptor<Person>(predicate: #Predicate { $0.team?.persistentModelID == oldTeam })
                try c.expect(try b.count(members), is: 2, "people of the team of the old identifier:")
                let found: Team = try b.context.existingModel(for: oldTeam)
                try c.expect(found.members.map(\.name), is: ["Ada", "Bob"], "members by the old identifier:")
            }
        },
    ]
}
