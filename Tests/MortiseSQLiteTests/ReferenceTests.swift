#if SQLite
import Foundation
import MortiseCore
@testable import MortiseSQLite
import Synchronization
import Testing

/// Lists that are read by the columns of others, and what becomes of references to deleted records.
@Suite struct ReferenceTests {
    private let entities = [
        StoredEntity(
            name: "Owner",
            properties: [
                Self.list("letters", "Letter", inverse: "owner"), Self.list("houses", "House", inverse: "owner"),
            ]),
        StoredEntity(name: "Letter", properties: [Self.reference("owner", inverse: "letters", isOptional: true)]),
        StoredEntity(name: "House", properties: [Self.reference("owner", inverse: "houses", isOptional: true)]),
        StoredEntity(name: "Deed", properties: [Self.reference("holder", inverse: nil, isOptional: false)]),
    ]

    private static func list(_ name: String, _ destination: String, inverse: String) -> StoredProperty {
        StoredProperty(
            name: name, isOptional: false,
            content: .relationship(StoredRelationship(destination: destination, isToMany: true, inverse: inverse)))
    }

    private static func reference(_ name: String, inverse: String?, isOptional: Bool) -> StoredProperty {
        StoredProperty(
            name: name, isOptional: isOptional,
            content: .relationship(StoredRelationship(destination: "Owner", isToMany: false, inverse: inverse)))
    }

    /// Members were remembered by the column that they are read from, and letters and houses both have one that is called owner:
    /// an owner's houses were its letters.
    @Test func listsThatAreReadFromColumnsOfTheSameNameHaveMembersOfTheirOwn() throws {
        let folder = try TemporaryFolder()
        let store = try SQLiteStore.open(folder.path(), entities)
        let owner = try store.insert("Owner", [:])[0]
        let letter = try store.insert("Letter", ["owner": .identifier(owner)])[0]
        let house = try store.insert("House", ["owner": .identifier(owner)])[0]
        let found = try #require(try store.records(StoreQuery("Owner", prefetch: ["letters", "houses"])).first)
        #expect(found[property: "letters"] == .identifiers([letter]))
        #expect(found[property: "houses"] == .identifiers([house]))
    }

    /// Where references are unique together with other values, and several records change, the owners that they leave were not told.
    @Test func ownersThatUniqueReferencesLeaveAreNamed() throws {
        let folder = try TemporaryFolder()
        let entities = [
            StoredEntity(name: "Owner", properties: [Self.list("seats", "Seat", inverse: "owner")]),
            StoredEntity(
                name: "Seat",
                properties: entity("", [("row", .int64)]).properties + [
                    Self.reference("owner", inverse: "seats", isOptional: true)
                ], uniquenessConstraints: [["row", "owner"]], indices: []),
        ]
        let store = try SQLiteStore.open(folder.path(), entities)
        let owners = try store.insert("Owner", [:], [:])
        let seats = try store.insert(
            "Seat", ["row": .integer(1), "owner": .identifier(owners[0])],
            ["row": .integer(2), "owner": .identifier(owners[0])])
        let deliveries = Mutex<[ChangeFeed.Delivery]>([])
        let arrived = DispatchSemaphore(value: 0)
        let follower = try #require(store.changeFeed).follow(.records) { delivery in
            deliveries.withLock { $0.append(delivery) }
            arrived.signal()
        }
        let changed = seats.map { store.snapshot("Seat", ["owner": .identifier(owners[1])], of: $0) }
        _ = try store.save(
            DataStoreSaveChangesRequest(
                updated: changed, editingState: EditingState(), changedSlots: [SlotSet([1]), SlotSet([1])]))
        #expect(arrived.wait(timeout: .now() + 60) == .success)
        let updated = deliveries.withLock { $0 }.flatMap(\.changes).flatMap(\.updated).map(\.record)
        #expect(Set(updated) == Set(owners + seats))
        follower.cancel()
    }

    /// A reference without an inverse was cleared although its record requires it, and the record could not be read afterwards.
    @Test func aRecordThatOthersRequireIsNotDeleted() throws {
        let folder = try TemporaryFolder()
        let store = try SQLiteStore.open(folder.path(), entities)
        let owners = try store.insert("Owner", [:], [:])
        let deed = try store.insert("Deed", ["holder": .identifier(owners[0])])[0]
        let refused = SQLiteError.Fault.missingTarget(
            record: "\(deed)", property: "holder", target: "\(owners[0])")
        let saved = #expect(throws: SQLiteError.self) {
            try store.save(
                DataStoreSaveChangesRequest(
                    deleted: [store.snapshot("Owner", [:], of: owners[0])], editingState: EditingState()))
        }
        #expect(saved?.fault == refused)
        let batch = #expect(throws: SQLiteError.self) {
            try store.execute(StoreBatch(.records([owners[0]]), .delete, author: nil, baseVersion: nil))
        }
        #expect(batch?.fault == refused)
        #expect(try store.values("Deed", "holder") == [.identifier(owners[0])])

        // Where the same save leads it elsewhere, nothing is in the way.
        let changed = store.snapshot("Deed", ["holder": .identifier(owners[1])], of: deed)
        _ = try store.save(
            DataStoreSaveChangesRequest(
                updated: [changed], deleted: [store.snapshot("Owner", [:], of: owners[0])],
                editingState: EditingState(), changedSlots: [SlotSet([0])]))
        #expect(try store.values("Deed", "holder") == [.identifier(owners[1])])
    }
}
#endif
