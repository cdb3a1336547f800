public import MortiseEngine

/// A file system in memory that can fail in every way a real one can, and forget what was not synced.
///
/// It keeps two images: what running programs see, and what a power cut would leave. It counts the operations of the
/// seam, fails or shortens the chosen ones (``inject(_:at:of:times:)``), lets others act or time pass before them
/// (``interject(at:of:times:_:)``), runs out of space (``limits``), and yields the disks that a crash after any operation
/// may leave (``crashed(after:losing:)``, ``forEachCrash(in:limit:_:)``).
///
/// It remembers every byte ever written, in order to go back to any operation: for runs of megabytes, not gigabytes.
///
/// Everything it does follows from its seed and from the order of the calls. Relative paths start at the root.
///
/// Some things that a real disk does it does not. Permission bits and owners are kept but not enforced: inject
/// ``FileError/Code/access`` where that is wanted. Files have no second names, a hole takes memory, and time is the number of
/// changes so far. A synced byte never changes: install damaged bytes with ``install(_:at:permissions:)``. An operation has its
/// whole effect at once, so that no process sees half of another's write.
///
/// One object is one process's view; ``process(_:)`` gives another process a view on the same disk. Any thread may use it.
public final class SimulatedFileSystem: FileSystem {
    /// The process whose view this is.
    public let processID: Int32
    let disk: SimulatedDisk

    /// Creates an empty disk.
    ///
    /// - Parameters:
    ///   - seed: Decides everything that is left to chance.
    ///   - processID: The process whose view the result is.
    public convenience init(seed: UInt64 = 0, processID: Int32 = 1_000) {
        self.init(disk: SimulatedDisk(SimulatedVolume(), seed: seed), processID: processID)
    }

    init(disk: SimulatedDisk, processID: Int32) {
        self.disk = disk
        self.processID = processID
    }

    /// Another process's view on the same disk, with its own open files and locks.
    public func process(_ processID: Int32) -> SimulatedFileSystem {
        SimulatedFileSystem(disk: disk, processID: processID)
    }

    /// Ends this process as `kill -9` does: its files are closed, its locks are free, nothing is lost or synced.
    ///
    /// Files it had open throw ``FileError/Reason/closed`` from now on. Its identifier may be used again.
    public func kill() {
        disk.access { $0.closeAll(of: processID) }
    }

    /// A number from the seed.
    public func uniqueNumber() -> UInt64 {
        disk.access { $0.generator.next() }
    }

    /// Opens a regular file.
    public func open(_ path: String, mode: OpenMode) throws(FileError) -> any OpenFile {
        let handle = try disk.perform(.open, path) { state throws(FileError.Code) in
            try state.open(path, mode: mode, process: processID)
        }
        return SimulatedFile(disk: disk, handle: handle, path: path)
    }

    /// What the limits leave free; nil without a limit. No operation that a fault could strike.
    public func freeSpace(at path: String) throws(FileError) -> Int64? {
        disk.access { state in state.limits.capacity.map { Int64(max(0, $0 - state.usedBytes)) } }
    }

    /// What is at `path`.
    public func info(_ path: String, followingLinks: Bool) throws(FileError) -> FileInfo {
        try disk.perform(.info, path) { state throws(FileError.Code) in
            guard let node = try state.volume.locate(path, followingLinks: followingLinks).node else { throw .noEntry }
            return try state.volume.info(node)
        }
    }

    /// The text of a symbolic link.
    public func readLink(_ path: String) throws(FileError) -> String {
        try disk.perform(.readLink, path) { state throws(FileError.Code) in
            guard let id = try state.volume.locate(path, followingLinks: false).node else { throw .noEntry }
            guard let node = state.volume.nodes[id], node.kind == .symbolicLink else { throw .invalid }
            return node.link
        }
    }

    /// The names in a directory.
    public func list(_ directory: String) throws(FileError) -> [String] {
        try disk.perform(.list, directory) { state throws(FileError.Code) in
            guard let id = try state.volume.locate(directory, followingLinks: true).node else { throw .noEntry }
            guard let node = state.volume.nodes[id], node.kind == .directory else { throw .notDirectory }
            return node.entries.keys.sorted()
        }
    }

    /// Creates one directory.
    public func createDirectory(_ path: String, permissions: UInt32) throws(FileError) {
        try disk.perform(.createDirectory, path) { state throws(FileError.Code) in
            let place = try state.volume.locate(path, followingLinks: false)
            if place.node != nil { throw .exists }
            _ = try state.create(.directory, permissions: permissions, at: place)
        }
    }

    /// Renames a file.
    public func rename(_ source: String, to target: String) throws(FileError) {
        try target.check(for: .rename)
        try disk.perform(.rename, source) { state throws(FileError.Code) in
            if state.limits.isReadOnly { throw .readOnly }
            let from = try state.volume.locate(source, followingLinks: false)
            let to = try state.volume.locate(target, followingLinks: false)
            guard let node = from.node else { throw .noEntry }
            if let old = to.node, state.volume.nodes[old]?.kind == .directory { throw .isDirectory }
            if to.node == node { return }
            state.apply(.rename(node, from: from.directory, from.name, to: to.directory, to.name))
            if let old = to.node { state.forgetIfUnused(old) }
        }
    }

    /// Removes a name.
    public func unlink(_ path: String) throws(FileError) {
        try disk.perform(.unlink, path) { state throws(FileError.Code) in
            if state.limits.isReadOnly { throw .readOnly }
            let place = try state.volume.locate(path, followingLinks: false)
            guard let node = place.node else { throw .noEntry }
            if state.volume.nodes[node]?.kind == .directory { throw .isDirectory }
            state.apply(.unlink(node, from: place.directory, place.name))
            state.forgetIfUnused(node)
        }
    }

    /// Makes the directory's entries durable.
    public func syncDirectory(_ path: String) throws(FileError) {
        try disk.perform(.syncDirectory, path) { state throws(FileError.Code) in
            guard let id = try state.volume.locate(path, followingLinks: true).node else { throw .noEntry }
            guard state.volume.nodes[id]?.kind == .directory else { throw .notDirectory }
            state.apply(.syncDirectory(id))
        } onFailure: { state in
            if let id = try? state.volume.locate(path, followingLinks: true).node {
                state.apply(.failedSyncDirectory(id, seed: state.generator.next()))
            }
        }
    }
}
