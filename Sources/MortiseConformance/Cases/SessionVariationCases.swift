import Foundation
import MortiseCore
import Synchronization

/// Second looks at versions of a store and at its announcements.
extension ConformanceCase {
    static let sessionVariationCases: [ConformanceCase] = [
        ConformanceCase(
            "versions.many-held-at-once", level: .full, capability: .versions,
            requirement: "Versions that were held at many saves each show the records of that time.",
            hint: "Memory of old versions is used again after some saves."
        ) { c in
            let store = try c.require(
                try c.store.store as? any VersionedDataStore, "a VersionedDataStore, since versions are claimed")
            let a = try c.session()
            let entry = Entry("0")
            try a.store(entry)
            var held: [any StoreVersion] = []
            for round in 1...40 {
                held.append(store.currentVersion)
                a.change("name of the entry") { entry.name = "\(round)" }
                try a.save()
            }
            let names = held.map { $0.rows(ofEntity: "Entry")?.string(row: 0, slot: 0) ?? "-" }
            try c.expect(names, is: (0..<40).map { "\($0)" }, "names in the 40 versions:")
            try c.expect(
                held.last?.rows(ofEntity: "") == nil, "no rows of an entity without a name", found: "some")
        },
        ConformanceCase(
            "versions.unique-null-beside-a-value", level: .full, capability: .versions,
            requirement:
                "A look-up by unique values of which one is nil finds nothing, beside records with and without.",
            hint: "Null is compared like a value."
        ) { c in
            let store = try c.require(
                try c.store.store as? any VersionedDataStore, "a VersionedDataStore, since versions are claimed")
            let with = Account("a@x", country: "NO", number: 5)
            try c.session().store(with, Account("b@x", country: "NO", number: nil))
            let layout = try c.require(
                ConformanceModels.schema.stored.recordLayouts()["Account"], "the layout of Account")
            let compound = try c.require(
                layout.uniqueConstraints.firstIndex { $0.count > 1 }, "a constraint of several properties")
            func find(_ number: StoredValue) -> PersistentIdentifier? {
                store.currentVersion.identifier(
                    ofEntity: "Account", constraint: compound, values: [.string("NO"), number])
            }
            try c.expect(find(.integer(5)), is: with.persistentModelID, "the record with number 5:")
            try c.expect(find(.null), is: nil, "the record with the number nil:")
        },
    ]
}
