import Foundation
import MortiseCore

extension ConformanceCase {
    static let identityCases: [ConformanceCase] = [
        ConformanceCase(
            "identity.permanent-after-save", level: .firstHour,
            requirement: "A save gives every inserted record a permanent identifier of this store and its entity.",
            hint: "remappedIdentifiers lacks a pair, or the new identifier was made for another entity or store."
        ) { c in
            let a = try c.session()
            let one = Entry("one")
            let two = Team("two")
            a.insert(one, two)
            let temporary = [one.persistentModelID, two.persistentModelID]
            try a.save()
            let permanent = [one.persistentModelID, two.persistentModelID]
            try c.expect(permanent.map(\.isTemporary), is: [false, false], "temporary after the save:")
            try c.expect(Set(temporary).isDisjoint(with: permanent), "identifiers other than the temporary ones")
            try c.expect(permanent.map(\.entityName), is: ["Entry", "Team"], "entity names:")
            let store = try c.store.identifier
            try c.expect(permanent.map(\.storeIdentifier), is: [store, store], "store identifiers:")
            let b = try c.session()
            try c.expect(try b.all(Entry.self).map(\.persistentModelID), is: [permanent[0]], "identifiers fetched:")
            try c.expect(try b.all(Team.self).map(\.persistentModelID), is: [permanent[1]], "identifiers fetched:")
        },
        ConformanceCase(
            "identity.unique-across-entities", level: .firstHour,
            requirement: "No two records of a store have the same identifier, whatever their entities.",
            hint: "Each entity has its own counter, and the entity is not part of the identifier."
        ) { c in
            let a = try c.session()
            try a.store(
                Entry("a"), Entry("b"), Team("a"), Team("b"), Badge(1), Vehicle("V", wheels: 2), Truck("T", load: 1))
            try a.store(Entry("c"), Team("c"), Truck("U", load: 1))
            let b = try c.session()
            let all =
                try b.all(Entry.self).map(\.persistentModelID) + b.all(Team.self).map(\.persistentModelID)
                + b.all(Badge.self).map(\.persistentModelID) + b.all(Vehicle.self).map(\.persistentModelID)
            try c.expect(all.count, is: 10, "records:")
            try c.expect(Set(all).count, is: 10, "different identifiers among \(all):")
        },
        ConformanceCase(
            "identity.remapped-in-inserted-relationships", level: .firstHour,
            requirement:
                "Relationships between records inserted together hold permanent identifiers once they are saved.",
            hint:
                "Exchange the identifiers inside relationships too: snapshot.copy(persistentIdentifier:remappedIdentifiers:)."
        ) { c in
            let a = try c.session()
            let team = Team("red")
            let ada = Person("Ada", team: team)
            let bob = Person("Bob", team: team)
            ada.mentor = bob
            ada.projects = [Project("p")]
            try a.store(ada, bob)
            for record in try c.store.records(Person.self) + c.store.records(Project.self) + c.store.records(Team.self)
            {
                for property in ["team", "mentor", "pupils", "projects", "people", "members"] {
                    guard let related = record.related(property) else { continue }
                    try c.expect(
                        !related.contains(where: \.isTemporary),
                        "permanent identifiers in \(record.identifier).\(property)",
                        found: "\(related)")
                }
            }
            let b = try c.session()
            try c.expect(try b.only(Team.self).members.map(\.name), is: ["Ada", "Bob"], "the team's members:")
            let fetched = try b.first(Person.self, #Predicate { $0.name == "Ada" })
            try c.expect(fetched.team?.name, is: "red", "Ada's team:")
            try c.expect(fetched.mentor?.name, is: "Bob", "Ada's mentor:")
            try c.expect(fetched.projects.map(\.title), is: ["p"], "Ada's projects:")
        },
        ConformanceCase(
            "identity.remapped-in-updated-relationships", level: .firstHour,
            requirement:
                "An updated record that refers to one inserted in the same save holds its permanent identifier.",
            hint:
                "Updated snapshots carry temporary identifiers in their relationships too: remap them like inserted ones."
        ) { c in
            let a = try c.session()
            let ada = Person("Ada")
            let project = Project("old")
            ada.projects = [project]
            try a.store(ada)
            a.change("give Ada a new team, badge and project") {
                ada.team = Team("new")
                ada.badge = Badge(5)
                ada.projects.append(Project("new"))
            }
            try a.save()
            for record in try c.store.records(Person.self) + c.store.records(Project.self) {
                for property in ["team", "badge", "projects", "people"] {
                    guard let related = record.related(property) else { continue }
                    try c.expect(
                        !related.contains(where: \.isTemporary),
                        "permanent identifiers in \(record.identifier).\(property)",
                        found: "\(related)")
                }
            }
            let fetched = try c.session().only(Person.self)
            try c.expect(fetched.team?.name, is: "new", "Ada's team:")
            try c.expect(fetched.badge?.number, is: 5, "Ada's badge:")
            try c.expect(fetched.projects.map(\.title), is: ["old", "new"], "Ada's projects:")
        },
        ConformanceCase(
            "identity.kept-by-update", level: .core,
            requirement: "Changing a record does not change its identifier, nor its place in identity order.",
            hint: "An update deletes and inserts again."
        ) { c in
            let a = try c.session()
            let entries = [Entry("a"), Entry("b"), Entry("c")]
            try a.store(entries[0], entries[1], entries[2])
            let before = entries.map(\.persistentModelID)
            a.change("rename the first entry") { entries[0].name = "z" }
            try a.save()
            let after = try c.session().all(Entry.self)
            try c.expect(after.map(\.persistentModelID), is: before, "identifiers in order:")
            try c.expect(after.map(\.name), is: ["z", "b", "c"], "names in order:")
        },
        ConformanceCase(
            "identity.not-reused-after-delete", level: .core,
            requirement: "The identifier of a deleted record is never given to another.",
            hint: "The next identifier is computed from the records that are there, not from a counter that only grows."
        ) { c in
            let a = try c.session()
            let entry = Entry("old")
            try a.store(Entry("first"), entry)
            let old = entry.persistentModelID
            a.delete(entry)
            try a.save()
            let new = Entry("new")
            try a.store(new)
            try c.expect(
                new.persistentModelID != old, "an identifier other than \(old)", found: "\(new.persistentModelID)")
            try c.expect(
                try c.session().all(Entry.self).map(\.name), is: ["first", "new"], "names in order of insertion:")
        },
        ConformanceCase(
            "identity.encoded-and-decoded", level: .core,
            requirement: "A permanent identifier finds its record after it was encoded and decoded.",
            hint: "The store compares identifiers by something that their Codable form does not hold."
        ) { c in
            let a = try c.session()
            let entry = Entry("one")
            try a.store(Entry("zero"), entry)
            let coded = try JSONEncoder().encode(entry.persistentModelID)
            let decoded = try JSONDecoder().decode(PersistentIdentifier.self, from: coded)
            try c.expect(decoded, is: entry.persistentModelID, "the decoded identifier:")
            let found: Entry = try c.session().context.existingModel(for: decoded)
            try c.expect(found.name, is: "one", "the model's name:")
        },
        ConformanceCase(
            "identity.unknown-identifier-finds-nothing", level: .core,
            requirement: "An identifier whose record was deleted finds no model.",
            hint: "A cache by identifier outlives the record."
        ) { c in
            let a = try c.session()
            let entry = Entry("one")
            try a.store(entry)
            let identifier = entry.persistentModelID
            a.delete(entry)
            try a.save()
            let b = try c.session()
            try c.expect(b.context.model(for: identifier).isDeleted, "a deleted placeholder")
            try c.expectError(
                "ModelContextError.noSuchModel",
                matching: { $0 as? ModelContextError == .noSuchModel(identifier) }
            ) { _ = try b.context.existingModel(for: identifier, as: Entry.self) }
        },
        ConformanceCase(
            "identity.stable-over-reopening", level: .core, capability: .reopening,
            requirement:
                "Identifiers are the same after the store is opened again, and those of deleted records stay unused.",
            hint: "Opening makes a new store identifier, or records are numbered as they are read."
        ) { c in
            let a = try c.session()
            let entries = [Entry("a"), Entry("b"), Entry("c")]
            try a.store(entries[0], entries[1], entries[2])
            let before = entries.map(\.persistentModelID)
            a.delete(entries[0])
            a.delete(entries[2])
            try a.save()
            try c.reopen()
            let b = try c.session()
            try c.expect(
                try b.all(Entry.self).map(\.persistentModelID), is: [before[1]], "identifiers after reopening:")
            let new = Entry("d")
            try b.store(new)
            try c.expect(
                !before.contains(new.persistentModelID), "an identifier that no record ever had",
                found: "\(new.persistentModelID), which was one of \(before)")
        },
    ]
}
