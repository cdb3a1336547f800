/// A file system that repeats what a signal interrupted, wherever repeating is safe: opening, looking and listing, cutting
/// and locking.
///
/// Reads and writes are repeated by their own loops. Syncs, renamings and removals are not: whether an interrupted one has
/// done its work is not known, and whoever asked for it has to decide.
public struct RepeatingFileSystem: FileSystem {
    private let base: any FileSystem

    public init(_ base: any FileSystem) { self.base = base }

    public var processID: Int32 { base.processID }
    public func uniqueNumber() -> UInt64 { base.uniqueNumber() }

    public func open(_ path: String, mode: OpenMode) throws(FileError) -> any OpenFile {
        if case .createExclusive = mode { return RepeatingFile(try base.open(path, mode: mode)) }
        return RepeatingFile(try retryingInterrupts { () throws(FileError) in try base.open(path, mode: mode) })
    }
    public func info(_ path: String, followingLinks: Bool) throws(FileError) -> FileInfo {
        try retryingInterrupts { () throws(FileError) in try base.info(path, followingLinks: followingLinks) }
    }
    public func extent(_ path: String, followingLinks: Bool) throws(FileError) -> FileExtent {
        try retryingInterrupts { () throws(FileError) in try base.extent(path, followingLinks: followingLinks) }
    }
    public func readLink(_ path: String) throws(FileError) -> String {
        try retryingInterrupts { () throws(FileError) in try base.readLink(path) }
    }
    public func list(_ directory: String) throws(FileError) -> [String] {
        try retryingInterrupts { () throws(FileError) in try base.list(directory) }
    }
    public func createDirectory(_ path: String, permissions: UInt32) throws(FileError) {
        try base.createDirectory(path, permissions: permissions)
    }
    public func rename(_ source: String, to target: String) throws(FileError) { try base.rename(source, to: target) }
    public func unlink(_ path: String) throws(FileError) { try base.unlink(path) }
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
