import MortiseCore

/// One record, for evaluating expressions about it.
package final class OneRecord: RowSource, @unchecked Sendable {
    // @unchecked: immutable.
    private let snapshot: DefaultSnapshot

    private init(_ snapshot: DefaultSnapshot) { self.snapshot = snapshot }

    /// A reader of nothing but the record.
    package static func reader(of snapshot: DefaultSnapshot, _ schema: StoredSchema) -> RecordReader {
        let name = snapshot.persistentIdentifier.entityName
        return RecordReader(schema: schema, layouts: [name: snapshot.layout]) { $0 == name ? OneRecord(snapshot) : nil }
    }

    override package var endRow: Int { 1 }
    override package var count: Int { 1 }
    override package func contains(row: Int) -> Bool { row == 0 }
    override package func identifier(ofRow row: Int) -> PersistentIdentifier { snapshot.persistentIdentifier }
    override package func row(of identifier: PersistentIdentifier) -> Int? {
        identifier == snapshot.persistentIdentifier ? 0 : nil
    }
    override package func value(row: Int, slot: Int) -> StoredValue {
        snapshot.values.indices.contains(slot) ? snapshot.values[slot] : .null
    }
}

extension TableMapping {
    /// Whether a value can be calculated from one record: it depends on its attributes alone, or is a relationship of it.
    package func readsOwnValuesOnly(_ value: QueryExpression) -> Bool {
        if case .property(.variable(0), _) = value { return true }
        var isOwn = true
        value.forEachPart { part in
            switch part {
            case .property(.variable(0), let property):
                let slots = entities[property.entity]?.layout.slots ?? []
                if !slots.indices.contains(property.slot) || slots[property.slot].role != .attribute { isOwn = false }
            case .property, .identifier, .onModels, .isKind, .cast: isOwn = false
            default: break
            }
        }
        return isOwn
    }
}
