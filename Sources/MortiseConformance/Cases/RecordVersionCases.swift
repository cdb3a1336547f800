import Foundation
import MortiseCore

extension ConformanceCase {
    /// What a store promises that tells the versions of its records.
    private static func versions(
        _ id: String, _ requirement: String, hint: String, body: @escaping @Sendable (CaseContext) throws -> Void
    ) -> ConformanceCase {
        ConformanceCase(
            "record-versions.\(id)", level: .full, capability: .recordVersions, requirement: requirement, hint: hint,
            body: body)
    }

    /// Three entries, read by a context of another connection after which all of them were changed.
    private static func stale(
        _ c: CaseContext, _ names: [String] = ["one", "two", "three"], changing changed: [String]
    ) throws -> (store: BareStore, entries: [Entry], read: [UInt64]) {
        let a = try c.session()
        let entries = names.map { Entry($0, rank: 1) }
        for entry in entries { a.insert(entry) }
        try a.save()
        let store = try c.store
        let read = try store.recordVersions(Entry.self).map(\.version)
        let other = try c.otherConnection()
        for name in changed {
            let theirs = try other.first(Entry.self, #Predicate { $0.name == name })
            other.change("rank of \(name)") { theirs.rank = 2 }
        }
        try other.save()
        return (store, entries, read)
    }

    /// - Throws: `ConformanceFailure` unless the body throws `RecordsSuperseded` that names those entries.
    private static func expectSuperseded(
        _ c: CaseContext, _ entries: [Entry], _ body: () throws -> Void
    ) throws {
        let wanted = Set(entries.map(\.persistentModelID))
        try c.expectError(
            "RecordsSuperseded that names \(entries.map(\.name).joined(separator: ", "))",
            matching: { ($0 as? RecordsSuperseded).map { wanted.isSubset(of: Set($0.identifiers)) } ?? false }, body)
    }

    private static func ranks(_ c: CaseContext) throws -> [Int?] {
        try c.session().fetch(FetchDescriptor<Entry>()).sorted { $0.name < $1.name }.map(\.rank)
    }

    static let recordVersionCases: [ConformanceCase] = [
        versions(
            "are-told",
            "Every record has a version, which is another after a save that changes it, and stays otherwise.",
            hint: "The version is 0, or counts the saves of the store in place of those of the record."
        ) { c in
            let a = try c.session()
            let (one, two) = (Entry("one", rank: 1), Entry("two", rank: 1))
            a.insert(one, two)
            try a.save()
            let before = try c.store.recordVersions(Entry.self)
            try c.expect(
                before.allSatisfy { $0.version != 0 }, "versions other than 0", found: "\(before.map(\.version))")
            a.change("rank of one") { one.rank = 2 }
            try a.save()
            let after = Dictionary(
                try c.store.recordVersions(Entry.self).map { ($0.record, $0.version) }, uniquingKeysWith: { $1 })
            let earlier = Dictionary(before.map { ($0.record, $0.version) }, uniquingKeysWith: { $1 })
            let (changed, unchanged) = (one.persistentModelID, two.persistentModelID)
            try c.expect(
                after[changed] != earlier[changed], "another version of the changed record",
                found: "\(String(describing: after[changed])) again")
            try c.expect(after[unchanged], is: earlier[unchanged], "version of the record that did not change:")
        },
        versions(
            "stale-update-is-refused",
            "An update based on an older version of its record is refused, and changes nothing.",
            hint: "The version is compared outside the transaction of the save, or not at all."
        ) { c in
            let (store, entries, read) = try stale(c, changing: ["one"])
            try expectSuperseded(c, [entries[0]]) {
                try store.save(updated: Array(entries.prefix(1)), updatedVersions: Array(read.prefix(1)))
            }
            try c.expect(try ranks(c), is: [2, 1, 1], "ranks, the first changed by the other:")
        },
        versions(
            "stale-deletion-is-refused", "A deletion based on an older version of its record is refused.",
            hint: "Versions are compared for updates alone."
        ) { c in
            let (store, entries, read) = try stale(c, changing: ["one"])
            try expectSuperseded(c, [entries[0]]) {
                try store.save(deleted: Array(entries.prefix(1)), deletedVersions: Array(read.prefix(1)))
            }
            try c.expect(try ranks(c).count, is: 3, "records:")
        },
        versions(
            "all-or-nothing", "A save with one record that others have changed stores nothing of the rest.",
            hint: "Rows are updated one by one, and those before the first mismatch stay updated."
        ) { c in
            let (store, entries, read) = try stale(c, changing: ["three"])
            for entry in entries { entry.rank = 7 }
            try expectSuperseded(c, [entries[2]]) {
                try store.save(inserted: [Entry("four")], updated: entries, updatedVersions: read)
            }
            try c.expect(try ranks(c), is: [1, 2, 1], "ranks by name, that of three changed by the other:")
        },
        versions(
            "all-are-named", "RecordsSuperseded names every record that others have changed.",
            hint: "Only the first is named; then each attempt of a save settles one record."
        ) { c in
            let (store, entries, read) = try stale(c, changing: ["one", "three"])
            try expectSuperseded(c, [entries[0], entries[2]]) {
                try store.save(updated: entries, updatedVersions: read)
            }
        },
        versions(
            "any-version", "Version 0 accepts a record whatever its version is.",
            hint: "0 is compared like any other version."
        ) { c in
            let (store, entries, _) = try stale(c, changing: ["one"])
            for entry in entries { entry.rank = 7 }
            try store.save(updated: entries, updatedVersions: [0, 0, 0])
            try c.expect(try ranks(c), is: [7, 7, 7], "ranks:")
        },
        versions(
            "present-version", "A save based on the present versions is accepted.",
            hint: "The version changes without a change of the record, or is not told as it is compared."
        ) { c in
            let (store, entries, _) = try stale(c, changing: ["two"])
            for entry in entries { entry.rank = 7 }
            // Others may be faster now and then.
            var refused: RecordsSuperseded?
            for _ in 0..<20 {
                let present = try store.recordVersions(Entry.self).map(\.version)
                do {
                    try store.save(updated: entries, updatedVersions: present)
                    try c.expect(try ranks(c), is: [7, 7, 7], "ranks:")
                    return
                } catch let error as RecordsSuperseded {
                    refused = error
                }
            }
            throw c.failure(expected: "a save that is accepted", found: "\(String(describing: refused)), 20 times")
        },
        versions(
            "gone-is-superseded", "An update of a record that others have deleted is refused as superseded.",
            hint: "No row matches, and that is taken for nothing to do."
        ) { c in
            let (store, entries, read) = try stale(c, changing: [])
            let other = try c.otherConnection()
            other.delete(try other.first(Entry.self, #Predicate { $0.name == "one" }))
            try other.save()
            try expectSuperseded(c, [entries[0]]) {
                try store.save(updated: Array(entries.prefix(1)), updatedVersions: Array(read.prefix(1)))
            }
            try c.expect(try ranks(c).count, is: 2, "records:")
        },
        versions(
            "two-connections", "Two connections that change different properties of a record lose neither change.",
            hint: "A connection answers from what it has read before, or writes the whole record."
        ) { c in
            let a = try c.session()
            let mine = Entry("one", rank: 1, note: "n")
            try a.store(mine)
            let other = try c.otherConnection()
            let theirs = try other.first(Entry.self, #Predicate { $0.name == "one" })
            a.change("rank") { mine.rank = 10 }
            other.change("note") { theirs.note = "new" }
            try a.save()
            try other.save()
            let found = try c.session().first(Entry.self, #Predicate { $0.name == "one" })
            try c.expect(found.rank, is: 10, "rank, changed by one connection:")
            try c.expect(found.note, is: "new", "note, changed by the other:")
        },
        versions(
            "many-at-once", "1,200 updates in one save are compared and stored like one.",
            hint: "The statement has more parameters than the engine takes."
        ) { c in
            let a = try c.session()
            let entries = (0..<1_200).map { Entry("\($0)", rank: 1) }
            for entry in entries { a.insert(entry) }
            try a.save()
            a.change("all ranks") { for entry in entries { entry.rank = 2 } }
            try a.save()
            let left = try c.session().count(FetchDescriptor<Entry>(predicate: #Predicate { $0.rank != 2 }))
            try c.expect(left, is: 0, "entries that were not updated:")
        },
    ]
}
