#if SQLite
import Foundation
import MortiseCore
import MortiseSQL
@testable import MortiseSQLite

/// A folder that goes with the object.
final class TemporaryFolder {
    let url = FileManager.default.temporaryDirectory.appending(path: "sqlite-\(UUID().uuidString)")

    init() throws { try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true) }

    deinit { try? FileManager.default.removeItem(at: url) }

    func path(_ name: String = "store.sqlite") -> String { url.appending(path: name).path(percentEncoded: false) }
}

/// Entities for tests, made of names and kinds.
func entity(
    _ name: String, _ attributes: [(String, StorageKind)], unique: [[String]] = [], indexed: [String] = []
) -> StoredEntity {
    StoredEntity(
        name: name,
        properties: attributes.map {
            StoredProperty(name: $0.0, isOptional: true, content: .attribute(StoredAttribute(kind: $0.1)))
        }, uniquenessConstraints: unique, indices: indexed.map { StoredIndex(properties: [$0]) })
}

extension SQLiteStore {
    static func open(
        _ path: String, _ entities: [StoredEntity], version: Schema.Version = Schema.Version(1, 0, 0),
        _ change: (inout SQLiteConfiguration) -> Void = { _ in }
    ) throws -> SQLiteStore {
        var configuration = SQLiteConfiguration(path: path, durability: .none, busyTimeout: .milliseconds(50))
        change(&configuration)
        configuration.schema = Schema(stored: StoredSchema(version: version, entities: entities))
        return try SQLiteStore(configuration, migrationPlan: nil)
    }

    func snapshot(_ entity: String, _ values: [String: StoredValue], of record: PersistentIdentifier? = nil)
        -> DefaultSnapshot
    {
        let layout = mapping.entities[entity]?.layout ?? .empty(entity)
        return DefaultSnapshot(
            persistentIdentifier: record ?? .temporary(entityName: entity), layout: layout,
            values: ContiguousArray(
                layout.slots.map { values[$0.name] ?? ($0.role.isToMany ? .identifiers([]) : .null) }))
    }

    @discardableResult
    func insert(_ entity: String, _ values: [String: StoredValue]...) throws -> [PersistentIdentifier] {
        let new = values.map { snapshot(entity, $0) }
        let result = try save(DataStoreSaveChangesRequest(inserted: new, editingState: EditingState()))
        return new.compactMap { result.remappedIdentifiers[$0.persistentIdentifier] }
    }

    func update(
        _ record: PersistentIdentifier, _ values: [String: StoredValue], version: UInt64 = 0
    ) throws {
        let snapshot = snapshot(record.entityName, values, of: record)
        let slots = SlotSet(values.keys.compactMap { snapshot.layout.slot(named: $0) })
        _ = try save(
            DataStoreSaveChangesRequest(
                updated: [snapshot], editingState: EditingState(), changedSlots: [slots], updatedVersions: [version]))
    }

    func records(_ query: StoreQuery) throws -> [DefaultSnapshot] { try rows(for: plan(query)).snapshots }

    func values(_ entity: String, _ property: String, where condition: QueryExpression? = nil) throws -> [StoredValue] {
        try records(StoreQuery(entity, conjuncts: condition.map { [$0] } ?? [])).compactMap { $0[property: property] }
    }

    func property(_ entity: String, _ name: String) -> QueryExpression {
        let slot = mapping.entities[entity]?.layout.slot(named: name) ?? 0
        return .property(.variable(0), QueryProperty(entity: entity, name: name, slot: slot))
    }
}
#endif
