/// A record in a query: a row of a table or, with a negative row, a record that is not yet stored.
public struct RecordReference: Hashable, Sendable {
    /// The number of the record's table in its reader.
    public let table: Int
    /// The row in that table; negative for a record that is not yet stored.
    public let row: Int

    /// Refers to a row of a table.
    public init(table: Int, row: Int) {
        self.table = table
        self.row = row
    }
}

/// The records that a query reads: the tables of one version of a store, overlaid by unsaved changes.
open class RecordReader {
    /// One entity's rows.
    public struct Table {
        /// The entity of the rows.
        public let entityName: String
        /// The layout of the rows.
        public let layout: RecordLayout
        /// The rows.
        public let rows: RowSource

        /// Makes a table of an entity's rows.
        public init(entityName: String, layout: RecordLayout, rows: RowSource) {
            self.entityName = entityName
            self.layout = layout
            self.rows = rows
        }
    }

    /// The tables that a query has used so far, by number.
    public private(set) var tables: [Table] = []
    /// By entity, once there are more tables than are looked through faster.
    private var numbers: [String: Int] = [:]
    private static let few = 8
    private let schema: StoredSchema
    private let layouts: [String: RecordLayout]
    private let find: (String) -> RowSource?
    private var families: [String: Set<Int>] = [:]

    /// Creates a reader of records.
    /// - Parameters:
    ///   - schema: the schema of the records.
    ///   - layouts: the record layout of each entity, by name.
    ///   - rows: returns the rows of an entity, or nil if it has none; called once for each entity, when a query first
    ///     needs it.
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

    /// Whether the rows of one table ascend in identity order, which holds if the store numbers its records.
    open var rowsAreInIdentityOrder: Bool { true }

    /// Whether a table's entity is the one named or inherits from it.
    final func isKind(_ table: Int, _ entity: String) -> Bool {
        if tables[table].entityName == entity { return true }
        if let family = families[entity] { return family.contains(table) }
        let family = Set(schema.subtree(of: entity).compactMap { self.table(named: $0) })
        families[entity] = family
        return family.contains(table)
    }

    /// The rows from which `value(_:slot:)` reads all records of a table; nil if it reads some from elsewhere.
    open func unchangedRows(ofTable table: Int) -> RowSource? { tables[table].rows }

    /// The value in a slot of a record; null for slots that do not exist.
    open func value(_ record: RecordReference, slot: Int) -> StoredValue {
        tables[record.table].rows.value(row: record.row, slot: slot)
    }

    /// The identifier of a record.
    open func identifier(_ record: RecordReference) -> PersistentIdentifier {
        tables[record.table].rows.identifier(ofRow: record.row)
    }

    /// The record with an identifier; nil if there is no such record.
    open func record(_ identifier: PersistentIdentifier) -> RecordReference? {
        guard let table = table(named: identifier.entityName), let row = tables[table].rows.row(of: identifier) else {
            return nil
        }
        return RecordReference(table: table, row: row)
    }
}
