import MortiseCore

extension ConformanceCase {
    static let relationshipCases: [ConformanceCase] = [
        ConformanceCase(
            "relationships.to-one-from-both-sides", level: .firstHour,
            requirement: "A to-one relationship and its to-many inverse show the same, whichever side was set.",
            hint: "One side is stored and the other is not derived from it, or only the inserted side is written."
        ) { c in
            let a = try c.session()
            let red = Team("red")
            let blue = Team("blue")
            a.insert(red, blue)
            let ada = Person("Ada", team: red)
            let bob = Person("Bob")
            a.insert(ada, bob, Person("Eve"))
            blue.members = [bob]
            try a.save()
            let b = try c.session()
            let people = try b.all(Person.self)
            try c.expect(people.map { $0.team?.name }, is: ["red", "blue", nil], "teams of the people:")
            let teams = try b.all(Team.self)
            try c.expect(teams.map { $0.members.map(\.name) }, is: [["Ada"], ["Bob"]], "members of the teams:")
            try c.expect(
                teams.allSatisfy { team in team.members.allSatisfy { $0.team === team } },
                "that a member's team is the same object as the team that lists it")
        },
        ConformanceCase(
            "relationships.many-to-many-from-both-sides", level: .firstHour,
            requirement: "Both sides of a many-to-many relationship show the same pairs.",
            hint: "Only one side of the relationship is kept, and the other is not derived from it."
        ) { c in
            let a = try c.session()
            let ada = Person("Ada")
            let bob = Person("Bob")
            let one = Project("one")
            let two = Project("two")
            a.insert(ada, bob, one, two)
            ada.projects = [one, two]
            two.people.append(bob)
            try a.save()
            let b = try c.session()
            try c.expect(
                try b.all(Person.self).map { $0.projects.map(\.title) }, is: [["one", "two"], ["two"]], "projects:")
            try c.expect(
                try b.all(Project.self).map { $0.people.map(\.name) }, is: [["Ada"], ["Ada", "Bob"]], "people:")
        },
        ConformanceCase(
            "relationships.to-one-moved-and-cleared", level: .core,
            requirement: "A changed to-one relationship leaves the old target's to-many side and enters the new one's.",
            hint: "The to-many side is written when it is set, and not taken from again when the other side changes."
        ) { c in
            let a = try c.session()
            let red = Team("red")
            let blue = Team("blue")
            let ada = Person("Ada", team: red)
            try a.store(ada, Person("Bob", team: red), blue)
            a.change("move Ada to the other team") { ada.team = blue }
            try a.save()
            var teams = try c.session().all(Team.self)
            try c.expect(teams.map { $0.members.map(\.name) }, is: [["Bob"], ["Ada"]], "members after the move:")
            a.change("clear Ada's team") { ada.team = nil }
            try a.save()
            teams = try c.session().all(Team.self)
            try c.expect(teams.map { $0.members.map(\.name) }, is: [["Bob"], []], "members after clearing:")
            try c.expect(
                try c.session().all(Person.self).map { $0.team?.name }, is: [nil, "red"], "teams after clearing:")
        },
        ConformanceCase(
            "relationships.to-many-side-edited", level: .core,
            requirement:
                "Taking a model out of a to-many relationship clears its to-one side, and putting one in sets it.",
            hint: "Only changes at the to-one side reach the store."
        ) { c in
            let a = try c.session()
            let team = Team("red")
            a.insert(team)
            team.members = [Person("Ada"), Person("Bob"), Person("Eve")]
            try a.save()
            a.change("take Bob out, put Ian in") {
                team.members.removeAll { $0.name == "Bob" }
                team.members.append(Person("Ian"))
            }
            try a.save()
            let b = try c.session()
            try c.expect(try b.only(Team.self).members.map(\.name), is: ["Ada", "Eve", "Ian"], "members:")
            try c.expect(
                try b.all(Person.self).map { $0.team?.name }, is: ["red", nil, "red", "red"], "teams of the people:")
        },
        ConformanceCase(
            "relationships.many-to-many-edited-from-both-sides", level: .core,
            requirement: "Pairs of a many-to-many relationship can be added and removed from either side.",
            hint: "Changes are only taken from the side that is stored, or removals are not written."
        ) { c in
            let a = try c.session()
            let ada = Person("Ada")
            let bob = Person("Bob")
            let one = Project("one")
            let two = Project("two")
            a.insert(ada, bob, one, two)
            ada.projects = [one, two]
            bob.projects = [one, two]
            try a.save()
            a.change("remove a pair from the one side") { ada.projects.removeAll { $0 === one } }
            try a.save()
            a.change("remove a pair from the other side") { two.people.removeAll { $0 === bob } }
            try a.save()
            let b = try c.session()
            try c.expect(try b.all(Person.self).map { $0.projects.map(\.title) }, is: [["two"], ["one"]], "projects:")
            try c.expect(try b.all(Project.self).map { $0.people.map(\.name) }, is: [["Bob"], ["Ada"]], "people:")
        },
        ConformanceCase(
            "relationships.self-reference", level: .core,
            requirement: "A model can refer to models of its own type, to each other in a circle, and to itself.",
            hint: "Records are written in the order of their references, which a circle does not have."
        ) { c in
            let a = try c.session()
            let ada = Person("Ada")
            let bob = Person("Bob")
            let eve = Person("Eve")
            a.insert(ada, bob, eve)
            ada.mentor = bob
            bob.mentor = ada
            eve.mentor = eve
            try a.save()
            let people = try c.session().all(Person.self)
            try c.expect(people.map { $0.mentor?.name }, is: ["Bob", "Ada", "Eve"], "mentors:")
            try c.expect(people.map { $0.pupils.map(\.name) }, is: [["Bob"], ["Ada"], ["Eve"]], "pupils:")
        },
        ConformanceCase(
            "relationships.without-inverse", level: .core,
            requirement: "A relationship without inverse is kept, and shows nothing once its target is deleted.",
            hint: "References without inverse are not written, or not cleared."
        ) { c in
            let a = try c.session()
            let ada = Person("Ada")
            let badge = Badge(1)
            ada.badge = badge
            try a.store(ada)
            try c.expect(try c.session().only(Person.self).badge?.number, is: 1, "Ada's badge:")
            a.delete(badge)
            try a.save()
            try c.expect(try c.session().only(Person.self).badge?.number, is: nil, "Ada's badge after its deletion:")
        },
        ConformanceCase(
            "relationships.in-identity-order", level: .core,
            requirement: "A to-many relationship comes back in the order in which its models were inserted.",
            hint: "The members come in the order of a set or of the last write."
        ) { c in
            let a = try c.session()
            let people = (0..<20).map { Person("p\($0)") }
            a.change("insert 20 people") { for person in people { a.context.insert(person) } }
            let team = Team("red")
            a.insert(team)
            team.members = people.reversed()
            try a.save()
            try c.expect(
                try c.session().only(Team.self).members.map(\.name), is: people.map(\.name),
                "members in identity order:")
        },
        ConformanceCase(
            "relationships.added-by-two-contexts", level: .core,
            requirement: "Two contexts that each add a model to the same to-many relationship lose neither.",
            hint: "The to-many side of an updated snapshot overwrites what another save put there; derive it instead."
        ) { c in
            let a = try c.session()
            try a.store(Team("red"))
            let b = try c.session()
            let first = try a.only(Team.self)
            let second = try b.only(Team.self)
            a.insert(Person("Ada", team: first))
            b.insert(Person("Bob", team: second))
            try a.save()
            try b.save()
            try c.expect(try c.session().only(Team.self).members.map(\.name), is: ["Ada", "Bob"], "members:")
        },
    ]
}
