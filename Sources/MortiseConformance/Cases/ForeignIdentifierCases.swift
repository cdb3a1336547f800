import Foundation
import MortiseCore

/// Identifiers that are of something else, and identifiers that were kept.
extension ConformanceCase {
    private static let foreignHint =
        "An identifier is compared by its number. It is equal to another only if store, entity and key are the same."

    /// An identifier with the key of another, of another store or entity; nil for keys of a type that the kit does not know.
    private static func identifier(
        like known: PersistentIdentifier, store: String, entity: String
    ) throws -> PersistentIdentifier? {
        if let number = known.sequenceNumber {
            return .numbered(number, storeIdentifier: store, entityName: entity)
        }
        if let key = try? known.primaryKey(as: Int.self) {
            return try .identifier(for: store, entityName: entity, primaryKey: key)
        }
        guard let key = try? known.primaryKey(as: String.self) else { return nil }
        return try .identifier(for: store, entityName: entity, primaryKey: key)
    }

    /// Checks that an identifier leads to no entry, where there is one named "mine".
    private static func expectNothing(_ foreign: PersistentIdentifier, _ c: CaseContext) throws {
        let a = try c.session()
        let mine = try a.only(Entry.self).persistentModelID
        func names(_ predicate: Predicate<Entry>) throws -> [String] {
            let descriptor = FetchDescriptor(predicate: predicate)
            let found = try c.session().fetch(descriptor).map(\.name)
            try c.expect(try c.session().count(descriptor), is: found.count, "count of what the fetch finds:")
            try c.expect(try c.session().identifiers(descriptor).count, is: found.count, "identifiers of it:")
            return found
        }
        try c.expect(
            try names(#Predicate { $0.persistentModelID == foreign }), is: [], "names of records that are \(foreign):")
        try c.expect(
            try names(#Predicate { $0.persistentModelID != foreign }), is: ["mine"],
            "names of records that are not \(foreign):")
        let (foreigners, both) = ([foreign], [foreign, mine])
        try c.expect(
            try names(#Predicate { foreigners.contains($0.persistentModelID) }), is: [],
            "names of records among \(foreign):")
        try c.expect(
            try names(#Predicate { both.contains($0.persistentModelID) }), is: ["mine"],
            "names of records among \(foreign) and \(mine):")
        let b = try c.session()
        c.note("ask a fresh context for the model of \(foreign)")
        try c.expectError("an error for the model of \(foreign)") {
            let found: Entry = try b.context.existingModel(for: foreign)
            c.note("→ \(found.name)")
        }
    }

    static let foreignIdentifierCases: [ConformanceCase] = [
        ConformanceCase(
            "identity.storages-differ", level: .core,
            requirement:
                "Two storages have different store identifiers, and the same number is another record in each.",
            hint:
                "The store identifier is a constant, or made of a name. Make a UUID with the storage and keep it there."
        ) { c in
            let mine = Entry("mine")
            try c.session().store(mine)
            let theirs = Entry("theirs")
            try c.otherStorage().store(theirs)
            let store = try c.require(mine.persistentModelID.storeIdentifier, "the identifier of a store")
            try c.expect(!store.isEmpty, "an identifier of the store that is not empty")
            try c.expect(
                theirs.persistentModelID.storeIdentifier != store, "another store identifier than \(store)",
                found: "the same")
            try c.expect(
                theirs.persistentModelID != mine.persistentModelID, "other identifiers of records", found: "the same")
        },
        ConformanceCase(
            "identity.of-another-storage", level: .core,
            requirement:
                "An identifier of another storage's record leads to nothing, though its number is in use here.",
            hint: foreignHint
        ) { c in
            try c.session().store(Entry("mine"))
            let theirs = Entry("theirs")
            try c.otherStorage().store(theirs)
            try expectNothing(theirs.persistentModelID, c)
        },
        ConformanceCase(
            "identity.of-another-store-by-name", level: .core,
            requirement: "An identifier with the key of a record and another store's name leads to nothing.",
            hint: foreignHint
        ) { c in
            let mine = Entry("mine")
            try c.session().store(mine)
            let store = try c.store.identifier
            for name in ["", "\(store) ", store.lowercased() + "x", "another"] {
                if let other = try identifier(like: mine.persistentModelID, store: name, entity: "Entry") {
                    try expectNothing(other, c)
                }
            }
        },
        ConformanceCase(
            "identity.of-another-entity", level: .core,
            requirement: "An identifier with the key of a record and another entity's name leads to nothing.",
            hint: foreignHint
        ) { c in
            let (mine, team) = (Entry("mine"), Team("team"))
            try c.session().store(mine, team)
            let store = try c.store.identifier
            try expectNothing(team.persistentModelID, c)
            // With the number of the team, which no entry has.
            if let other = try identifier(like: team.persistentModelID, store: store, entity: "Entry"),
                other != mine.persistentModelID
            {
                try expectNothing(other, c)
            }
            // With the number of the entry.
            if let other = try identifier(like: mine.persistentModelID, store: store, entity: "Team"),
                other != team.persistentModelID
            {
                try expectNothing(other, c)
            }
        },
        ConformanceCase(
            "identity.in-a-family", level: .core,
            requirement:
                "A record of a subclass is found by its own identifier, and not by one that names the superclass.",
            hint: foreignHint
        ) { c in
            let (truck, vehicle) = (Truck("T", load: 1), Vehicle("V", wheels: 2))
            try c.session().store(truck, vehicle)
            let store = try c.store.identifier
            let own = truck.persistentModelID
            func plates(_ wanted: PersistentIdentifier) throws -> [String] {
                try c.session().fetch(
                    FetchDescriptor<Vehicle>(predicate: #Predicate { $0.persistentModelID == wanted })
                ).map(\.plate)
            }
            try c.expect(try plates(own), is: ["T"], "plates for the truck's identifier:")
            let found: Vehicle = try c.session().context.existingModel(for: own)
            try c.expect(found is Truck, "a truck for the truck's identifier", found: "\(type(of: found))")
            if let other = try identifier(like: own, store: store, entity: "Vehicle"),
                other != vehicle.persistentModelID
            {
                try c.expect(try plates(other), is: [], "plates for a vehicle with the truck's number:")
            }
            if let other = try identifier(like: vehicle.persistentModelID, store: store, entity: "Truck"), other != own
            {
                try c.expect(try plates(other), is: [], "plates for a truck with the vehicle's number:")
            }
        },
        ConformanceCase(
            "identity.of-another-target", level: .core,
            requirement: "A relationship is compared with an identifier as a record is: by store, entity and key.",
            hint: foreignHint
        ) { c in
            let mine = Team("mine")
            try c.session().store(Person("Ada", team: mine), Person("Bob"))
            let theirs = Team("theirs")
            try c.otherStorage().store(Person("Eve", team: theirs), Person("Mallory"))
            func names(_ team: PersistentIdentifier) throws -> [String] {
                try c.session().fetch(
                    FetchDescriptor<Person>(predicate: #Predicate { $0.team?.persistentModelID == team })
                ).map(\.name)
            }
            try c.expect(try names(mine.persistentModelID), is: ["Ada"], "names of those in the team here:")
            try c.expect(try names(theirs.persistentModelID), is: [], "names of those in a team elsewhere:")
            if let other = try identifier(like: mine.persistentModelID, store: c.store.identifier, entity: "Project") {
                try c.expect(try names(other), is: [], "names of those in a project with the team's number:")
            }
        },
        ConformanceCase(
            "identity.of-no-record", level: .full,
            requirement:
                "Identifiers with numbers that no record has lead to nothing: 0, the greatest, one of a deleted record.",
            hint: "The number is used as an index, or overflows."
        ) { c in
            let a = try c.session()
            let gone = Entry("gone")
            try a.store(gone, Entry("mine"))
            let old = gone.persistentModelID
            a.delete(gone)
            try a.save()
            try expectNothing(old, c)
            let store = try c.store.identifier
            for number in [0, 1 << 16, 1 << 32, UInt64(Int64.max), UInt64(Int64.max) + 1, .max] {
                try expectNothing(.numbered(number, storeIdentifier: store, entityName: "Entry"), c)
            }
        },
        ConformanceCase(
            "identity.after-a-copy", level: .core, capability: .reopening,
            requirement: "A copy of a storage has the same store identifier, and old identifiers lead to its records.",
            hint: "The store identifier is made of the storage's place. Keep it within the data."
        ) { c in
            let a = try c.session()
            let (entry, team) = (Entry("one", rank: 1), Team("red"))
            try a.store(entry, team, Person("Ada", team: team))
            let (old, oldTeam) = (entry.persistentModelID, team.persistentModelID)
            let store = try c.store.identifier
            for round in 1...2 {
                try c.copy()
                try c.expect(try c.store.identifier, is: store, "the store's identifier in copy \(round):")
                let b = try c.session()
                try c.expect(
                    try b.fetch(FetchDescriptor<Entry>(predicate: #Predicate { $0.persistentModelID == old })).map(
                        \.name),
                    is: ["one"], "names for the old identifier:")
                let found: Entry = try b.context.existingModel(for: old)
                try c.expect(found.rank, is: round, "rank of the model for the old identifier:")
                try c.expect(
                    try b.fetch(
                        FetchDescriptor<Person>(predicate: #Predicate { $0.team?.persistentModelID == oldTeam })
                    )
                    .map(\.name), is: ["Ada"], "names of those in the team of the old identifier:")
                b.change("rank") { found.rank = round + 1 }
                try b.save()
            }
        },
    ]
}
