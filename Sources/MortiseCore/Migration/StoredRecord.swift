import Foundation

/// A record as a store has it, by the names of its properties: no class of the program is needed.
///
/// It belongs to one version of a store and keeps that version's values.
public struct StoredRecord: Sendable, Identifiable {
    /// The identifier of the record.
    public let id: PersistentIdentifier
    private let layout: RecordLayout
    private let rows: RowSource
    private let row: Int

    init(_ rows: RowSource, row: Int, _ layout: RecordLayout) {
        id = rows.identifier(ofRow: row)
        self.layout = layout
        self.rows = rows
        self.row = row
    }

    /// The entity of the record.
    public var entity: String { id.entityName }

    /// The value of a property; nil if the entity has no property of that name. A property without a value gives
    /// `StoredValue.null`, and so does one whose value cannot be read: `value(of:)` throws then.
    public subscript(_ property: String) -> StoredValue? {
        layout.slot(named: property).map { rows.value(row: row, slot: $0) }
    }

    /// The value of a property as a Swift type; nil if the property has no value. Numbers of other kinds are not converted.
    /// - Parameters:
    ///   - type: a type whose values are stored as the property's are: `Int`, `Date`, an enum, a `Codable` struct.
    ///   - property: the name of the property.
    /// - Returns: the value; nil if the property has none.
    /// - Throws: `MigrationRecordError` for a property that the entity lacks, or a value that is not of the type; why the value
    ///   cannot be read.
    public func value<V: Codable>(_ type: V.Type = V.self, of property: String) throws -> V? {
        guard let slot = layout.slot(named: property) else {
            throw MigrationRecordError.unknownProperty(entity: entity, property: property)
        }
        let stored = try rows.readValue(row: row, slot: slot)
        if stored.isNull { return nil }
        if let scalar = type as? any PersistentScalar.Type {
            guard let value = scalar.init(storedValue: stored) as? V else {
                throw MigrationRecordError.otherType(record: id, property: property, expected: "\(type)")
            }
            return value
        }
        do {
            return try StoredValueDecoder().decode(type, from: stored)
        } catch {
            throw MigrationRecordError.otherType(record: id, property: property, expected: "\(type)")
        }
    }

    /// The values by slot.
    /// - Throws: why a value cannot be read.
    func values() throws -> ContiguousArray<StoredValue> {
        ContiguousArray(try layout.slots.indices.map { try rows.readValue(row: row, slot: $0) })
    }
}

/// What is wrong with the use of a record by names.
public enum MigrationRecordError: Error, Hashable, Sendable {
    /// The schema has no entity of that name.
    case unknownEntity(String)
    /// The entity has no property of that name.
    case unknownProperty(entity: String, property: String)
    /// There is no record with that identifier.
    case noSuchRecord(PersistentIdentifier)
    /// The value is not of the type, or of another kind than the property's.
    case otherType(record: PersistentIdentifier, property: String, expected: String)
    /// The relationship is kept at the records of the other side, under the name `inverse`.
    case keptElsewhere(record: PersistentIdentifier, property: String, inverse: String)
    /// A required one-to-one relationship would lead nowhere: of two partners of records that become one, that record can keep one.
    case wouldLackPartner(record: PersistentIdentifier, property: String)
    /// The closure of the stage has returned.
    case stageEnded
}

extension MigrationRecordError: CustomStringConvertible, ClassifiedStoreError {
    /// The entity, record or property, and the way out.
    public var description: String {
        switch self {
        case .unknownEntity(let name): "The schema has no entity \(name). Correct the name."
        case .unknownProperty(let entity, let property): "\(entity) has no property \(property). Correct the name."
        case .noSuchRecord(let record): "There is no record \(record)."
        case .otherType(let record, let property, let expected):
            "\(property) of \(record) has a value that is no \(expected). Ask for the type that the property has in this version, "
                + "or look at the stored value by its name."
        case .keptElsewhere(let record, let property, let inverse):
            "\(property) of \(record) is kept at the records of the other side. Change \(inverse) of those records."
        case .wouldLackPartner(let record, let property):
            "\(property) of \(record) is required, and the record that it led to becomes one with another, which leads to another "
                + "record. Settle one of the two in code before the duplicates are removed, or make the property optional."
        case .stageEnded: "The stage of the migration has ended. Change its records in its closure only."
        }
    }
    /// `usage`: the names and types are the program's.
    public var errorClass: StoreErrorClass { .usage }
}

/// The records of an entity and of those that inherit from it, in the order of insertion, one at a time.
public struct StoredRecords: Sequence, IteratorProtocol {
    private struct Table {
        var rows: PartedRows
        let layout: RecordLayout
        var row = -1
        var identifier: PersistentIdentifier?

        mutating func advance() {
            identifier = nil
            row += 1
            while row < rows.endRow {
                let (part, place) = rows.part(around: row)
                if part.contains(row: place) {
                    identifier = part.identifier(ofRow: place)
                    return
                }
                row += 1
            }
        }

        mutating func record() -> StoredRecord {
            let (part, place) = rows.part(around: row)
            return StoredRecord(part, row: place, layout)
        }
    }

    private var tables: [Table] = []

    init(ofEntity name: String, in version: any StoreVersion, _ schema: StoredSchema, _ layouts: [String: RecordLayout])
        throws(MigrationRecordError)
    {
        guard layouts[name] != nil else { throw .unknownEntity(name) }
        for name in schema.subtree(of: name) {
            guard let rows = version.rows(ofEntity: name), let layout = layouts[name] else { continue }
            var table = Table(rows: PartedRows(rows), layout: layout)
            table.advance()
            tables.append(table)
        }
    }

    /// The next record; nil at the end.
    public mutating func next() -> StoredRecord? {
        var best: Int?
        for (place, table) in tables.enumerated() {
            guard let identifier = table.identifier else { continue }
            if let found = best.flatMap({ tables[$0].identifier }),
                found.sequenceNumber ?? 0 <= identifier.sequenceNumber ?? 0
            {
                continue
            }
            best = place
        }
        guard let best else { return nil }
        let record = tables[best].record()
        tables[best].advance()
        return record
    }
}

/// The rows of an entity, of which one part at a time is kept in memory.
struct PartedRows {
    private let whole: RowSource
    private var current: (rows: RowSource, first: Int)?

    init(_ rows: RowSource) { whole = rows }

    var endRow: Int { whole.endRow }

    /// The part that a row is in, and the row's number there.
    mutating func part(around row: Int) -> (rows: RowSource, row: Int) {
        if let current, row >= current.first, row - current.first < current.rows.endRow {
            return (current.rows, row - current.first)
        }
        current = nil
        let part = whole.part(around: row)
        current = part
        return (part.rows, row - part.first)
    }

    /// Where a record is; looked for at that row first.
    /// - Returns: nil if the record is missing.
    mutating func find(_ identifier: PersistentIdentifier, near row: Int) -> (rows: RowSource, row: Int)? {
        if row < endRow {
            let (part, place) = part(around: row)
            if part.contains(row: place), part.identifier(ofRow: place) == identifier { return (part, place) }
        }
        return whole.row(of: identifier).map { (whole, $0) }
    }
}
