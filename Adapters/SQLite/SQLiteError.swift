#if SQLite
import CSQLite
import Foundation
public import MortiseCore

/// Why a store on SQLite is not opened, read or written. It has names and numbers, never values of records.
public struct SQLiteError: ClassifiedStoreError, Hashable {
    /// What went wrong.
    public enum Fault: Sendable, Hashable {
        /// SQLite reports an error: its extended result code, and its message.
        case engine(code: Int32, message: String)
        /// Something exists where a new file was to be made.
        case exists
        /// There is no file.
        case missing
        /// The file at the path is not the one that was opened: somebody has put another there, or has removed it.
        case replaced
        /// The file is empty, or a database without the tables of a store.
        case notAStore
        /// A later version of this library has made the store.
        case newerFormat(found: Int, known: Int)
        /// An earlier version of this library has made the store, and it is open for reading only: its history has not been brought to the
        /// present form.
        case olderFormat
        /// Another process has brought the store to another schema since it was opened.
        case schemaChanged
        /// The store is open, here or in another process, and was to be opened alone; or it is open alone.
        case inUse
        /// The store was closed.
        case closed
        /// The configuration has no schema, although a container gives it one.
        case noSchema
        /// A table has more columns than SQLite takes.
        case tooManyColumns(table: String, count: Int)
        /// A column holds what is no value of its property.
        case damagedValue(record: String, property: String, found: String)
        /// What the store says of itself cannot be read.
        case damagedMetadata(String)
        /// A property has a value that cannot be stored.
        case unfitValue(record: String, property: String)
        /// A record would refer to one that does not exist.
        case missingTarget(record: String, property: String, target: String)
        /// A record that others refer to would be deleted.
        case stillReferred(record: String)
        /// Two records would have the same unique values.
        case notUnique(
            entity: String, properties: [String], record: PersistentIdentifier, other: PersistentIdentifier)
        /// Records do not fit the schema; in words.
        case misfit(String)
        /// Records of another store were to be stored in one that has records.
        case notEmpty
    }

    /// The store's file.
    public let path: String
    /// What went wrong.
    public let fault: Fault

    init(_ path: String, _ fault: Fault) {
        self.path = path
        self.fault = fault
    }

    /// The file, what happened, and the way out.
    public var description: String { "\(path): \(fault)" }

    /// What sort of thing went wrong.
    public var errorClass: StoreErrorClass { fault.errorClass }
}

extension SQLiteError.Fault: CustomStringConvertible {
    /// What happened, and the way out.
    public var description: String {
        switch self {
        case .engine(let code, let message):
            "SQLite reports \"\(message)\" (\(code)). \(Self.wayOut(errorClass))"
        case .exists: "Something exists at that path. Give another one, or remove it."
        case .missing: "There is no such file. Check the path, or open the store with allowsSave to make it."
        case .replaced:
            "The file at that path is not the one that the store has opened. Close the store, and open it again."
        case .notAStore:
            "The file is no store: it is empty, or was made by another program. Check the path, or restore a backup."
        case .newerFormat(let found, let known):
            "The store has format \(found), and this program knows formats up to \(known). Use a newer version of the program."
        case .olderFormat:
            "An earlier version of this library has made the store. Open it once with allowsSave, which brings it to the present form."
        case .schemaChanged:
            "Another process has brought the store to another schema. Open it again, with the models that it has now."
        case .inUse:
            "The store is open elsewhere, or is being migrated. Close it there, or try again when the migration has ended."
        case .closed: "The store is closed. Open it again."
        case .noSchema: "The configuration has no schema. Open the store by a ModelContainer, or set the schema."
        case .tooManyColumns(let table, let count):
            "The table \(table) would have \(count) columns, and SQLite takes 2,000. Divide the model or its hierarchy."
        case .damagedValue(let record, let property, let found):
            "\(property) of \(record) is no value of its kind: found \(found). Restore a backup, or correct it with SQLite."
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
        case .misfit(let text): "\(text). Use a migration plan, or another store."
        case .notEmpty: "The store has records already. Restore into a new one."
        }
    }

    private static func wayOut(_ errorClass: StoreErrorClass) -> String {
        switch errorClass {
        case .busy: "Try again when the other process has finished, or wait longer with busyTimeout."
        case .denied: "Give the user the permission for the file and its folder."
        case .damaged: "Restore a backup, or save what sqlite3 can still read with .recover."
        case .missing: "Check the path."
        case .conflict: "Correct the records that are to be saved."
        case .invalid: "Make the value smaller."
        default: "Check the disk and its free space, then try again."
        }
    }

    /// What sort of thing went wrong.
    public var errorClass: StoreErrorClass {
        switch self {
        case .engine(let code, _): Self.errorClass(ofCode: code)
        case .exists: .alreadyExists
        case .missing: .missing
        case .inUse: .locked
        case .closed: .closed
        case .notAStore, .damagedValue, .damagedMetadata: .damaged
        case .newerFormat, .olderFormat, .noSchema, .tooManyColumns: .usage
        case .schemaChanged, .replaced, .missingTarget, .stillReferred, .notUnique, .misfit, .notEmpty: .conflict
        case .unfitValue: .invalid
        }
    }

    private static func errorClass(ofCode code: Int32) -> StoreErrorClass {
        switch code & 0xFF {
        case SQLITE_BUSY, SQLITE_LOCKED, SQLITE_PROTOCOL: .busy
        case SQLITE_PERM, SQLITE_READONLY, SQLITE_AUTH: .denied
        case SQLITE_CORRUPT, SQLITE_NOTADB, SQLITE_FORMAT, SQLITE_SCHEMA, SQLITE_ERROR, SQLITE_MISMATCH: .damaged
        case SQLITE_CONSTRAINT: .conflict
        case SQLITE_TOOBIG, SQLITE_RANGE: .invalid
        default: .failedInputOutput
        }
    }
}

extension SQLiteError: UniqueViolation {
    /// The records of `notUnique`.
    public var uniqueViolation:
        (entity: String, properties: [String], record: PersistentIdentifier, other: PersistentIdentifier)?
    {
        guard case .notUnique(let entity, let properties, let record, let other) = fault else { return nil }
        return (entity, properties, record, other)
    }
}

extension Int32 {
    /// The code by which SQLite reports an error of the system.
    static func ofSystem(_ number: Int32) -> Int32 {
        switch number {
        case EACCES, EPERM, EROFS: SQLITE_PERM
        case ENOSPC, EDQUOT: SQLITE_FULL
        case EIO: SQLITE_IOERR
        default: SQLITE_CANTOPEN
        }
    }
}

/// The system's words for an error.
func systemText(_ number: Int32) -> String { String(cString: strerror(number)) }
#endif
