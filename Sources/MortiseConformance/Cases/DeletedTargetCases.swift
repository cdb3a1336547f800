import Foundation
import MortiseCore

/// A save that refers to what an earlier save has deleted.
extension ConformanceCase {
    private static let hint =
        "The reference is kept as a number, and leads to whatever is found there later; or the deleted record is written again "
        + "to be referred to."

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

    /// Does what a store may refuse.
    private static func trying(_ c: CaseContext, _ body: () throws -> Void) throws {
        do {
            try body()
            c.note("→ saved")
        } catch let error as ConformanceFailure {
            throw error
        } catch {
            c.note("→ \(type(of: error))")
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
            let a = try c.session()
            let (gone, ada) = (Team("gone"), Person("Ada"))
            try a.store(gone, ada)
            try c.store.save(deleted: [gone])
            a.change("Ada's team to the deleted one") { ada.team = gone }
            try trying(c) { try c.store.save(updated: [ada]) }
            a.context.rollback()
            try checkNoTeam(c)
        },
        ConformanceCase(
            "references.to-what-another-deleted", level: .core,
            requirement:
                "A context that refers to a record which another context has deleted meanwhile is refused, or its reference leads "
                + "to nothing, also when more records have come.",
            hint: hint
        ) { c in
            let a = try c.session()
            try a.store(Team("gone"), Person("Ada"))
            let (gone, ada) = (try a.only(Team.self), try a.only(Person.self))
            let b = try c.session()
            b.delete(try b.only(Team.self))
            try b.save()
            a.change("Ada's team to the deleted one") { ada.team = gone }
            try trying(c) { try a.save() }
            a.context.rollback()
            try checkNoTeam(c)
        },
        ConformanceCase(
            "references.enforced-in-updates", level: .core, capability: .referentialIntegrity,
            requirement: "A store that checks references refuses an update that refers to a deleted record.",
            hint: "Only new records are checked, or only lists."
        ) { c in
            let a = try c.session()
            let (gone, ada) = (Team("gone"), Person("Ada"))
            try a.store(gone, ada)
            try c.store.save(deleted: [gone])
            a.change("Ada's team to the deleted one") { ada.team = gone }
            try c.expectError("an error that says which record is missing") { try c.store.save(updated: [ada]) }
            a.context.rollback()
            try c.expect(try c.session().only(Person.self).team?.name, is: nil, "name of Ada's team:")
        },
    ]
}
