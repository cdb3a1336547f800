import MortiseEngine

/// A file system with one classic mistake, to see that the power cuts notice it.
final class BrokenFileSystem: FileSystem {
    enum Mistake: CaseIterable {
        /// A renaming is taken for durable as it is.
        case skipsDirectorySync
        /// Written is taken for durable.
        case skipsFileSync
        /// A short write is taken for a whole one.
        case ignoresShortWrites
        /// A failed sync is tried once more and believed.
        case retriesFailedSync
    }

    let base: any FileSystem
    let mistake: Mistake

    init(base: any FileSystem, mistake: Mistake) {
        self.base = base
        self.mistake = mistake
    }

    var processID: Int32 { base.processID }
    func uniqueNumber() -> UInt64 { base.uniqueNumber() }

    func open(_ path: String, mode: OpenMode) throws(FileError) -> any OpenFile {
        BrokenFile(base: try base.open(path, mode: mode), mistake: mistake)
    }
    func info(_ path: String, followingLinks: Bool) throws(FileError) -> FileInfo {
        try base.info(path, followingLinks: followingLinks)
    }
    func readLink(_ path: String) throws(FileError) -> String { try base.readLink(path) }
    func list(_ directory: String) throws(FileError) -> [String] { try base.list(directory) }
    func createDirectory(_ path: String, permissions: UInt32) throws(FileError) {
        try base.createDirectory(path, permissions: permissions)
    }
    func rename(_ source: String, to target: String) throws(FileError) { try base.rename(source, to: target) }
    func unlink(_ path: String) throws(FileError) { try base.unlink(path) }
    func syncDirectory(_ path: String) throws(FileError) {
        if mistake != .skipsDirectorySync { try base.syncDirectory(path) }
    }
}

private final class BrokenFile: OpenFile {
    let base: any OpenFile
    let mistake: BrokenFileSystem.Mistake

    init(base: any OpenFile, mistake: BrokenFileSystem.Mistake) {
        self.base = base
        self.mistake = mistake
    }

    var path: String { base.path }
    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(FileError) -> Int {
        try base.read(into: buffer, at: offset)
    }
    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(FileError) -> Int {
        let count = try base.write(bytes, at: offset)
        return mistake == .ignoresShortWrites ? bytes.count : count
    }
    func sync(_ kind: SyncKind) throws(FileError) {
        switch mistake {
        case .skipsFileSync:
            return
        case .retriesFailedSync:
            do { try base.sync(kind) } catch { try base.sync(kind) }
        default:
            try base.sync(kind)
        }
    }
    func truncate(to size: Int64) throws(FileError) { try base.truncate(to: size) }
    func info() throws(FileError) -> FileInfo { try base.info() }
    func setPermissions(_ permissions: UInt32) throws(FileError) { try base.setPermissions(permissions) }
    func setOwner(user: UInt32?, group: UInt32?) throws(FileError) { try base.setOwner(user: user, group: group) }
    func tryLock(_ kind: LockKind) throws(FileError) -> Bool { try base.tryLock(kind) }
    func close() throws(FileError) { try base.close() }
}
