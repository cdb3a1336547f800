import Foundation
import MortiseCore
import MortiseEngine

/// The records of a checkpoint, and where its log goes on.
struct CheckpointContent {
    let tables: ReplayTables
    let position: LogPosition

    /// A place in a log.
    struct Place: Hashable {
        let log: UUID
        let position: LogPosition
    }

    /// Reads a checkpoint whole.
    /// - Returns: nil where there is none.
    /// - Throws: `LogFault`, also for one that belongs to another log; `FileError`.
    static func read(
        _ path: String, of log: FileHeader, in fileSystem: any FileSystem
    ) throws -> CheckpointContent? {
        guard try fileSystem.infoIfPresent(path, followingLinks: true) != nil else { return nil }
        let file = try fileSystem.open(path, mode: .read)
        defer { try? file.close() }
        let size = try file.info().size
        let beginning = try file.readAll(count: Int(min(size, Int64(FileHeader.size))), at: 0)
        let header = try FileHeader(beginning, expecting: .checkpoint)
        guard header.store == log.store else { throw LogFault.checkpointOfAnother }
        let reader = FrameReader(file, size: size, seed: header.seed)
        var tables: ReplayTables?
        var end: (nextSequence: UInt64, count: UInt64, places: [Place])?
        let scan = try reader.scan(from: .first) { frame in
            switch frame.header.kind {
            case .schema where tables == nil:
                let schema = try frame.reading { try $0.schema() }
                // The end has the real number; until then every record's is below.
                tables = ReplayTables(LogCatalog(schema, store: log.store.uuidString), nextSequence: .max)
            case .records:
                guard var current = tables.take() else {
                    throw LogFault.malformed(offset: frame.position.offset, what: "comes before any schema")
                }
                let catalog = current.catalog
                try frame.reading { reader in
                    let (entity, count) = try reader.group(catalog)
                    try reader.records(entity, count, catalog) { try current.inserted(entity, $0, $1) }
                }
                tables = current
            case .checkpointEnd:
                end = try frame.reading { try $0.checkpointEnd() }
                return false
            default:
                throw LogFault.malformed(offset: frame.position.offset, what: "does not belong into a checkpoint")
            }
            return true
        }
        guard var tables, let end else {
            throw LogFault.damagedFrame(
                offset: scan.position.offset, sequence: scan.position.sequence, reason: "the checkpoint has no end")
        }
        guard UInt64(tables.count) == end.count, tables.finishLoading(nextSequence: end.nextSequence) else {
            throw LogFault.malformed(offset: scan.position.offset, what: "counts other records than there are")
        }
        guard let place = end.places.first(where: { $0.log == log.file }) else {
            throw LogFault.checkpointOfAnother
        }
        return CheckpointContent(tables: tables, position: place.position)
    }
}

extension ByteWriter {
    mutating func checkpointEnd(
        transaction: UInt64, nextSequence: UInt64, count: UInt64, places: [CheckpointContent.Place]
    ) {
        varint(transaction)
        varint(nextSequence)
        varint(count)
        varint(places.count)
        for place in places {
            uuid(place.log)
            fixed(UInt64(place.position.end))
            fixed(place.position.sequence)
        }
        byte(payloadEnd)
    }
}

extension ByteReader {
    fileprivate mutating func checkpointEnd() throws(PayloadFault) -> (
        nextSequence: UInt64, count: UInt64, places: [CheckpointContent.Place]
    ) {
        let transaction = try varint()
        let nextSequence = try varint()
        let count = try varint()
        var places: [CheckpointContent.Place] = []
        for _ in 0..<(try self.count(of: 32)) {
            let log = try uuid()
            guard let end = Int64(exactly: try fixed(UInt64.self)), end >= Int64(FileHeader.size), end < 1 << 62 else {
                throw fault("names a place outside the log")
            }
            let position = LogPosition(end: end, sequence: try fixed(UInt64.self), transaction: transaction)
            guard position.sequence > 0 else { throw fault("names a place outside the log") }
            places.append(CheckpointContent.Place(log: log, position: position))
        }
        return (nextSequence, count, places)
    }
}
