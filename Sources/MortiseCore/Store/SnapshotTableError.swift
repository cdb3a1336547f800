/// What cannot be done to a `SnapshotTable`, or read into one.
public enum SnapshotTableError: Error, Hashable, Sendable {
    /// The record to be changed or deleted is not there.
    case noSuchRecord(PersistentIdentifier)
    /// The schema has no such entity.
    case unknownEntity(String)
    /// Two records have the same number.
    case repeatedRecord(PersistentIdentifier)
    /// There is no number left for another record.
    case numbersExhausted
    /// A property that every record needs has no column.
    case missingColumn(entity: String, property: String)
    /// A property is of another kind than it was written with.
    case changedKind(entity: String, property: String, written: String, asked: String)
    /// A column is no property of the entity, or stands there twice.
    case unknownColumn(entity: String, column: String)
    /// A row has more or fewer cells than there are columns, or does not begin with a record's number.
    case malformedRow(entity: String, row: Int, cells: Int, expected: Int)
    /// What rows are read from is cut off, or no text; for stores to throw where they find that. Rows count from 1.
    case unreadable(source: String, row: Int)
    /// A cell holds what is no value of its property; `found` is nil for an empty one.
    case doesNotFit(entity: String, property: String, row: Int, found: String?)
}

extension SnapshotTableError: CustomStringConvertible, ClassifiedStoreError {
    public var description: String {
        switch self {
        case .noSuchRecord(let record): "There is no record \(record); another save may have deleted it. Fetch again."
        case .unknownEntity(let entity):
            "There is no entity \(entity) in the schema. Add its model, or remove its records."
        case .repeatedRecord(let record): "There are two records \(record). Give one of them a number of its own."
        case .numbersExhausted: "No number is left for another record."
        case .missingColumn(let entity, let property):
            "\(entity) has no column \(property), which every record needs. Add it, or give the property a default."
        case .changedKind(let entity, let property, let written, let asked):
            "\(entity).\(property) was written as \(written), and is \(asked) now. Give the property another name."
        case .unknownColumn(let entity, let column):
            "The column \"\(column)\" of \(entity) is no property of it, or stands there twice. Rename or remove it."
        case .malformedRow(let entity, let row, let cells, let expected):
            "Row \(row) of \(entity) has \(cells) cells where \(expected) belong, or does not begin with its record's number."
        case .unreadable(let source, let row):
            "Row \(row) of \(source) is not whole. Correct it, or take an older copy."
        case .doesNotFit(let entity, let property, let row, let found):
            "Row \(row) of \(entity) has \(found.map { "\"\($0.prefix(80))\"" } ?? "nothing") where \(property) is asked for, "
                + "which is no value of it."
        }
    }

    public var errorClass: StoreErrorClass {
        switch self {
        case .noSuchRecord: .conflict
        case .numbersExhausted: .unsupported
        case .unknownEntity, .repeatedRecord, .missingColumn, .changedKind, .unknownColumn, .malformedRow,
            .unreadable, .doesNotFit:
            .damaged
        }
    }
}
