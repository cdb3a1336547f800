import Foundation
import MortiseCore

extension ConformanceCase {
    /// What a store promises that answers a context from one state until it moves on.
    private static func consistency(
        _ id: String, _ requirement: String, hint: String, body: @escaping @Sendable (CaseContext) throws -> Void
    ) -> ConformanceCase {
        ConformanceCase(
            "read-consistency.\(id)", level: .full, capability: .readConsistency, requirement: requirement, hint: hint,
            body: body)
    }

    /// Has somebody rename the team and its member, and add another member.
    private static func change(_ c: CaseContext) throws {
        let other = try c.session()
        let team = try other.only(Team.self)
        other.change("all names") {
            for member in team.members { member.name += "+" }
            team.name += "+"
        }
        other.insert(Person("new", team: team))
        try other.save()
    }

    private static func team(_ c: CaseContext) throws {
        let a = try c.session()
        let team = Team("team")
        a.insert(team)
        a.insert(Person("Ada", age: 36, team: team))
        try a.save()
    }

    static let readConsistencyCases: [ConformanceCase] = [
        consistency(
            "fetch-and-what-follows", "What a context loads after a fetch is of the state that it has fetched.",
            hint: "Each read takes the latest state. Keep one for each context and number of its scope."
        ) { c in
            try team(c)
            let b = try c.session()
            let team = try b.only(Team.self)
            try change(c)
            try c.expect(team.members.map(\.name), is: ["Ada"], "members, read after others have changed them:")
            try c.expect(try b.only(Team.self).name, is: "team+", "the team's name after another fetch:")
            try c.expect(team.members.map(\.name).sorted(), is: ["Ada+", "new"], "members after another fetch:")
        },
        consistency(
            "to-one", "A to-one relationship leads to the record as it was when its owner was fetched.",
            hint: "Each read takes the latest state. Keep one for each context and number of its scope."
        ) { c in
            try team(c)
            let b = try c.session()
            let ada = try b.only(Person.self)
            try change(c)
            try c.expect(ada.team?.name, is: "team", "the team's name, read after others have changed it:")
            _ = try b.all(Team.self)
            try c.expect(ada.team?.name, is: "team+", "the team's name after a fetch:")
        },
        consistency(
            "contexts-apart", "A fetch of one context does not move another one on.",
            hint: "The state is kept for all contexts, or by the number alone. Contexts count each for itself."
        ) { c in
            try team(c)
            let (b, d) = (try c.session(), try c.session())
            let team = try b.only(Team.self)
            try change(c)
            let theirs = try d.only(Team.self)
            try c.expect(theirs.members.map(\.name).sorted(), is: ["Ada+", "new"], "members for a later context:")
            try c.expect(team.members.map(\.name), is: ["Ada"], "members for the earlier one:")
        },
        consistency(
            "own-saves", "After its save a context reads what it has saved, and what others have saved before.",
            hint: "The state that the context has fetched is kept beyond its save."
        ) { c in
            try team(c)
            let b = try c.session()
            let team = try b.only(Team.self)
            try change(c)
            b.insert(Person("own", team: team))
            try b.save()
            _ = try b.only(Team.self)
            try c.expect(team.members.map(\.name).sorted(), is: ["Ada+", "new", "own"], "members after the save:")
        },
    ]
}
