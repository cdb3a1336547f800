import Foundation
import MortiseCore
import MortiseEngine

/// What a log and its checkpoint hold, as opening finds it.
struct LogContent {
    let header: FileHeader
    /// The records, under the schema that was last written.
    private(set) var tables: ReplayTables
    /// Behind the last whole frame.
    let position: LogPosition
    let end: LogEnd
    /// Where the frames begin that none calls synced.
    let unsynced: LogPosition
    let ignoredCheckpoint: LogFault?

    var catalog: LogCatalog { tables.catalog }

    /// Reads the checkpoint, where there is one that fits, and the log behind it.
    /// - Throws: `AppendLogError`; `FileError`; `EngineError.schemaMismatch` where the log's own schemas do not follow
    ///   from one another.
    static func read(_ file: any OpenFile, path: String, in fileSystem: any FileSystem) throws -> LogContent {
        let size = try file.info().size
        let beginning = try file.readAll(count: Int(min(size, Int64(FileHeader.size))), at: 0)
        let header = try AppendLogError.naming(path) { try FileHeader(beginning, expecting: .log) }
        let (checkpoint, ignored) = try findCheckpoint(header, path: path, in: fileSystem)
        return try AppendLogError.naming(path) {
            if let place = checkpoint?.position, size < place.end {
                throw LogFault.logShorterThanCheckpoint(offset: place.end, size: size)
            }
            let reader = FrameReader(file, size: size, seed: header.seed)
            var tables = checkpoint?.tables
            let scan = try reader.scan(from: checkpoint?.position ?? .first) { frame in
                try replay(frame, store: header.store.uuidString, into: &tables)
                return true
            }
            guard let tables, let end = scan.end else {
                throw LogFault.damagedFrame(
                    offset: LogPosition.first.offset, sequence: 1, reason: "the schema is not there")
            }
            return LogContent(
                header: header, tables: tables, position: scan.position, end: end, unsynced: scan.unsynced,
                ignoredCheckpoint: ignored)
        }
    }

    private static func findCheckpoint(
        _ header: FileHeader, path: String, in fileSystem: any FileSystem
    ) throws -> (checkpoint: CheckpointContent?, ignored: LogFault?) {
        let checkpointPath = path + LogOpening.checkpointSuffix
        do {
            guard let found = try CheckpointContent.read(checkpointPath, of: header, in: fileSystem) else {
                if header.base > 0 { throw LogFault.checkpointMissing(transaction: header.base) }
                return (nil, nil)
            }
            if found.position.transaction < header.base {
                throw LogFault.checkpointMissing(transaction: header.base)
            }
            return (found, nil)
        } catch let fault as LogFault {
            if header.base == 0 { return (nil, fault) }
            throw AppendLogError(path: checkpointPath, fault: fault)
        }
    }

    static func replay(_ frame: ScannedFrame, store: String, into tables: inout ReplayTables?) throws {
        switch frame.header.kind {
        case .schema:
            let schema = try frame.reading { try $0.schema() }
            if tables == nil {
                tables = ReplayTables(LogCatalog(schema, store: store))
            } else {
                try tables?.migrate(to: schema)
            }
        case .transaction:
            guard var current = tables.take() else {
                throw LogFault.malformed(offset: frame.position.offset, what: "comes before any schema")
            }
            let catalog = current.catalog
            try frame.reading { try $0.transaction(catalog, to: &current) }
            tables = current
        default:
            throw LogFault.malformed(offset: frame.position.offset, what: "does not belong into a log")
        }
    }

    /// The records under a schema of the store's user.
    /// - Throws: `EngineError.schemaMismatch`, `EngineError.notUnique`.
    func version(for schema: StoredSchema) throws -> EngineVersion {
        var tables = tables
        if tables.catalog.schema != schema { try tables.migrate(to: schema) }
        return try tables.version(position.transaction, schema: schema)
    }

    func recovery(keptAside: String?) -> AppendLogRecovery? {
        var report = AppendLogRecovery(lastTransaction: position.transaction)
        report.ignoredCheckpoint = ignoredCheckpoint
        if case .torn(let bytes) = end {
            report.tornAt = position.offset
            report.droppedBytes = bytes
            report.keptAside = keptAside
        }
        return report.tornAt == nil && report.ignoredCheckpoint == nil ? nil : report
    }
}
