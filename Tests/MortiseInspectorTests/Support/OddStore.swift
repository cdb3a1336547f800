#if Inspector
import Foundation
import MortiseAppendLog
import MortiseCore
import MortiseEngine

/// A store in a folder of its own that goes with it: logs of shelves and things, made without models.
final class OddStore: Sendable {
    static let schema = StoredSchema(entities: [
        StoredEntity(
            name: "Shelf",
            properties: [
                attribute("name", .string), relationship("things", "Thing", toMany: true, inverse: "shelf"),
            ]),
        StoredEntity(
            name: "Thing",
            properties: [
                attribute("name", .string), attribute("note", .string, isOptional: true), attribute("size", .double),
                attribute("picture", .data, isOptional: true), attribute("tags", .coded, isOptional: true),
                relationship("shelf", "Shelf", toMany: false, inverse: "things"),
            ], uniquenessConstraints: [["name"]]),
    ])

    let folder: URL
    var path: String { folder.appending(path: "odd.log").path }
    var url: String { "log:" + path }

    init() throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "mortise-inspector-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    private static func attribute(_ name: String, _ kind: StorageKind, isOptional: Bool = false) -> StoredProperty {
        StoredProperty(name: name, isOptional: isOptional, content: .attribute(StoredAttribute(kind: kind)))
    }

    private static func relationship(
        _ name: String, _ destination: String, toMany: Bool, inverse: String
    ) -> StoredProperty {
        StoredProperty(
            name: name, isOptional: !toMany,
            content: .relationship(StoredRelationship(destination: destination, isToMany: toMany, inverse: inverse)))
    }

    /// Saves new records as one transaction. The store is open for that alone.
    @discardableResult
    func insert(
        _ records: [(entity: String, values: [String: StoredValue])], _ schema: StoredSchema = OddStore.schema,
        author: String = "tester"
    ) throws -> [PersistentIdentifier] {
        let store = try AppendLogStore(
            AppendLogConfiguration(schema: Schema(stored: schema), path: path), migrationPlan: nil)
        defer { try? store.close() }
        let layouts = schema.recordLayouts()
        let snapshots = records.map { entity, values in
            let layout = layouts[entity] ?? RecordLayout.empty(entity)
            return DefaultSnapshot(
                persistentIdentifier: .temporary(entityName: entity), layout: layout,
                values: ContiguousArray(
                    layout.slots.map { values[$0.name] ?? ($0.role.isToMany ? .identifiers([]) : .null) }))
        }
        let remapped = try store.save(
            DataStoreSaveChangesRequest<DefaultSnapshot>(
                inserted: snapshots, updated: [], deleted: [], editingState: EditingState(author: author))
        ).remappedIdentifiers
        return snapshots.compactMap { remapped[$0.persistentIdentifier] }
    }

    static func thing(_ name: String, size: Double = 1, _ more: [String: StoredValue] = [:]) -> (
        entity: String, values: [String: StoredValue]
    ) { ("Thing", ["name": .string(name), "size": .double(size)].merging(more) { $1 }) }
}
#endif
