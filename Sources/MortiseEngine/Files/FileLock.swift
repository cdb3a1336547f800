import Synchronization

/// The right to write a store, held by one opening of it among all processes.
///
/// The lock is an advisory `flock` on a separate file, `<store>.lock`, beside the file that the store's path leads to.
/// It ends with ``release()``, with the last reference, or with the death of the process, however it dies; a lock file
/// that is left over means nothing. The lock file holds the holder's process identifier in decimal. It is never renamed
/// or removed while the store is in use, because a process that opened it before would then hold a lock that nobody
/// else can see. It is never reached through a symbolic link, and a file of that name that holds anything else is left
/// as it is.
///
/// Readers take no lock. Programs that the process starts do not inherit it. On network file systems it is as good as
/// their `flock`.
public final class FileLock: Sendable {
    /// The store's path, symbolic links at its end resolved.
    package let storePath: String
    /// The lock file's path.
    public var path: String { file.path }
    private let file: any OpenFile
    private let extent: FileExtent
    /// Whether the lock file was made by this lock.
    private let isNew: Bool
    private let held = Atomic<Bool>(true)

    /// Takes the lock, without waiting.
    ///
    /// Two paths that lead to the same store through symbolic links share one lock; two hard links do not, so a store
    /// locks its main file too.
    ///
    /// - Parameters:
    ///   - storePath: The store's path. Nothing needs to exist there yet, but its directory must.
    ///   - kind: Whether others may hold it too, as long as nobody holds it exclusively.
    ///   - permissions: The permission bits that a store yet to be made will get. The lock file has those of the store,
    ///     and its owner may always read and write it: a process that may not write it cannot take the lock.
    ///   - fileSystem: The file system that has the store.
    /// - Throws: ``FileError/Reason/locked(holder:)`` if the lock is held, in this process too; `holder` is then the
    ///   own process identifier. ``FileError/Reason/readOnly`` and ``FileError/Reason/permissionDenied`` if no lock
    ///   file can be made. ``FileError/Reason/notARegularFile(_:)`` if the store or the lock file is something else,
    ///   including a symbolic link at the lock file's path; nothing was made then. ``FileError/Reason/notALockFile`` if
    ///   the file at the lock file's path is not a lock file. Any other ``FileError`` of opening.
    public init(
        forStoreAt storePath: String, kind: LockKind = .exclusive, permissions: UInt32 = 0o600,
        in fileSystem: any FileSystem
    ) throws(FileError) {
        let resolved = try fileSystem.resolvingLinks(storePath)
        self.storePath = resolved
        let store = try fileSystem.infoIfPresent(resolved, followingLinks: true)
        // Before anything is made beside it.
        if let store, store.kind != .regular {
            throw FileError(.notARegularFile(store.kind), operation: .open, path: storePath)
        }
        let wanted = (store?.permissions ?? permissions) & 0o777 | 0o600
        (file, extent, isNew) = try Self.lockedFile(
            StoreFiles(resolved: resolved).lock, permissions: wanted, kind, in: fileSystem)
        // Regardless of the umask and of who created the file; if it is another user's, only they can set its bits.
        if let info = try? file.info(), info.permissions != wanted { try? file.setPermissions(wanted) }
        Self.write("\(fileSystem.processID)\n", to: file)
    }

    deinit { release() }

    /// Whether ``release()`` was not called yet.
    package var isHeld: Bool { held.load(ordering: .acquiring) }

    /// Releases the lock; releasing it again does nothing.
    public func release() {
        guard held.exchange(false, ordering: .acquiringAndReleasing) else { return }
        // Empty, so that the next one to be refused is not shown a holder of yesterday.
        Self.write("", to: file)
        // The lock ends with the descriptor, which is gone even if closing reports an error.
        try? file.close()
    }

    /// Releases the lock after the operation that it was taken for has failed. Removes the lock file if this lock made
    /// it and no other process holds it, so that nothing is left of a store that never existed.
    package func abandon(in fileSystem: any FileSystem) {
        // A process that opened the file meanwhile finds, once it is locked, that its name is gone, and makes another.
        if isNew { remove(in: fileSystem) } else { release() }
    }

    /// Releases the lock, and removes the lock file unless another process holds it too.
    func remove(in fileSystem: any FileSystem) {
        if isHeld, (try? file.tryLock(.exclusive)) == true, (try? isIntact(in: fileSystem)) == true {
            try? fileSystem.unlink(path)
        }
        release()
    }

    /// Makes a shared lock exclusive, or an exclusive one shared.
    /// - Returns: `false` if others hold it too. It then stays shared, unless another process took it exclusively
    ///   meanwhile: check with `isIntact(in:)`, and release it if that throws.
    /// - Throws: ``FileError/Reason/locked(holder:)`` if the lock was lost.
    public func change(to kind: LockKind) throws(FileError) -> Bool {
        guard isHeld else { return false }
        if try retryingInterrupts({ () throws(FileError) in try file.tryLock(kind) }) { return true }
        // Changing a lock may give it up first.
        guard try retryingInterrupts({ () throws(FileError) in try file.tryLock(.shared) }) else {
            throw FileError(.locked(holder: nil), operation: .lock, path: path)
        }
        return false
    }

    /// Whether the lock file at the path is still the one that is locked.
    ///
    /// `false` means that the file was removed or replaced, against the rules: another process may hold "the" lock too.
    public func isIntact(in fileSystem: any FileSystem) throws(FileError) -> Bool {
        guard isHeld else { return false }
        return try Self.isNamed(extent, file.path, in: fileSystem)
    }

    /// The process identifier in the lock file of a store, or `nil` if there is no lock file or it cannot be read.
    ///
    /// It names the last holder, which may hold the lock no longer; only a refused attempt shows that it does.
    package static func lastHolder(ofStoreAt storePath: String, in fileSystem: any FileSystem) -> Int32? {
        guard let resolved = try? fileSystem.resolvingLinks(storePath) else { return nil }
        return holder(in: StoreFiles(resolved: resolved).lock, fileSystem)
    }

    private static func lockedFile(
        _ path: String, permissions: UInt32, _ kind: LockKind, in fileSystem: any FileSystem
    ) throws(FileError) -> (file: any OpenFile, extent: FileExtent, isNew: Bool) {
        // Only a program that keeps removing the file can make an attempt fail, hence the small number.
        for _ in 0..<16 {
            guard let (file, isNew) = try fileSystem.openOwn(path, permissions: permissions) else { continue }
            do throws(FileError) {
                guard try retryingInterrupts({ () throws(FileError) in try file.tryLock(kind) }) else {
                    throw FileError(.locked(holder: holder(in: path, fileSystem)), operation: .lock, path: path)
                }
                // Between open and lock the name may have gone to another file.
                let extent = try retryingInterrupts { () throws(FileError) in try file.extent() }
                if try isNamed(extent, path, in: fileSystem) {
                    try checkIsLockFile(file)
                    return (file, extent, isNew)
                }
            } catch {
                try? file.close()
                throw error
            }
            try? file.close()
        }
        throw FileError(.changed(.replaced), operation: .lock, path: path)
    }

    /// A holder empties the file before it writes its identifier, so a file of that name with other content must not be
    /// taken for a lock file. A crash may leave a part of the text, or zeros.
    private static func checkIsLockFile(_ file: any OpenFile) throws(FileError) {
        let bytes = try file.readAll(count: largestText + 1, at: 0)
        let isText = bytes.allSatisfy { byte in
            (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || byte == UInt8(ascii: "\n") || byte == 0
        }
        guard bytes.count <= largestText, isText else {
            throw FileError(.notALockFile, operation: .lock, path: file.path)
        }
    }

    /// More bytes than any identifier with its line's end has.
    private static let largestText = 32

    private static func isNamed(
        _ extent: FileExtent, _ path: String, in fileSystem: any FileSystem
    ) throws(FileError) -> Bool {
        try fileSystem.extentIfPresent(path, followingLinks: false)?.isSameFile(as: extent) ?? false
    }

    // The text only serves messages: a full disk must not keep anyone from opening a store, to make room for instance.
    private static func write(_ text: String, to file: any OpenFile) {
        try? retryingInterrupts { () throws(FileError) in try file.truncate(to: 0) }
        try? file.writeAll(Array(text.utf8), at: 0)
    }

    private static func holder(in path: String, _ fileSystem: any FileSystem) -> Int32? {
        guard let bytes = try? fileSystem.readWhole(path, limit: Int64(largestText)).bytes,
            let text = String(validating: bytes, as: UTF8.self), text.utf8.last == UInt8(ascii: "\n"),
            let holder = Int32(text.dropLast()), holder > 0
        else { return nil }
        return holder
    }
}
