import Foundation

/// What the system says about one entry of a folder, symbolic links themselves included.
struct FileStatus: Sendable {
    enum Kind: Sendable {
        case file, folder, symbolicLink, special
    }

    let kind: Kind
    /// The size in bytes.
    let size: Int
    let modified: Date
    let identity: FileIdentity

    init(_ status: stat) {
        switch status.st_mode & S_IFMT {
        case S_IFREG: kind = .file
        case S_IFDIR: kind = .folder
        case S_IFLNK: kind = .symbolicLink
        default: kind = .special
        }
        #if canImport(Darwin)
        let time = status.st_mtimespec
        #else
        let time = status.st_mtim
        #endif
        size = Int(status.st_size)
        modified = Date(timeIntervalSince1970: Double(time.tv_sec) + Double(time.tv_nsec) / 1e9)
        identity = FileIdentity(device: UInt64(truncatingIfNeeded: status.st_dev), inode: UInt64(status.st_ino))
    }

    /// The status of what `path` names; a symbolic link is followed.
    ///
    /// - Throws: ``SystemError`` if there is no such entry or it cannot be reached.
    init(ofPath path: String) throws {
        var status = stat()
        guard stat(path, &status) == 0 else { throw SystemError.current }
        self.init(status)
    }
}

/// Tells two files apart: equal for all names of one file, hard links included.
struct FileIdentity: Hashable, Sendable {
    let device: UInt64
    let inode: UInt64
}

/// A refusal of the operating system, described in its own words.
struct SystemError: Error, Equatable, CustomStringConvertible {
    let code: Int32

    /// The error of the system call that failed last on this thread.
    static var current: SystemError { SystemError(code: errno) }

    var description: String { String(cString: strerror(code)) }
}
