import Foundation
import MortiseCore

extension ConformanceCase {
    private static func expectUnchanged(_ c: CaseContext) throws {
        let b = try c.session()
        try c.expect(try b.all(Entry.self).map(\.name), is: ["kept", "other"], "entries after the save failed:")
        try c.expect(try b.all(Entry.self).map(\.rank), is: [1, 2], "ranks after the save failed:")
        try c.expect(try b.all(Team.self).count, is: 0, "teams after the save failed:")
        try c.expect(try c.store.count(Entry.self), is: 2, "the store's own count after the save failed:")
    }

    static let atomicityCases: [ConformanceCase] = [
        ConformanceCase(
            "atomicity.vanished-record", level: .core,
            requirement:
                "A save that changes a record which another context has deleted fails, and stores nothing of it.",
            hint: "Check that every updated record is there before the first write, or write in a transaction."
        ) { c in
            let a = try c.session()
            try a.store(Entry("kept", rank: 1), Entry("gone"), Entry("other", rank: 2))
            let b = try c.session()
            let entries = try b.all(Entry.self)
            a.delete(try a.first(Entry.self, #Predicate { $0.name == "gone" }))
            try a.save()
            b.insert(Team("never"), Entry("never"))
            b.change("all three entries") { for entry in entries { entry.rank = 99 } }
            try c.expectError("an error, since one of the records is gone") { try b.save() }
            try expectUnchanged(c)
        },
        ConformanceCase(
            "atomicity.vanished-record-in-the-store", level: .core,
            requirement:
                "The store itself refuses to update a record that is not there, and stores nothing of that save.",
            hint: "The missing record is skipped, or inserted again; both lose what another save did."
        ) { c in
            let a = try c.session()
            let kept = Entry("kept", rank: 1)
            let gone = Entry("gone")
            try a.store(kept, gone, Entry("other", rank: 2))
            try c.store.save(deleted: [gone])
            a.change("two entries") {
                kept.rank = 99
                gone.rank = 99
            }
            try c.expectError("an error from the store") {
                try c.store.save(inserted: [Team("never"), Entry("never")], updated: [kept, gone])
            }
            a.context.rollback()
            try expectUnchanged(c)
        },
        ConformanceCase(
            "atomicity.deleted-twice-in-the-store", level: .core,
            requirement:
                "The store itself refuses to delete a record that is not there, and stores nothing of that save.",
            hint: "A deletion that finds nothing is silently ignored."
        ) { c in
            let a = try c.session()
            let gone = Entry("gone")
            try a.store(Entry("kept", rank: 1), gone, Entry("other", rank: 2))
            try c.store.save(deleted: [gone])
            try c.expectError("an error from the store") {
                try c.store.save(inserted: [Entry("never")], deleted: [gone])
            }
            try expectUnchanged(c)
        },
        ConformanceCase(
            "atomicity.denied-deletion", level: .core,
            requirement: "A save that a delete rule denies stores nothing of its other changes, and can be repaired.",
            hint: "Changes were written before everything was checked."
        ) { c in
            let a = try c.session()
            let vault = Vault("v")
            let kept = Entry("kept", rank: 1)
            try a.store(kept, Entry("other", rank: 2), Coin(1, vault: vault))
            a.change("rank of kept") { kept.rank = 99 }
            a.insert(Team("never"))
            a.delete(vault)
            try c.expectError("ModelValidationError") { try a.save() }
            try c.expect(a.context.hasChanges, "a context that still has its changes")
            try expectUnchanged(c)
            a.context.rollback()
            try c.expect(kept.rank, is: 1, "rank after rolling back:")
            a.change("rank of kept") { kept.rank = 3 }
            try a.save()
            try c.expect(try c.session().all(Entry.self).map(\.rank), is: [3, 2], "ranks after the next save:")
        },
        ConformanceCase(
            "atomicity.missing-target", level: .core, capability: .referentialIntegrity,
            requirement:
                "The store refuses a save after which a record would refer to one that is gone, and stores nothing.",
            hint: "References are not checked against the records at the end of the save."
        ) { c in
            let a = try c.session()
            let team = Team("gone")
            try a.store(team, Entry("kept", rank: 1), Entry("other", rank: 2))
            let person = Person("Ada", team: team)
            try c.store.save(deleted: [team])
            try c.expectError("an error from the store") { try c.store.save(inserted: [person, Entry("never")]) }
            a.context.rollback()
            try expectUnchanged(c)
            try c.expect(try c.session().all(Person.self).count, is: 0, "people after the save failed:")
        },
        ConformanceCase(
            "atomicity.usable-after-a-failure", level: .core,
            requirement: "After a failed save, other contexts save and fetch as if it had never begun.",
            hint: "A transaction, a lock or a buffer of the failed save is left behind."
        ) { c in
            let a = try c.session()
            let vault = Vault("v")
            try a.store(Coin(1, vault: vault))
            a.delete(vault)
            a.insert(Entry("never"))
            try c.expectError("ModelValidationError") { try a.save() }
            try c.session().store(Entry("after"))
            try c.expect(try c.session().all(Entry.self).map(\.name), is: ["after"], "entries:")
            try c.expect(try c.session().all(Vault.self).map(\.name), is: ["v"], "vaults:")
        },
    ]
}
