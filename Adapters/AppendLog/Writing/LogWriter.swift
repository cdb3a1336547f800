import Foundation
import MortiseEngine
import Synchronization

/// Appends frames to a log that it alone writes, and syncs them, many at a time.
///
/// The first failed write or sync ends it: after that the content of the disk is unknown.
///
/// @unchecked Sendable: what changes is behind the condition's lock; the syncs run outside it.
final class LogWriter: @unchecked Sendable {
    /// The step of preallocation: the file is filled with zeros up to the next multiple, in bytes.
    static let allocationStep: Int64 = 256 << 10
    private static let longestGathering: TimeInterval = 0.002

    let path: String
    private let fileSystem: any FileSystem
    private let lock: FileLock
    private let allocationStep: Int64
    private let isShared: Bool
    /// Whether what is appended is waited for at once.
    private let startsWriting: Bool
    private let condition = NSCondition()
    private var file: any OpenFile
    private var header: FileHeader
    private var seed: UInt32
    /// Which file it is; its length is in `allocated`.
    private var extent: FileExtent
    private var position: LogPosition
    /// The length of the file.
    private var allocated: Int64
    /// The highest frame that is known to be on the disk.
    private var synced: UInt64
    /// How many appends there were, and how many of them are on the disk. Unlike frame numbers, this count continues in
    /// a new file, because savers wait for it.
    private var appends: UInt64 = 0
    private var syncedAppends: UInt64 = 0
    /// Frames that this writer has not written, of others or of an earlier process, and that may not be on the disk: from
    /// where, and where they end.
    private var doubtful: (start: LogPosition, end: Int64)?
    /// How far they were written once more.
    private var rewrittenEnd: Int64 = 0
    private var isSyncing = false
    private var waiters = 0
    /// Whether a frame is being written piece by piece, so that nothing else may be appended.
    private var isStreaming = false
    /// How far the file may have been written for that frame, also by a write that failed.
    private var streamReach: Int64 = 0
    /// How many appends the next sync should cover, if callers wait for them.
    private var gathered: UInt64?
    /// The number of savers at the last sync: those whom it covered, and those who came while it ran.
    private var savers: UInt64 = 0
    /// How long the last sync took.
    private var syncTime: TimeInterval = 0
    private var failure: String? { didSet { known.withLock { $0.failure = failure } } }
    /// What is looked at without the lock, which is held while the file is written.
    private let known: Mutex<Known>
    /// An error that occurred before anyone waited; thrown at the first caller that waits.
    private var startFailure: FileError?

    private struct Known {
        var extent: FileExtent
        /// The length of the file; nil while a frame is being written piece by piece, and for a log that others write too.
        var length: Int64?
        var failure: String?
        /// Whether the lock is held, and how often it was taken.
        var isBusy = false
        var uses: UInt64 = 0
    }

    /// Creates a writer that continues at `position`. No frame from `unsynced` on is called synced by a later one;
    /// `synced` is the highest frame that is on the disk nevertheless. Throws `FileError`.
    init(
        _ file: any OpenFile, path: String, header: FileHeader, position: LogPosition, unsynced: LogPosition,
        synced: UInt64, lock: FileLock,
        allocationStep: Int64 = LogWriter.allocationStep, isShared: Bool = false, startsWriting: Bool = false,
        in fileSystem: any FileSystem
    ) throws {
        self.file = file
        self.path = path
        self.header = header
        self.lock = lock
        self.fileSystem = fileSystem
        self.position = position
        self.synced = synced
        self.allocationStep = allocationStep
        self.isShared = isShared
        self.startsWriting = startsWriting
        seed = header.seed
        doubtful = synced < position.sequence - 1 ? (unsynced, position.end) : nil
        extent = try file.extent()
        allocated = extent.size
        known = Mutex(Known(extent: extent, length: isShared ? nil : extent.size))
    }

    /// The position at the end of the log, and which file it is.
    var state: (header: FileHeader, position: LogPosition) { locked { (header, position) } }

    private func locked<R>(_ body: () throws -> R) rethrows -> R {
        lockFile()
        defer { unlockFile() }
        return try body()
    }

    /// Takes the lock to change the file or what is known of it.
    private func lockFile() {
        condition.lock()
        noteUse()
    }

    private func unlockFile() {
        noteState()
        condition.unlock()
    }

    private func noteUse() {
        known.withLock {
            $0.isBusy = true
            $0.uses += 1
        }
    }

    private func noteState() {
        let length: Int64? = isStreaming || isShared ? nil : allocated
        known.withLock {
            $0.extent = extent
            $0.length = length
            $0.isBusy = false
        }
    }

    /// How many threads wait for a sync, or for the end of a frame that is written piece by piece.
    var waiting: Int { locked { waiters } }

    /// With the lock, which is free meanwhile.
    private func wait() {
        waiters += 1
        noteState()
        condition.wait()
        noteUse()
        waiters -= 1
    }

    /// With the lock, once no frame is being written piece by piece.
    private func lockedBetweenFrames<R>(_ body: () throws -> R) rethrows -> R {
        try locked {
            while isStreaming { wait() }
            return try body()
        }
    }

    // MARK: Appending

    /// Appends frames with one write. `transaction` is the number of the transaction that the last of them holds.
    /// - Returns: the number of the last frame, to wait for.
    /// - Throws: `EngineError.latched`, `EngineError.noMoreNumbers`; `FileError`.
    func append(_ frames: [(kind: FrameKind, payload: [UInt8])], transaction: UInt64) throws -> UInt64 {
        try lockedBetweenFrames {
            try checkAppendable(frames.count)
            let isAlone = self.isAlone
            var writer = ByteWriter(capacity: frames.reduce(512) { $0 + $1.payload.count + 128 })
            let next = writer.frames(
                frames, from: position, transaction: transaction, synced: synced, seed: seed)
            let room = [UInt8](repeating: 0, count: room(behind: next.end))
            do {
                // Before them, so that a full disk leaves no whole frame of a save that is refused: others could read it.
                try file.writeAll(room, at: next.end)
                try writer.bytes.withUnsafeBytes { try file.writeAll($0, at: position.offset) }
            } catch {
                // So that the space is free, and the next opening finds a clean end.
                try? file.truncate(to: position.end)
                failure = "\(error)"
                throw error
            }
            if isAlone { startSync(of: position.offset..<next.end) }
            return note(next, writtenTo: next.end + Int64(room.count))
        }
    }

    /// Whether no other save is under way: otherwise its bytes in a page that is being written would have to wait.
    private var isAlone: Bool { startsWriting && savers <= 1 && !isSyncing && appends == syncedAppends }

    private func checkAppendable(_ frames: Int) throws {
        try checkOpen()
        try checkUntouched()
        // No reader takes a higher number, and a checkpoint names the one after the last frame.
        guard UInt64(frames) < EngineVersion.numberLimit - position.sequence else {
            throw EngineError.noMoreNumbers(store: path)
        }
    }

    private func note(_ next: LogPosition, writtenTo end: Int64) -> UInt64 {
        allocated = max(allocated, end)
        position = next
        appends += 1
        if let gathered, appends - syncedAppends >= gathered { condition.broadcast() }
        return appends
    }

    /// How many zeros are written after the last frame.
    private func room(behind end: Int64) -> Int {
        guard end > allocated, allocationStep > 0 else { return 0 }
        return Int((end + allocationStep - 1) / allocationStep * allocationStep - end)
    }

    // MARK: A frame that is written piece by piece

    /// What such a frame starts from.
    struct StreamStart {
        let file: any OpenFile
        let position: LogPosition
        let synced: UInt64
        let seed: UInt32
        /// Whether the device is to begin with each piece.
        let startsWriting: Bool
    }

    /// Lets nothing else be appended until `endStream` or `abandonStream`.
    /// - Throws: as `append`; nothing is to be ended then.
    func beginStream(of frames: Int) throws -> StreamStart {
        try lockedBetweenFrames {
            try checkAppendable(frames)
            isStreaming = true
            streamReach = allocated
            return StreamStart(
                file: file, position: position, synced: synced, seed: seed, startsWriting: isAlone)
        }
    }

    /// Makes what was written durable, and leaves room for `first`, so that `endStream` needs no more space on the disk.
    /// - Returns: how far the file was written.
    /// - Throws: as `append`; the caller must call `abandonStream` then.
    func prepareStream(
        _ start: StreamStart, _ first: [UInt8], next: LogPosition, writtenTo written: Int64
    ) throws -> Int64 {
        try locked {
            try checkOpen()
            let room = room(behind: next.end)
            try checkUntouched(ofLength: max(allocated, written))
            streamReach = max(streamReach, next.end + Int64(room))
            try file.writeAll([UInt8](repeating: 0, count: room), at: next.end)
            // Zeros, as before: they say that no frame begins here.
            try file.writeAll([UInt8](repeating: 0, count: first.count), at: start.position.offset)
            try file.sync(.full)
            return max(written, next.end + Int64(room))
        }
    }

    /// Makes what was written valid by writing `first` at its start, where the frames begin. `next` is the position
    /// after them; `written` is the offset up to which the file was written, 0 if `first` holds everything; `isPrepared` says that
    /// `prepareStream` has made room.
    /// - Returns: the number of the last frame, to wait for.
    /// - Throws: as `append`; the caller must call `abandonStream` then.
    func endStream(
        _ start: StreamStart, _ first: [UInt8], next: LogPosition, writtenTo written: Int64, isPrepared: Bool = false
    ) throws -> UInt64 {
        try locked {
            try checkOpen()
            let room = isPrepared ? 0 : room(behind: next.end)
            try checkUntouched(ofLength: max(allocated, written))
            let zeros = [UInt8](repeating: 0, count: room)
            streamReach = max(streamReach, next.end + Int64(room))
            if room > 0 { try file.writeAll(zeros, at: next.end) }
            try file.writeAll(first, at: start.position.offset)
            if start.startsWriting { startSync(of: start.position.offset..<next.end) }
            isStreaming = false
            condition.broadcast()
            return note(next, writtenTo: max(written, next.end + Int64(zeros.count)))
        }
    }

    /// Checks, before each piece as before each write, that nobody has changed the file: encoding takes long enough for
    /// that. The file was written up to `written` (0 for not at all) and will be written up to `end`. Throws as
    /// `append`.
    func checkStream(writtenTo written: Int64, before end: Int64) throws {
        try locked {
            try checkOpen()
            try checkUntouched(ofLength: max(allocated, written))
            streamReach = max(streamReach, end)
        }
    }

    /// Cuts off what was written of a frame that is not finished, and nothing that others may have written instead.
    /// - Parameters:
    ///   - error: the error of the file, which ends the writer; nil if there was none.
    ///   - written: how far it was written, 0 where nothing was.
    func abandonStream(after error: (any Error)?, writtenTo written: Int64) {
        locked {
            // If two syncs ran at the same time, only one of them might get the error of a failure.
            while isSyncing { wait() }
            isStreaming = false
            condition.broadcast()
            if let error { failure = failure ?? "\(error)" }
            do {
                // A write that failed may have made it longer.
                let longest = error == nil ? 0 : min(try file.extent().size, streamReach)
                try checkUntouched(ofLength: max(allocated, written, longest))
                try file.truncate(to: position.end)
                // What comes next is written over it: no power cut may bring it back after that.
                if error == nil { try file.sync(.full) }
                allocated = position.end
            } catch {
                failure = failure ?? "\(error)"
            }
        }
    }

    /// Lets the device begin, while the saver does what is left to be done before it waits.
    private func startSync(of range: Range<Int64>) {
        do throws(FileError) {
            try file.startWriting(range)
        } catch {
            failure = "\(error)"
            startFailure = error
        }
    }

    private func checkOpen() throws {
        if let failure { throw EngineError.latched(store: path, cause: failure) }
    }

    /// A file that another program has replaced or cut is never written.
    private func checkUntouched() throws { try checkUntouched(ofLength: allocated) }

    /// - Parameter length: nil if any will do.
    /// - Throws: `FileError` where lock or log is another one than was opened.
    private func checkUntouched(ofLength length: Int64?) throws {
        if try !lock.isIntact(in: fileSystem) {
            throw FileError(.changed(.replaced), operation: .lock, path: lock.path)
        }
        try checkNamed(extent, ofLength: length)
    }

    private func checkNamed(_ extent: FileExtent, ofLength length: Int64?) throws {
        guard let named = try fileSystem.extentIfPresent(path, followingLinks: true) else {
            throw FileError(.changed(.deleted), operation: .write, path: path)
        }
        guard named.isSameFile(as: extent) else {
            throw FileError(.changed(.replaced), operation: .write, path: path)
        }
        if let length, named.size != length {
            let change: FileChange =
                named.size < length
                ? .truncated(from: length, to: named.size) : .extended(from: length, to: named.size)
            throw FileError(.changed(change), operation: .write, path: path)
        }
    }

    // MARK: Syncing

    /// Returns once what was appended is on the disk. The first caller syncs for all that have appended by then; if
    /// several save at the same time, it waits a moment for the others.
    /// - Throws: `FileError` or `EngineError.latched` if a sync failed; it is not tried again.
    func sync(upTo append: UInt64) throws {
        lockFile()
        defer { unlockFile() }
        while syncedAppends < append {
            if let error = startFailure.take() { throw error }
            try checkOpen()
            if isSyncing {
                wait()
                continue
            }
            isSyncing = true
            gather()
            let target = self.target
            let file = file
            unlockFile()
            let start = DispatchTime.now().uptimeNanoseconds
            let result = Result { () throws(FileError) in try file.sync(.data) }
            let end = DispatchTime.now().uptimeNanoseconds
            lockFile()
            syncTime = TimeInterval(end - start) / 1e9
            savers = appends - syncedAppends
            isSyncing = false
            condition.broadcast()
            try take(result, target)
        }
    }

    /// Waits for the savers of the last sync: they come again at about the same time, and two alternating groups would
    /// wait for two syncs each. A single saver never waits.
    private func gather() {
        guard savers > 1, appends - syncedAppends < savers else { return }
        gathered = savers
        let end = Date(timeIntervalSinceNow: min(syncTime / 2, Self.longestGathering))
        while appends - syncedAppends < savers, failure == nil {
            if !condition.wait(until: end) { break }
        }
        gathered = nil
    }

    /// What a sync that begins now covers.
    private typealias Target = (frame: UInt64, append: UInt64, rewrittenEnd: Int64)
    private var target: Target { (position.sequence - 1, appends, rewrittenEnd) }

    private func take(_ result: Result<Void, FileError>, _ target: Target) throws {
        switch result {
        case .success:
            // Others' frames that came meanwhile are still to be written once more, those before them with them.
            if let doubtful, doubtful.end <= target.rewrittenEnd { self.doubtful = nil }
            synced = max(synced, min(target.frame, doubtful.map { $0.start.sequence - 1 } ?? target.frame))
            syncedAppends = max(syncedAppends, target.append)
        case .failure(let error):
            failure = failure ?? "\(error)"
            throw error
        }
    }

    /// Syncs everything that was appended so far.
    func syncAll() throws { try sync(upTo: locked { appends }) }

    /// Makes every frame that the log has now durable, including those that this writer has only read. In a shared log
    /// only the holder of the turn calls this.
    ///
    /// A failed sync ends the writer. A failed write does not, because the file already holds what it would write.
    func settle() throws {
        let last = try locked {
            if let error = startFailure.take() { throw error }
            try checkOpen()
            try noteLength()
            try writeDoubtful()
            // Those frames belong to no append, so a sync has to be requested.
            if doubtful != nil { appends += 1 }
            return appends
        }
        try sync(upTo: last)
    }

    // MARK: A log that others write too

    /// Whether the file has bytes where the next frame would begin.
    func hasMore() throws -> Bool {
        try locked {
            try checkOpen()
            let bytes = try file.readAll(count: 4, at: position.offset)
            return bytes.contains { $0 != 0 }
        }
    }

    /// The file, for reading. `checkingName` says whether it must still be the one at the path; throws `FileError` if
    /// it is not.
    func currentFile(checkingName: Bool) throws -> any OpenFile {
        try locked {
            try checkOpen()
            if checkingName {
                try noteLength()
                try checkUntouched()
            }
            return file
        }
    }

    /// Others may have made a shared log longer. None makes it shorter than its frames.
    private func noteLength() throws {
        guard isShared else { return }
        let size = try file.extent().size
        if size < position.end {
            throw FileError(.changed(.truncated(from: position.end, to: size)), operation: .write, path: path)
        }
        allocated = size
    }

    /// - Throws: `EngineError.latched`; `FileError` where the log is not the one at the path any more.
    func checkWritable() throws {
        try lockedBetweenFrames {
            try checkOpen()
            try noteLength()
            try checkUntouched()
        }
    }

    /// Whether the next frame could be appended, as far as can be told while another is being written. Waits for no write.
    /// - Throws: as `checkWritable()`; `FileError.Reason.locked` where the lock file was removed or replaced, so that another
    ///   process may have the lock.
    func checkHealth() throws {
        var attempts = 0
        while true {
            let seen = known.withLock { $0 }
            if let failure = seen.failure { throw EngineError.latched(store: path, cause: failure) }
            do {
                if try !lock.isIntact(in: fileSystem) {
                    throw FileError(.locked(holder: nil), operation: .lock, path: lock.path)
                }
                if !seen.isBusy { try checkNamed(seen.extent, ofLength: seen.length) }
                return
            } catch {
                attempts += 1
                // What came meanwhile has changed the file.
                guard known.withLock({ $0.uses != seen.uses }), attempts < 100 else { throw error }
            }
        }
    }

    /// Continues after frames of another process. None of those from `unsynced` on is called synced; `claimed` is the
    /// highest frame that one of them calls synced.
    func follow(to position: LogPosition, unsynced: LogPosition, claimed: UInt64) {
        locked {
            self.position = position
            if let doubtful, doubtful.start.sequence > claimed {
                self.doubtful = (doubtful.start, position.end)
            } else {
                doubtful = unsynced.sequence < position.sequence ? (unsynced, position.end) : nil
            }
        }
    }

    /// Writes again the frames of other processes that no later frame calls synced: their sync may have failed, without
    /// anyone being able to notice later. The next sync makes them durable with this process's own.
    ///
    /// An error ends the writer: it is already past those frames, and further ones would be made without their content.
    func takeOver() throws {
        try locked {
            try checkOpen()
            do {
                try noteLength()
                try writeDoubtful()
            } catch {
                failure = "\(error)"
                throw error
            }
        }
    }

    private func writeDoubtful() throws {
        guard let doubtful else { return }
        synced = min(synced, doubtful.start.sequence - 1)
        var offset = doubtful.start.offset
        while offset < doubtful.end {
            let bytes = try file.readAll(count: Int(min(doubtful.end - offset, 1 << 20)), at: offset)
            if bytes.isEmpty { break }
            try file.writeAll(bytes, at: offset)
            offset += Int64(bytes.count)
        }
        rewrittenEnd = doubtful.end
    }

    /// Keeps others from opening the log.
    /// - Throws: `FileError` with `locked` where others have it open. Where the lock was lost, or may have been, the writer
    ///   takes no more.
    func holdAlone() throws {
        guard isShared else { return }
        let isAlone: Bool
        do {
            isAlone = try lock.change(to: .exclusive)
        } catch {
            locked { failure = failure ?? "\(error)" }
            throw error
        }
        if !isAlone { throw FileError(.locked(holder: nil), operation: .lock, path: lock.path) }
    }

    /// Lets others open the log again.
    func share() {
        guard isShared else { return }
        do {
            _ = try lock.change(to: .shared)
        } catch {
            locked { failure = failure ?? "\(error)" }
        }
    }

    // MARK: Another file

    /// Lets nothing be appended until `releaseAppends`, which the same thread has to call.
    /// - Returns: the position after everything that was appended; all of it is synced.
    func holdAppends() throws -> LogPosition {
        lockFile()
        do {
            while isSyncing || isStreaming { wait() }
            try checkOpen()
            try noteLength()
            try checkUntouched()
            if syncedAppends < appends {
                let result = Result { () throws(FileError) in try file.sync(.data) }
                try take(result, target)
            }
            return position
        } catch {
            unlockFile()
            throw error
        }
    }

    /// Goes on in this file, to be held again later.
    func resumeAppends() { unlockFile() }

    /// Goes on in another file, which holds what was appended to this one and has taken its name.
    func releaseAppends(takingUp next: any OpenFile, header: FileHeader, position: LogPosition) throws {
        extent = try next.extent()
        let old = file
        file = next
        self.header = header
        self.position = position
        seed = header.seed
        allocated = extent.size
        synced = position.sequence - 1
        doubtful = nil
        rewrittenEnd = 0
        unlockFile()
        try? old.close()
    }

    /// Continues in this file, unless another file has taken its name (`isReplaced`) or may have.
    func releaseAppends(after error: any Error, isReplaced: Bool) {
        // What failed before the renaming concerned a temporary alone; a failed sync of this file was noted.
        let mayBeReplaced = (error as? FileError).map { $0.outcomeIsUnknown && $0.operation != .sync } ?? false
        if isReplaced || mayBeReplaced { failure = failure ?? "\(error)" }
        unlockFile()
    }

    /// Cuts off what was allocated ahead, and lets nothing be written any more.
    func end(because reason: String) {
        locked {
            if failure == nil, !isShared, allocated > position.end, (try? checkUntouched()) != nil {
                try? file.truncate(to: position.end)
            }
            failure = failure ?? reason
        }
    }

    /// Cuts off what was allocated ahead, and releases file and lock.
    func close() {
        locked {
            while isSyncing || isStreaming { wait() }
            if failure == nil {
                // Others may have gone on in a shared log.
                if !isShared, allocated > position.end, (try? checkUntouched()) != nil {
                    try? file.truncate(to: position.end)
                }
                failure = "it was closed"
            }
            try? file.close()
        }
        lock.release()
    }
}
