import Foundation
import MortiseCore

extension ConformanceCase {
    /// What a store promises that leaves out to-many relationships.
    private static func deferral(
        _ id: String, _ requirement: String, hint: String, body: @escaping @Sendable (CaseContext) throws -> Void
    ) -> ConformanceCase {
        ConformanceCase(
            "deferral.\(id)", level: .full, capability: .deferredRelationships, requirement: requirement, hint: hint,
            body: body)
    }

    /// Two projects of one person, who has a pupil, and a project without anybody.
    private static func people(_ c: CaseContext) throws {
        let a = try c.session()
        let (ada, bob) = (Person("Ada", age: 36), Person("Bob", age: 20))
        let projects = ["engine", "notes", "empty"].map(Project.init)
        a.insert(ada, bob)
        for project in projects { a.insert(project) }
        a.change("lists of Ada") {
            ada.projects = [projects[0], projects[1]]
            bob.projects = [projects[0]]
            ada.pupils = [bob]
        }
        try a.save()
    }

    private static func expectPeople(_ c: CaseContext) throws {
        let b = try c.session()
        let ada = try b.first(Person.self, #Predicate { $0.name == "Ada" })
        try c.expect(ada.projects.map(\.title).sorted(), is: ["engine", "notes"], "projects of Ada:")
        try c.expect(ada.pupils.map(\.name), is: ["Bob"], "pupils of Ada:")
        let engine = try b.first(Project.self, #Predicate { $0.title == "engine" })
        try c.expect(engine.people.map(\.name).sorted(), is: ["Ada", "Bob"], "people of the project:")
        let empty = try b.first(Project.self, #Predicate { $0.title == "empty" })
        try c.expect(empty.people.count, is: 0, "people of the project without any:")
    }

    static let deferralCases: [ConformanceCase] = [
        deferral(
            "named-lists-are-there",
            "A to-many relationship that a query names in prefetch is returned, with every kind.",
            hint: "The store leaves out all lists alike, whatever the query names."
        ) { c in
            try people(c)
            let found = try c.store.records(StoreQuery("Person", prefetch: ["projects", "pupils"]))
            let others = try c.store.records(StoreQuery("Project", prefetch: ["people"]))
            func counts(_ records: [BareStore.Record], _ name: String) throws -> [Int] {
                try records.map { record in
                    guard case .identifiers(let members)? = record.values[name] else {
                        throw c.failure(
                            expected: "the members of \(name), which the query names",
                            found: "\(record.values[name].map { "\($0)" } ?? "no value")")
                    }
                    return members.count
                }
            }
            try c.expect(try counts(found, "projects").sorted(), is: [1, 2], "numbers of projects:")
            try c.expect(try counts(found, "pupils").sorted(), is: [0, 1], "numbers of pupils:")
            try c.expect(try counts(others, "people").sorted(), is: [0, 1, 2], "numbers of people:")
        },
        deferral(
            "lists-are-read-when-needed", "Lists that were left out are whole when a context needs them.",
            hint: "The store returns an empty list where it has left one out. Return null."
        ) { c in
            try people(c)
            try expectPeople(c)
        },
        deferral(
            "updates-leave-lists", "An update with null in place of a list leaves that list as it is.",
            hint: "The whole record is written, and null taken for an empty list."
        ) { c in
            try people(c)
            let b = try c.session()
            for person in try b.all(Person.self) { b.change("age of \(person.name)") { person.age = 1 } }
            for project in try b.all(Project.self) where project.title == "notes" {
                b.change("title of a project") { project.title = "notes" }
            }
            try b.save()
            try expectPeople(c)
        },
        deferral(
            "unread-lists-change", "A list that was left out can be changed.",
            hint: "The list of the update is taken for what is to be added, or for what there was."
        ) { c in
            try people(c)
            let b = try c.session()
            let ada = try b.first(Person.self, #Predicate { $0.name == "Ada" })
            let new = Project("new")
            let pupil = Person("Cid")
            b.insert(new, pupil)
            b.change("lists of Ada") {
                ada.projects.append(new)
                pupil.mentor = ada
            }
            try b.save()
            let found = try c.session().first(Person.self, #Predicate { $0.name == "Ada" })
            try c.expect(found.projects.map(\.title).sorted(), is: ["engine", "new", "notes"], "projects of Ada:")
            try c.expect(found.pupils.map(\.name).sorted(), is: ["Bob", "Cid"], "pupils of Ada:")
        },
        deferral(
            "many-owners", "The lists of 1,200 owners are each whole, and the empty ones empty.",
            hint: "The lists are asked for many owners at once; the condition takes fewer values."
        ) { c in
            let a = try c.session()
            for number in 0..<1_200 {
                let team = Team("\(number)")
                a.context.insert(team)
                for member in 0..<(number % 3) { a.context.insert(Person("\(number).\(member)", team: team)) }
            }
            try a.save()
            let teams = try c.session().fetch(FetchDescriptor(sortBy: [SortDescriptor(\Team.name)]))
            for team in teams {
                let expected = (0..<((Int(team.name) ?? 0) % 3)).map { "\(team.name).\($0)" }
                try c.expect(team.members.map(\.name).sorted(), is: expected, "members of team \(team.name):")
            }
            try c.expect(teams.count, is: 1_200, "teams:")
        },
        deferral(
            "lists-follow-others", "A list is read again after a fetch, with what others have changed.",
            hint: "The store or the context goes on with the list that was read before."
        ) { c in
            try people(c)
            let b = try c.session()
            let ada = try b.first(Person.self, #Predicate { $0.name == "Ada" })
            try c.expect(ada.pupils.map(\.name), is: ["Bob"], "pupils at first:")
            let other = try c.session()
            let theirs = try other.first(Person.self, #Predicate { $0.name == "Ada" })
            let pupil = Person("Cid")
            other.insert(pupil)
            other.change("mentor") { pupil.mentor = theirs }
            try other.save()
            _ = try b.first(Person.self, #Predicate { $0.name == "Ada" })
            try c.expect(ada.pupils.map(\.name).sorted(), is: ["Bob", "Cid"], "pupils after a fetch:")
        },
    ]
}
