#if Tool && SQLite
import Foundation
@testable import MortiseCommands
import MortiseCore
import MortiseInMemory
import MortiseSQLite
import Testing

/// A copy of a file that others write.
@Suite struct CopyOfDatabaseTests {
    private static let schema = StoredSchema(entities: [
        StoredEntity(
            name: "Line",
            properties: [
                StoredProperty(name: "text", isOptional: false, content: .attribute(StoredAttribute(kind: .string))),
                StoredProperty(
                    name: "next", isOptional: true,
                    content: .relationship(StoredRelationship(destination: "Line", isToMany: false))),
            ])
    ])
    private static let count = 3_500

    /// A file of lines, each of which leads to the next one.
    private func filled(_ path: String) throws -> OpenStore {
        let store = try OpenStore(
            SQLiteConfiguration(path: path, durability: .none), schema: Self.schema, name: "lines")
        let layout = try #require(store.layouts["Line"])
        let lines = (0..<Self.count).map { _ in PersistentIdentifier.temporary(entityName: "Line") }
        _ = try store.save(
            inserted: lines.enumerated().map { number, line in
                DefaultSnapshot(
                    persistentIdentifier: line, layout: layout,
                    values: [.string("line \(number)"), .identifier(lines[(number + 1) % lines.count])])
            })
        return store
    }

    private func texts(_ store: OpenStore) throws -> [StoredValue] {
        let rows = try #require(try store.version().rows(ofEntity: "Line"))
        let slot = try #require(store.layouts["Line"]?.slot(named: "text"))
        return (0..<rows.endRow).map { rows.value(row: $0, slot: slot) }
    }

    @Test func aCopyBesideAWriterIsOfOneStateAndHoldsAWindowOfRows() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "copied-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = folder.appending(path: "lines.sqlite").path(percentEncoded: false)
        let writer = try filled(path)
        let before = try texts(writer)
        writer.refresh()

        let source = try OpenStore(
            SQLiteConfiguration(path: path).readOnly(), schema: Self.schema, name: "lines")
        let target = try OpenStore(InMemoryConfiguration("target"), schema: Self.schema, name: "target")
        #expect(try source.walkedVersion() is WindowedVersion)
        var copy = try StoreCopy(
            from: source, to: target, limits: StoreCopy.Limits(records: 300), interruption: nil,
            progress: ProgressLine("copied", of: try source.count(), .never))
        // Every line becomes another one, and one goes.
        let layout = try #require(writer.layouts["Line"])
        let slot = try #require(layout.slot(named: "text"))
        let records = try writer.records(StoreQuery("Line"))
        _ = try writer.save(
            updated: records.dropLast().map { record in
                var values = record.values
                values[slot] = .string("changed")
                return DefaultSnapshot(
                    persistentIdentifier: record.persistentIdentifier, layout: layout, values: values)
            }, deleted: Array(records.suffix(1)), changedSlots: records.dropLast().map { _ in SlotSet([slot]) })
        try copy.run(isResuming: false)

        #expect(try texts(target) == before)
        try source.close()
        #expect(try texts(writer) == Array(repeating: .string("changed"), count: Self.count - 1))
        try writer.close()
    }
}
#endif
