import Foundation
import MortiseCore

extension ConformanceCase {
    /// Two contexts that have read the same entry, and changed it.
    private static func conflict(
        _ id: String, level: Level = .core, _ requirement: String, hint: String,
        body: @escaping @Sendable (CaseContext, CaseSession, CaseSession, Entry, Entry) throws -> Void
    ) -> ConformanceCase {
        ConformanceCase("conflicts.\(id)", level: level, requirement: requirement, hint: hint) { c in
            let a = try c.session()
            let mine = Entry("one", group: "g", rank: 1, note: "n")
            try a.store(mine, Entry("other"))
            let b = try c.session()
            let theirs = try b.first(Entry.self, #Predicate { $0.name == "one" })
            try body(c, a, b, mine, theirs)
        }
    }

    static let conflictCases: [ConformanceCase] = [
        conflict(
            "different-properties", "Two contexts that change different properties of a record lose neither change.",
            hint: "The whole record is written where only some properties have changed."
        ) { c, a, b, mine, theirs in
            a.change("rank in A") { mine.rank = 10 }
            b.change("note in B") { theirs.note = "new" }
            try a.save()
            try b.save()
            let found = try c.session().first(Entry.self, #Predicate { $0.name == "one" })
            try c.expect(found.rank, is: 10, "rank, changed by A:")
            try c.expect(found.note, is: "new", "note, changed by B:")
            try c.expect(found.group, is: "g", "group, which nobody changed:")
        },
        conflict(
            "same-property", "Of two changes of one property, the later save wins.",
            hint: "The store keeps the first, or refuses the second although no policy asks for it."
        ) { c, a, b, mine, theirs in
            a.change("rank in A") { mine.rank = 10 }
            b.change("rank in B") { theirs.rank = 20 }
            try a.save()
            try b.save()
            try c.expect(
                try c.session().first(Entry.self, #Predicate { $0.name == "one" }).rank, is: 20, "rank:")
        },
        conflict(
            "error-policy", "Under the policy error the later save fails, names the properties, and changes nothing.",
            hint: "The store hands out old values when a context reads again before it saves."
        ) { c, a, b, mine, theirs in
            b.context.mergePolicy = .error
            a.change("rank in A") { mine.rank = 10 }
            b.change("rank in B, whose policy is error") { theirs.rank = 20 }
            try a.save()
            try c.expectError(
                "SaveConflict about rank",
                matching: { ($0 as? SaveConflict)?.properties.map(\.name) == ["rank"] }
            ) { try b.save() }
            try c.expect(
                try c.session().first(Entry.self, #Predicate { $0.name == "one" }).rank, is: 10, "rank:")
        },
        conflict(
            "store-wins", level: .full, "Under the policy storeWins the stored record stays as it is.",
            hint: "The store hands out old values when a context reads again before it saves."
        ) { c, a, b, mine, theirs in
            b.context.mergePolicy = .storeWins
            a.change("rank in A") { mine.rank = 10 }
            b.change("rank and note in B, where the store wins") {
                theirs.rank = 20
                theirs.note = "new"
            }
            try a.save()
            try b.save()
            let found = try c.session().first(Entry.self, #Predicate { $0.name == "one" })
            try c.expect(found.rank, is: 10, "rank:")
            try c.expect(found.note, is: "n", "note:")
        },
        conflict(
            "object-wins", level: .full,
            "Under the policy objectWins the record becomes what the context has, in every property.",
            hint: "Only what was changed here is written, and the other side's changes stay."
        ) { c, a, b, mine, theirs in
            b.context.mergePolicy = .objectWins
            a.change("note in A") { mine.note = "new" }
            b.change("rank in B, where the object wins") { theirs.rank = 20 }
            try a.save()
            try b.save()
            let found = try c.session().first(Entry.self, #Predicate { $0.name == "one" })
            try c.expect(found.rank, is: 20, "rank, changed by B:")
            try c.expect(found.note, is: "n", "note, as B had read it:")
        },
        conflict(
            "no-conflict-after-fetching", level: .full,
            "A context that has fetched since the other save has no conflict.",
            hint: "A version is kept for longer than the context reads it."
        ) { c, a, b, mine, theirs in
            b.context.mergePolicy = .error
            a.change("rank in A") { mine.rank = 10 }
            try a.save()
            _ = try b.all(Entry.self)
            b.change("rank in B, after fetching") { theirs.rank = 20 }
            try b.save()
            try c.expect(
                try c.session().first(Entry.self, #Predicate { $0.name == "one" }).rank, is: 20, "rank:")
        },
        conflict(
            "other-records-are-none", level: .full, "A save does not conflict with changes to other records.",
            hint: "The whole store has one version, and a save on top of an older one fails for good."
        ) { c, a, b, _, theirs in
            b.context.mergePolicy = .error
            b.change("rank in B") { theirs.rank = 20 }
            let other = try a.first(Entry.self, #Predicate { $0.name == "other" })
            a.change("the other entry in A") { other.rank = 5 }
            try a.save()
            try b.save()
            try c.expect(try c.session().all(Entry.self).map(\.rank), is: [20, 5], "ranks:")
        },
        conflict(
            "deleted-elsewhere", "A change to a record that another save has deleted fails; the record stays deleted.",
            hint: "An update inserts what it does not find."
        ) { c, a, b, mine, theirs in
            a.delete(mine)
            try a.save()
            b.change("rank in B") { theirs.rank = 20 }
            try c.expectError("an error") { try b.save() }
            try c.expect(try c.session().all(Entry.self).map(\.name), is: ["other"], "names:")
        },
        conflict(
            "deletion-of-a-changed-record", "A deletion goes through though another save has changed the record.",
            hint: "The deletion looks for the record with its old values."
        ) { c, a, b, mine, theirs in
            a.change("rank in A") { mine.rank = 10 }
            try a.save()
            b.delete(theirs)
            try b.save()
            try c.expect(try c.session().all(Entry.self).map(\.name), is: ["other"], "names:")
        },
        conflict(
            "deletion-under-the-error-policy", level: .full,
            "Under the policy error the deletion of a record that was changed elsewhere fails.",
            hint: "The store hands out old values when a context reads again before it saves."
        ) { c, a, b, mine, theirs in
            b.context.mergePolicy = .error
            b.delete(theirs)
            a.change("rank in A") { mine.rank = 10 }
            try a.save()
            try c.expectError("SaveConflict of a deletion", matching: { ($0 as? SaveConflict)?.isDeletion == true }) {
                try b.save()
            }
            try c.expect(try c.session().all(Entry.self).count, is: 2, "entries:")
        },
        ConformanceCase(
            "conflicts.superseded-version", level: .core, capability: .versions,
            requirement:
                "The store refuses a save on top of a version that is not its latest, and stores nothing of it.",
            hint: "baseVersion is not checked inside the transaction; a save between check and write is lost."
        ) { c in
            try c.session().store(Entry("one", rank: 1))
            let store = try c.require(try c.store.store as? any VersionedDataStore, "a VersionedDataStore")
            let old = store.currentVersion.number
            try c.session().store(Entry("two"))
            c.note("save an insertion on top of version \(old), the latest being \(store.currentVersion.number)")
            try c.expectError("VersionSuperseded", matching: { $0 is VersionSuperseded }) {
                try c.store.save(inserted: [Entry("never")], baseVersion: old)
            }
            try c.expect(try c.session().all(Entry.self).map(\.name), is: ["one", "two"], "names:")
        },
        ConformanceCase(
            "conflicts.latest-version", level: .core, capability: .versions,
            requirement: "The store accepts a save based on its latest version, and then has a later version.",
            hint: "The number of a version is compared with that of another thing."
        ) { c in
            try c.session().store(Entry("one", rank: 1))
            let store = try c.require(try c.store.store as? any VersionedDataStore, "a VersionedDataStore")
            let latest = store.currentVersion.number
            c.note("save an insertion on top of the latest version, \(latest)")
            try c.store.save(inserted: [Entry("two")], baseVersion: latest)
            try c.expect(
                store.currentVersion.number > latest, "a number above \(latest)",
                found: "\(store.currentVersion.number)")
            try c.expect(try c.session().all(Entry.self).map(\.name), is: ["one", "two"], "names:")
        },
    ]
}
