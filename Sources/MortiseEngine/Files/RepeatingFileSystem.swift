/// A file system that repeats what a signal interrupted, wherever repeating is safe: opening, examining, listing,
/// truncating and locking.
///
/// Reads and writes are repeated by their own loops. Syncs, renamings and removals are not repeated: whether an
/// interrupted one took effect is unknown, so the caller decides.
public struct RepeatingFileSystem: FileSystem {
    private let base: any FileSystem

    /// Wraps a file system.
    public init(_ base: any FileSystem) { self.base = base }

    /// The process identifier of the wrapped file system.
    public var processID: Int32 { base.processID }
    /// A number of the wrapped file system.
    public func uniqueNumber() -> UInt64 { base.uniqueNumber() }

    /// Opens a file; an interrupted call is repeated, unless it creates the file exclusively.
    public func open(_ path: String, mode: OpenMode) throws(FileError) -> any OpenFile {
        if case .createExclusive = mode { return RepeatingFile(try base.open(path, mode: mode)) }
        return RepeatingFile(try retryingInterrupts { () throws(FileError) in try base.open(path, mode: mode) })
    }
    /// The free space at a path; an interrupted call is repeated.
    public func freeSpace(at path: String) throws(FileError) -> Int64? {
        try retryingInterrupts { () throws(FileError) in try base.freeSpace(at: path) }
    }
    /// Information about a path; an interrupted call is repeated.
    public func info(_ path: String, followingLinks: Bool) throws(FileError) -> FileInfo {
        try retryingInterrupts { () throws(FileError) in try base.info(path, followingLinks: followingLinks) }
    }
    /// Size and identity of a path; an interrupted call is repeated.
    public func extent(_ path: String, followingLinks: Bool) throws(FileError) -> FileExtent {
        try retryingInterrupts { () throws(FileError) in try base.extent(path, followingLinks: followingLinks) }
    }
    /// The target of a symbolic link; an interrupted call is repeated.
    public func readLink(_ path: String) throws(FileError) -> String {
        try retryingInterrupts { () throws(FileError) in try base.readLink(path) }
    }
    /// The names in a directory; an interrupted call is repeated.
    public func list(_ directory: String) throws(FileError) -> [String] {
        try retryingInterrupts { () throws(FileError) in try base.list(directory) }
    }
    /// Makes a directory. An interrupted call is not repeated.
    public func createDirectory(_ path: String, permissions: UInt32) throws(FileError) {
        try base.createDirectory(path, permissions: permissions)
    }
    /// Renames once, without repeating: after an interruption the outcome is unknown.
    public func rename(_ source: String, to target: String) throws(FileError) { try base.rename(source, to: target) }
    /// Unlinks once, without repeating: after an interruption the outcome is unknown.
    public func unlink(_ path: String) throws(FileError) { try base.unlink(path) }
    /// Syncs once. It is not repeated: a second sync may succeed without the data.
    public func syncDirectory(_ path: String) throws(FileError) { try base.syncDirectory(path) }
}

private final class RepeatingFile: OpenFile {
    private let base: any OpenFile

    init(_ base: any OpenFile) { self.base = base }

    var path: String { base.path }
    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(FileError) -> Int {
        try base.read(into: buffer, at: offset)
    }
    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(FileError) -> Int {
        try base.write(bytes, at: offset)
    }
    func sync(_ kind: SyncKind) throws(FileError) { try base.sync(kind) }
    func truncate(to size: Int64) throws(FileError) {
        try retryingInterrupts { () throws(FileError) in try base.truncate(to: size) }
    }
    func info() throws(FileError) -> FileInfo { try retryingInterrupts { () throws(FileError) in try base.info() } }
    func extent() throws(FileError) -> FileExtent {
        try retryingInterrupts { () throws(FileError) in try base.extent() }
    }
    func startWriting(_ range: Range<Int64>) throws(FileError) { try base.startWriting(range) }
    func setPermissions(_ permissions: UInt32) throws(FileError) {
        try retryingInterrupts { () throws(FileError) in try base.setPermissions(permissions) }
    }
    func setOwner(user: UInt32?, group: UInt32?) throws(FileError) { try base.setOwner(user: user, group: group) }
    func tryLock(_ kind: LockKind) throws(FileError) -> Bool {
        try retryingInterrupts { () throws(FileError) in try base.tryLock(kind) }
    }
    func close() throws(FileError) { try base.close() }
}
