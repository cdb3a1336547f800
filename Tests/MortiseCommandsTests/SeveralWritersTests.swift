#if Tool
import ArgumentParser
import Foundation
@testable import MortiseCommands
import MortiseCore
import MortiseInMemory
import PackageTestSupport
import Testing

/// `mortise set` and `delete` where somebody else saves after the records were found.
@Suite struct SeveralWritersTests {
    private static let schema = StoredSchema(entities: [
        StoredEntity(
            name: "Ticket",
            properties: [
                StoredProperty(name: "seat", isOptional: false, content: .attribute(StoredAttribute(kind: .int64))),
                StoredProperty(name: "name", isOptional: false, content: .attribute(StoredAttribute(kind: .string))),
            ])
    ])

    /// Three tickets in a store with versions, or with versions of its records.
    private func store(versioned: Bool) throws -> OpenStore {
        let store =
            versioned
            ? try OpenStore(InMemoryConfiguration("tickets"), schema: Self.schema, name: "tickets")
            : try OpenStore(
                QueriedConfiguration(QueriedRecords(Schema(stored: Self.schema))), schema: Self.schema, name: "tickets")
        let layout = try #require(store.layouts["Ticket"])
        _ = try store.save(
            inserted: (1...3).map { number in
                DefaultSnapshot(
                    persistentIdentifier: .temporary(entityName: "Ticket"), layout: layout,
                    values: [.integer(number), .string("free")])
            })
        return store
    }

    /// What another writer does to a ticket.
    private func rename(_ seat: Int64, to name: String, in store: OpenStore) throws {
        let run = try StoreQueryRun(StoreQuery("Ticket"), in: store)
        let layout = try #require(store.layouts["Ticket"])
        let found = try #require(run.records.first { run.reader.value($0, slot: 0) == .integer(seat) })
        _ = try store.save(
            updated: [
                DefaultSnapshot(
                    persistentIdentifier: run.reader.identifier(found), layout: layout,
                    values: [.integer(seat), .string(name)])
            ], changedSlots: [SlotSet([1])])
    }

    private func names(_ store: OpenStore) throws -> [StoredValue] {
        let run = try StoreQueryRun(StoreQuery("Ticket"), in: store)
        return run.records.map { run.reader.value($0, slot: 1) }
    }

    private func edit(_ store: OpenStore, _ condition: String) throws -> (RecordEdit, EditOptions) {
        let options = try EditOptions.parse(["Ticket", "--where", condition, "--yes"])
        return (try RecordEdit(store, options), options)
    }

    private func sell(_ edit: RecordEdit, _ options: EditOptions) throws {
        let layout = try #require(edit.layouts["Ticket"])
        let value = StoredValue.string("sold")
        let assignment = StoreBatch.Assignment(
            property: QueryProperty(entity: "Ticket", name: "name", slot: 1), value: .constant(value))
        try edit.carryOut(options, .update([assignment])) { run in
            let updates = run.records.map { record in
                ChangeSet.Update(
                    record: run.reader.identifier(record), layout: layout, slots: SlotSet([1]), values: [.null, value],
                    oldValues: [.null, run.reader.value(record, slot: 1)])
            }
            var changes = ChangeSet(author: "mortise")
            changes.updated = updates
            return RecordEdit.Change(changes: changes, records: updates.map(\.record))
        }
    }

    @Test(arguments: [true, false]) func aChangeOfAnotherRecordDoesNotDisturb(_ versioned: Bool) throws {
        let store = try store(versioned: versioned)
        let (edit, options) = try edit(store, "seat == 2")
        try rename(1, to: "taken", in: store)
        try sell(edit, options)
        #expect(try names(store) == ["taken", "sold", "free"].map(StoredValue.string))
    }

    @Test(arguments: [true, false]) func aChangeOfTheSameRecordIsNotOverwritten(_ versioned: Bool) throws {
        let store = try store(versioned: versioned)
        let (edit, options) = try edit(store, "seat == 2")
        try rename(2, to: "taken", in: store)
        #expect(throws: ToolError.changedSinceShown(store: "tickets")) { try sell(edit, options) }
        #expect(try names(store) == ["free", "taken", "free"].map(StoredValue.string))
    }

    /// The record that was found no longer is what was looked for.
    @Test(arguments: [true, false]) func aRecordThatNoLongerMatchesStays(_ versioned: Bool) throws {
        let store = try store(versioned: versioned)
        let (edit, options) = try edit(store, #"name == "free""#)
        try rename(3, to: "taken", in: store)
        #expect(throws: ToolError.changedSinceShown(store: "tickets")) { try sell(edit, options) }
        #expect(try names(store) == ["free", "free", "taken"].map(StoredValue.string))
    }

    @Test func nothingIsDeletedThatWasNotShown() throws {
        let store = try store(versioned: true)
        let (edit, options) = try edit(store, #"name == "free""#)
        try rename(3, to: "taken", in: store)
        #expect(throws: ToolError.changedSinceShown(store: "tickets")) {
            try edit.carryOut(options, .delete) { run in
                let changes = try Deletion(of: run.records, run.reader).changes
                return RecordEdit.Change(changes: changes, records: changes.deleted.map(\.record))
            }
        }
        #expect(try names(store).count == 3)
    }
}
#endif
