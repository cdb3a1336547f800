import Foundation
import Testing

@testable import MortiseCore
@testable import MortiseEngine

@Suite struct EngineRelationshipTests {
    private let engine = Engine(.empty(Catalog(schema: EngineWorld.schema, storeIdentifier: "world")))

    private func snapshot(
        _ entity: String, _ identifier: PersistentIdentifier? = nil, _ given: [String: StoredValue] = [:]
    ) throws -> DefaultSnapshot {
        let layout = try #require(engine.catalog.layouts[entity])
        var world = EngineWorld(seed: 1)
        var values = world.values(of: layout, alive: [])
        for (slot, description) in layout.slots.enumerated() {
            if let value = given[description.name] { values[slot] = value }
            if description.name == "code" { values[slot] = .null }
        }
        return DefaultSnapshot(
            persistentIdentifier: identifier ?? .temporary(entityName: entity), layout: layout, values: values)
    }

    private func save(
        _ inserted: [DefaultSnapshot] = [], updated: [DefaultSnapshot] = [], deleted: [DefaultSnapshot] = []
    ) throws -> [PersistentIdentifier] {
        let remapped = try engine.save(
            DataStoreSaveChangesRequest(
                inserted: inserted, updated: updated, deleted: deleted, editingState: EditingState()))
        return inserted.compactMap { remapped[$0.persistentIdentifier] }
    }

    @Test func aRecordThatIsReferredToIsNotDeleted() throws {
        let owner = try save([snapshot("Owner")])[0]
        let thing = try save([snapshot("Thing", nil, ["owner": .identifier(owner)])])[0]
        let before = engine.version
        #expect(throws: EngineError.self) { try save(deleted: [snapshot("Owner", owner)]) }
        #expect(engine.version === before)
        _ = try save(deleted: [snapshot("Owner", owner), snapshot("Thing", thing)])
        #expect(engine.version.tables["Thing"]?.count == 0)
    }

    @Test func oneWayReferencesToADeletedRecordAreCleared() throws {
        let first = try save([snapshot("Thing")])[0]
        let second = try save([snapshot("Special", nil, ["next": .identifier(first)])])[0]
        _ = try save(deleted: [snapshot("Thing", first)])
        let table = try #require(engine.version.tables["Special"])
        let slot = try #require(table.layout.slot(named: "next"))
        #expect(table.identifier(row: try #require(table.row(of: second)), slot: slot) == nil)
    }

    @Test func referencesToWhatIsNotThereAreRefused() throws {
        let owner = try save([snapshot("Owner")])[0]
        let gone = PersistentIdentifier(namespace: owner.namespace, sequence: 999)
        let cases: [PersistentIdentifier] = [gone, .temporary(entityName: "Owner"), try save([snapshot("Tag")])[0]]
        for target in cases {
            #expect(throws: EngineError.self) { try save([snapshot("Thing", nil, ["owner": .identifier(target)])]) }
        }
        #expect(engine.version.tables["Thing"]?.count ?? 0 == 0)
    }

    @Test func oneMoreChildCopiesOnlyTheWayToIt() throws {
        let owner = try save([snapshot("Owner")])[0]
        let children = try (0..<3000).map { _ in try snapshot("Thing", nil, ["owner": .identifier(owner)]) }
        _ = try save(children)
        let slot = try #require(engine.catalog.layouts["Owner"]?.slot(named: "things"))
        let before = try #require(engine.version.tables["Owner"]).links[slot]
        _ = try save([snapshot("Thing", nil, ["owner": .identifier(owner)])])
        let after = try #require(engine.version.tables["Owner"]).links[slot]
        #expect(before.members(of: 1).count == 3000)
        #expect(after.members(of: 1).count == 3001)
        func nodes(_ node: IndexNode?) -> Set<ObjectIdentifier> {
            guard let node else { return [] }
            return node.children.reduce(into: [ObjectIdentifier(node)]) { $0.formUnion(nodes($1)) }
        }
        #expect(nodes(after.pairs.root).subtracting(nodes(before.pairs.root)).count <= 4)
    }

    @Test func aStringThatIsOnlyWrittenOtherwiseIsStored() throws {
        let owner = try save([snapshot("Owner", nil, ["name": .string("\u{e9}")])])[0]
        _ = try save(updated: [snapshot("Owner", owner, ["name": .string("e\u{301}")])])
        let table = try #require(engine.version.tables["Owner"])
        #expect(table.string(row: 0, slot: 0)?.unicodeScalars.count == 2)
    }
}
