import Foundation
import MortiseCore

/// Second looks at what the end of a process leaves.
extension ConformanceCase {
    private static func durable(
        _ id: String, and others: [StoreCapability] = [], _ requirement: String, hint: String,
        body: @escaping @Sendable (CaseContext) throws -> Void
    ) -> ConformanceCase {
        ConformanceCase(
            "durability.\(id)", level: .full, capability: .durability, and: others, requirement: requirement,
            hint: hint, body: body)
    }

    static let durabilitySecondCases: [ConformanceCase] = [
        durable(
            "erasure-of-several-entities", and: [.erase],
            "After an erasure and the end of the process nothing is there, whatever was saved since the last opening.",
            hint: "The erasure is written when the store is closed, or one entity's file is removed."
        ) { c in
            let a = try c.session()
            let team = Team("team")
            try a.store(team, Person("Ada", team: team), Entry("entry"), Puppy("Puck", age: 1, weeks: 9))
            try c.crash()
            try c.session().store(Entry("second"), Account("a@x", country: "NO", number: 1))
            c.note("erase")
            try c.container.erase()
            try c.crash()
            let b = try c.session()
            try c.expect(try b.count(FetchDescriptor<Entry>()), is: 0, "entries:")
            try c.expect(try b.all(Person.self).map(\.name), is: [], "people:")
            try c.expect(
                try b.count(FetchDescriptor<Team>()) + b.count(FetchDescriptor<Animal>())
                    + b.count(FetchDescriptor<Account>()), is: 0, "teams, animals and accounts:")
            try b.store(Account("a@x", country: "NO", number: 1))
            try c.crash()
            try c.expect(try c.session().all(Account.self).map(\.email), is: ["a@x"], "emails that were saved since:")
        },
        durable(
            "refused-saves-leave-nothing",
            "Updates, deletions and insertions of a refused save are not there after the end of the process.",
            hint: "A save is written before it is checked, and taken back in memory alone."
        ) { c in
            let a = try c.session()
            let (kept, other, gone) = (Entry("kept", rank: 1), Entry("other", rank: 1), Entry("gone"))
            try a.store(kept, other, gone)
            try c.store.save(deleted: [gone])
            a.change("rank of kept") { kept.rank = 2 }
            for _ in 0..<2 {
                try c.expectError("an error, since a record is gone") {
                    try c.store.save(inserted: [Entry("new")], updated: [kept], deleted: [other, gone])
                }
            }
            a.context.rollback()
            for round in 1...2 {
                try c.crash()
                try c.expect(
                    try c.session().all(Entry.self).map { "\($0.name) \($0.rank ?? 0)" }, is: ["kept 1", "other 1"],
                    "names and ranks after crash \(round):")
            }
        },
        durable(
            "numbers-after-everything-is-gone",
            "Identifiers of records that were deleted before the process ended are not given again, in any entity.",
            hint: "The next number is found by looking at the records that are left."
        ) { c in
            var used: Set<PersistentIdentifier> = []
            for round in 1...3 {
                let a = try c.session()
                let (entry, team) = (Entry("\(round)"), Team("\(round)"))
                try a.store(entry, team)
                let new = [entry.persistentModelID, team.persistentModelID]
                try c.expect(
                    used.isDisjoint(with: new), "identifiers in round \(round) that no record has had",
                    found: "\(new)")
                used.formUnion(new)
                c.note("delete everything in batches")
                try a.context.delete(model: Entry.self)
                try a.context.delete(model: Team.self)
                try c.crash()
                try c.expect(try c.session().count(FetchDescriptor<Entry>()), is: 0, "entries after crash \(round):")
            }
        },
        durable(
            "one-record-changed-often",
            "Records that 170 later saves have not touched are there after the end of the process, and so is the last change.",
            hint: "A log or a cache that has grown is made shorter, and what was not touched for long is left out."
        ) { c in
            let a = try c.session()
            let changed = Entry("changed", rank: -1)
            try a.store(Entry("first", rank: 1, note: "n"))
            try a.store(changed, Team("team"))
            c.note("170 saves of one record")
            for rank in 0..<170 {
                changed.rank = rank
                try a.context.save()
            }
            try c.crash()
            let b = try c.session()
            try c.expect(
                try b.all(Entry.self).map { "\($0.name) \($0.rank ?? 0) \($0.note ?? "-")" },
                is: ["first 1 n", "changed 169 -"], "names, ranks and notes:")
            try c.expect(try b.all(Team.self).map(\.name), is: ["team"], "teams:")
        },
        durable(
            "changed-relationships",
            "References and lists that were set, exchanged and cleared by later saves are as they were last saved, on both sides.",
            hint: "References are written when the store is closed, or by the save that inserts the record alone."
        ) { c in
            let a = try c.session()
            let (one, two, three) = (Node("one"), Node("two"), Node("three"))
            try a.store(one, two, three)
            a.change("parents, next ones and links") {
                (two.parent, three.parent) = (one, one)
                (one.next, two.next) = (two, three)
                one.links = [three]
            }
            try a.save()
            a.change("a parent, a next one and links") {
                three.parent = two
                two.next = nil
                one.links = [two]
            }
            try a.save()
            try c.crash()
            let nodes = try c.session().all(Node.self)
            try c.expect(nodes.map { $0.parent?.name ?? "-" }, is: ["-", "one", "two"], "parents:")
            try c.expect(nodes.map { $0.children.map(\.name) }, is: [["two"], ["three"], []], "children:")
            try c.expect(nodes.map { $0.next?.name ?? "-" }, is: ["two", "-", "-"], "next ones:")
            try c.expect(nodes.map { $0.links.map(\.name) }, is: [["two"], [], []], "links:")
        },
    ]
}
