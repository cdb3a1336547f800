import Foundation
import MortiseCore
import PackageTestSupport
import Synchronization
import Testing

@testable import MortiseEngine

/// Migrations whose changed chunks go to a file, against those that keep them in memory.
@Suite struct SpilledVersionTests {
    private static func schema(_ version: Int, more: [StoredProperty] = []) -> StoredSchema {
        func attribute(_ name: String, _ kind: StorageKind) -> StoredProperty {
            StoredProperty(name: name, isOptional: true, content: .attribute(StoredAttribute(kind: kind)))
        }
        return StoredSchema(
            version: Schema.Version(version, 0, 0),
            entities: [
                StoredEntity(
                    name: "Leaf",
                    properties: [
                        attribute("name", .string), attribute("note", .string), attribute("size", .int64),
                        StoredProperty(
                            name: "next", isOptional: true,
                            content: .relationship(StoredRelationship(destination: "Leaf", isToMany: false))),
                    ] + more)
            ])
    }

    /// What steps and the outcome of a migration are, as text.
    private final class Report {
        var lines: [String] = []

        func note(_ changes: NetChanges) throws {
            let found = try changes.changeSet()
            lines += found.inserted.records.map { "+\($0)" } + found.deleted.map { "-\($0.record)" }
            lines += found.updated.map { "\($0.record) \($0.slots.slots.map(\.self))" }
            #expect(found.inserted.count == changes.insertions(of: "Leaf"))
            #expect(found.updated.count == changes.updates(of: "Leaf"))
            #expect(found.deleted.count == changes.deletions(of: "Leaf"))
            lines += try changes.after.lines()
        }
    }

    private final class Scratch: Sendable {
        let folder = FileManager.default.temporaryDirectory.appending(path: "spill-\(UUID().uuidString)")
        let opened = Atomic(0)
        init() throws { try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false) }
        deinit { try? FileManager.default.removeItem(at: folder) }

        @Sendable func open() throws -> any OpenFile {
            opened.add(1, ordering: .relaxed)
            return try ScratchFile.open(
                beside: folder.appending(path: "store").path, permissions: 0o600, in: POSIXFileSystem())
        }
    }

    /// Changes, deletes and inserts records in two schemas, one after the other.
    private func migrate(seed: UInt64, _ scratch: Scratch?) throws -> [String] {
        var random = SeededGenerator(seed: seed)
        let old = Self.schema(1)
        let catalog = Catalog(schema: old, storeIdentifier: "store")
        let loader = EngineLoader(catalog)
        for number in 0..<3_000 {
            let next =
                number == 0 ? .null : StoredValue.identifier(catalog.identifier(UInt64(random.below(number) + 1), 0))
            try loader.append(
                entity: "Leaf", sequence: UInt64(number + 1),
                [.string("leaf \(random.below(9))"), .string("note \(number)"), .integer(Int64(number)), next])
        }
        let report = Report()
        let migration = EngineMigration(
            of: try loader.finish(number: 7, nextSequence: 3_001), named: "store",
            .init(
                note: { if case .changes(let changes) = $0 { try report.note(changes) } },
                prepare: {
                    try report.note($0.changes)
                    return .init(commit: {})
                }, scratch: scratch.map { $0.open }, release: {}))
        let more = StoredProperty(
            name: "more", isOptional: true, content: .attribute(StoredAttribute(kind: .string)))
        try change(migration, old, "name", &random)
        let new = Self.schema(2, more: [more])
        try migration.adapt(to: new)
        try change(migration, new, "more", &random)
        // Its own records can be read to the end, whatever is written.
        report.lines += try #require(
            try migration.frozen(under: Schema(stored: new)).currentVersion as? EngineVersion
        ).lines()
        try migration.prepare(keepingCopy: false, atMost: nil)
        try migration.commit()
        return report.lines
    }

    private func change(
        _ migration: EngineMigration, _ schema: StoredSchema, _ name: String, _ random: inout SeededGenerator
    ) throws {
        let store = try migration.working(under: Schema(stored: schema))
        let layout = try #require(schema.recordLayouts()["Leaf"])
        let slot = try #require(layout.slot(named: name))
        for round in 0..<12 {
            let rows = try #require(store.currentVersion.rows(ofEntity: "Leaf"))
            let present = (0..<rows.endRow).filter { rows.contains(row: $0) }
            var updated: [DefaultSnapshot] = []
            let first = random.below(present.count)
            for row in round % 3 == 0
                ? present.filter({ _ in random.chance(10) }) : Array(present.dropFirst(first).prefix(300))
            {
                var values = ContiguousArray<StoredValue>(repeating: .null, count: layout.slots.count)
                values[slot] = .string("\(name) \(random.below(500))")
                updated.append(
                    DefaultSnapshot(persistentIdentifier: rows.identifier(ofRow: row), layout: layout, values: values))
            }
            let inserted = (0..<random.below(120)).map { number in
                var values = ContiguousArray<StoredValue>(repeating: .null, count: layout.slots.count)
                values[slot] = .string("new \(number)")
                return DefaultSnapshot(
                    persistentIdentifier: .temporary(entityName: "Leaf"), layout: layout, values: values)
            }
            _ = try store.save(
                DataStoreSaveChangesRequest(
                    inserted: inserted, updated: updated, editingState: EditingState(author: "test"),
                    changedSlots: updated.map { _ in SlotSet([slot]) }))
            try migration.delete(
                (0..<random.below(5)).map { _ in rows.identifier(ofRow: present[random.below(present.count)]) }
                    .reduce(into: []) { if !$0.contains($1) { $0.append($1) } })
        }
    }

    @Test func chunksInAFileAreThoseOfMemory() throws {
        let seed = testSeed()
        let expected = try migrate(seed: seed, nil)
        for limit in [0, 200_000] {
            let scratch = try Scratch()
            let found = try EngineMigration.$mostKept.withValue(limit) { try migrate(seed: seed, scratch) }
            #expect(found == expected, "seed \(seed), at most \(limit) bytes")
            #expect(scratch.opened.load(ordering: .relaxed) == 1)
            #expect(try FileManager.default.contentsOfDirectory(atPath: scratch.folder.path) == [])
        }
        // A migration of that size opens no file where memory has room for it.
        let scratch = try Scratch()
        #expect(try migrate(seed: seed, scratch) == expected)
    }

    /// Records that are made anew, or come from another store, are in memory by parts only.
    @Test func aLoaderKeepsFewChunks() throws {
        var schema = Self.schema(1)
        schema.entities[0].uniquenessConstraints = [["size"]]
        let scratch = try Scratch()
        func version(_ spill: ChunkSpill?) throws -> EngineVersion {
            let catalog = Catalog(schema: schema, storeIdentifier: "store")
            let loader = EngineLoader(catalog, spillingTo: spill)
            for number in 0..<40_000 {
                let next = number == 0 ? .null : StoredValue.identifier(catalog.identifier(UInt64(number / 2 + 1), 0))
                try loader.append(
                    entity: "Leaf", sequence: UInt64(number + 1),
                    [.string("leaf \(number % 7)"), .string("note \(number)"), .integer(Int64(-number)), next])
            }
            return try loader.finish(number: 7, nextSequence: 40_001)
        }
        let plain = try version(nil)
        let spilled = try version(ChunkSpill(scratch.open))
        #expect(spilled.keptBytes(besides: nil) * 20 < plain.keptBytes(besides: nil))
        #expect(scratch.opened.load(ordering: .relaxed) == 1)
        #expect(spilled.inconsistencies() == [])
        let (one, two) = try (#require(spilled.tables["Leaf"]), #require(plain.tables["Leaf"]))
        for row in stride(from: 0, to: two.endRow, by: 31) {
            for slot in two.layout.slots.indices {
                #expect(try one.readValue(row: row, slot: slot) == two.readValue(row: row, slot: slot))
            }
        }
        try spilled.check()
    }

    /// What cannot be written ends the save, and what was there stays readable.
    @Test func aFullDiskEndsTheSave() throws {
        let loader = EngineLoader(Catalog(schema: Self.schema(1), storeIdentifier: "store"))
        for number in 0..<2_000 {
            try loader.append(
                entity: "Leaf", sequence: UInt64(number + 1), [.string("leaf"), .null, .integer(Int64(number)), .null])
        }
        let version = try loader.finish(number: 7, nextSequence: 2_001)
        let before = try version.lines()
        var random = SeededGenerator(seed: 1)
        EngineMigration.$mostKept.withValue(0) {
            #expect(throws: FileError(.noSpace, operation: .write, path: "/spill")) {
                let migration = EngineMigration(
                    of: version, named: "store",
                    .init(
                        note: { _ in }, prepare: { _ in .init(commit: {}) },
                        scratch: { throw FileError(.noSpace, operation: .write, path: "/spill") }, release: {}))
                try change(migration, Self.schema(1), "name", &random)
            }
        }
        #expect(try version.lines() == before)
    }
}

extension EngineVersion {
    fileprivate func lines() throws -> [String] {
        try tables.sorted { $0.key < $1.key }.flatMap { _, table in
            try (0..<table.endRow).filter(table.contains(row:)).map { row in
                "\(table.sequence(ofRow: row)) "
                    + (try table.layout.slots.indices.map { "\(try table.readValue(row: row, slot: $0))" })
                    .joined(separator: " ")
            }
        }
    }
}
