#if Tool
import ArgumentParser
import Foundation
@testable import MortiseCommands
import MortiseCore
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

    private let folder: ToolFolder

    init() throws { folder = try ToolFolder() }

    private func store(_ kind: EditedStore) throws -> OpenStore { try filled(kind.open(Self.schema, in: folder)) }

    /// Three tickets.
    private func filled(_ store: OpenStore) throws -> OpenStore {
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

    @Test(arguments: EditedStore.allCases) func aChangeOfAnotherRecordDoesNotDisturb(_ kind: EditedStore) throws {
        let store = try store(kind)
        let (edit, options) = try edit(store, "seat == 2")
        try rename(1, to: "taken", in: store)
        try sell(edit, options)
        #expect(try names(store) == ["taken", "sold", "free"].map(StoredValue.string))
    }

    @Test(arguments: EditedStore.allCases) func aChangeOfTheSameRecordIsNotOverwritten(_ kind: EditedStore) throws {
        let store = try store(kind)
        let (edit, options) = try edit(store, "seat == 2")
        try rename(2, to: "taken", in: store)
        #expect(throws: ToolError.changedSinceShown(store: "edited")) { try sell(edit, options) }
        #expect(try names(store) == ["free", "taken", "free"].map(StoredValue.string))
    }

    /// The record that was found no longer is what was looked for.
    @Test(arguments: EditedStore.allCases) func aRecordThatNoLongerMatchesStays(_ kind: EditedStore) throws {
        let store = try store(kind)
        let (edit, options) = try edit(store, #"name == "free""#)
        try rename(3, to: "taken", in: store)
        #expect(throws: ToolError.changedSinceShown(store: "edited")) { try sell(edit, options) }
        #expect(try names(store) == ["free", "free", "taken"].map(StoredValue.string))
    }

    private func delete(_ edit: RecordEdit, _ options: EditOptions) throws {
        try edit.carryOut(options, .delete) { run in
            let changes = try Deletion(of: run.records, run.reader).changes
            return RecordEdit.Change(changes: changes, records: changes.deleted.map(\.record))
        }
    }

    @Test(arguments: EditedStore.allCases) func nothingIsDeletedThatWasNotShown(_ kind: EditedStore) throws {
        let store = try store(kind)
        let (edit, options) = try edit(store, #"name == "free""#)
        try rename(3, to: "sold", in: store)
        #expect(throws: ToolError.changedSinceShown(store: "edited")) { try delete(edit, options) }
        #expect(try names(store) == ["free", "free", "sold"].map(StoredValue.string))
    }

    @Test(arguments: EditedStore.allCases) func aDeletionGoesOnWhereOthersChangeOtherRecords(
        _ kind: EditedStore
    ) throws {
        let store = try store(kind)
        let (edit, options) = try edit(store, "seat == 2")
        try rename(3, to: "sold", in: store)
        try delete(edit, options)
        #expect(try names(store) == ["free", "sold"].map(StoredValue.string))
    }

    /// What such a store leaves to a context, nobody would check.
    @Test func aStoreThatExecutesNoBatchesIsRefused() throws {
        let records = try QueriedRecords(Schema(stored: Self.schema), defersLists: true)
        let store = try filled(OpenStore(QueriedConfiguration(records), schema: Self.schema, name: "queried"))
        try rename(1, to: "taken", in: store)
        let (edit, options) = try edit(store, "seat == 1")
        let refusal = ToolError.unsupported(store: "queried", what: "carry out this change without models")
        #expect(throws: refusal) { try sell(edit, options) }
        #expect(throws: refusal) { try delete(edit, options) }
        #expect(try names(store) == ["taken", "free", "free"].map(StoredValue.string))
    }
}
#endif
