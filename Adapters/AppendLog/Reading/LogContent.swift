import Foundation
import MortiseCore
import MortiseEngine

/// What a log and its checkpoint hold, as opening finds it.
struct LogContent {
    let header: FileHeader
    /// The records, under the schema that was last written.
    let records: LogRecords
    let schema: StoredSchema
    /// Behind the last whole frame.
    let position: LogPosition
    let end: LogEnd
    /// The last whole frame and its offset; nil if none follows the checkpoint.
    let last: (offset: Int64, header: FrameHeader)?
    /// Where the frames begin that none calls synced.
    let unsynced: LogPosition
    /// The position in the log at which the checkpoint ends, and the checkpoint's length; nil if none was used.
    let checkpoint: (position: LogPosition, size: Int64)?
    let ignoredCheckpoint: LogFault?
    /// Where the checkpoint is that a restoring has left under the name of a temporary; nil if it has its own name.
    let unnamedCheckpoint: String?
    /// What replaces an unreadable checkpoint; nil if nothing does.
    let fallback: CheckpointFallback?

    var store: String { records.store }

    /// Reads the checkpoint, if there is one that fits, and the log after it.
    /// - Throws: `AppendLogError`; `FileError`; `EngineError.schemaMismatch` where the log's own schemas do not follow
    ///   from one another.
    static func read(
        _ file: any OpenFile, path: String, external: ExternalFiles, in fileSystem: any FileSystem
    ) throws -> LogContent {
        let size = try file.info().size
        let beginning = try file.readAll(count: Int(min(size, Int64(FileHeader.size))), at: 0)
        let header = try AppendLogError.naming(path) { try FileHeader(beginning, expecting: .log) }
        let fallback =
            header.base == 0 ? CheckpointFallback(path, header, external: external, in: fileSystem) : nil
        let (checkpoint, ignored, unnamed) = try findCheckpoint(
            header, path: path, external, fallback, in: fileSystem)
        return try AppendLogError.naming(path) {
            if let place = checkpoint?.position, size < place.end {
                throw LogFault.logShorterThanCheckpoint(offset: place.end, size: size)
            }
            // An older copy of the log may be as long as the newer one, and have zeros there.
            if let place = checkpoint?.position, place.end > LogPosition.first.end,
                try file.readAll(count: 1, at: place.end - 1) != [payloadEnd]
            {
                throw LogFault.checkpointOfAnother
            }
            let reader = FrameReader(file, size: size, seed: header.seed)
            if let checkpoint,
                try reader.hasOther(checkpoint.tail, before: checkpoint.position, base: header.base)
            {
                throw LogFault.checkpointOfAnother
            }
            var records = LogRecords(
                checkpoint?.version, store: header.store.uuidString, path: path, external: external)
            var last: (offset: Int64, header: FrameHeader)?
            let scan = try reader.scan(from: checkpoint?.position ?? .first) { frame in
                try records.apply(frame)
                last = (frame.position.offset, frame.wholeHeader)
                return true
            }
            guard let schema = records.schema, let end = scan.end else {
                throw LogFault.damagedFrame(
                    offset: LogPosition.first.offset, sequence: 1, reason: "the schema is missing")
            }
            return LogContent(
                header: header, records: records, schema: schema, position: scan.position, end: end,
                last: last, unsynced: scan.unsynced, checkpoint: checkpoint.map { ($0.position, $0.size) },
                ignoredCheckpoint: ignored, unnamedCheckpoint: unnamed, fallback: fallback)
        }
    }

    private static func findCheckpoint(
        _ header: FileHeader, path: String, _ external: ExternalFiles, _ fallback: CheckpointFallback?,
        in fileSystem: any FileSystem
    ) throws -> (checkpoint: CheckpointContent?, ignored: LogFault?, unnamed: String?) {
        let checkpointPath = StoreFiles(resolved: path).checkpoint
        do {
            guard
                let found = try CheckpointContent.read(
                    checkpointPath, of: header, external: external, restoringFrom: fallback, in: fileSystem)
            else {
                if header.base > 0 { throw LogFault.checkpointMissing(transaction: header.base) }
                return (nil, nil, nil)
            }
            if found.position.transaction < header.base {
                throw LogFault.checkpointMissing(transaction: header.base)
            }
            return (found, nil, nil)
        } catch let fault as LogFault {
            if header.base == 0 { return (nil, fault, nil) }
            if let left = RestoredCheckpoint.find(of: header, path: path, external, in: fileSystem) {
                return (left.content, nil, left.path)
            }
            throw AppendLogError(path: checkpointPath, fault: fault)
        } catch let error as FileError where header.base == 0 && isOfCheckpointAlone(error) {
            return (nil, .unreadable(offset: nil, error: error), nil)
        }
    }

    /// Whether an error of opening a checkpoint says that nothing can be read there: a log with base 0 is then read without it.
    static func isOfCheckpointAlone(_ error: any Error) -> Bool {
        error is LogFault || (error as? FileError)?.operation == .read
    }

    /// Converts the records to the program's schema.
    /// - Parameters:
    ///   - program: the schema that the store is opened with.
    ///   - dropping: entities whose records may be dropped without a new schema version.
    ///   - path: the store's name in errors.
    /// - Returns: the records, what the schema lacks, and what was completed under it.
    /// - Throws: `MigrationError`; `EngineError.schemaMismatch`, `EngineError.notUnique`; `AppendLogError` of a
    ///   checkpoint.
    func version(
        for program: StoredSchema, dropping: [String], path: String
    ) throws -> LogRecords.Converted {
        try schema.checkIsNotNewer(than: program, store: path)
        let found = try EngineError.naming(path) { try records.version(position.transaction, for: program) }
        try found.loss?.check(dropping: dropping, store: path)
        try found.loss?.checkOrigins(from: schema, to: program, dropping: dropping, store: path)
        return found
    }

    func recovery(keptAside: String?) -> AppendLogRecovery? {
        var report = AppendLogRecovery(lastTransaction: position.transaction)
        report.ignoredCheckpoint = ignoredCheckpoint ?? fallback?.fault
        if case .torn(let bytes) = end {
            report.tornAt = position.offset
            report.droppedBytes = bytes
            report.keptAside = keptAside
        }
        return report.tornAt == nil && report.ignoredCheckpoint == nil ? nil : report
    }
}
