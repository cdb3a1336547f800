import Foundation
import MortiseCore
import MortiseEngine
import Testing

@testable import MortiseAppendLog

// Schemas in a few words, and records to put into stores of them.

func textProperty(_ name: String, from original: String? = nil) -> StoredProperty {
    StoredProperty(
        name: name, originalName: original, isOptional: true, content: .attribute(StoredAttribute(kind: .string)))
}

func linkProperty(
    _ name: String, to destination: String, many: Bool = false, inverse: String? = nil, from original: String? = nil
) -> StoredProperty {
    StoredProperty(
        name: name, originalName: original, isOptional: !many,
        content: .relationship(StoredRelationship(destination: destination, isToMany: many, inverse: inverse)))
}

func entity(_ name: String, _ properties: StoredProperty...) -> StoredEntity {
    StoredEntity(name: name, properties: properties)
}

func schema(_ major: Int, _ entities: StoredEntity...) -> StoredSchema {
    StoredSchema(version: Schema.Version(major, 0, 0), entities: entities)
}

extension EngineDataStore where Snapshot == DefaultSnapshot {
    /// Inserts records with values by slot; a temporary identifier may refer to another of them.
    func insert(_ records: [(PersistentIdentifier, [StoredValue])], _ schema: StoredSchema) throws {
        let layouts = schema.recordLayouts()
        let inserted = try records.map { record, values in
            DefaultSnapshot(
                persistentIdentifier: record, layout: try #require(layouts[record.entityName]),
                values: ContiguousArray(values))
        }
        _ = try save(DataStoreSaveChangesRequest(inserted: inserted, editingState: EditingState(author: "test")))
    }

    func insert(_ entity: String, _ values: StoredValue..., as schema: StoredSchema) throws {
        try insert([(.temporary(entityName: entity), values)], schema)
    }

    func delete(_ record: PersistentIdentifier, _ schema: StoredSchema) throws {
        let layout = try #require(schema.recordLayouts()[record.entityName])
        let values = ContiguousArray(repeating: StoredValue.null, count: layout.slots.count)
        let snapshot = DefaultSnapshot(persistentIdentifier: record, layout: layout, values: values)
        _ = try save(DataStoreSaveChangesRequest(deleted: [snapshot], editingState: EditingState(author: "test")))
    }
}
