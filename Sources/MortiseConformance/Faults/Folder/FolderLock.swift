import Foundation
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// Keeps other stores out of a folder until it is released, or its process ends.
final class FolderLock: Sendable {
    enum Kind {
        /// A lock of `fcntl`, for other processes.
        case processes
        /// A list of the folders that are open, for the own process.
        case own
        /// The same list, by the path that was asked for.
        case ownByPath
        /// A file that says by its presence that the folder is open.
        case leftover
        /// A lock of `fcntl` on a file that lies with the temporary ones and is named after the path.
        case elsewhere
        /// A lock of `flock` on a file that is removed when the lock is released.
        case removed
        /// A lock of `flock` that programs inherit which are started meanwhile.
        case inherited
    }

    private static let held = Mutex<Set<String>>([])
    /// The folder in the list of those that are open.
    private let key: String?
    private let file: FileHandle?
    private let removed: URL?

    /// - Throws: `FolderStoreError.locked`, or `cannotLock` for other reasons.
    init(_ folder: URL, of kinds: Set<Kind>) throws {
        let path = kinds.contains(.ownByPath) ? folder.path : folder.resolvingSymlinksInPath().path
        let name = folder.appending(path: "lock")
        if kinds.contains(.leftover) {
            if FileManager.default.fileExists(atPath: name.path) { throw FolderStoreError.locked }
            try Data().write(to: name)
        }
        let isOwn = kinds.contains(.own) || kinds.contains(.ownByPath)
        if isOwn, !Self.held.withLock({ $0.insert(path).inserted }) { throw FolderStoreError.locked }
        key = isOwn ? path : nil
        do {
            removed = kinds.contains(.removed) ? name : nil
            if kinds.contains(.removed) || kinds.contains(.inherited) {
                file = try Self.flocked(name, isInherited: kinds.contains(.inherited))
            } else if kinds.contains(.elsewhere) {
                let temporary = FileManager.default.temporaryDirectory
                file = try ProcessLock.take(
                    temporary.appending(path: "lock-\(folder.path.replacing("/", with: "-"))"))
            } else {
                file = kinds.contains(.processes) ? try ProcessLock.take(name) : nil
            }
        } catch {
            if isOwn { Self.held.withLock { _ = $0.remove(path) } }
            throw error
        }
    }

    private static func flocked(_ file: URL, isInherited: Bool) throws -> FileHandle {
        let number = open(file.path, O_CREAT | O_RDWR | (isInherited ? 0 : O_CLOEXEC), 0o600)
        guard number >= 0, flock(number, LOCK_EX | LOCK_NB) == 0 else {
            let code = errno
            if number >= 0 { close(number) }
            throw code == EWOULDBLOCK ? FolderStoreError.locked : .cannotLock(code)
        }
        return FileHandle(fileDescriptor: number, closeOnDealloc: true)
    }

    func release() {
        if let removed, let file {
            flock(file.fileDescriptor, LOCK_UN)
            // Long enough for another to come.
            Thread.sleep(forTimeInterval: 0.001)
            try? FileManager.default.removeItem(at: removed)
        }
        try? file?.close()
        if let key { Self.held.withLock { _ = $0.remove(key) } }
    }
}
