import Foundation
import MortiseCore
import MortiseEngine

/// Reads as much of a store's files as can be read.
struct LogSurvey {
    let path: String
    let fileSystem: any FileSystem
    private(set) var problems: [AppendLogError] = []
    private(set) var transactions = 0
    private(set) var tornBytes: Int64 = 0
    /// The frames of kinds that are not known and may be skipped.
    private(set) var laterFrames: [AppendLogError] = []
    /// The records as far as they could be followed.
    private(set) var tables: ReplayTables?
    /// What the checkpoint has, with the log's transactions after it, where the log alone does not make the records.
    private(set) var checkpointAtEnd: ReplayTables?
    /// Whether the log alone makes the records.
    private(set) var isComplete = true
    /// Whether all of the checkpoint can be read.
    private(set) var hasWholeCheckpoint = false
    /// Whether nothing says any more what the store's identifier was.
    private(set) var hasLostIdentifier = false
    /// The log's header, as it was read or found again, and what the checksums of its frames go on from.
    private(set) var log: (header: FileHeader, seed: UInt32)?
    /// No transaction of the store that can be read has a higher number, nor the checkpoint.
    private(set) var lastTransaction: UInt64 = 0
    /// The frames of transactions that cannot be read because their schema is missing.
    private var unread: Set<UInt64> = []

    /// Why the log is not trusted although all of it can be read, or nil.
    private let contradiction: AppendLogError?

    /// With a contradiction the records are taken from the checkpoint, as opening takes them, even if the log has all of them.
    init(path: String, fileSystem: any FileSystem, contradiction: AppendLogError? = nil) {
        self.path = path
        self.fileSystem = fileSystem
        self.contradiction = contradiction
    }

    /// Where a log and its checkpoint differ, both of which can be read; nil if they agree.
    func findContradiction() throws -> AppendLogError? {
        guard problems.isEmpty, try fileSystem.infoIfPresent(checkpointPath, followingLinks: true) != nil else {
            return nil
        }
        do {
            _ = try SoundReading(path, in: fileSystem)
            return nil
        } catch let error as AppendLogError {
            return error.path == checkpointPath ? error : nil
        } catch {
            return nil
        }
    }

    private var checkpointPath: String { StoreFiles(resolved: path).checkpoint }
    /// Stands in for external files, none of which is read here.
    private var external: ExternalFiles { ExternalFiles(beside: path, in: fileSystem) }

    mutating func run() throws {
        let file = try fileSystem.open(path, mode: .read)
        defer { try? file.close() }
        let size = try file.info().size
        let beginning = try file.readAll(count: Int(min(size, Int64(FileHeader.size))), at: 0)
        let header: FileHeader
        var seed: UInt32
        do {
            header = try FileHeader(beginning, expecting: .log)
            seed = header.seed
            isComplete = header.base == 0 && contradiction == nil
            if let contradiction { note(contradiction) }
        } catch {
            note(error)
            let checkpoint = try? CheckpointContent.header(checkpointPath, in: fileSystem)
            guard let found = try HeaderRecovery(beginning, of: file, size: size, checkpoint) else {
                isComplete = false
                return
            }
            header = found.header
            seed = found.seed
            isComplete = found.isExact && header.base == 0
            hasLostIdentifier = found.hasLostIdentifier
        }
        log = (header, seed)
        if header.base != HeaderRecovery.unknownBase { lastTransaction = header.base }
        let reader = FrameReader(file, size: size, seed: seed)
        // Where the log has everything, the checkpoint is looked at later, and only checked where it is not needed.
        let isAlone = isComplete
        var checkpoint = isAlone ? nil : try readCheckpoint(header, reader, isNeeded: true)
        let known = problems.count
        try follow(reader, header, checkpoint, makingRecords: isAlone || !hasWholeCheckpoint)
        // What is wrong with the frames says so itself.
        let isBehind = problems.count == known && reportLogShorterThanCheckpoint(header, size)
        if isAlone {
            checkpoint = try readCheckpoint(header, reader, isNeeded: !isComplete || isBehind)
            // A damaged checkpoint may have less than the remaining log.
            if isBehind, hasWholeCheckpoint { isComplete = false }
        }
        if let checkpoint { lastTransaction = max(lastTransaction, checkpoint.transaction) }
        checkpointAtEnd = checkpoint?.takeTables()
        if !isComplete, let checkpoint {
            try follow(reader, header, behind: checkpoint)
            if var found = checkpointAtEnd {
                // What is left of the history may have what the checkpoint has lost.
                let names = found.catalog.names
                if let tables { found.add(tables) { checkpoint.mayHaveHad(names[$0], $1) } }
                tables = nil
                checkpointAtEnd = found
                tables = found
            }
        }
        if !unread.isEmpty { note(LogFault.schemaMissing(transactions: unread.count)) }
    }

    /// The records that are most, to be changed.
    mutating func takeTables() -> ReplayTables? {
        // A log that is whole needs no checkpoint; one that is not is best followed from there.
        let found = isComplete ? tables : checkpointAtEnd ?? tables
        tables = nil
        checkpointAtEnd = nil
        return found
    }

    mutating func note(_ fault: any Error, of path: String? = nil) {
        if let error = fault as? AppendLogError {
            problems.append(error)
        } else if let fault = fault as? LogFault {
            problems.append(AppendLogError(path: path ?? self.path, fault: fault))
        } else if let fault = fault as? PayloadFault {
            problems.append(
                AppendLogError(
                    path: path ?? self.path,
                    fault: .malformed(part: part(at: path), offset: Int64(fault.offset), what: fault.what)))
        } else if let error = fault as? FileError {
            note(unreadable: error, at: nil, of: path)
        } else {
            problems.append(
                AppendLogError(
                    path: path ?? self.path,
                    fault: .malformed(part: part(at: path), offset: nil, what: "cannot be read: \(fault)")))
        }
    }

    private func part(at path: String?) -> LogFault.Part { path == checkpointPath ? .checkpoint : .log }

    private mutating func note(unreadable error: FileError, at offset: Int64?, of path: String? = nil) {
        problems.append(AppendLogError(path: path ?? self.path, fault: .unreadable(offset: offset, error: error)))
    }

    // MARK: The checkpoint

    /// Reads what can be read of the checkpoint. If its records are not needed, it is only checked.
    private mutating func readCheckpoint(
        _ header: FileHeader, _ reader: FrameReader, isNeeded: Bool
    ) throws -> CheckpointSalvage? {
        if let whole = try readWholeCheckpoint(header, reader, isNeeded: isNeeded) { return whole }
        // Even if its records are not needed, because each of its faults must be reported.
        let found = hasWholeCheckpoint ? nil : salvageCheckpoint(header)
        return isNeeded ? found : nil
    }

    private mutating func readWholeCheckpoint(
        _ header: FileHeader, _ reader: FrameReader, isNeeded: Bool
    ) throws -> CheckpointSalvage? {
        let found: CheckpointContent
        do {
            guard
                let content = try CheckpointContent.read(
                    checkpointPath, of: header, external: external, namesPlaces: true, in: fileSystem)
            else {
                if header.base > 0, !hasRecoveredBase(header) {
                    note(LogFault.checkpointMissing(transaction: header.base))
                }
                return nil
            }
            found = content
            if try reader.hasOther(content.tail, before: content.position, base: header.base) {
                note(LogFault.checkpointOfAnother, of: checkpointPath)
            }
        } catch {
            note(error, of: checkpointPath)
            return nil
        }
        do {
            let inconsistencies = found.version.inconsistencies()
            try found.version.readAll()
            for what in inconsistencies {
                note(
                    LogFault.malformed(part: .checkpoint, offset: nil, what: "contradicts itself: \(what)"),
                    of: checkpointPath)
            }
            hasWholeCheckpoint = true
            return isNeeded ? CheckpointSalvage(found, try found.tables()) : nil
        } catch {
            note(error, of: checkpointPath)
            return nil
        }
    }

    /// A log that ends before the offset that its checkpoint names has lost what is between.
    /// - Returns: whether it does.
    private mutating func reportLogShorterThanCheckpoint(_ header: FileHeader, _ size: Int64) -> Bool {
        guard let place = (try? CheckpointContent.schema(checkpointPath, of: header, in: fileSystem))?.position,
            place.transaction > lastTransaction || place.end > size
        else { return false }
        note(LogFault.logShorterThanCheckpoint(offset: place.end, size: size))
        return true
    }

    private func hasRecoveredBase(_ header: FileHeader) -> Bool { header.base == HeaderRecovery.unknownBase }

    private mutating func salvageCheckpoint(_ header: FileHeader) -> CheckpointSalvage? {
        guard
            let found = try? CheckpointContent.salvage(
                checkpointPath, of: header, external: external, in: fileSystem)
        else { return nil }
        let known = problems
        for problem in found.problems { note(problem, of: checkpointPath) }
        problems = known + problems[known.count...].filter { !known.contains($0) }
        return found
    }

    // MARK: The log

    /// Frames that cannot be read.
    struct Gap {
        let error: any Error
        /// Where the bytes begin that the disk does not give.
        let offset: Int64?
        /// The first that can be read again.
        let next: LogPosition?
        /// Whether more is gone than transactions: a schema, perhaps.
        let losesSchema: Bool
    }

    /// Reads frame after frame, and continues after a damaged one at the next that verifies. `checkpoint` is one whose
    /// position is known not to be inside what was lost. Returns why the frames end, nil after damage.
    func forEachFrame(
        _ reader: FrameReader, _ header: FileHeader, _ checkpoint: CheckpointSalvage?,
        keepingWhole keepsWhole: Bool = false,
        _ body: (ScannedFrame) -> Void, damaged: (Gap) -> Void
    ) throws -> LogEnd? {
        var position = LogPosition.first
        // Bytes in front of the first frame may be missing.
        var start: Int64 = 1
        // Headers whose payloads are not theirs may be many, and each may claim to be long.
        var patience = 8 * reader.size
        while true {
            var last = position
            do {
                let scan = try reader.scan(
                    from: position, allowingGapsTo: header.base, includingUnknown: true, keepingWhole: keepsWhole
                ) { frame in
                    body(frame)
                    last = frame.next
                    return true
                }
                return scan.end
            } catch {
                let offset = reader.lastUnreadable
                if last != position { start = last.end }
                if let failed = try? reader.header(at: last.offset) {
                    patience -= Int64(clamping: min(failed.length, UInt64(reader.size)))
                }
                let next =
                    try patience > 0 ? reader.nextFrame(from: start, except: last.offset, sequence: last.sequence) : nil
                let losesSchema = next.map { mayLoseSchema(reader, from: last, to: $0, checkpoint) } ?? false
                damaged(Gap(error: error, offset: offset, next: next, losesSchema: losesSchema))
                guard let next else { return nil }
                position = next
                start = next.offset + 1
            }
        }
    }

    /// Whether frames are gone of which nothing says that they were no schema.
    private func mayLoseSchema(
        _ reader: FrameReader, from last: LogPosition, to next: LogPosition, _ checkpoint: CheckpointSalvage?
    ) -> Bool {
        // Before a checkpoint transactions may have been dropped earlier, and what is lost matters little.
        let start = checkpoint?.start(before: next) ?? last
        var frames = next.sequence - max(start.sequence, last.sequence)
        let known = max(start.transaction, last.transaction)
        guard next.transaction >= known else { return true }
        // The header of the first may still be there, and say that it was neither.
        if frames > 0, start.sequence <= last.sequence, let header = try? reader.header(at: last.offset),
            header.sequence == last.sequence, header.kind != .schema, !header.kind.isTransaction
        {
            frames -= 1
        }
        return frames > next.transaction - known
    }

    private mutating func follow(
        _ reader: FrameReader, _ header: FileHeader, _ checkpoint: CheckpointSalvage?, makingRecords: Bool
    ) throws {
        var catalog: LogCatalog?
        var state = self
        self.tables = nil
        let end = try forEachFrame(reader, header, checkpoint) { frame in
            state.read(frame, header, makingRecords, &catalog)
        } damaged: { gap in
            if let error = gap.error as? FileError {
                state.note(unreadable: error, at: gap.offset)
            } else {
                state.note(gap.error)
            }
            state.isComplete = false
            if gap.losesSchema { catalog = nil }
        }
        self = state
        if case .torn(let bytes) = end { tornBytes = bytes }
    }

    private mutating func read(
        _ frame: ScannedFrame, _ header: FileHeader, _ makesRecords: Bool, _ catalog: inout LogCatalog?
    ) {
        lastTransaction = max(lastTransaction, frame.header.transaction)
        do {
            switch frame.header.kind {
            case .schema:
                // What follows is not to be read under the schema before it.
                catalog = nil
                let schema = try frame.reading { try $0.schema() }
                let found = LogCatalog(schema, store: header.store.uuidString)
                if makesRecords {
                    if tables == nil { tables = ReplayTables(found) } else { try tables?.migrate(to: schema) }
                }
                catalog = found
            case .transaction, .transactionWithFiles:
                if !frame.isContinued { transactions += 1 }
                guard let catalog else {
                    unread.insert(frame.position.sequence)
                    isComplete = false
                    return
                }
                guard makesRecords else {
                    var ignored = IgnoredRecords()
                    return try frame.reading { try $0.transaction(catalog, to: &ignored) }
                }
                var lenient = LenientReplay(tables: tables.take() ?? ReplayTables(catalog), isStrict: isComplete)
                defer { tables = lenient.tables }
                try frame.reading { try $0.transaction(catalog, to: &lenient) }
            // It changed nothing; the history of the salvaged store has a hole there.
            case .stub: break
            default:
                laterFrames.append(
                    AppendLogError(
                        path: path,
                        fault: .unknownKind(offset: frame.position.offset, kind: frame.header.kind.rawValue)))
            }
        } catch {
            note(error)
            isComplete = false
        }
    }

    /// Follows what comes after a checkpoint; what is wrong with it was noted before.
    private mutating func follow(
        _ reader: FrameReader, _ header: FileHeader, behind checkpoint: CheckpointSalvage
    ) throws {
        var found = checkpointAtEnd.take()
        var knowsSchema = true
        var unread = unread
        _ = try forEachFrame(reader, header, checkpoint) { frame in
            guard checkpoint.isFollowed(by: frame), let catalog = found?.catalog else { return }
            if frame.header.kind == .schema {
                do {
                    let schema = try frame.reading { try $0.schema() }
                    try found?.migrate(to: schema)
                    knowsSchema = true
                } catch {
                    knowsSchema = false
                }
            } else if frame.header.kind.isTransaction, knowsSchema, let tables = found.take() {
                unread.remove(frame.position.sequence)
                var lenient = LenientReplay(tables: tables, isStrict: false)
                defer { found = lenient.tables }
                try? frame.reading { try $0.transaction(catalog, to: &lenient) }
            }
        } damaged: { gap in
            if gap.losesSchema, let next = gap.next, checkpoint.isBefore(next) { knowsSchema = false }
        }
        checkpointAtEnd = found
        self.unread = unread
    }
}

/// Applies what can be applied, and passes over what refers to records that are not there.
struct LenientReplay: TransactionVisitor {
    var tables: ReplayTables
    let isStrict: Bool

    private mutating func attempt(_ body: (inout ReplayTables) throws -> Void) throws {
        do {
            try body(&tables)
        } catch {
            if isStrict { throw error }
        }
    }

    mutating func begin(_ origin: TransactionOrigin, isErasure: Bool, nextSequence: UInt64) throws {
        try attempt { try $0.begin(origin, isErasure: isErasure, nextSequence: nextSequence) }
    }
    mutating func deleted(_ entity: Int, _ sequence: UInt64, preserved: [(slot: Int, value: StoredValue)]) throws {
        try attempt { try $0.deleted(entity, sequence, preserved: preserved) }
    }
    mutating func updated(_ entity: Int, _ sequence: UInt64, _ changes: [(slot: Int, value: StoredValue)]) throws {
        try attempt { try $0.updated(entity, sequence, changes) }
    }
    mutating func inserted(_ entity: Int, _ sequence: UInt64, _ values: ContiguousArray<StoredValue>) throws {
        try attempt { try $0.inserted(entity, sequence, values) }
    }
}
