#if Tool
import ArgumentParser
import Foundation
@testable import MortiseCommands
import MortiseCore
import PackageTestSupport
import Testing

/// `mortise delete` where somebody else changes what is related to the found records before they go.
@Suite struct SeveralDeletersTests {
    /// Owners with items that keep them from going, parts that go with them, and friends and badges that lose them.
    private static let schema = StoredSchema(entities: [
        StoredEntity(
            name: "Owner",
            properties: [
                text("name"), toMany("items", "Item", inverse: "owner", .deny),
                toMany("parts", "Part", inverse: "owner", .cascade),
                toMany("friends", "Friend", inverse: "owner", .nullify),
                toMany("seats", "Seat", inverse: "owner", .nullify),
                toMany("badges", "Badge", inverse: "owners", .nullify),
            ]),
        StoredEntity(name: "Item", properties: [text("name"), toOne("owner", "Owner", inverse: "items")]),
        StoredEntity(name: "Part", properties: [text("name"), toOne("owner", "Owner", inverse: "parts")]),
        StoredEntity(name: "Friend", properties: [text("name"), toOne("owner", "Owner", inverse: "friends")]),
        StoredEntity(
            name: "Seat",
            properties: [text("name"), toOne("owner", "Owner", inverse: "seats", isOptional: false)]),
        StoredEntity(
            name: "Badge", properties: [text("name"), toMany("owners", "Owner", inverse: "badges", .nullify)]),
    ])

    private static func text(_ name: String) -> StoredProperty {
        StoredProperty(name: name, isOptional: false, content: .attribute(StoredAttribute(kind: .string)))
    }
    private static func toOne(
        _ name: String, _ destination: String, inverse: String, isOptional: Bool = true
    ) -> StoredProperty {
        StoredProperty(
            name: name, isOptional: isOptional,
            content: .relationship(StoredRelationship(destination: destination, isToMany: false, inverse: inverse)))
    }
    private static func toMany(
        _ name: String, _ destination: String, inverse: String, _ rule: Schema.Relationship.DeleteRule
    ) -> StoredProperty {
        StoredProperty(
            name: name, isOptional: false,
            content: .relationship(
                StoredRelationship(destination: destination, isToMany: true, inverse: inverse, deleteRule: rule)))
    }

    private let folder: ToolFolder

    init() throws { folder = try ToolFolder() }

    /// Inserts a record.
    private func insert(_ entity: String, _ values: [String: StoredValue], in store: OpenStore) throws
        -> PersistentIdentifier
    {
        let layout = try #require(store.layouts[entity])
        let temporary = PersistentIdentifier.temporary(entityName: entity)
        let all = layout.slots.map { slot in
            values[slot.name] ?? (slot.role.isToMany ? .identifiers([]) : slot.name == "name" ? .string("old") : .null)
        }
        let pairs = try store.save(
            inserted: [DefaultSnapshot(persistentIdentifier: temporary, layout: layout, values: ContiguousArray(all))])
        return try #require(pairs[temporary])
    }

    /// An owner whose deletion is about to be carried out, and what others do once it is worked out.
    private func deletion(
        _ kind: EditedStore, with related: (OpenStore, PersistentIdentifier) throws -> Void = { _, _ in },
        meanwhile others: @escaping (OpenStore, PersistentIdentifier) throws -> Void = { _, _ in }
    ) throws -> (store: OpenStore, owner: PersistentIdentifier, delete: () throws -> Void) {
        let store = try kind.open(Self.schema, in: folder)
        _ = try insert("Owner", ["name": .string("other")], in: store)
        let owner = try insert("Owner", ["name": .string("going")], in: store)
        try related(store, owner)
        let options = try EditOptions.parse(["Owner", "--where", #"name == "going""#, "--yes"])
        let edit = try RecordEdit(store, options)
        var hasBeenChanged = false
        return (
            store, owner,
            {
                try edit.carryOut(options, .delete) { run in
                    let changes = try Deletion(of: run.records, run.reader).changes
                    if !hasBeenChanged { try others(store, owner) }
                    hasBeenChanged = true
                    return RecordEdit.Change(changes: changes, records: changes.deleted.map(\.record))
                }
            }
        )
    }

    private func values(_ entity: String, _ property: String, in store: OpenStore) throws -> [StoredValue] {
        let slot = try #require(store.layouts[entity]?.slot(named: property))
        let run = try StoreQueryRun(StoreQuery(entity), in: store)
        return run.records.map { run.reader.value($0, slot: slot) }
    }

    @Test(arguments: EditedStore.allCases) func whatIsAddedMeanwhileDeniesADeletion(_ kind: EditedStore) throws {
        let (store, owner, delete) = try deletion(
            kind, meanwhile: { store, owner in _ = try insert("Item", ["owner": .identifier(owner)], in: store) })
        #expect(
            throws: ModelValidationError.deletionDenied(entity: "Owner", property: "items", model: owner, count: 1)
        ) { try delete() }
        #expect(try values("Item", "owner", in: store) == [.identifier(owner)])
        #expect(try values("Owner", "name", in: store).count == 2)
    }

    @Test(arguments: EditedStore.allCases) func whatIsAddedMeanwhileIsShownBeforeItGoes(_ kind: EditedStore) throws {
        let (store, owner, delete) = try deletion(
            kind, meanwhile: { store, owner in _ = try insert("Part", ["owner": .identifier(owner)], in: store) })
        #expect(throws: ToolError.changedSinceShown(store: "edited")) { try delete() }
        #expect(try values("Part", "owner", in: store) == [.identifier(owner)])
    }

    @Test(arguments: EditedStore.allCases) func whatIsKeptLosesWhatGoes(_ kind: EditedStore) throws {
        let (store, owner, delete) = try deletion(kind) { store, owner in
            let other = try StoreQueryRun(StoreQuery("Owner"), in: store)
            let kept = try #require(other.records.map { other.reader.identifier($0) }.first { $0 != owner })
            _ = try insert("Part", ["owner": .identifier(owner)], in: store)
            _ = try insert("Part", ["owner": .identifier(kept)], in: store)
            _ = try insert("Friend", ["owner": .identifier(owner)], in: store)
            _ = try insert("Friend", ["owner": .identifier(kept)], in: store)
            _ = try insert("Badge", ["owners": .identifiers([kept, owner].sorted())], in: store)
        }
        try delete()
        let kept = try #require(try StoreQueryRun(StoreQuery("Owner"), in: store).records.first)
        let reader = try StoreQueryRun(StoreQuery("Owner"), in: store).reader
        let other = reader.identifier(kept)
        #expect(other != owner)
        #expect(try values("Owner", "name", in: store) == [.string("other")])
        #expect(try values("Part", "owner", in: store) == [.identifier(other)])
        #expect(try values("Friend", "owner", in: store) == [.null, .identifier(other)])
        #expect(try values("Badge", "owners", in: store) == [.identifiers([other])])
        #expect(try values("Owner", "badges", in: store).first?.members.count == 1)
    }

    /// The values of others stay in what loses a reference.
    @Test(arguments: EditedStore.allCases) func whatIsKeptMayChangeMeanwhile(_ kind: EditedStore) throws {
        let (store, _, delete) = try deletion(
            kind, with: { store, owner in _ = try insert("Friend", ["owner": .identifier(owner)], in: store) },
            meanwhile: { store, owner in
                let run = try StoreQueryRun(StoreQuery("Friend"), in: store)
                let friend = try #require(run.records.first.map { run.reader.identifier($0) })
                let layout = try #require(store.layouts["Friend"])
                let name = try #require(layout.slot(named: "name"))
                let values = layout.slots.indices.map { $0 == name ? StoredValue.string("new") : .identifier(owner) }
                _ = try store.save(
                    updated: [
                        DefaultSnapshot(
                            persistentIdentifier: friend, layout: layout, values: ContiguousArray(values))
                    ], changedSlots: [SlotSet([name])])
            })
        try delete()
        #expect(try values("Friend", "owner", in: store) == [.null])
        #expect(try values("Friend", "name", in: store) == [.string("new")])
    }

    @Test(arguments: EditedStore.allCases) func whatRequiresARecordKeepsIt(_ kind: EditedStore) throws {
        let (store, owner, delete) = try deletion(kind) { store, owner in
            _ = try insert("Seat", ["owner": .identifier(owner)], in: store)
        }
        // A store that checks references says so itself; for others the context's rules do.
        #expect {
            try delete()
        } throws: { error in
            "\(error)".hasPrefix("Seat.owner of Seat/")
        }
        #expect(try values("Seat", "owner", in: store) == [.identifier(owner)])
    }
}

extension StoredValue {
    fileprivate var members: [PersistentIdentifier] {
        if case .identifiers(let members) = self { Array(members) } else { [] }
    }
}
#endif
