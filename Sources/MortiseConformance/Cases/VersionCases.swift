import Foundation
import MortiseCore

extension ConformanceCase {
    private static func versions(
        _ id: String, level: Level = .core, _ requirement: String, hint: String,
        body: @escaping @Sendable (CaseContext, any VersionedDataStore) throws -> Void
    ) -> ConformanceCase {
        ConformanceCase(
            "versions.\(id)", level: level, capability: .versions, requirement: requirement, hint: hint
        ) { c in
            let store = try c.require(
                try c.store.store as? any VersionedDataStore, "a VersionedDataStore, since versions are claimed")
            try body(c, store)
        }
    }

    private static func names(_ version: any StoreVersion, _ c: CaseContext) throws -> [String] {
        let rows = try c.require(version.rows(ofEntity: "Entry"), "the rows of Entry")
        return (0..<rows.endRow).filter { rows.contains(row: $0) }.compactMap { rows.string(row: $0, slot: 0) }
    }

    static let versionCases: [ConformanceCase] = [
        versions(
            "numbers-grow", "Every save that changes something gives the store a version with a higher number.",
            hint: "The number is that of something that not every save changes."
        ) { c, store in
            var last = store.currentVersion.number
            let a = try c.session()
            let entry = Entry("one")
            for change in ["insert", "update", "delete"] {
                switch change {
                case "insert": a.insert(entry)
                case "update": a.change("name") { entry.name = "changed" }
                default: a.delete(entry)
                }
                try a.save()
                let number = store.currentVersion.number
                try c.expect(number > last, "a number above \(last) after the save of an \(change)", found: "\(number)")
                last = number
            }
        },
        versions(
            "one-number-one-state", "A version that no save has followed is the same whenever it is asked for.",
            hint: "Every call makes a new version, so that contexts read again without need."
        ) { c, store in
            try c.session().store(Entry("one"))
            let number = store.currentVersion.number
            try c.expect(store.currentVersion.number, is: number, "the version's number, asked again:")
            try c.store.save()
            try c.expect(try Self.names(store.currentVersion, c), is: ["one"], "names in the version:")
        },
        versions(
            "insertions-later", "An old version does not show what was inserted later.",
            hint: "The version shares the list of its rows with the store."
        ) { c, store in
            try c.session().store(Entry("one"))
            let version = store.currentVersion
            try c.session().store(Entry("two"))
            try c.expect(try Self.names(version, c), is: ["one"], "names in the old version:")
            try c.expect(version.rows(ofEntity: "Entry")?.count, is: 1, "its number of rows:")
        },
        versions(
            "deletions-later", "An old version still shows what was deleted later.",
            hint: "Deleted rows are reused while a version still reads them."
        ) { c, store in
            let a = try c.session()
            let entry = Entry("one")
            try a.store(entry, Entry("two"))
            let version = store.currentVersion
            a.delete(entry)
            a.insert(Entry("three"))
            try a.save()
            try c.expect(try Self.names(version, c), is: ["one", "two"], "names in the old version:")
        },
        versions(
            "queries-of-old-versions", "A query of an old version is answered from it.",
            hint: "Rows come from the latest state, or from an index of it."
        ) { c, store in
            let a = try c.session()
            let entry = Entry("one", group: "x")
            try a.store(entry, Entry("two", group: "x"))
            let version = store.currentVersion
            a.change("group of one") { entry.group = "y" }
            a.insert(Entry("three", group: "x"))
            try a.save()
            let group = try PlanProbe(c).property("group")
            let plan = store.plan(
                StoreQuery("Entry", conjuncts: [.compare(.equal, group, .constant(.string("x")))]))
            c.note("ask the old version for group == x")
            let found = try store.rows(for: plan, in: version)
            let rows = try c.require(version.rows(ofEntity: "Entry"), "the rows of Entry")
            let names = found.rows.filter { found.entities[$0.table] == "Entry" }.map {
                rows.string(row: $0.row, slot: 0)
            }
            if plan.query.conjuncts.allSatisfy({ plan.claim(of: $0) == .exact }) {
                try c.expect(names, is: ["one", "two"], "names found in the old version:")
            } else {
                try c.expect(
                    names.contains("one") && names.contains("two") && !names.contains("three"),
                    "one and two, and not three", found: "\(names)")
            }
        },
        versions(
            "identifiers-and-rows", "Each row of a version is found by its identifier, and gives it back.",
            hint: "Rows are numbered again in each version."
        ) { c, store in
            let a = try c.session()
            let entries = [Entry("a"), Entry("b"), Entry("c")]
            try a.store(entries[0], entries[1], entries[2])
            let identifiers = entries.map(\.persistentModelID)
            let before = try c.require(store.currentVersion.rows(ofEntity: "Entry"), "the rows of Entry")
            let places = identifiers.map { before.row(of: $0) }
            a.delete(entries[0])
            try a.save()
            let after = try c.require(store.currentVersion.rows(ofEntity: "Entry"), "the rows of Entry")
            try c.expect(after.row(of: identifiers[0]), is: nil, "the row of the deleted record:")
            try c.expect(
                identifiers.dropFirst().map { after.row(of: $0) }, is: Array(places.dropFirst()),
                "the rows of the others, as before:")
            for (identifier, place) in zip(identifiers, places) {
                let row = try c.require(place, "a row of \(identifier)")
                try c.expect(before.identifier(ofRow: row), is: identifier, "the identifier of row \(row):")
            }
        },
        versions(
            "unique-values", "A version finds the record that has certain unique values.",
            hint: "The look-up compares with one of the values only, or finds nothing after an update."
        ) { c, store in
            let a = try c.session()
            let first = Account("a@x", country: "NO", number: 1)
            let second = Account("b@x", country: "NO", number: 2)
            try a.store(first, second)
            let layout = try c.require(
                ConformanceModels.schema.stored.recordLayouts()["Account"], "the layout of Account")
            for (constraint, slots) in layout.uniqueConstraints.enumerated() {
                let isCompound = slots.count > 1
                let values: [StoredValue] = isCompound ? [.string("NO"), .integer(2)] : [.string("b@x")]
                c.note("look up \(values)")
                try c.expect(
                    store.currentVersion.identifier(ofEntity: "Account", constraint: constraint, values: values),
                    is: second.persistentModelID, "the record with these unique values:")
            }
        },
        versions(
            "unique-null", level: .full, "No record is found by unique values of which one is nil.",
            hint: "Null is compared like a value."
        ) { c, store in
            try c.session().store(Account("a@x", country: "NO", number: nil))
            let layout = try c.require(
                ConformanceModels.schema.stored.recordLayouts()["Account"], "the layout of Account")
            for (constraint, slots) in layout.uniqueConstraints.enumerated() where slots.count > 1 {
                try c.expect(
                    store.currentVersion.identifier(
                        ofEntity: "Account", constraint: constraint, values: [.string("NO"), .null]),
                    is: nil, "the record with these unique values:")
            }
        },
        versions(
            "unknown-entity", level: .full, "A version has no rows of an entity that the store does not hold.",
            hint: "An unknown entity is treated as empty, or ends the process."
        ) { c, store in
            try c.expect(
                store.currentVersion.rows(ofEntity: "NoSuchEntity") == nil, "no rows of an unknown entity",
                found: "some")
        },
        versions(
            "held-under-many-saves", level: .full, "A version stays what it is however many saves follow.",
            hint: "Memory of old versions is used again after some saves."
        ) { c, store in
            let a = try c.session()
            let entries = (0..<20).map { Entry("e\($0)") }
            a.change("insert 20 entries") { for entry in entries { a.context.insert(entry) } }
            try a.save()
            let version = store.currentVersion
            let before = try Self.names(version, c)
            for round in 0..<30 {
                a.change("rename one") { entries[(round % 10) + 10].name = "r\(round)" }
                if round < 10 { a.context.delete(entries[round]) }
                a.context.insert(Entry("new \(round)"))
                try a.save()
            }
            try c.expect(try Self.names(version, c), is: before, "names in the old version:")
        },
    ]
}
