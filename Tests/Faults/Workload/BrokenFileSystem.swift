public import MortiseEngine
import Synchronization

/// A file system with one classic mistake, as a store over it would have it: to see that the checks notice it.
public final class BrokenFileSystem: FileSystem {
    public enum Mistake: String, CaseIterable, Sendable {
        /// A renaming is taken for durable as it is.
        case skipsDirectorySync
        /// Written is taken for durable.
        case skipsFileSync
        /// A short write is taken for a whole one.
        case ignoresShortWrites
        /// A failed sync of a file is tried once more and believed.
        case retriesFailedSync
        /// A failed sync of a directory is tried once more and believed.
        case retriesFailedDirectorySync
        /// An interrupted write is repeated although it has written.
        case doublesInterruptedWrites
        /// The new content is written over the old one instead of beside it.
        case writesInPlace
        /// Everybody gets the lock.
        case ignoresLocks
        /// A file is looked at once and then taken to stay as it was.
        case remembersInfo
        /// Files left behind by a crash are not found.
        case findsNoOrphans
        /// A symbolic link is taken for the file itself.
        case followsNoLinks
        /// New files get whatever the process's habits give them.
        case forgetsPermissions
        /// A full disk is not noticed.
        case ignoresFullDisk
        /// That a file may not become longer is not noticed.
        case ignoresLengthLimit
        /// That there are no more files to be had is not noticed.
        case ignoresExhaustion
        /// That nothing may be written is not noticed.
        case ignoresReadOnly
        /// Unfinished files are made in another folder.
        case writesElsewhere
        /// What is written stays in the process until the next write, or the end.
        case buffersWrites
        /// A pipe, a device or a folder is taken for a file.
        case takesAnythingForAFile
        /// What was not there when it was first looked for is taken never to appear.
        case remembersAbsence
        /// What cannot be looked at is taken not to be there.
        case takesErrorsForAbsence

        /// Mistakes that only a store can make which replaces its file: a log's is open.
        public static let ofReplacing: [Mistake] = [.remembersAbsence, .takesErrorsForAbsence]
    }

    let base: any FileSystem
    let mistake: Mistake
    private let remembered = Mutex<[String: FileInfo]>([:])
    private let rememberedLinks = Mutex<[String: String]>([:])
    private let absent = Mutex<Set<String>>([])
    /// Where what is still in the process ends, for the paths of the files that it is for.
    fileprivate let buffered = Mutex<[String: Int64]>([:])

    public init(_ base: any FileSystem, mistake: Mistake) {
        self.base = base
        self.mistake = mistake
    }

    public var processID: Int32 { base.processID }
    public func uniqueNumber() -> UInt64 { base.uniqueNumber() }

    public func open(_ path: String, mode: OpenMode) throws(FileError) -> any OpenFile {
        var (path, mode) = (path, mode)
        // The lock file is made where it stays.
        let isLock = path.hasSuffix(".lock")
        if mistake == .writesInPlace, !isLock, case .createExclusive(let permissions) = mode {
            path = Self.target(of: path)
            mode = .create(permissions: permissions)
        }
        if mistake == .writesElsewhere, !isLock, case .createExclusive = mode { path = Self.stray(path) }
        let opened: any OpenFile
        do {
            opened = try base.open(path, mode: mode)
        } catch {
            if case .read = mode, mistake != .takesAnythingForAFile { throw error }
            guard mistake.ignores(error) else { throw error }
            opened = VoidFile(path: path)
        }
        let file = BrokenFile(base: opened, system: self)
        if mistake == .writesInPlace, case .create = mode, !isLock { try file.truncate(to: 0) }
        return file
    }

    public func info(_ path: String, followingLinks: Bool) throws(FileError) -> FileInfo {
        if mistake == .remembersInfo, let info = remembered.withLock({ $0[path] }) { return info }
        let isLock = path.hasSuffix(".lock")
        if mistake == .remembersAbsence, absent.withLock({ $0.contains(path) }) {
            throw FileError(.notFound, operation: .info, path: path)
        }
        var info: FileInfo
        do {
            info = try base.info(path, followingLinks: followingLinks || mistake == .followsNoLinks)
        } catch {
            if mistake == .remembersAbsence, error.reason == .notFound, !isLock {
                _ = absent.withLock { $0.insert(path) }
            }
            if mistake == .takesErrorsForAbsence, !isLock {
                throw FileError(.notFound, operation: .info, path: path)
            }
            throw error
        }
        // A store that buffers counts what it has buffered.
        if let end = buffered.withLock({ $0[path] }) { info.size = max(info.size, end) }
        if mistake == .takesAnythingForAFile, info.kind != .symbolicLink { info.kind = .regular }
        if mistake == .remembersInfo { remembered.withLock { $0[path] = info } }
        return info
    }

    public func readLink(_ path: String) throws(FileError) -> String {
        if mistake == .remembersInfo, let text = rememberedLinks.withLock({ $0[path] }) { return text }
        let text = try base.readLink(path)
        if mistake == .remembersInfo { rememberedLinks.withLock { $0[path] = text } }
        return text
    }

    public func list(_ directory: String) throws(FileError) -> [String] {
        mistake == .findsNoOrphans ? [] : try base.list(directory)
    }

    public func createDirectory(_ path: String, permissions: UInt32) throws(FileError) {
        try base.createDirectory(path, permissions: permissions)
    }

    public func rename(_ source: String, to target: String) throws(FileError) {
        if mistake == .remembersInfo { remembered.withLock { $0 = [:] } }
        if mistake == .writesInPlace { return }
        let source = mistake == .writesElsewhere ? Self.stray(source) : source
        do {
            try base.rename(source, to: target)
        } catch {
            // Of a file that is none nobody misses the name.
            let isVoid = mistake == .ignoresExhaustion && error.reason == .notFound
            if !isVoid, !mistake.ignores(error) { throw error }
        }
    }

    public func unlink(_ path: String) throws(FileError) {
        if mistake == .writesInPlace { return }
        try base.unlink(mistake == .writesElsewhere ? Self.stray(path) : path)
    }

    public func syncDirectory(_ path: String) throws(FileError) {
        switch mistake {
        case .skipsDirectorySync: return
        case .retriesFailedDirectorySync:
            do { try base.syncDirectory(path) } catch { try base.syncDirectory(path) }
        default: try base.syncDirectory(path)
        }
    }

    /// Another place for an unfinished file, beside its folder.
    private static func stray(_ path: String) -> String {
        "/stray-" + path.split(separator: "/").joined(separator: "-")
    }

    /// The file that a temporary is for: `/folder/.name.1-0.mortise-tmp` is for `/folder/name`.
    private static func target(of temporary: String) -> String {
        var parts = temporary.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        guard let last = parts.popLast() else { return temporary }
        return (parts + [last.dropFirst().split(separator: ".").dropLast(2).joined(separator: ".")])
            .joined(separator: "/")
    }
}

extension BrokenFileSystem.Mistake {
    /// Whether a store with this mistake takes no notice of an error.
    fileprivate func ignores(_ error: FileError) -> Bool {
        switch (self, error.reason) {
        case (.ignoresFullDisk, .noSpace), (.ignoresLengthLimit, .fileTooLarge), (.ignoresReadOnly, .readOnly),
            (.ignoresExhaustion, .noSpace), (.ignoresExhaustion, .tooManyOpenFiles),
            (.takesAnythingForAFile, .notARegularFile):
            true
        default: false
        }
    }
}

/// A file that could not be made, for a store that has not noticed: it takes everything and keeps nothing.
private final class VoidFile: OpenFile {
    let path: String
    private let size = Atomic<Int64>(0)

    init(path: String) { self.path = path }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(FileError) -> Int { 0 }
    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(FileError) -> Int {
        size.store(offset + Int64(bytes.count), ordering: .relaxed)
        return bytes.count
    }
    func sync(_ kind: SyncKind) throws(FileError) {}
    func truncate(to size: Int64) throws(FileError) {}
    func info() throws(FileError) -> FileInfo { Self.info(size: size.load(ordering: .relaxed)) }
    static func info(size: Int64) -> FileInfo {
        FileInfo(
            kind: .regular, device: 0, inode: 0, size: size, permissions: 0o600, user: 0, group: 0,
            modified: FileTime(seconds: 0, nanoseconds: 0))
    }
    func setPermissions(_ permissions: UInt32) throws(FileError) {}
    func setOwner(user: UInt32?, group: UInt32?) throws(FileError) {}
    func tryLock(_ kind: LockKind) throws(FileError) -> Bool { true }
    func close() throws(FileError) {}
}

private final class BrokenFile: OpenFile {
    let base: any OpenFile
    let mistake: BrokenFileSystem.Mistake
    private let system: BrokenFileSystem
    /// What was written last, where that stays in the process for a while.
    private let pending = Mutex<(bytes: [UInt8], offset: Int64)?>(nil)
    /// Where the last write ended.
    private let written = Atomic<Int64>(0)

    init(base: any OpenFile, system: BrokenFileSystem) {
        self.base = base
        self.system = system
        mistake = system.mistake
    }

    var path: String { base.path }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(FileError) -> Int {
        try flush()
        return try base.read(into: buffer, at: offset)
    }

    private func flush() throws(FileError) {
        guard let (bytes, offset) = pending.withLock({ $0.take() }) else { return }
        system.buffered.withLock { $0[path] = nil }
        try base.writeAll(bytes, at: offset)
    }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(FileError) -> Int {
        if mistake == .buffersWrites {
            try flush()
            let kept = Array(bytes)
            pending.withLock { $0 = (kept, offset) }
            system.buffered.withLock { $0[path] = offset + Int64(kept.count) }
            return bytes.count
        }
        do {
            let count = try base.write(bytes, at: offset)
            written.store(offset + Int64(count), ordering: .relaxed)
            return mistake == .ignoresShortWrites ? bytes.count : count
        } catch {
            switch (mistake, error.reason) {
            case (_, _) where mistake.ignores(error): return bytes.count
            case (.doublesInterruptedWrites, .interrupted):
                // Behind what is there already, as a writer with a position of its own would.
                _ = try base.write(bytes, at: offset + Int64(bytes.count))
                return try base.write(bytes, at: offset)
            default: throw error
            }
        }
    }

    func startWriting(_ range: Range<Int64>) throws(FileError) { try base.startWriting(range) }

    func sync(_ kind: SyncKind) throws(FileError) {
        switch mistake {
        case .skipsFileSync: return
        case .retriesFailedSync: do { try base.sync(kind) } catch { try base.sync(kind) }
        case .buffersWrites where pending.withLock({ $0 != nil }): return
        default: try base.sync(kind)
        }
    }

    func truncate(to size: Int64) throws(FileError) {
        try flush()
        try base.truncate(to: size)
    }
    func info() throws(FileError) -> FileInfo {
        var info: FileInfo
        do {
            info = try base.info()
        } catch {
            guard mistake == .takesErrorsForAbsence else { throw error }
            return VoidFile.info(size: written.load(ordering: .relaxed))
        }
        if let (bytes, offset) = pending.withLock({ $0 }) { info.size = max(info.size, offset + Int64(bytes.count)) }
        return info
    }
    func setPermissions(_ permissions: UInt32) throws(FileError) {
        if mistake != .forgetsPermissions { try base.setPermissions(permissions) }
    }
    func setOwner(user: UInt32?, group: UInt32?) throws(FileError) { try base.setOwner(user: user, group: group) }
    func tryLock(_ kind: LockKind) throws(FileError) -> Bool {
        mistake == .ignoresLocks ? true : try base.tryLock(kind)
    }
    func close() throws(FileError) {
        try flush()
        try base.close()
    }
}
