#if Tool
import MortiseCore

/// Which record of one store another one's record became, by the rows of the first.
struct RecordMap {
    private var entities: [String: (source: RowSource, targets: ContiguousArray<PersistentIdentifier?>)] = [:]

    /// Knows no record.
    init() {}

    init(_ version: any StoreVersion, _ schema: StoredSchema) {
        for entity in schema.entities {
            guard let source = version.rows(ofEntity: entity.name) else { continue }
            entities[entity.name] = (source, ContiguousArray(repeating: nil, count: source.endRow))
        }
    }

    mutating func set(_ entity: String, _ row: Int, _ target: PersistentIdentifier) {
        entities[entity]?.targets[row] = target
    }

    /// The record that this one became; nil if it has not become any (yet).
    func target(of identifier: PersistentIdentifier) -> PersistentIdentifier? {
        guard let entity = entities[identifier.entityName], let row = entity.source.row(of: identifier) else {
            return nil
        }
        return entity.targets[row]
    }
}
#endif
