#if PostgreSQL
public import MortiseCore

/// Why a store on PostgreSQL is not opened, read or written. It has names and numbers, never values of records or passwords.
public struct PostgreSQLError: ClassifiedStoreError, Hashable {
    /// What went wrong.
    public enum Fault: Sendable, Hashable {
        /// There is no connection to the server: it cannot be reached, it has ended, or it has closed the connection.
        case unreachable(message: String)
        /// The server reports an error: its SQLSTATE, its message, and what it names.
        case engine(state: String, message: String, table: String?, column: String?, constraint: String?)
        /// A statement has taken longer than `statementTimeout`, or was cancelled.
        case timedOut
        /// All connections were in use for longer than `lockTimeout`.
        case noConnection(limit: Int)
        /// The connection was lost while a save was being committed, and the server could not be asked within `retryFor` whether it
        /// was, or refused to say so. The next save of the same context asks first, and takes out what is there already. A context that
        /// has rolled the save back has to fetch first: its records may be there.
        case outcomeUnknown
        /// An earlier save of the context ended with `outcomeUnknown`, and the store has lost every trace of such a save: more than 1,000
        /// saves came since, and its transaction was deleted from the history. Nothing was saved. Saves that insert the same new records
        /// throw this until the context rolls them back.
        case outcomeForgotten
        /// The database does not keep text as UTF-8.
        case encoding(found: String)
        /// The server is older than version 14.
        case oldServer(version: Int)
        /// There is no store in that schema of the database.
        case missing
        /// There are tables in the schema, but not those of a store.
        case notAStore
        /// A later version of this library has made the store.
        case newerFormat(found: Int, known: Int)
        /// An earlier version of this library has made the store, and it is open for reading only: a writer has to add what it lacks.
        case olderFormat
        /// Another process has brought the store to another schema since it was opened.
        case schemaChanged
        /// Somebody has the store open for writing, in this process or in another one, so that it cannot be migrated.
        case inUse
        /// A migration would make new tables, and other programs have made these of the old ones: views, triggers, foreign keys, indexes,
        /// policies and publications, which would stay with them.
        case usedByOthers([String])
        /// A migration needs a schema of that name, and somebody else has one.
        case schemaTaken(String)
        /// The store was closed.
        case closed
        /// The configuration has no schema, although a container gives it one.
        case noSchema
        /// A table has more columns than PostgreSQL takes.
        case tooManyColumns(table: String, count: Int)
        /// A column holds what is no value of its property.
        case damagedValue(record: String, property: String, found: String)
        /// What the store says of itself cannot be read.
        case damagedMetadata(String)
        /// A property has a value that cannot be stored.
        case unfitValue(record: String, property: String)
        /// A record would refer to one that does not exist.
        case missingTarget(record: String, property: String, target: String)
        /// A record is deleted that others refer to.
        case stillReferred(record: String)
        /// Two records would have the same unique values.
        case notUnique(
            entity: String, properties: [String], record: PersistentIdentifier, other: PersistentIdentifier)
        /// The store holds what the schema lacks, and the configuration does not name it in `dropping`.
        case unnamedLoss(SchemaLoss)
        /// Records do not fit the schema; in words.
        case misfit(String)
        /// Records of another store were to be stored in one that has records.
        case notEmpty
    }

    /// The server, the database and its schema.
    public let location: String
    /// What went wrong.
    public let fault: Fault

    init(_ location: String, _ fault: Fault) {
        self.location = location
        self.fault = fault
    }

    /// Where, what happened, and the way out.
    public var description: String { "\(location): \(fault)" }

    /// What sort of thing went wrong.
    public var errorClass: StoreErrorClass { fault.errorClass }

    /// The SQLSTATE of an error that the server has reported.
    var state: String? { if case .engine(let state, _, _, _, _) = fault { state } else { nil } }
}

extension PostgreSQLError.Fault: CustomStringConvertible {
    /// What happened, and the way out.
    public var description: String {
        switch self {
        case .unreachable(let message):
            "The server cannot be reached: \(message). Check the host and the port, and whether the server runs."
        case .engine(let state, let message, let table, let column, let constraint):
            "PostgreSQL reports \"\(message)\" (\(state))"
                + [("table", table), ("column", column), ("constraint", constraint)].compactMap { word, name in
                    name.map { " \(word) \($0)" }
                }.joined(separator: ",") + ". \(Self.wayOut(state))"
        case .timedOut: "A statement took too long, or was cancelled. Try again, or raise statementTimeout."
        case .noConnection(let limit):
            "All \(limit) connections are in use. Release cursors, or raise the limit with pool."
        case .outcomeUnknown:
            "The connection was lost while a save was being committed. Save again without changing or rolling back anything: "
                + "the store asks first whether it was. After a rollback fetch first: the records may be there."
        case .outcomeForgotten:
            "Nothing in the store tells any more whether an earlier save of this context was committed. Roll the context back, fetch, and "
                + "insert again what is missing."
        case .encoding(let found):
            "The database keeps text as \(found), and has to keep it as UTF8. Make a database with that encoding."
        case .oldServer(let version): "The server has version \(version), and has to have 14 or later. Update it."
        case .missing: "There is no store. Check the schema, or open the store with allowsSave to make it."
        case .notAStore:
            "The schema holds tables of another program. Give the store a schema of its own with schema=NAME."
        case .newerFormat(let found, let known):
            "The store has format \(found), and this program knows formats up to \(known). Use a newer version of the program."
        case .olderFormat:
            "An earlier version of the program has made the store, and its history lacks columns. Open the store once for writing."
        case .schemaChanged:
            "Another process has brought the store to another schema. Open it again, with the models that it has now."
        case .inUse:
            "The store is open for writing elsewhere, so that it cannot be brought to another schema. Close it in all programs, then open "
                + "it again."
        case .usedByOthers(let names):
            "A migration that copies the records makes new tables, and other programs use the old ones: \(names.joined(separator: ", ")). "
                + "Drop these, and make them again after the migration."
        case .schemaTaken(let name):
            "The database has a schema \(name), which a migration of the store needs, and which is not its own. Rename or drop it."
        case .closed: "The store is closed. Open it again."
        case .noSchema: "The configuration has no schema. Open the store by a ModelContainer, or set the schema."
        case .tooManyColumns(let table, let count):
            "The table \(table) would have \(count) columns, and PostgreSQL takes 1,600. Divide the model or its hierarchy."
        case .damagedValue(let record, let property, let found):
            "\(property) of \(record) is no value of its kind: found \(found). Restore a backup, or correct it with psql."
        case .damagedMetadata(let text): "The store's description of itself is damaged: \(text). Restore a backup."
        case .unfitValue(let record, let property):
            "\(property) of \(record) has a value that the store cannot keep. Give it another value."
        case .missingTarget(let record, let property, let target):
            "\(property) of \(record) refers to \(target), which does not exist. Save that record first, or clear the reference."
        case .stillReferred(let record):
            "\(record) cannot be deleted: other records refer to it. Clear these references in the same save."
        case .notUnique(let entity, let properties, let record, let other):
            "\(record) and \(other) would have the same \(properties.joined(separator: ", ")), which \(entity) has once. "
                + "Change one of them."
        case .unnamedLoss(let loss):
            "The store holds \(loss), which version \(loss.opened) of the schema lacks, and no copy of a database stays beside it. It was "
                + "not changed. Back it up, and name what may go with dropping: [\(Self.names(of: loss, "\"", ", "))] in the "
                + "configuration (?dropping=\(Self.names(of: loss, "", ",")) in a store URL)."
        case .misfit(let text): "\(text). Use a migration plan, or another store."
        case .notEmpty: "The store has records already. Restore into a new one."
        }
    }

    /// What a configuration names to let it go.
    private static func names(of loss: SchemaLoss, _ mark: String, _ separator: String) -> String {
        (loss.entities.map(\.name) + loss.properties.map { "\($0.entity).\($0.name)" })
            .map { mark + $0 + mark }.joined(separator: separator)
    }

    private static func wayOut(_ state: String) -> String {
        switch errorClass(ofState: state) {
        case .busy: "Try again when the other session has finished, or wait longer with lockTimeout."
        case .denied: "Give the user the permission, or connect as another one."
        case .missing: "Check the name, or make the database."
        case .conflict: "Read the records again, and save again."
        case .invalid: "Make the value smaller."
        case .damaged: "Check the tables: somebody may have changed them. Restore a backup if need be."
        case .unsupported: "Use a server that has this."
        default: "Check the server, its disk and its connections, then try again."
        }
    }

    /// What sort of thing went wrong.
    public var errorClass: StoreErrorClass {
        switch self {
        case .engine(let state, _, _, _, _): Self.errorClass(ofState: state)
        case .unreachable, .timedOut, .outcomeUnknown, .outcomeForgotten: .failedInputOutput
        case .noConnection: .busy
        case .inUse: .locked
        case .closed: .closed
        case .missing: .missing
        case .notAStore, .damagedValue, .damagedMetadata: .damaged
        case .encoding, .oldServer: .unsupported
        case .newerFormat, .olderFormat, .noSchema, .tooManyColumns: .usage
        case .schemaChanged, .usedByOthers, .schemaTaken, .missingTarget, .stillReferred, .notUnique, .unnamedLoss,
            .misfit, .notEmpty:
            .conflict
        case .unfitValue: .invalid
        }
    }

    private static func errorClass(ofState state: String) -> StoreErrorClass {
        switch state {
        case "55P03", "40001", "40P01", "55006": return .busy
        case "42501", "25006": return .denied
        case "3D000", "3F000": return .missing
        case "42P01", "42703", "42804", "42883", "XX001", "XX002": return .damaged
        case "54000", "54001", "54011", "54023": return .invalid
        default: break
        }
        switch state.prefix(2) {
        case "28": return .denied
        case "23", "40": return .conflict
        case "22": return .invalid
        case "0A": return .unsupported
        default: return .failedInputOutput
        }
    }
}

extension PostgreSQLError: UniqueViolation {
    /// The records of `notUnique`.
    public var uniqueViolation:
        (entity: String, properties: [String], record: PersistentIdentifier, other: PersistentIdentifier)?
    {
        guard case .notUnique(let entity, let properties, let record, let other) = fault else { return nil }
        return (entity, properties, record, other)
    }
}
#endif
