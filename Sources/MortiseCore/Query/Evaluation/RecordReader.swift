/// A record that a query looks at: a row of a table, or, with a negative row, a record that is not stored yet.
public struct RecordReference: Hashable, Sendable {
    /// The number of the record's table in its reader.
    public let table: Int
    public let row: Int

    public init(table: Int, row: Int) {
        self.table = table
        self.row = row
    }
}

/// Where a query reads records: the tables of one version of a store, and what unsaved changes lie over them.
open class RecordReader {
    /// One entity's rows.
    public struct Table {
        public let entityName: String
        public let layout: RecordLayout
        public let rows: RowSource

        public init(entityName: String, layout: RecordLayout, rows: RowSource) {
            self.entityName = entityName
            self.layout = layout
            self.rows = rows
        }
    }

    public private(set) var tables: [Table] = []
    /// By entity, once there are more tables than are looked through faster.
    private var numbers: [String: Int] = [:]
    private static let few = 8
    private let schema: StoredSchema
    private let layouts: [String: RecordLayout]
    private let find: (String) -> RowSource?
    private var families: [String: Set<Int>] = [:]

    /// - Parameter rows: the rows of an entity; asked for once, when a query first needs them.
    public init(schema: StoredSchema, layouts: [String: RecordLayout], rows: @escaping (String) -> RowSource?) {
        self.schema = schema
        self.layouts = layouts
        self.find = rows
    }

    /// The number of an entity's table; nil for an entity that is not in the schema.
    public final func table(named name: String) -> Int? {
        for number in tables.indices.prefix(Self.few) where tables[number].entityName == name { return number }
        if tables.count > Self.few, let number = numbers[name] { return number }
        guard let layout = layouts[name] else { return nil }
        tables.append(Table(entityName: name, layout: layout, rows: find(name) ?? RowSource()))
        if tables.count > Self.few { numbers[name] = tables.count - 1 }
        return tables.count - 1
    }

    /// The layout of an entity; nil for one that is not in the schema.
    public final func layout(of entity: String) -> RecordLayout? { layouts[entity] }

    /// Whether the rows of one table ascend in identity order, which is so where the store numbers its records.
    open var rowsAreInIdentityOrder: Bool { true }

    /// Whether a table's entity is the one named or inherits from it.
    final func isKind(_ table: Int, _ entity: String) -> Bool {
        if tables[table].entityName == entity { return true }
        if let family = families[entity] { return family.contains(table) }
        let family = Set(schema.subtree(of: entity).compactMap { self.table(named: $0) })
        families[entity] = family
        return family.contains(table)
    }

    /// The rows in which `value(_:slot:)` finds what it says of a table's records; nil where it looks elsewhere for some.
    open func unchangedRows(ofTable table: Int) -> RowSource? { tables[table].rows }

    open func value(_ record: RecordReference, slot: Int) -> StoredValue {
        tables[record.table].rows.value(row: record.row, slot: slot)
    }

    open func identifier(_ record: RecordReference) -> PersistentIdentifier {
        tables[record.table].rows.identifier(ofRow: record.row)
    }

    /// The record with an identifier; nil where there is none.
    open func record(_ identifier: PersistentIdentifier) -> RecordReference? {
        guard let table = table(named: identifier.entityName), let row = tables[table].rows.row(of: identifier) else {
            return nil
        }
        return RecordReference(table: table, row: row)
    }
}
