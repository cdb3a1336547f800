import Foundation

/// An open folder. Entries are reached through it and not by path, so no path is ever too long and a folder that is
/// moved while it is read stays the same folder. Closed when released.
final class DirectoryHandle {
    /// Which folder this is.
    let identity: FileIdentity
    private let descriptor: Int32

    /// Opens the folder at the NUL-terminated `path`; a symbolic link is followed.
    ///
    /// - Throws: ``SystemError``.
    convenience init(path: [CChar]) throws {
        try self.init(adopting: open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC))
    }

    /// Opens the folder with the NUL-terminated `name` in `parent`; a symbolic link is refused.
    ///
    /// - Throws: ``SystemError``.
    convenience init(name: [CChar], in parent: DirectoryHandle) throws {
        try self.init(adopting: openat(parent.descriptor, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC))
    }

    private init(adopting descriptor: Int32) throws {
        guard descriptor >= 0 else { throw SystemError.current }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else {
            let error = SystemError.current
            close(descriptor)
            throw error
        }
        self.descriptor = descriptor
        self.identity = FileStatus(status).identity
    }

    deinit {
        close(descriptor)
    }

    /// The NUL-terminated names of all entries but `.` and `..`, in byte order. To be called once.
    ///
    /// - Throws: ``SystemError`` if the folder cannot be read to its end.
    func names() throws -> [[CChar]] {
        let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
        guard copy >= 0 else { throw SystemError.current }
        guard let stream = fdopendir(copy) else {
            let error = SystemError.current
            close(copy)
            throw error
        }
        defer { closedir(stream) }
        var names: [[CChar]] = []
        while true {
            errno = 0
            guard let entry = readdir(stream) else {
                if errno != 0 { throw SystemError.current }
                break
            }
            let name = withUnsafePointer(to: &entry.pointee.d_name) { field in
                let start = UnsafeRawPointer(field).assumingMemoryBound(to: CChar.self)
                return Array(UnsafeBufferPointer(start: start, count: strlen(start) + 1))
            }
            if strcmp(name, ".") != 0 && strcmp(name, "..") != 0 { names.append(name) }
        }
        return names.sorted { strcmp($0, $1) < 0 }
    }

    /// The status of the entry with the NUL-terminated `name`; a symbolic link is not followed.
    ///
    /// - Throws: ``SystemError``.
    func status(of name: [CChar]) throws -> FileStatus {
        var status = stat()
        guard fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else { throw SystemError.current }
        return FileStatus(status)
    }

    /// The bytes of the file with the NUL-terminated `name`; nil if it is not a regular file.
    ///
    /// - Throws: ``SystemError`` if it cannot be read, or has more than `limit` bytes (`EFBIG`).
    func contents(of name: [CChar], limit: Int) throws -> [UInt8]? {
        // A pipe of this name would otherwise block.
        let file = openat(descriptor, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        if file < 0, errno == ELOOP { return nil }
        guard file >= 0 else { throw SystemError.current }
        defer { close(file) }
        var status = stat()
        guard fstat(file, &status) == 0 else { throw SystemError.current }
        guard FileStatus(status).kind == .file else { return nil }
        var contents: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = read(file, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw SystemError.current }
            if count == 0 { return contents }
            contents += buffer[..<count]
            guard contents.count <= limit else { throw SystemError(code: EFBIG) }
        }
    }
}
