import Foundation
import MortiseEngine

/// Appends frames to a log that it alone writes, and syncs them, many at a time.
///
/// The first failed write or sync ends it: nobody knows then what is on the disk.
///
/// @unchecked Sendable: what changes is behind the condition's lock; the syncs run outside it.
final class LogWriter: @unchecked Sendable {
    /// How far ahead of the frames the file is filled with zeros, in steps of this.
    static let allocationStep: Int64 = 256 << 10

    let path: String
    private let fileSystem: any FileSystem
    private let lock: FileLock
    private let allocationStep: Int64
    private let condition = NSCondition()
    private var file: any OpenFile
    private var header: FileHeader
    private var seed: UInt32
    private var identity: FileIdentity
    private var position: LogPosition
    /// The length of the file.
    private var allocated: Int64
    /// The highest frame that is known to be on the disk.
    private var synced: UInt64
    private var isSyncing = false
    private var failure: String?

    init(
        _ file: any OpenFile, path: String, header: FileHeader, position: LogPosition, synced: UInt64, lock: FileLock,
        allocationStep: Int64 = LogWriter.allocationStep, in fileSystem: any FileSystem
    ) throws {
        self.file = file
        self.path = path
        self.header = header
        self.lock = lock
        self.fileSystem = fileSystem
        self.position = position
        self.synced = synced
        self.allocationStep = allocationStep
        seed = header.seed
        identity = try file.info().identity
        allocated = identity.size
    }

    /// Where the log stands, and which file it is.
    var state: (header: FileHeader, position: LogPosition) { locked { (header, position) } }

    private func locked<R>(_ body: () throws -> R) rethrows -> R {
        condition.lock()
        defer { condition.unlock() }
        return try body()
    }

    // MARK: Appending

    /// Writes frames behind the last one, in one piece.
    /// - Parameter transaction: the number of the transaction that the last of them holds.
    /// - Returns: the number of the last frame, to wait for.
    /// - Throws: `EngineError.latched`; `FileError`.
    func append(_ frames: [(kind: FrameKind, payload: [UInt8])], transaction: UInt64) throws -> UInt64 {
        try locked {
            try checkOpen()
            try checkUntouched()
            let start = position.offset
            var writer = ByteWriter(capacity: frames.reduce(512) { $0 + $1.payload.count + 128 })
            let next = writer.frames(frames, from: position, transaction: transaction, synced: synced, seed: seed)
            if next.end > allocated, allocationStep > 0 {
                let target = (next.end + allocationStep - 1) / allocationStep * allocationStep
                writer.zeros(Int(target - next.end))
            }
            do {
                try file.writeAll(writer.bytes, at: start)
            } catch {
                // So that the space is free, and the next opening finds a clean end.
                try? file.truncate(to: position.end)
                failure = "\(error)"
                throw error
            }
            allocated = max(allocated, start + Int64(writer.count))
            position = next
            return next.sequence - 1
        }
    }

    private func checkOpen() throws {
        if let failure { throw EngineError.latched(store: path, cause: failure) }
    }

    /// Somebody else's file is never written, and none that somebody cut.
    private func checkUntouched() throws {
        if try !lock.isIntact(in: fileSystem) {
            throw FileError(.changed(.replaced), operation: .lock, path: lock.path)
        }
        let now = try file.info()
        if now.size != allocated {
            let change: FileChange =
                now.size < allocated
                ? .truncated(from: allocated, to: now.size) : .extended(from: allocated, to: now.size)
            throw FileError(.changed(change), operation: .write, path: path)
        }
        guard let named = try fileSystem.infoIfPresent(path, followingLinks: true) else {
            throw FileError(.changed(.deleted), operation: .write, path: path)
        }
        if named.device != identity.device || named.inode != identity.inode {
            throw FileError(.changed(.replaced), operation: .write, path: path)
        }
    }

    // MARK: Syncing

    /// Returns when the frame is on the disk. Whoever comes first syncs for all whose frames are written by then.
    /// - Throws: `FileError` or `EngineError.latched` if a sync failed; it is not tried again.
    func sync(upTo sequence: UInt64) throws {
        condition.lock()
        defer { condition.unlock() }
        while synced < sequence {
            try checkOpen()
            if isSyncing {
                condition.wait()
                continue
            }
            isSyncing = true
            let target = position.sequence - 1
            let file = file
            condition.unlock()
            let result = Result { () throws(FileError) in try file.sync(.data) }
            condition.lock()
            isSyncing = false
            condition.broadcast()
            switch result {
            case .success: synced = max(synced, target)
            case .failure(let error):
                failure = failure ?? "\(error)"
                throw error
            }
        }
    }

    /// Syncs everything that was appended so far.
    func syncAll() throws { try sync(upTo: state.position.sequence - 1) }

    /// Puts another file in the place of this one, with everything that was appended by then.
    ///
    /// Nothing is appended meanwhile.
    /// - Parameter body: makes the other file from the present position, and takes it into use: header, position and
    ///   open file. If it throws with an unknown outcome the writer is latched.
    func exchange(
        _ body: (LogPosition) throws -> (file: any OpenFile, header: FileHeader, position: LogPosition)
    ) throws {
        try locked {
            while isSyncing { condition.wait() }
            try checkOpen()
            try checkUntouched()
            do {
                let old = file
                (file, header, position) = try body(position)
                seed = header.seed
                identity = try file.info().identity
                allocated = identity.size
                synced = position.sequence - 1
                try? old.close()
            } catch let error as FileError where error.outcomeIsUnknown {
                failure = "\(error)"
                throw error
            }
        }
    }

    /// Cuts off what was allocated ahead, and gives file and lock free.
    func close() {
        locked {
            while isSyncing { condition.wait() }
            if failure == nil {
                if allocated > position.end, (try? file.info().size) == allocated {
                    try? file.truncate(to: position.end)
                }
                failure = "it was closed"
            }
            try? file.close()
        }
        lock.release()
    }
}

extension ByteWriter {
    mutating func zeros(_ count: Int) {
        // No memory for what is often a quarter of a megabyte would be better, but one write is one write.
        for _ in 0..<count { byte(0) }
    }

    /// Appends frames as they follow one another from a position, beginning at its offset.
    /// - Returns: the position behind the last.
    mutating func frames(
        _ frames: [(kind: FrameKind, payload: [UInt8])], from position: LogPosition, transaction: UInt64,
        synced: UInt64, seed: UInt32
    ) -> LogPosition {
        var position = position
        let start = position.offset
        for (kind, payload) in frames {
            zeros(Int(position.offset - start) - count)
            let number = kind == .transaction ? transaction : position.transaction
            let header = FrameHeader(
                kind: kind, payload: payload, sequence: position.sequence, transaction: number, synced: synced,
                seed: seed)
            header.write(to: &self, seed: seed)
            payload.withUnsafeBytes { raw($0) }
            position = position.following(header)
        }
        return position
    }
}
