#if SQLite
import CSQLite
import Foundation
import Synchronization

/// A lock that each opening for writing holds together with others, and a migration alone: of a file beside the store's own, since
/// SQLite loses its locks of a file that anybody else in the process closes. The system releases it when the process ends.
final class OpeningLock: Sendable {
    /// What the lock's file has after the name of the store's.
    static let suffix = "-lock"

    /// How long a shared opening waits for somebody who holds the lock alone for a moment, to remove what a dead process has left.
    private static let patience = Duration.milliseconds(500)

    private let file: Mutex<Int32>

    init(_ path: String, isExclusive: Bool) throws {
        // Whoever may write the store may hold the lock, as with the files that SQLite makes beside it.
        var status = stat()
        let mode = stat(path, &status) == 0 ? status.st_mode & 0o666 : 0o600
        let file = Self.file(of: path)
        var descriptor = open(file, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode)
        if descriptor >= 0 {
            // Without what the process takes away from new files.
            fchmod(descriptor, mode)
        } else if errno == EEXIST {
            descriptor = open(file, O_RDWR | O_CREAT | O_CLOEXEC, mode)
        }
        guard descriptor >= 0 else {
            let code = errno == EACCES || errno == EPERM || errno == EROFS ? SQLITE_PERM : SQLITE_CANTOPEN
            throw SQLiteError(
                path, .engine(code: code, message: "the lock cannot be opened: \(String(cString: strerror(errno)))"))
        }
        guard isExclusive ? flock(descriptor, LOCK_EX | LOCK_NB) == 0 : Self.share(descriptor) else {
            close(descriptor)
            throw SQLiteError(path, .inUse)
        }
        self.file = Mutex(descriptor)
    }

    /// The lock's file: one for a store, whatever links lead to it. SQLite keeps its log there, too.
    private static func file(of path: String) -> String {
        guard let found = realpath(path, nil) else { return path + suffix }
        defer { free(found) }
        return String(cString: found) + suffix
    }

    /// The lock of an opening. Where a process has died while it changed the store, what it has left is removed first, unless somebody
    /// else has the store open. What says which process migrated the store stays where `keepingNotice` asks for it.
    static func ofOpening(_ path: String, isExclusive: Bool, keepingNotice: Bool = false) throws -> OpeningLock {
        let copies = StoreCopies(of: path)
        if !copies.haveRemains { return try OpeningLock(path, isExclusive: isExclusive) }
        do {
            let lock = try OpeningLock(path, isExclusive: true)
            copies.sweep(keepingNotice: keepingNotice)
            if !isExclusive { try lock.share(path) }
            return lock
        } catch let error as SQLiteError where error.fault == .inUse && !isExclusive {
            return try OpeningLock(path, isExclusive: false)
        }
    }

    /// Holds the lock together with others from here on.
    private func share(_ path: String) throws {
        try file.withLock { descriptor in
            // The system gives the lock up before it takes the other.
            if !Self.share(descriptor) { throw SQLiteError(path, .inUse) }
        }
    }

    /// - Returns: whether the lock is held, together with others.
    private static func share(_ descriptor: Int32) -> Bool {
        let end = ContinuousClock.now + patience
        while flock(descriptor, LOCK_SH | LOCK_NB) != 0 {
            guard errno == EWOULDBLOCK || errno == EINTR, ContinuousClock.now < end else { return false }
            usleep(5_000)
        }
        return true
    }

    deinit { release() }

    /// False once the lock was released.
    var isHeld: Bool { file.withLock { $0 >= 0 } }

    func release() {
        file.withLock { descriptor in
            if descriptor >= 0 { close(descriptor) }
            descriptor = -1
        }
    }
}

/// By identity, as a part of a configuration.
extension OpeningLock: Hashable {
    static func == (a: OpeningLock, b: OpeningLock) -> Bool { a === b }
    func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
#endif
