import Foundation
import MortiseCore
import MortiseEngine

/// Reads a store as opening does, but all of it, and compares what the log and its checkpoint have.
struct SoundReading {
    private(set) var transactions = 0
    private(set) var records = 0
    private(set) var tornBytes: Int64 = 0
    /// The records after the last transaction. External data are only named.
    private(set) var version: EngineVersion?

    /// What contradicts itself among the records.
    private(set) var inconsistencies: [String] = []

    /// A checkpoint that opening does without, because the log reaches back to its beginning.
    private struct Dispensable: Error { let cause: any Error }

    /// Reads a sound log whole. `checkpointPath` is the checkpoint's; nil means the one beside the log.
    /// - Throws: the first fault.
    init(_ path: String, checkpoint checkpointPath: String? = nil, in fileSystem: any FileSystem) throws {
        do {
            self = try SoundReading(reading: path, checkpoint: checkpointPath, in: fileSystem)
        } catch let error as Dispensable {
            throw error.cause
        }
    }

    /// Reads a log whole as opening does, which needs no checkpoint that cannot be read if the log's base is 0.
    /// - Returns: what was read, and why the checkpoint was left aside; nil if it was not.
    /// - Throws: the first fault otherwise.
    static func sparingCheckpoint(
        _ path: String, checkpoint checkpointPath: String, in fileSystem: any FileSystem
    ) throws -> (reading: SoundReading, fault: (any Error)?) {
        do {
            return (try SoundReading(reading: path, checkpoint: checkpointPath, in: fileSystem), nil)
        } catch let error as Dispensable {
            return (
                try SoundReading(reading: path, checkpoint: checkpointPath, isAlone: true, in: fileSystem), error.cause
            )
        }
    }

    private init(
        reading path: String, checkpoint checkpointPath: String?, isAlone: Bool = false, in fileSystem: any FileSystem
    ) throws {
        let checkpointPath = checkpointPath ?? StoreFiles(resolved: path).checkpoint
        let file = try fileSystem.open(path, mode: .read)
        defer { try? file.close() }
        let size = try file.info().size
        let header = try FileHeader(
            try file.readAll(count: Int(min(size, Int64(FileHeader.size))), at: 0), expecting: .log)
        // None of these files is read here.
        let external = ExternalFiles(beside: path, in: fileSystem)
        let checkpoint: CheckpointContent?
        do {
            checkpoint =
                isAlone
                ? nil
                : try CheckpointContent.read(checkpointPath, of: header, external: external, in: fileSystem)
        } catch  where LogContent.isOfCheckpointAlone(error) {
            let cause = (error as? LogFault).map { AppendLogError(path: checkpointPath, fault: $0) } ?? error
            throw header.base == 0 ? Dispensable(cause: cause) : cause
        }
        do {
            try self.init(
                file, size, header, checkpoint, path: path, checkpointPath: checkpointPath, external)
        } catch {
            // Some of it is read only now.
            if header.base == 0, let damage = checkpoint?.version.damage { throw Dispensable(cause: damage) }
            throw error
        }
    }

    private init(
        _ file: any OpenFile, _ size: Int64, _ header: FileHeader, _ checkpoint: CheckpointContent?, path: String,
        checkpointPath: String, _ external: ExternalFiles
    ) throws {
        if checkpoint == nil, header.base > 0 { throw LogFault.checkpointMissing(transaction: header.base) }
        if let place = checkpoint?.position, place.end > size || place.transaction < header.base {
            throw LogFault.checkpointOfAnother
        }
        let store = header.store.uuidString
        var behind = checkpoint.map { LogRecords(replaying: $0.version, store: store, external: external) }
        var alone = header.base == 0 ? LogRecords(nil, store: store, external: external) : nil
        var catalog: LogCatalog?
        let reader = FrameReader(file, size: size, seed: header.seed)
        var isMet = checkpoint == nil
        var hasSchema = true
        func meet(_ position: LogPosition) {
            guard let place = checkpoint?.position, position.sequence == place.sequence else { return }
            isMet = position.end == place.end
            if let schema = alone?.schema ?? catalog?.schema {
                hasSchema = schema == checkpoint?.version.catalog.schema
            }
        }
        let scan = try reader.scan(from: .first, allowingGapsTo: header.base, includingUnknown: true) { frame in
            meet(frame.position)
            if frame.header.kind != .schema, !frame.header.kind.isTransaction { return true }
            if frame.header.kind.isTransaction, !frame.isContinued { transactions += 1 }
            if alone != nil {
                try alone?.apply(frame)
            } else {
                try Self.check(frame, store, &catalog)
            }
            if let place = checkpoint?.position, frame.position.sequence >= place.sequence { try behind?.apply(frame) }
            return true
        }
        meet(scan.position)
        if let checkpoint, try reader.hasOther(checkpoint.tail, before: checkpoint.position, base: header.base) {
            isMet = false
        }
        if !isMet { throw AppendLogError(path: checkpointPath, fault: .checkpointOfAnother) }
        // What follows the checkpoint may have a schema of its own, which hides that.
        if !hasSchema {
            throw AppendLogError(
                path: checkpointPath,
                fault: .malformed(part: .checkpoint, offset: nil, what: "has a different schema from the log's"))
        }
        if case .torn(let bytes) = scan.end { tornBytes = bytes }
        // No frame may be left behind the checkpoint.
        let last = max(scan.position.transaction, header.base)
        guard let schema = (alone ?? behind)?.schema else {
            throw LogFault.damagedFrame(
                offset: LogPosition.first.offset, sequence: 1, reason: "the schema is missing")
        }
        let made = try alone?.version(last, for: schema).version
        alone = nil
        let followed = try behind?.version(last, for: schema).version
        behind = nil
        for what in checkpoint?.version.inconsistencies() ?? [] {
            throw AppendLogError(
                path: checkpointPath,
                fault: .malformed(part: .checkpoint, offset: nil, what: "contradicts itself: \(what)"))
        }
        if let made, let followed, try !made.hasSameRecords(as: followed) {
            throw AppendLogError(
                path: checkpointPath,
                fault: .malformed(part: .checkpoint, offset: nil, what: "has different records from the log's"))
        }
        try followed?.readAll()
        try checkpoint?.version.readAll()
        version = made ?? followed
        inconsistencies = version.map { $0.inconsistencies() + $0.contradictingPairs() } ?? []
        records = version?.tables.values.reduce(0) { $0 + $1.count } ?? 0
    }

    /// Checks a frame of the history before a checkpoint.
    private static func check(_ frame: ScannedFrame, _ store: String, _ catalog: inout LogCatalog?) throws {
        if frame.header.kind == .schema {
            catalog = LogCatalog(try frame.reading { try $0.schema() }, store: store)
            return
        }
        guard let catalog else {
            throw LogFault.malformed(part: .frame, offset: frame.position.offset, what: "has no schema before it")
        }
        var ignored = IgnoredRecords()
        try frame.reading { try $0.transaction(catalog, to: &ignored) }
    }
}

/// Takes a transaction in to see that it can be read, and forgets it.
///
/// A class, because the thread sanitizer takes the place of an empty structure for memory, and looks there.
final class IgnoredRecords: TransactionVisitor {
    func begin(_ origin: TransactionOrigin, isErasure: Bool, nextSequence: UInt64) throws {}
    func deleted(_ entity: Int, _ sequence: UInt64, preserved: [(slot: Int, value: StoredValue)]) throws {}
    func updated(_ entity: Int, _ sequence: UInt64, _ changes: [(slot: Int, value: StoredValue)]) throws {}
    func inserted(_ entity: Int, _ sequence: UInt64, _ values: ContiguousArray<StoredValue>) throws {}
}

extension EngineVersion {
    /// Reads every value; of external data, what the record has.
    /// - Throws: the error of what the version should have and cannot be read.
    func readAll() throws {
        let stored = LogCatalog(catalog.schema, store: catalog.storeIdentifier)
        for (entity, name) in stored.names.enumerated() {
            guard let table = tables[name] else { continue }
            for row in 0..<table.endRow where table.contains(row: row) {
                for slot in stored.layouts[entity].slots.indices { _ = table.storedForm(row: row, slot: slot) }
            }
        }
        if let damage { throw damage }
    }

    /// Whether the records are the same, value for value.
    /// - Throws: the error of what one of the versions should have and cannot be read.
    func hasSameRecords(as other: EngineVersion) throws -> Bool {
        let stored = LogCatalog(catalog.schema, store: catalog.storeIdentifier)
        guard catalog.schema == other.catalog.schema else { return false }
        var isSame = true
        for (entity, name) in stored.names.enumerated() where isSame {
            let (mine, theirs) = (tables[name], other.tables[name])
            guard mine?.count ?? 0 == theirs?.count ?? 0 else { return false }
            guard let mine, let theirs else { continue }
            // Rows lie by ascending numbers on both sides.
            var row = 0
            for own in 0..<mine.endRow where mine.contains(row: own) {
                while row < theirs.endRow, !theirs.contains(row: row) { row += 1 }
                guard row < theirs.endRow, mine.sequence(ofRow: own) == theirs.sequence(ofRow: row),
                    stored.storedSlots[entity].allSatisfy({
                        mine.storedForm(row: own, slot: $0).isIdentical(to: theirs.storedForm(row: row, slot: $0))
                    })
                else {
                    isSame = false
                    break
                }
                row += 1
            }
        }
        // What cannot be read looks like another value.
        if let damage = damage ?? other.damage { throw damage }
        return isSame
    }
}
