#if SQLite
import Foundation
public import MortiseCore
import MortiseSQL
import Synchronization

extension SQLiteStore {
    /// The number of the record that is inserted next.
    public var nextRecordNumber: UInt64 {
        (try? reading { _, moment in UInt64(clamping: moment.nextNumber) }) ?? 1
    }

    /// Stores records of another store under their identifiers.
    /// - Throws: `SQLiteError`, which names the record at fault.
    public func restore(_ records: [DefaultSnapshot], ofStore store: String, nextNumber: UInt64) throws {
        let known = identifier
        do {
            try restoring(records, ofStore: store, nextNumber: nextNumber)
        } catch {
            // The file has the identifier that it had.
            current.withLock { $0 = known }
            throw error
        }
    }

    private func restoring(_ records: [DefaultSnapshot], ofStore store: String, nextNumber: UInt64) throws {
        guard nextNumber < StoreMetadata.numbers.upperBound else {
            throw error(.misfit("The store has used up the numbers that records can have"))
        }
        try pool.writing { connection in
            // They may refer to records of later calls.
            try connection.run("PRAGMA foreign_keys = OFF")
            defer { try? connection.run("PRAGMA foreign_keys = ON") }
            try connection.transaction(writes: true) {
                let moment = try check(connection)
                if identifier != store {
                    for entity in mapping.entities.values {
                        var isEmpty = true
                        try connection.run("SELECT 1 FROM \(SQLName.quoted(entity.table)) t LIMIT 1") { _ in
                            isEmpty = false
                        }
                        guard isEmpty else { throw error(.notEmpty) }
                    }
                    try connection.run("UPDATE mortise_store SET identifier = ?", [.text(store)])
                    current.withLock { $0 = store }
                }
                var writer = SaveWriter(self, connection, moment)
                try writer.insert(records, noting: false)
                try connection.run(
                    "UPDATE mortise_store SET nextNumber = max(nextNumber, ?), holdsNaN = ?",
                    [.integer(Int64(clamping: nextNumber)), .integer(writer.holdsNaN ? 1 : 0)])
            }
        }
    }
}
#endif
