import MortiseCore
import MortiseEngine
import Synchronization

/// The position of a reader in a log that another process writes, and what has been added since.
///
/// A reader takes no lock, so the log may be truncated or replaced while it reads. It continues only as long as the
/// frame that it read last is still in its place; otherwise it stays at the version it has and says why.
///
/// @unchecked Sendable: used under the engine's lock of writers alone, which a reader's engine has nobody else for.
final class ReaderTail: @unchecked Sendable {
    private let path: String
    private let fileSystem: any FileSystem
    /// The schema of the log, up to where it was read.
    private let schema: StoredSchema
    /// Whether the reader shows the log's own rows. Under another schema the frames speak of others, so that it only looks
    /// whether any come.
    private let isUnderItsSchema: Bool
    private var file: any OpenFile
    private var header: FileHeader
    private var position: LogPosition
    /// The last frame that was read, and its offset; nil if everything read so far is in a checkpoint, because the log
    /// is never cut before that.
    private var last: (offset: Int64, header: FrameHeader)?
    private let loss = Mutex<String?>(nil)

    /// Why it cannot continue; nil while it can.
    var reasonForStopping: String? { loss.withLock { $0 } }

    init(
        _ file: any OpenFile, path: String, header: FileHeader, last: (offset: Int64, header: FrameHeader)?,
        position: LogPosition, schema: StoredSchema, isUnderItsSchema: Bool, in fileSystem: any FileSystem
    ) {
        self.file = file
        self.path = path
        self.header = header
        self.last = last
        self.position = position
        self.schema = schema
        self.isUnderItsSchema = isUnderItsSchema
        self.fileSystem = fileSystem
    }

    deinit { try? file.close() }

    /// - Throws: `AppendLogError`, `leftBehind`; `FileError`, `changed`, where nothing is at the path of the log.
    func checkHealth() throws {
        if let reason = reasonForStopping { throw AppendLogError(path: path, fault: .leftBehind(reason: reason)) }
        if try fileSystem.extentIfPresent(path, followingLinks: true) == nil {
            throw FileError(.changed(.deleted), operation: .read, path: path)
        }
    }

    /// The version with everything saved since; nil if there is nothing new that can be read.
    func next(after current: EngineVersion, for feed: ChangeFeed) throws -> FollowedVersion? {
        if reasonForStopping != nil { return nil }
        guard position.transaction == current.number, try stands() else {
            stop("the writer cut off transactions that were already read")
            return nil
        }
        // A file that was replaced has everything up to then, also what its successor has no more.
        let first = try read(after: current, for: feed)
        // What comes after a changed schema is not read from anywhere.
        if reasonForStopping != nil { return first }
        // Its successor can wait for the next time, what was read cannot.
        let version = first?.version ?? current
        guard (try? isReplaced()) == true, (try? takeUp(version)) == true else { return first }
        guard let second = try? read(after: version, for: feed) else { return first }
        return FollowedVersion(second.version, changes: (first?.changes ?? []) + second.changes)
    }

    private func stop(_ reason: String) { loss.withLock { $0 = reason } }

    private func stands() throws -> Bool {
        guard let last else { return true }
        let bytes = try file.readAll(count: FrameHeader.size, at: last.offset)
        return bytes.withUnsafeBytes { FrameHeader($0, seed: header.seed) } == last.header
    }

    private func read(after current: EngineVersion, for feed: ChangeFeed) throws -> FollowedVersion? {
        guard try file.readAll(count: 4, at: position.offset).contains(where: { $0 != 0 }) else { return nil }
        var replay: VersionReplay?
        var (position, last) = (position, last)
        let reader = FrameReader(file, size: try file.extent().size, seed: header.seed)
        do {
            _ = try reader.scan(from: position, allowingGapsTo: header.base) { frame in
                guard isUnderItsSchema else {
                    stop("the log goes on under schema version \(schema.version), which is not the program's schema")
                    return false
                }
                if frame.wholeHeader.kind == .migration {
                    stop("the log goes on under another schema at offset \(frame.position.offset)")
                    return false
                }
                if frame.header.kind == .schema {
                    // Under another schema the rows would be others.
                    guard try frame.reading({ try $0.schema() }) == schema else {
                        stop("the schema changes at offset \(frame.position.offset) of the log")
                        return false
                    }
                } else {
                    var following = replay.take() ?? VersionReplay(current, for: feed)
                    let catalog = following.catalog
                    try frame.reading { reader in
                        try reader.transaction(catalog, to: &following)
                        try following.endTransaction(frame.header.transaction)
                    }
                    replay = following
                }
                position = frame.next
                last = (frame.position.offset, frame.wholeHeader)
                return true
            }
        } catch is LogFault {
            // What looks like damage may be a write in progress; opening the log finds out.
            if replay == nil { return nil }
        }
        var followed: FollowedVersion?
        if let replay, position.transaction > current.number {
            followed = try replay.followed(position.transaction)
        }
        (self.position, self.last) = (position, last)
        return followed
    }

    private func isReplaced() throws -> Bool {
        guard let named = try fileSystem.extentIfPresent(path, followingLinks: true) else { return false }
        return try !named.isSameFile(as: file.extent())
    }

    /// Continues in the file by which a compaction has replaced the log. One that a backup was restored to has other transactions
    /// under the numbers of those that were read.
    /// - Returns: whether it has the last transaction that was read, or all that came after.
    private func takeUp(_ current: EngineVersion) throws -> Bool {
        let next = try fileSystem.open(path, mode: .read)
        var isTaken = false
        defer { if !isTaken { try? next.close() } }
        let size = try next.info().size
        let header = try FileHeader(
            try next.readAll(count: Int(min(size, Int64(FileHeader.size))), at: 0), expecting: .log)
        guard header.store == self.header.store else {
            stop("another store has taken its place")
            return false
        }
        // A compaction drops more than the one before, and nothing comes back.
        if header.base < self.header.base { return stopForBackup() }
        let reader = FrameReader(next, size: size, seed: header.seed)
        let known = try payload(ofTransaction: current.number)
        var isKnown = true
        var reached = header.base
        var found: (position: LogPosition, last: (offset: Int64, header: FrameHeader)?)?
        var inForce: (schema: StoredSchema, offset: Int64)?
        _ = try reader.scan(from: .first, allowingGapsTo: header.base) { frame in
            if frame.header.kind.isTransaction, frame.header.transaction > current.number { return false }
            reached = max(reached, frame.header.transaction)
            if let known, frame.wholeHeader.isOfChanges, frame.header.transaction == current.number {
                isKnown = known.elementsEqual(frame.payload)
            }
            if frame.header.kind == .schema {
                inForce = (try frame.reading { try $0.schema() }, frame.position.offset)
            }
            found = (frame.next, (frame.position.offset, frame.wholeHeader))
            return true
        }
        // Transactions up to the base may have been dropped, also such as this reader has not read.
        guard let found, header.base <= current.number else {
            stop("a compaction dropped transactions that were not yet read")
            return false
        }
        guard isKnown, reached >= current.number else { return stopForBackup() }
        // A history that is kept may begin under older ones; what is to be read comes under the last.
        if let inForce, inForce.schema != schema {
            stop("the schema changes at offset \(inForce.offset) of the log")
            return false
        }
        isTaken = true
        try? file.close()
        (file, self.header, position, last) = (next, header, found.position, found.last)
        position.transaction = current.number
        return true
    }

    private func stopForBackup() -> Bool {
        stop("a backup of the store has taken the log's place")
        return false
    }

    /// What the file that was read has for the last transaction; nil if it has none of that number, or a migration.
    private func payload(ofTransaction number: UInt64) throws -> [UInt8]? {
        if let last, last.header.isOfChanges, last.header.transaction == number {
            return try file.readAll(count: Int(last.header.length), at: last.offset + Int64(FrameHeader.size))
        }
        // All of it is in the checkpoint.
        if number <= header.base { return nil }
        var payload: [UInt8]?
        let reader = FrameReader(file, size: try file.extent().size, seed: header.seed)
        _ = try reader.scan(from: .first, allowingGapsTo: header.base) { frame in
            if frame.wholeHeader.isOfChanges, frame.header.transaction == number { payload = Array(frame.payload) }
            return frame.header.transaction <= number
        }
        return payload
    }
}

extension FrameHeader {
    /// Whether the frame is a transaction and nothing else.
    fileprivate var isOfChanges: Bool { kind.isTransaction && kind != .migration }
}
