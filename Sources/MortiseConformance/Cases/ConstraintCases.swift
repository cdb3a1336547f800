import Foundation
import MortiseCore

extension ConformanceCase {
    static let constraintCases: [ConformanceCase] = [
        // MARK: Uniqueness and references, enforced by the store
        ConformanceCase(
            "uniqueness.enforced-against-stored", level: .core, capability: .uniqueness,
            requirement: "A store that enforces uniqueness refuses a new record with a stored one's value.",
            hint: "Only the records of one request are compared with each other."
        ) { c in
            try c.store.save(inserted: [Account("a@x", country: "NO", number: 1)])
            try c.expectError("an error from the store") {
                try c.store.save(inserted: [Account("a@x", country: "SE", number: 2)])
            }
            try c.expect(try c.session().all(Account.self).map(\.country), is: ["NO"], "countries:")
        },
        ConformanceCase(
            "uniqueness.enforced-compound", level: .core, capability: .uniqueness,
            requirement: "A store that enforces uniqueness looks at all properties of a compound constraint, together.",
            hint: "The store has no compound constraint."
        ) { c in
            try c.store.save(inserted: [
                Account("a@x", country: "NO", number: 1), Account("b@x", country: "NO", number: 2),
            ])
            try c.expectError("an error from the store") {
                try c.store.save(inserted: [Account("c@x", country: "NO", number: 2)])
            }
            try c.expect(try c.session().all(Account.self).count, is: 2, "accounts:")
        },
        ConformanceCase(
            "uniqueness.enforced-but-not-for-nil", level: .core, capability: .uniqueness,
            requirement:
                "A store that enforces uniqueness takes any number of records with nil in a compound constraint.",
            hint: "Null is compared like a value in the store's own constraint."
        ) { c in
            try c.store.save(inserted: [
                Account("a@x", country: "NO", number: nil), Account("b@x", country: "NO", number: nil),
            ])
            try c.expect(try c.session().all(Account.self).count, is: 2, "accounts:")
        },
        ConformanceCase(
            "uniqueness.enforced-on-update", level: .core, capability: .uniqueness,
            requirement: "A store that enforces uniqueness refuses an update into another record's value.",
            hint: "Updates are not checked."
        ) { c in
            let a = try c.session()
            let first = Account("a@x", country: "NO", number: 1)
            let second = Account("b@x", country: "SE", number: 2)
            try a.store(first, second)
            second.email = "a@x"
            try c.expectError("an error from the store") { try c.store.save(updated: [second]) }
            a.context.rollback()
            try c.expect(try c.session().all(Account.self).map(\.email), is: ["a@x", "b@x"], "e-mail addresses:")
        },
        ConformanceCase(
            "references.enforced-in-to-many", level: .core, capability: .referentialIntegrity,
            requirement: "A store that checks references refuses missing members of a to-many relationship.",
            hint: "Only to-one relationships are checked."
        ) { c in
            let a = try c.session()
            let project = Project("gone")
            try a.store(project)
            let person = Person("Ada")
            a.insert(person)
            person.projects = [project]
            try c.store.save(deleted: [project])
            try c.expectError("an error from the store") { try c.store.save(inserted: [person]) }
            a.context.rollback()
            try c.expect(try c.session().all(Person.self).count, is: 0, "people:")
        },
        ConformanceCase(
            "references.enforced-on-deletion", level: .core, capability: .referentialIntegrity,
            requirement: "A store that checks references refuses a deletion that would leave a dangling reference.",
            hint: "References are checked where they are written, and not where their target goes."
        ) { c in
            let a = try c.session()
            let binder = Binder("b")
            try a.store(Sheet(1, binder: binder))
            c.note("delete the binder of a sheet, in the store itself")
            do {
                try c.store.save(deleted: [binder])
                // It may have cleared the reference as well.
                try c.expect(
                    try c.session().only(Sheet.self).binder?.name, is: nil, "binder of the sheet:")
            } catch let failure as ConformanceFailure {
                throw failure
            } catch {
                try c.expect(try c.session().only(Sheet.self).binder?.name, is: "b", "binder of the sheet:")
            }
        },
        ConformanceCase(
            "references.inside-one-save", level: .core, capability: .referentialIntegrity,
            requirement: "A store that checks references takes records that refer to each other in one save.",
            hint: "References are checked record by record instead of at the end of the save."
        ) { c in
            let a = try c.session()
            let ada = Person("Ada")
            let bob = Person("Bob")
            a.insert(ada, bob)
            ada.mentor = bob
            bob.mentor = ada
            try a.save()
            try c.expect(try c.session().all(Person.self).map { $0.mentor?.name }, is: ["Bob", "Ada"], "mentors:")
        },
        // MARK: Batches
        ConformanceCase(
            "batch.in-the-store", level: .core, capability: .batchDelete,
            requirement: "The store's own batch delete removes all records of an entity and its subentities.",
            hint: "The wrong table is emptied, or only the superentity's."
        ) { c in
            try c.session().store(Vehicle("V", wheels: 2), Truck("T", load: 1), Entry("kept"))
            try c.store.deleteAll(Vehicle.self)
            try c.expect(try c.session().all(Vehicle.self).count, is: 0, "vehicles:")
            try c.expect(try c.session().all(Truck.self).count, is: 0, "trucks:")
            try c.expect(try c.session().all(Entry.self).map(\.name), is: ["kept"], "entries:")
        },
        ConformanceCase(
            "batch.leaves-no-references", level: .core, capability: .batchDelete,
            requirement: "After the store's own batch delete no record refers to a deleted one.",
            hint: "References to what a batch deletes are left behind."
        ) { c in
            let a = try c.session()
            let ada = Person("Ada", team: Team("red"))
            ada.badge = Badge(1)
            try a.store(ada)
            try c.store.deleteAll(Badge.self)
            for record in try c.store.records(Person.self) {
                try c.expect(record.related("badge") ?? [], is: [], "what badge of \(record.identifier) refers to:")
            }
            try c.expect(try c.session().only(Person.self).team?.name, is: "red", "Ada's team:")
        },
        ConformanceCase(
            "batch.identifiers-go-on", level: .full, capability: .batchDelete,
            requirement: "Records inserted after a batch delete get identifiers that no record had before.",
            hint: "The counter of identifiers starts again with an empty table."
        ) { c in
            let a = try c.session()
            let old = Entry("old")
            try a.store(old)
            let before = old.persistentModelID
            try c.store.deleteAll(Entry.self)
            let new = Entry("new")
            try c.session().store(new)
            try c.expect(new.persistentModelID != before, "an identifier other than \(before)", found: "the same")
            try c.expect(try c.session().all(Entry.self).map(\.name), is: ["new"], "names:")
        },
        ConformanceCase(
            "batch.declines-predicates", level: .core, capability: .batchDelete,
            requirement:
                "A predicate that the store's batch delete does not evaluate is declined, and deletes nothing.",
            hint: "Throw preferInMemoryFilter for predicates; ignoring one deletes everything."
        ) { c in
            try storeItems(c)
            let a = try c.session()
            c.note("delete(model: Item, where: loud == \"BELL\"), which only code can evaluate")
            try a.context.delete(model: Item.self, where: #Predicate { $0.loud == "BELL" })
            try c.expect(try c.session().all(Item.self).count, is: 7, "items left:")
        },
        ConformanceCase(
            "batch.is-seen-by-other-contexts", level: .core,
            requirement: "A batch delete is seen by other contexts at their next fetch.",
            hint: "Caches miss deletions that no save made."
        ) { c in
            try c.session().store(Entry("a", group: "x"), Entry("b", group: "y"))
            let b = try c.session()
            _ = try b.all(Entry.self)
            let a = try c.session()
            c.note("delete(model: Entry, where: group == \"x\") in \(a.name)")
            try a.context.delete(model: Entry.self, where: #Predicate { $0.group == "x" })
            try c.expect(try b.all(Entry.self).map(\.name), is: ["b"], "names in the other context:")
            try c.expect(try b.count(FetchDescriptor<Entry>()), is: 1, "count in the other context:")
        },
        ConformanceCase(
            "batch.of-nothing", level: .full,
            requirement: "A batch delete that matches nothing succeeds and changes nothing.",
            hint: "An empty match is reported as an error."
        ) { c in
            try c.session().store(Entry("a"))
            let a = try c.session()
            c.note("delete(model: Entry, where: name == \"none\")")
            try a.context.delete(model: Entry.self, where: #Predicate { $0.name == "none" })
            try a.context.delete(model: Team.self)
            try c.expect(try c.session().all(Entry.self).map(\.name), is: ["a"], "names:")
        },
        // MARK: Erasing
        ConformanceCase(
            "erase.identifiers-go-on", level: .core, capability: .erase,
            requirement: "After erase() no record gets the identifier of one that was there.",
            hint: "The counter of identifiers is erased too; identifiers kept elsewhere then name other records."
        ) { c in
            let a = try c.session()
            let old = Entry("old")
            try a.store(old)
            let before = old.persistentModelID
            c.note("erase")
            try c.container.erase()
            let new = Entry("new")
            try c.session().store(new)
            try c.expect(new.persistentModelID != before, "an identifier other than \(before)", found: "the same")
        },
        ConformanceCase(
            "erase.stays-empty", level: .core, capability: .erase, and: [.reopening],
            requirement: "An erased store is empty when it is opened again.",
            hint: "Memory is erased and the storage is not."
        ) { c in
            try c.session().store(Entry("old"), Team("old"))
            c.note("erase")
            try c.container.erase()
            try c.reopen()
            try c.expect(try c.session().all(Entry.self).count, is: 0, "entries:")
            try c.expect(try c.session().all(Team.self).count, is: 0, "teams:")
        },
        ConformanceCase(
            "erase.empty-store", level: .full, capability: .erase,
            requirement: "An empty store can be erased, twice.", hint: "There is nothing to remove, which is an error."
        ) { c in
            c.note("erase, twice")
            try c.container.erase()
            try c.container.erase()
            try c.session().store(Entry("new"))
            try c.expect(try c.session().all(Entry.self).map(\.name), is: ["new"], "names:")
        },
        ConformanceCase(
            "erase.frees-unique-values", level: .full, capability: .erase,
            requirement: "After erase() every unique value is free again.",
            hint: "The index of unique values outlives the records."
        ) { c in
            try c.session().store(Account("a@x", country: "NO", number: 1))
            c.note("erase")
            try c.container.erase()
            try c.session().store(Account("a@x", country: "NO", number: 1, owner: "new"))
            try c.expect(try c.session().all(Account.self).map(\.owner), is: ["new"], "owners:")
        },
        ConformanceCase(
            "erase.is-seen-by-other-contexts", level: .core, capability: .erase,
            requirement: "After erase() other contexts fetch nothing.", hint: "A cache outlives what was erased."
        ) { c in
            try c.session().store(Entry("old"))
            let b = try c.session()
            _ = try b.all(Entry.self)
            c.note("erase")
            try c.container.erase()
            try c.expect(try b.all(Entry.self).count, is: 0, "entries in a context from before:")
            try c.expect(try b.count(FetchDescriptor<Entry>()), is: 0, "count there:")
        },
    ]
}
