import Foundation
import MortiseCore
import MortiseEngine
import Testing

@testable import MortiseAppendLog
import MortiseTestSupport

/// Defect: a program of a newer schema that opened a store and saved nothing changed its schema all the same: through a
/// checkpoint or a compaction in the background, or through a backup that it was asked for. The older program could not go back.
@Suite struct UnsavedSchemaTests {
    private static let old = schema(
        1, entity("Gone", textProperty("text")), entity("Note", textProperty("text"), textProperty("rank")))
    private static let new = schema(2, entity("Note", textProperty("text")))

    private func open(
        _ world: SchemaWorld, _ schema: StoredSchema, path: String? = nil, allowsSave: Bool = true,
        isAutomatic: Bool = false
    ) throws -> AppendLogStore {
        var configuration = AppendLogConfiguration(
            schema: Schema(stored: schema), path: path ?? world.path, allowsSave: allowsSave,
            history: .keep(days: 0), checkpoints: isAutomatic ? .automatic : .onCall,
            compaction: isAutomatic ? .automatic : .onCall, in: world.disk)
        configuration.allocationStep = 4_096
        configuration.leastGarbage = 1_024
        return try AppendLogStore(configuration, migrationPlan: nil)
    }

    /// - Parameter size: how long the text of each of six records is.
    private func makeWorld(size: Int = 100) throws -> (world: SchemaWorld, records: Records) {
        let world = try SchemaWorld(.log)
        let store = try open(world, Self.old)
        for number in 0..<6 {
            try store.insert(
                "Note", .string("\(number)" + String(repeating: "x", count: size)), .string("rank \(number)"),
                as: Self.old)
            try store.insert("Gone", .string("gone \(number)"), as: Self.old)
        }
        let records = try world.records(store, Self.old)
        try store.close()
        return (world, records)
    }

    private func expectOld(_ world: SchemaWorld, _ records: Records, path: String? = nil) throws {
        #expect(try world.storedSchema(at: path) == Self.old)
        let store = try open(world, Self.old, path: path, allowsSave: false)
        #expect(try world.records(store, Self.old) == records)
        try store.close()
        #expect(try AppendLogStore.verify(path ?? world.path, in: world.disk).problems == [])
    }

    /// The log has more than what a checkpoint in the background begins with, and history that is to go.
    @Test func openingWithoutASaveChangesNothing() throws {
        let (world, records) = try makeWorld(size: 1 << 20)
        let before = try world.files()
        let store = try open(world, Self.new, isAutomatic: true)
        store.waitForBackgroundWork()
        try store.close()
        #expect(try world.files().keys == before.keys)
        #expect(try world.files() == before)
        try expectOld(world, records)
        // With the first save both come.
        let saving = try open(world, Self.new, isAutomatic: true)
        try saving.insert("Note", .string("new"), as: Self.new)
        saving.waitForBackgroundWork()
        #expect(world.disk.contents(at: world.path + ".checkpoint") != nil)
        try saving.close()
        #expect(try world.storedSchema() == Self.new)
        let copy: String = try #require(try world.copies().first)
        try expectOld(world, records, path: copy)
    }

    enum Request: CaseIterable { case checkpoint, compaction, deletionOfHistory, backup }

    @Test(arguments: Request.allCases, [false, true])
    func whatIsAskedForKeepsTheStoredSchema(request: Request, hasCheckpoint: Bool) throws {
        let (world, records) = try makeWorld()
        if hasCheckpoint {
            let store = try open(world, Self.old)
            try store.checkpoint()
            try store.close()
        }
        let store = try open(world, Self.new)
        let shown = try world.records(store, Self.new)
        switch request {
        case .checkpoint: try store.checkpoint()
        case .compaction: #expect(try store.compact() == 12)
        case .deletionOfHistory: try store.deleteHistory(HistoryDescriptor())
        case .backup: try store.backup(to: "/data/backup")
        }
        #expect(store.schemaLoss != nil)
        #expect(try world.records(store, Self.new) == shown)
        try store.close()
        #expect(try world.copies() == [])
        try expectOld(world, records)
        if request == .backup { try expectOld(world, records, path: "/data/backup") }
        let saving = try open(world, Self.new)
        #expect(try world.records(saving, Self.new) == shown)
        try saving.insert("Note", .string("new"), as: Self.new)
        let after = try world.records(saving, Self.new)
        try saving.close()
        #expect(try world.storedSchema() == Self.new)
        let again = try open(world, Self.new, allowsSave: false)
        #expect(try world.records(again, Self.new) == after && after["Note"]?.count == 7)
        try again.close()
        #expect(try AppendLogStore.verify(world.path, in: world.disk).problems == [])
        let copy: String = try #require(try world.copies().first)
        try expectOld(world, records, path: copy)
    }

    /// A save that comes between a request and its work is a part of it, or comes behind it.
    @Test func aFirstSaveDuringACompactionIsKept() throws {
        let (world, _) = try makeWorld()
        let store = try open(world, Self.new)
        var isSaved = false
        try store.compact { _ in
            if isSaved { return }
            isSaved = true
            try store.insert("Note", .string("meanwhile"), as: Self.new)
        }
        let after = try world.records(store, Self.new)
        #expect(isSaved && after["Note"]?.count == 7)
        try store.close()
        let again = try open(world, Self.new, allowsSave: false)
        #expect(try world.records(again, Self.new) == after)
        try again.close()
        #expect(try AppendLogStore.verify(world.path, in: world.disk).problems == [])
    }
}
