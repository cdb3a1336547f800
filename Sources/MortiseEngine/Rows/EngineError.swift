public import MortiseCore

/// Why an engine did not take a save. Nothing of the save was stored.
public enum EngineError: Error, Hashable, Sendable {
    /// The entity is not in the store's schema.
    case unknownEntity(String)
    /// A record to update or delete is not there (any more).
    case noSuchRecord(PersistentIdentifier)
    /// A relationship refers to a record that is not there after the save.
    case danglingReference(entity: String, property: String, record: PersistentIdentifier, target: PersistentIdentifier)
    /// A relationship refers to a record of an entity that is not its destination.
    case wrongDestination(entity: String, property: String, record: PersistentIdentifier, target: PersistentIdentifier)
    /// Two records would have the same unique values.
    case notUnique(entity: String, properties: [String], record: PersistentIdentifier, other: PersistentIdentifier)
    /// Properties that must be unique are new in the schema, and all stored records would have the same default values.
    case sameDefault(entity: String, properties: [String])
    /// A value is not of the property's kind, or missing although required.
    case unfitValue(entity: String, property: String, record: PersistentIdentifier, found: String)
    /// The record's coded values have more parts, or nest deeper, than any store keeps: see `CodedBudget` in FORMAT.md of the
    /// stores.
    case codedValueTooLarge(entity: String, property: String, record: PersistentIdentifier)
    /// The numbers of records, or of transactions, are used up: all are below 2^62, and none is used again.
    case noMoreNumbers(store: String)
    /// The store allows no saves.
    case readOnly(store: String)
    /// The store was closed.
    case closed(store: String)
    /// An earlier write failed, so the state on disk is unknown; the store takes no saves until it is opened again.
    case latched(store: String, cause: String)
    /// A file is open in this process with other options.
    case openWithOtherOptions(path: String)
    /// The stored schema is not the container's, and cannot be changed into it.
    case schemaMismatch(store: String, differences: [String])
}

extension EngineError {
    /// The same error of a store at a place, for code that knows the place where it was thrown from code that does not.
    package func naming(_ location: String) -> EngineError {
        switch self {
        case .noMoreNumbers: .noMoreNumbers(store: location)
        case .readOnly: .readOnly(store: location)
        case .closed: .closed(store: location)
        case .latched(_, let cause): .latched(store: location, cause: cause)
        case .schemaMismatch(_, let differences): .schemaMismatch(store: location, differences: differences)
        default: self
        }
    }

    /// Runs a body whose errors are to name a place.
    package static func naming<R>(_ location: String, _ body: () throws -> R) throws -> R {
        do { return try body() } catch let error as EngineError { throw error.naming(location) }
    }
}

extension EngineError: CustomStringConvertible {
    /// The record or store at fault and the way out, in one line.
    public var description: String {
        switch self {
        case .unknownEntity(let name): "The store's schema has no entity \(name). Add its model to the schema."
        case .noSuchRecord(let record): "There is no record \(record); another save may have deleted it. Fetch again."
        case .danglingReference(let entity, let property, let record, let target):
            "\(entity).\(property) of \(record) refers to \(target), which does not exist. Clear the reference first."
        case .wrongDestination(let entity, let property, let record, let target):
            "\(entity).\(property) of \(record) refers to \(target), which is not of the relationship's destination. "
                + "Refer to another record."
        case .notUnique(let entity, let properties, let record, let other):
            "\(record) and \(other) of \(entity) would have the same \(properties.joined(separator: ", ")). "
                + "Change one of them."
        case .sameDefault(let entity, let properties):
            "\(entity).\(properties.joined(separator: ", ")) is new and must be unique, but all stored records would get the "
                + "same default value, which is made once. Open the store with a schema in which it is not unique, give "
                + "each record a value of its own, and declare it unique then."
        case .unfitValue(_, "", let record, let found): "The record \(record) cannot be inserted: \(found)."
        case .unfitValue(let entity, let property, let record, let found):
            "\(entity).\(property) of \(record) cannot hold \(found). Set a value of the property's kind."
        case .codedValueTooLarge(let entity, let property, let record):
            "\(entity).\(property) of \(record) is too large: expected at most \(CodedBudget.deepest) nested arrays and "
                + "objects, and \(CodedBudget.parts) values, names and containers in all coded properties of a record. Split "
                + "the value over several records, or store it as Data."
        case .noMoreNumbers(let store):
            "The store \(store) has used up its record numbers (all below 2^62). Copy its records to a new store."
        case .readOnly(let store):
            "The store \(store) is open for reading only. Open it with allowsSave: true, or its URL without "
                + "?allowsSave=false."
        case .closed(let store): "The store \(store) was closed. Open it again."
        case .latched(let store, let cause):
            "The store \(store) refuses saves because a write failed (\(cause)). Resolve the cause, then open "
                + "the store again."
        case .openWithOtherOptions(let path):
            "\(path) is already open in this process with other options. Use the same options, in code or after the "
                + "? of its URL, or close it first."
        case .schemaMismatch(let store, let differences):
            "The store \(store) was made for another schema: " + differences.joined(separator: "; ") + "."
        }
    }
}

extension EngineError: UniqueViolation {
    /// What two records would have had in common; nil for other errors.
    public var uniqueViolation:
        (entity: String, properties: [String], record: PersistentIdentifier, other: PersistentIdentifier)?
    {
        guard case .notUnique(let entity, let properties, let record, let other) = self else { return nil }
        return (entity, properties, record, other)
    }
}

extension EngineError: SwiftDataErrorConvertible {
    /// The error of SwiftData that says most.
    public var swiftDataError: SwiftDataError {
        switch self {
        case .schemaMismatch, .sameDefault: .unknownDataStoreSchema
        case .openWithOtherOptions, .closed, .latched: .loadIssueModelContainer
        default: .modelValidationFailure
        }
    }

    /// `loadIssueModelContainer` for what opening a store under another schema may throw, and keeps a container from being made by.
    public var furtherSwiftDataErrors: [SwiftDataError] {
        switch self {
        case .schemaMismatch, .sameDefault, .notUnique: [.loadIssueModelContainer]
        default: []
        }
    }
}
