#if Tool
import ArgumentParser
import Foundation
@testable import MortiseCommands
import MortiseCore
import PackageTestSupport
import Synchronization
import Testing

/// A read that fails while changes are worked out looks like a record that is missing, and is said to have failed nevertheless.
@Suite struct FailedReadTests {
    private struct Unreadable: Error {}

    private static let schema = StoredSchema(entities: [
        StoredEntity(
            name: "Note",
            properties: [
                StoredProperty(name: "text", isOptional: false, content: .attribute(StoredAttribute(kind: .string)))
            ]),
        StoredEntity(
            name: "Pin",
            properties: [
                StoredProperty(
                    name: "note", isOptional: true,
                    content: .relationship(
                        StoredRelationship(destination: "Note", isToMany: false, inverse: nil)))
            ]),
    ])

    /// An edit of the only pin, in a store that cannot be read any more.
    private func unreadable() throws -> (edit: RecordEdit, options: EditOptions) {
        let records = try QueriedRecords(Schema(stored: Self.schema), defersLists: true)
        let store = try OpenStore(QueriedConfiguration(records), schema: Self.schema, name: "queried")
        let layout = try #require(store.layouts["Pin"])
        _ = try store.save(inserted: [
            DefaultSnapshot(persistentIdentifier: .temporary(entityName: "Pin"), layout: layout, values: [.null])
        ])
        let options = try EditOptions.parse(["Pin", "--all", "--yes"])
        let edit = try RecordEdit(store, options)
        records.failure.withLock { $0 = Unreadable() }
        return (edit, options)
    }

    @Test func itComesBeforeWhatItLedTo() throws {
        let (edit, options) = try unreadable()
        let missing = PersistentIdentifier.numbered(1, storeIdentifier: edit.storeIdentifier, entityName: "Note")
        #expect(throws: Unreadable.self) {
            try edit.carryOut(options, .delete) { run in
                guard run.reader.record(missing) != nil else { throw ToolError.usage("it is missing") }
                return RecordEdit.Change(changes: ChangeSet(), records: [])
            }
        }
    }

    @Test func itIsNoMissingTarget() throws {
        let (edit, _) = try unreadable()
        let layout = try #require(edit.layouts["Pin"])
        #expect(throws: Unreadable.self) { _ = try SetValues.assignment("note=1", layout, edit) }
    }
}
#endif
