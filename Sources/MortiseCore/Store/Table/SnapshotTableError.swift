/// Why a `SnapshotTable` refuses a change or cannot be read from text.
public enum SnapshotTableError: Error, Hashable, Sendable {
    /// The record to be changed or deleted does not exist.
    case noSuchRecord(PersistentIdentifier)
    /// The record to be deleted is one to which another record, named second, has to refer by the property.
    case isRequired(PersistentIdentifier, by: PersistentIdentifier, property: String)
    /// The schema has no such entity.
    case unknownEntity(String)
    /// Two records have the same number.
    case repeatedRecord(PersistentIdentifier)
    /// Records of another store are to be restored in a table that has records of its own.
    case holdsRecords(ofStore: String)
    /// The store has used up its record numbers.
    case numbersExhausted
    /// There is no column for a property that every record needs.
    case missingColumn(entity: String, property: String)
    /// A property is of another kind than it was written with.
    case changedKind(entity: String, property: String, written: String, asked: String)
    /// A column is not a property of the entity, or occurs twice.
    case unknownColumn(entity: String, column: String)
    /// A row has another number of cells than there are columns, or does not begin with a record's number.
    case malformedRow(entity: String, row: Int, cells: Int, expected: Int)
    /// The source of rows is truncated, or not valid text; thrown by stores that find that. Rows count from 1.
    case unreadable(source: String, row: Int)
    /// A cell holds a value that its property cannot take; `found` is nil for an empty one.
    case doesNotFit(entity: String, property: String, row: Int, found: String?)
}

extension SnapshotTableError: CustomStringConvertible, ClassifiedStoreError {
    /// The record, row or column at fault and the way out, in one line.
    public var description: String {
        switch self {
        case .noSuchRecord(let record): "There is no record \(record); another save may have deleted it. Fetch again."
        case .isRequired(let record, let other, let property):
            "\(record) cannot be deleted: it is the \(property) of \(other), which has to have one. Delete \(other) too, or give it "
                + "another \(property)."
        case .unknownEntity(let entity):
            "There is no entity \(entity) in the schema. Add its model, or remove its records."
        case .repeatedRecord(let record): "Two records have the identifier \(record). Give one of them another number."
        case .holdsRecords(let store):
            "The table holds records of the store \(store). Restore records of another store in a new table."
        case .numbersExhausted: "The store has used up its record numbers. Copy its records to a new store."
        case .missingColumn(let entity, let property):
            "\(entity) has no column \(property), which every record needs. Add it, or give the property a default."
        case .changedKind(let entity, let property, let written, let asked):
            "\(entity).\(property) was stored as \(written), but the model now declares \(asked). Give the "
                + "property another name."
        case .unknownColumn(let entity, let column):
            "The column \"\(column)\" is not a property of \(entity), or is repeated. Rename or remove it."
        case .malformedRow(let entity, let row, let cells, let expected):
            "Row \(row) of \(entity) must have \(expected) cells and begin with its record's number; found "
                + "\(cells) cells."
        case .unreadable(let source, let row):
            "Row \(row) of \(source) is truncated or not valid text. Correct it, or restore an older copy."
        case .doesNotFit(let entity, let property, let row, let found):
            "Row \(row) of \(entity) has \(found.map { "\"\($0.prefix(80))\"" } ?? "no value") for \(property), "
                + "which is not a "
                + "value of its kind. Correct it."
        }
    }

    /// The class of the error, for exit codes and alarms.
    public var errorClass: StoreErrorClass {
        switch self {
        case .noSuchRecord, .isRequired, .holdsRecords: .conflict
        case .numbersExhausted: .unsupported
        case .unknownEntity, .repeatedRecord, .missingColumn, .changedKind, .unknownColumn, .malformedRow,
            .unreadable, .doesNotFit:
            .damaged
        }
    }
}
