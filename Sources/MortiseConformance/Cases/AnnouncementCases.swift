import Foundation
import MortiseCore
import Synchronization

/// What a store's feed has delivered to a follower.
final class Followed {
    private let feed: ChangeFeed
    private let sets: Received
    private let follower: ChangeFeed.Follower

    private final class Received: Sendable {
        let sets = Mutex<[ChangeSet]>([])
    }

    init(_ c: CaseContext) throws {
        feed = try c.require(
            try c.store.store.changeFeed, "a feed, since the store claims announcements",
            hint: "Return one ChangeFeed from changeFeed, the same one every time.")
        let received = Received()
        sets = received
        follower = feed.follow(.records) { delivery in received.sets.withLock { $0 += delivery.changes } }
    }

    /// What was delivered since the last time. Whatever a call has committed that has returned is among it.
    func take() -> [ChangeSet] {
        feed.settle()
        return sets.sets.withLock { sets in
            defer { sets = [] }
            return sets
        }
    }
}

extension ChangeSet {
    var named: Set<PersistentIdentifier> {
        Set(inserted.records).union(updated.map(\.record)).union(deleted.map(\.record))
    }
}

extension ConformanceCase {
    /// What a store promises that posts its commits to a feed of its own.
    private static func announcement(
        _ id: String, _ requirement: String, hint: String, body: @escaping @Sendable (CaseContext) throws -> Void
    ) -> ConformanceCase {
        ConformanceCase(
            "announcements.\(id)", level: .full, capability: .announcements, requirement: requirement, hint: hint,
            body: body)
    }

    static func expect(
        _ c: CaseContext, _ sets: [ChangeSet], toName records: [PersistentIdentifier], after what: String
    ) throws {
        if sets.contains(where: { $0.isIncomplete || $0.isErasure }) { return }
        let named = sets.reduce(into: Set<PersistentIdentifier>()) { $0.formUnion($1.named) }
        let missing = records.filter { !named.contains($0) }
        try c.expect(
            missing.isEmpty, "all \(records.count) records in what was posted when \(what) returned",
            found: "\(sets.count) change sets without \(missing.map { "\($0)" }.joined(separator: ", "))")
    }

    static let announcementCases: [ConformanceCase] = [
        announcement(
            "one-feed", "A store has one feed for as long as it is open.",
            hint: "changeFeed makes a new feed whenever it is asked for. Followers of the others receive nothing."
        ) { c in
            let (first, second) = (try c.store.store.changeFeed, try c.store.store.changeFeed)
            try c.expect(first != nil && first === second, "the same feed twice", found: "two feeds, or none")
        },
        announcement(
            "saves", "A save posts every record that it has inserted, changed or deleted before it returns.",
            hint: "Post after the commit and before save(_:) returns, insertions and deletions included."
        ) { c in
            let followed = try Followed(c)
            let a = try c.session()
            let (one, two) = (Entry("one", rank: 1), Entry("two", rank: 1))
            try a.store(one, two)
            try expect(
                c, followed.take(), toName: [one.persistentModelID, two.persistentModelID], after: "the insertion")
            a.change("rank of one") { one.rank = 2 }
            try a.save()
            try expect(c, followed.take(), toName: [one.persistentModelID], after: "the change")
            let gone = two.persistentModelID
            a.delete(two)
            try a.save()
            try expect(c, followed.take(), toName: [gone], after: "the deletion")
        },
        announcement(
            "lists", "Another context sees the members that a save has moved from one owner to another.",
            hint: "Name the owners whose lists have other members now, also where nothing of the owner is stored anew."
        ) { c in
            let a = try c.session()
            let (from, to, ada) = (Team("from"), Team("to"), Person("Ada", age: 36))
            let (engine, notes) = (Project("engine"), Project("notes"))
            a.insert(from, to, ada)
            a.insert(engine, notes)
            a.change("team and projects of Ada") {
                ada.team = from
                ada.projects = [engine]
            }
            try a.save()
            let b = try c.session()
            let (theirFrom, theirTo) = (
                try b.first(Team.self, #Predicate { $0.name == "from" }),
                try b.first(Team.self, #Predicate { $0.name == "to" })
            )
            let theirNotes = try b.first(Project.self, #Predicate { $0.title == "notes" })
            try c.expect(theirFrom.members.map(\.name), is: ["Ada"], "members before:")
            try c.expect(theirTo.members.count + theirNotes.people.count, is: 0, "members of the others before:")
            a.change("team and projects of Ada") {
                ada.team = to
                ada.projects = [notes]
            }
            try a.save()
            _ = try b.all(Entry.self)
            try c.expect(theirFrom.members.map(\.name), is: [], "members of the team that Ada has left:")
            try c.expect(theirTo.members.map(\.name), is: ["Ada"], "members of the team that Ada has joined:")
            try c.expect(theirNotes.people.map(\.name), is: ["Ada"], "people of the project that Ada has joined:")
        },
        announcement(
            "batches", "A batch posts the records that it has deleted, or that it does not know them.",
            hint: "Post for batches too: the records, or a change set that isIncomplete."
        ) { c in
            let a = try c.session()
            let entries = (0..<6).map { (number: Int) in Entry("entry \(number)", rank: number) }
            for entry in entries { a.insert(entry) }
            try a.save()
            let records = entries.map(\.persistentModelID)
            let followed = try Followed(c)
            c.note("A: delete where rank < 2, then all")
            try a.context.delete(model: Entry.self, where: #Predicate { ($0.rank ?? 0) < 2 })
            try expect(c, followed.take(), toName: Array(records[..<2]), after: "the first batch")
            try a.context.delete(model: Entry.self)
            try expect(c, followed.take(), toName: Array(records[2...]), after: "the second batch")
        },
        announcement(
            "erasure", "Another context no longer has the models of records that an erasure has removed.",
            hint: "Post a change set that isErasure, or that names every record, when the store is erased."
        ) { c in
            guard c.subject.capabilities.contains(.erase) else { return }
            try c.session().store(Entry("gone"))
            let b = try c.session()
            let entry = try b.only(Entry.self)
            let followed = try Followed(c)
            c.note("store.erase")
            let record = entry.persistentModelID
            try c.store.store.erase()
            try expect(c, followed.take(), toName: [record], after: "erase()")
            try c.expect(try b.count(FetchDescriptor<Entry>()), is: 0, "entries after the erasure:")
            _ = try b.all(Team.self)
            try c.expect(entry.isDeleted, is: true, "whether the model is deleted:")
        },
        announcement(
            "order", "Commits are posted in their order, and their numbers grow.",
            hint: "Post under the lock that orders the commits; the feed keeps the order of the posts."
        ) { c in
            let followed = try Followed(c)
            let sessions = [try c.session(), try c.session()]
            var saved: [PersistentIdentifier] = []
            for number in 0..<10 {
                let entry = Entry("entry \(number)")
                try sessions[number % 2].store(entry)
                saved.append(entry.persistentModelID)
            }
            let sets = followed.take()
            if !sets.contains(where: \.isIncomplete) {
                var posted: [PersistentIdentifier] = []
                for record in sets.flatMap({ $0.inserted.records + $0.updated.map(\.record) })
                where saved.contains(record) && !posted.contains(record) { posted.append(record) }
                try c.expect(posted == saved, "\(saved.count) insertions in their order", found: "\(posted)")
            }
            let numbers = sets.compactMap { $0.commit?.number }
            try c.expect(
                zip(numbers, numbers.dropFirst()).allSatisfy(<), "numbers that grow", found: "\(numbers)")
        },
        announcement(
            "refused-saves", "A save that is refused posts nothing.",
            hint: "Post only what is committed: after the checks and the write, not before."
        ) { c in
            let a = try c.session()
            let (kept, gone) = (Entry("kept", rank: 1), Entry("gone", rank: 1))
            try a.store(kept, gone)
            try c.store.save(deleted: [gone])
            let followed = try Followed(c)
            kept.rank = 2
            gone.rank = 2
            try c.expectError("an error that says which record is gone") {
                try c.store.save(updated: [kept, gone])
            }
            a.context.rollback()
            let sets = followed.take().filter { !$0.isEmpty }
            try c.expect(
                sets.isEmpty, "no change set",
                found: "\(sets.count), which name \(sets.reduce(0) { $0 + $1.count }) records")
        },
    ]
}
