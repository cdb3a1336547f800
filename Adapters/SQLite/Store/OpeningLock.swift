#if SQLite
import CSQLite
import Foundation
import Synchronization

/// A lock that each opening for writing holds together with others, and a migration alone: of a file beside the store's own, since
/// SQLite loses its locks of a file that anybody else in the process closes. The system releases it when the process ends.
final class OpeningLock: Sendable {
    /// What the lock's file has after the name of the store's.
    static let suffix = "-lock"

    private let file: Mutex<Int32>

    init(_ path: String, isExclusive: Bool) throws {
        // Whoever may write the store may hold the lock, as with the files that SQLite makes beside it.
        var status = stat()
        let mode = stat(path, &status) == 0 ? status.st_mode & 0o666 : 0o600
        var descriptor = open(path + Self.suffix, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode)
        if descriptor >= 0 {
            // Without what the process takes away from new files.
            fchmod(descriptor, mode)
        } else if errno == EEXIST {
            descriptor = open(path + Self.suffix, O_RDWR | O_CREAT | O_CLOEXEC, mode)
        }
        guard descriptor >= 0 else {
            let code = errno == EACCES || errno == EPERM || errno == EROFS ? SQLITE_PERM : SQLITE_CANTOPEN
            throw SQLiteError(
                path, .engine(code: code, message: "the lock cannot be opened: \(String(cString: strerror(errno)))"))
        }
        guard flock(descriptor, (isExclusive ? LOCK_EX : LOCK_SH) | LOCK_NB) == 0 else {
            close(descriptor)
            throw SQLiteError(path, .inUse)
        }
        file = Mutex(descriptor)
    }

    /// The lock of an opening. Where a process has died while it changed the store, what it has left is removed first, unless somebody
    /// else has the store open.
    static func ofOpening(_ path: String, isExclusive: Bool) throws -> OpeningLock {
        let copies = StoreCopies(of: path)
        if !copies.haveRemains { return try OpeningLock(path, isExclusive: isExclusive) }
        do {
            let lock = try OpeningLock(path, isExclusive: true)
            copies.sweep()
            if !isExclusive { try lock.share(path) }
            return lock
        } catch let error as SQLiteError where error.fault == .inUse && !isExclusive {
            return try OpeningLock(path, isExclusive: false)
        }
    }

    /// Holds the lock together with others from here on.
    private func share(_ path: String) throws {
        try file.withLock { descriptor in
            if flock(descriptor, LOCK_SH | LOCK_NB) != 0 { throw SQLiteError(path, .inUse) }
        }
    }

    deinit { release() }

    func release() {
        file.withLock { descriptor in
            if descriptor >= 0 { close(descriptor) }
            descriptor = -1
        }
    }
}
#endif
