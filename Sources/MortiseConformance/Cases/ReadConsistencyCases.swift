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
            "cursor", "A cursor keeps the state that it was opened in, whatever is read and saved meanwhile.",
            hint: "Each portion is of the latest state, or of the one that the context reads last."
        ) { c in
            let a = try c.session()
            for number in 0..<6 { a.insert(Entry("entry \(number)", rank: 1)) }
            try a.save()
            guard let next = try c.store.cursor(StoreQuery("Entry")) else { return }
            var records = try next(2)
            let other = try c.session()
            let entries = try other.all(Entry.self)
            other.change("all ranks") { for entry in entries { entry.rank = 2 } }
            if let last = entries.max(by: { $0.name < $1.name }) { other.delete(last) }
            other.insert(Entry("new", rank: 2))
            try other.save()
            _ = try a.all(Entry.self)
            while case let portion = try next(2), !portion.isEmpty {
                try c.expect(records.count < 20, "an end after six records", found: "\(records.count) and more")
                try c.expect(portion.count <= 2, "two records at most", found: "\(portion.count)")
                records += portion
            }
            let found = records.map { "\($0.values["name"] ?? .null) \($0.values["rank"] ?? .null)" }.sorted()
            let expected = (0..<6).map { "\(StoredValue.string("entry \($0)")) \(StoredValue.integer(1))" }
            try c.expect(found, is: expected, "names and ranks that the cursor handed out:")
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
