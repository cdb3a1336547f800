import Foundation
import MortiseCore

/// A save that refers to what an earlier save has deleted.
extension ConformanceCase {
    private static let hint =
        "The reference is kept as a number, and leads to whatever is found there later; or the deleted record is written again "
        + "to be referred to."

    /// A session in which Ada refers to a team that the store has deleted.
    private static func referringToADeletedTeam(_ c: CaseContext) throws -> (session: CaseSession, ada: Person) {
        let a = try c.session()
        let (gone, ada) = (Team("gone"), Person("Ada"))
        try a.store(gone, ada)
        try c.store.save(deleted: [gone])
        a.change("Ada's team to the deleted one") { ada.team = gone }
        return (a, ada)
    }

    /// Ada has no team: the one that she was to get is gone, and no other has come in its place.
    private static func checkNoTeam(_ c: CaseContext) throws {
        try c.session().store(Team("next"))
        try checkAlsoReopened(c) { b in
            try c.expect(try b.all(Team.self).map(\.name), is: ["next"], "teams:")
            try c.expect(try b.only(Person.self).team?.name, is: nil, "name of Ada's team:")
            try c.expect(try b.only(Team.self).members.map(\.name), is: [], "members of the next team:")
            let named = FetchDescriptor<Person>(predicate: #Predicate { $0.team?.name != nil })
            try c.expect(try b.count(named), is: 0, "people whose team has a name:")
        }
    }

    static let deletedTargetCases: [ConformanceCase] = [
        ConformanceCase(
            "references.to-what-was-deleted", level: .core,
            requirement:
                "A save that refers to a record which an earlier save has deleted is refused, or the reference leads to nothing, "
                + "also when more records have come.",
            hint: hint
        ) { c in
            let (a, ada) = try referringToADeletedTeam(c)
            do {
                try c.store.save(updated: [ada])
            } catch {
                c.note("→ \(type(of: error))")
            }
            a.context.rollback()
            try checkNoTeam(c)
        },
        ConformanceCase(
            "references.enforced-in-updates", level: .core, capability: .referentialIntegrity,
            requirement: "A store that checks references refuses an update that refers to a deleted record.",
            hint: "Only new records are checked, or only lists."
        ) { c in
            let (a, ada) = try referringToADeletedTeam(c)
            try c.expectError("an error that says which record is missing") { try c.store.save(updated: [ada]) }
            a.context.rollback()
            try c.expect(try c.session().only(Person.self).team?.name, is: nil, "name of Ada's team:")
        },
    ]
}
