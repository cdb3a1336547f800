import Foundation
import MortiseCore

/// Second looks at what a store posts: commits of every kind one after the other, and lists that change without their owners.
extension ConformanceCase {
    private static func announcement(
        _ id: String, _ requirement: String, hint: String, body: @escaping @Sendable (CaseContext) throws -> Void
    ) -> ConformanceCase {
        ConformanceCase(
            "announcements.\(id)", level: .full, capability: .announcements, requirement: requirement, hint: hint,
            body: body)
    }

    static let announcementSecondCases: [ConformanceCase] = [
        announcement(
            "commits-of-every-kind",
            "Followers hear of every record of each batch, save and erasure, in the order of their numbers, and of no refused save.",
            hint: "One kind of commit is cut short, left out, posted before it counts, or has the number of another."
        ) { c in
            let followed = try Followed(c)
            let a = try c.session()
            var told: [ChangeSet] = []
            func expectAll(_ records: [PersistentIdentifier], after what: String) throws {
                let sets = followed.take()
                try expect(c, sets, toName: records, after: what)
                told += sets
            }
            c.note("A: insert 40 badges in a batch, update 20 and delete 15 of them in batches")
            let badges = try a.context.insert(Badge.self, from: 0..<40) { try $0.set(\.number, to: $1) }
            try expectAll(badges, after: "the batch that inserts")
            try a.context.update(Badge.self, where: #Predicate { $0.number < 20 }) { $0.increment(\.number, by: 100) }
            try expectAll(Array(badges[..<20]), after: "the batch that updates")
            try a.context.delete(model: Badge.self, where: #Predicate { $0.number < 35 })
            try expectAll(Array(badges[20..<35]), after: "the batch that deletes")
            let teams = ["one", "two", "three"].map { Team($0) }
            for team in teams { a.insert(team) }
            try a.save()
            try expectAll(teams.map(\.persistentModelID), after: "the save of teams")
            c.note("A: delete all teams in a batch")
            let lost = teams.map(\.persistentModelID)
            try a.context.delete(model: Team.self)
            try expectAll(lost, after: "the batch that deletes all")
            let (kept, gone) = (Entry("kept"), Entry("gone"))
            try a.store(kept, gone)
            try c.store.save(deleted: [gone])
            try expectAll([kept, gone].map(\.persistentModelID), after: "the saves")
            a.change("rank of kept") { kept.rank = 1 }
            try c.expectError("an error, since a record is gone") {
                try c.store.save(inserted: [Entry("never")], updated: [kept], deleted: [gone])
            }
            a.context.rollback()
            let refused = followed.take().filter { !$0.isEmpty }
            try c.expect(refused.isEmpty, "no change set of a refused save", found: "\(refused.count)")
            if c.subject.capabilities.contains(.erase) {
                c.note("store.erase")
                let left = Array(badges[..<20] + badges[35...]) + [kept.persistentModelID]
                try c.store.store.erase()
                try expectAll(left, after: "the erasure")
            }
            let last = Entry("last")
            try c.session().store(last)
            try expectAll([last.persistentModelID], after: "the last save")
            let numbers = told.compactMap { $0.commit?.number }
            try c.expect(
                zip(numbers, numbers.dropFirst()).allSatisfy(<), "numbers that grow from commit to commit",
                found: "\(numbers)")
        },
        announcement(
            "lists-of-owners",
            "Another context sees who has come into the lists of an owner, and who has gone, by insertion and by a batch.",
            hint: "Name the owners whose lists have other members now, also where nothing of the owner is stored anew."
        ) { c in
            let a = try c.session()
            let (team, ada, engine) = (Team("team"), Person("Ada"), Project("engine"))
            a.insert(team, ada, engine)
            try a.save()
            let b = try c.session()
            let (theirTeam, theirAda) = (try b.only(Team.self), try b.only(Person.self))
            let theirEngine = try b.only(Project.self)
            func expectLists(_ names: [String], _ moment: String) throws {
                _ = try b.all(Entry.self)
                try c.expect(theirTeam.members.map(\.name), is: names, "members of the team \(moment):")
                try c.expect(theirAda.pupils.map(\.name), is: names, "pupils of Ada \(moment):")
                try c.expect(theirEngine.people.map(\.name), is: names, "people of the project \(moment):")
            }
            try expectLists([], "before")
            let bob = Person("Bob", age: 1)
            let cid = Person("Cid", age: 2)
            for person in [bob, cid] {
                a.insert(person)
                a.change("team, mentor and projects of \(person.name)") {
                    person.team = team
                    person.mentor = ada
                    person.projects = [engine]
                }
            }
            try a.save()
            try expectLists(["Bob", "Cid"], "after an insertion")
            a.change("team, mentor and projects of Bob") {
                bob.team = nil
                bob.mentor = nil
                bob.projects = []
            }
            try a.save()
            try expectLists(["Cid"], "after a change")
            a.delete(cid)
            try a.save()
            try expectLists([], "after a deletion")
        },
    ]
}
