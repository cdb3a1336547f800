#if Tool
import MortiseCore

/// The records of a store that hands out snapshots, read once, as a version.
final class SnapshotVersion: StoreVersion {
    let number: UInt64 = 0
    private let tables: [String: SnapshotTable]

    init<S: QueryableDataStore>(
        _ store: S, _ schema: StoredSchema, _ layouts: [String: RecordLayout], name: String
    ) throws {
        var tables: [String: SnapshotTable] = [:]
        for entity in schema.entities {
            guard let layout = layouts[entity.name] else { continue }
            // A store may leave out lists that are not asked for by name.
            let lists = layout.slots.filter(\.role.isToMany).map(\.name)
            let query = StoreQuery(entity.name, includesSubentities: false, prefetch: lists)
            let found = try store.rows(for: .scanAll(query)).snapshots
            let snapshots = try found.compactMap { snapshot -> DefaultSnapshot? in
                guard let snapshot = snapshot as? DefaultSnapshot else {
                    throw ToolError.unsupported(store: name, what: "be read without models")
                }
                return snapshot.persistentIdentifier.entityName == entity.name ? snapshot : nil
            }
            tables[entity.name] = SnapshotTable(snapshots, layout)
        }
        self.tables = tables
    }

    func rows(ofEntity name: String) -> RowSource? { tables[name] }

    func identifier(ofEntity name: String, constraint: Int, values: [StoredValue]) -> PersistentIdentifier? { nil }
}

/// Snapshots of one entity in identity order, numbered from zero.
///
/// @unchecked Sendable as its superclass: everything is immutable.
private final class SnapshotTable: RowSource, @unchecked Sendable {
    private let snapshots: [DefaultSnapshot]
    private let rows: [PersistentIdentifier: Int]
    /// Where a slot of the schema is in the snapshots.
    private let places: [Int?]

    init(_ snapshots: [DefaultSnapshot], _ layout: RecordLayout) {
        self.snapshots = snapshots.sorted { $0.persistentIdentifier < $1.persistentIdentifier }
        rows = Dictionary(
            self.snapshots.enumerated().map { ($0.element.persistentIdentifier, $0.offset) },
            uniquingKeysWith: { first, _ in first })
        places = layout.slots.map { slot in snapshots.first?.layout.slot(named: slot.name) }
    }

    override var endRow: Int { snapshots.count }
    override var count: Int { snapshots.count }
    override func contains(row: Int) -> Bool { snapshots.indices.contains(row) }
    override func identifier(ofRow row: Int) -> PersistentIdentifier { snapshots[row].persistentIdentifier }
    override func row(of identifier: PersistentIdentifier) -> Int? { rows[identifier] }
    override func value(row: Int, slot: Int) -> StoredValue {
        guard places.indices.contains(slot), let place = places[slot] else { return .null }
        return snapshots[row].values[place]
    }
}
#endif
