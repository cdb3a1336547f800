import Foundation
@testable import MortiseCore
import MortiseEngine
import MortiseJSONFile
import MortiseTestSupport
import Testing

@testable import MortiseAppendLog

/// Two versions without classes, whose schemas and plan a test sets.
extension MigrationTests {
    enum EdgeOld: VersionedSchema {
        nonisolated(unsafe) static var schema = StoredSchema(entities: [])
        static var models: [any PersistentModel.Type] { [] }
        static var versionIdentifier: Schema.Version { schema.version }
        static var stored: StoredSchema? { schema }
    }
    enum EdgeNew: VersionedSchema {
        nonisolated(unsafe) static var schema = StoredSchema(entities: [])
        static var models: [any PersistentModel.Type] { [] }
        static var versionIdentifier: Schema.Version { schema.version }
        static var stored: StoredSchema? { schema }
    }
    enum EdgePlan: SchemaMigrationPlan {
        nonisolated(unsafe) static var mapping = MigrationMapping.inferred
        nonisolated(unsafe) static var rules: [DuplicateRule] = []
        nonisolated(unsafe) static var code: (@Sendable (MigrationSource, MigrationTarget) throws -> Void)?
        nonisolated(unsafe) static var options = MigrationOptions()
        static var migrationOptions: MigrationOptions { options }
        static var schemas: [any VersionedSchema.Type] { [EdgeOld.self, EdgeNew.self] }
        static var stages: [MigrationStage] {
            [.custom(from: EdgeOld.self, to: EdgeNew.self, mapping: mapping, duplicates: rules, migrate: code)]
        }
    }

    static func attribute(
        _ name: String, _ kind: StorageKind = .string, from original: String? = nil, optional: Bool = true,
        options: StoredAttribute.Options = [], default value: StoredValue? = nil
    ) -> StoredProperty {
        StoredProperty(
            name: name, originalName: original, isOptional: optional,
            content: .attribute(StoredAttribute(kind: kind, options: options, defaultValue: value)))
    }

    static func schema(_ number: Int, _ entities: [StoredEntity]) -> StoredSchema {
        StoredSchema(version: Schema.Version(number, 0, 0), entities: entities)
    }

    static func docs(_ number: Int, _ properties: [StoredProperty]) -> StoredSchema {
        schema(number, [StoredEntity(name: "Doc", properties: properties)])
    }

    /// A store with records of one entity, each with values by name.
    func fill(
        _ schema: StoredSchema, _ records: [[String: StoredValue]], _ kind: MigrationWorld.Kind = .log
    ) throws -> MigrationWorld {
        let world = try MigrationWorld(kind)
        let container = try world.open(Schema(stored: schema), nil)
        let store = try #require(container.stores.first?.underlying as? any EngineDataStore)
        let layout = try #require(schema.recordLayouts()["Doc"])
        let inserted = records.map { values in
            DefaultSnapshot(
                persistentIdentifier: .temporary(entityName: "Doc"), layout: layout,
                values: ContiguousArray(layout.slots.map { values[$0.name] ?? .null }))
        }
        _ = try store.save(
            DataStoreSaveChangesRequest(inserted: inserted, editingState: EditingState(author: "test")))
        try container.close()
        return world
    }

    func records(_ world: MigrationWorld, _ schema: StoredSchema) throws -> [[String: StoredValue]] {
        let container = try world.open(Schema(stored: schema), nil)
        defer { try? container.close() }
        let store = try #require(container.stores.first?.underlying as? any VersionedDataStore)
        let layouts = schema.recordLayouts()
        let names = layouts["Doc"]?.slots.map(\.name) ?? []
        return try StoredRecords(ofEntity: "Doc", in: store.currentVersion, schema, layouts).map { record in
            Dictionary(uniqueKeysWithValues: names.map { ($0, record[$0] ?? .null) })
        }
    }

    func migrate(
        _ old: StoredSchema, _ new: StoredSchema, _ mapping: MigrationMapping, _ records: [[String: StoredValue]],
        rules: [DuplicateRule] = []
    ) throws -> [[String: StoredValue]] {
        let world = try fill(old, records)
        (EdgeOld.schema, EdgeNew.schema) = (old, new)
        (EdgePlan.mapping, EdgePlan.rules, EdgePlan.code) = (mapping, rules, nil)
        try world.open(Schema(stored: new), EdgePlan.self).close()
        return try self.records(world, new)
    }
}
