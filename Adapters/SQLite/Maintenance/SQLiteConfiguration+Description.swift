#if SQLite
import Foundation
public import MortiseCore
import MortiseSQL

extension SQLiteConfiguration: SelfDescribingConfiguration {
    /// The schema that the file has; nil if there is no file, or if no program with models has opened it.
    /// - Throws: `SQLiteError`.
    public func storedSchema() throws -> StoredSchema? {
        guard SQLiteOpening.exists(path) else { return nil }
        let connection = try SQLiteConnection(path, .readOnly, busyTimeout: busyTimeout)
        defer { connection.close() }
        let metadata = try StoreMetadata(connection)
        return metadata.schemaNumber == 0 ? nil : metadata.schema
    }

    /// A configuration that opens the file for reading only, where all that belongs together is of one state (`pinsReads`).
    public func readOnly() -> SQLiteConfiguration {
        var copy = SQLiteConfiguration(
            name, schema: schema, path: path, allowsSave: false, durability: durability, busyTimeout: busyTimeout,
            cacheBytes: cacheBytes, readers: readers, walLimit: walLimit, dropping: dropping)
        copy.pollInterval = pollInterval
        copy.pinsReads = true
        return copy
    }

    /// A configuration that opens the file for reading only, and keeps no state of it from one save of others to the next.
    public func following() -> SQLiteConfiguration {
        var copy = readOnly()
        copy.pinsReads = false
        return copy
    }

    /// The file's path.
    public var location: String { path }

    /// What the configured durability survives.
    public var durabilityGrade: DurabilityGrade { durability == .full ? .full : .system }

    /// The file and its log, as far as they exist.
    /// - Throws: nothing.
    public func storeFiles() throws -> [StoreFile] {
        [("", "database"), ("-wal", "write-ahead log"), ("-shm", "index of the log"), (OpeningLock.suffix, "lock")]
            .compactMap { suffix, role in
                let file = path + suffix
                guard let attributes = try? FileManager.default.attributesOfItem(atPath: file),
                    let size = attributes[.size] as? NSNumber
                else { return nil }
                return StoreFile(path: file, role: role, bytes: size.int64Value)
            }
    }

    /// The room in the folder of the file.
    /// - Throws: what `FileManager` throws.
    public func freeSpace() throws -> Int64? {
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path(percentEncoded: false)
        let attributes = try FileManager.default.attributesOfFileSystem(forPath: folder)
        return (attributes[.systemFreeSize] as? NSNumber)?.int64Value
    }
}
#endif
