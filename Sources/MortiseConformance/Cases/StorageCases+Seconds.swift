import Foundation
import MortiseCore

/// Second looks at storages whose operations fail or whose power goes.
extension ConformanceCase {
    private static func failing(
        _ id: String, _ requirement: String, hint: String, body: @escaping @Sendable (CaseContext) throws -> Void
    ) -> ConformanceCase {
        ConformanceCase(
            "storage.\(id)", level: .full, capability: .faultInjection, requirement: requirement,
            hint: hint, body: body)
    }

    static let storageSecondCases: [ConformanceCase] = [
        failing(
            "reads-after-a-failure",
            "After a failed update other contexts read and count what was saved before, or are told to open the store again.",
            hint: "The failed save has closed the store, and what is asked then fails for another reason than it says."
        ) { c in
            let a = try c.session()
            let entry = Entry("kept", rank: 1)
            try a.store(entry, Team("team"))
            for round in 1...2 {
                try c.faults.failOperation(1)
                c.note("fail the next operation of the storage")
                a.change("rank") { entry.rank = 10 + round }
                try c.expectError("an error of the storage") { try a.save() }
                try c.faults.failOperation(nil)
                a.context.rollback()
                do {
                    let b = try c.session()
                    try c.expect(try b.all(Entry.self).map(\.rank), is: [1], "ranks in round \(round):")
                    try c.expect(try b.count(FetchDescriptor<Team>()), is: 1, "teams in round \(round):")
                    try b.store(Team("round \(round)"))
                    b.delete(try b.first(Team.self, #Predicate { $0.name != "team" }))
                    try b.save()
                } catch let failure as ConformanceFailure {
                    throw failure
                } catch {
                    c.note("→ \(type(of: error)): \(error)")
                    try c.expect(
                        "\(error)".localizedStandardContains("open"), "an error that says to open the store again",
                        found: "\(error)")
                    try c.reopen()
                    try c.expect(try c.session().all(Entry.self).map(\.rank), is: [1], "ranks after reopening:")
                    return
                }
            }
            try c.crash()
            try c.expect(try c.session().all(Entry.self).map(\.rank), is: [1], "ranks after the end of the process:")
        },
        failing(
            "power-loss-at-every-operation-of-a-deletion",
            "Losing power after any operation of a save of deletions, references and a new record leaves all of it or nothing.",
            hint: "Records are changed one after the other in place, or deletions and references are written apart."
        ) { c in
            func fill(_ session: CaseSession) throws {
                let team = Team("team")
                session.insert(team, Person("Ada", age: 1, team: team), Person("Bob", age: 2, team: team))
                try session.save()
            }
            func change(_ session: CaseSession) throws {
                let people = try session.all(Person.self)
                let team = try session.only(Team.self)
                guard people.count == 2 else { throw c.failure(expected: "2 people", found: "\(people.count)") }
                session.context.delete(team)
                people[0].age = 10
                let next = Team("next")
                session.insert(next)
                people[1].team = next
                try session.save()
            }
            func state(_ session: CaseSession) throws -> [String] {
                try session.all(Person.self).map { "\($0.name) \($0.age ?? 0) \($0.team?.name ?? "-")" }
                    + session.all(Team.self).map { "\($0.name): \($0.members.map(\.name))" }
            }
            try fill(c.session())
            let before = try c.faults.operationCount()
            let old = try state(c.session())
            try change(c.session())
            let after = try c.faults.operationCount()
            let new = try state(c.session())
            try c.expect(
                new, is: ["Ada 10 -", "Bob 2 next", "next: [\"Bob\"]"], "people and teams after the change:")
            for operation in before...after {
                let storage = try c.subject.storage()
                let one = CaseContext(case: c.conformanceCase, subject: c.subject, storage: storage)
                defer { try? one.finish() }
                try fill(one.session())
                try change(one.session())
                c.note("lose power after operation \(operation) of \(before)...\(after)")
                try one.crash(after: operation)
                let found = try state(one.session())
                try c.expect(
                    found == new || (found == old && operation < after),
                    "\(operation < after ? "\(old) or " : "")\(new)", found: "\(found)")
            }
        },
    ]
}
