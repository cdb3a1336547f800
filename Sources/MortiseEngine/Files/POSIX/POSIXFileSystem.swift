#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// The operating system's files, on Linux and Apple platforms.
///
/// Durable means what the kernel and the device promise for `fsync`. On Apple platforms both kinds of sync ask the
/// device to empty its cache (`F_FULLFSYNC`), because `fsync` alone does not survive power loss there.
public struct POSIXFileSystem: FileSystem {
    /// Creates a file system backed by the operating system. Instances are interchangeable.
    public init() {}

    /// The process identifier.
    public var processID: Int32 { getpid() }

    /// A random number from the system's generator.
    public func uniqueNumber() -> UInt64 { .random(in: .min ... .max) }

    /// Opens a regular file.
    public func open(_ path: String, mode: OpenMode) throws(FileError) -> any OpenFile {
        try path.check(for: .open)
        // O_NONBLOCK: a FIFO without a partner must not make the open wait.
        var flags = O_CLOEXEC | O_NONBLOCK | O_NOCTTY
        var permissions: UInt32 = 0
        switch mode {
        case .read:
            flags |= O_RDONLY
        case .readWrite:
            flags |= O_RDWR
        case .create(let bits):
            flags |= O_RDWR | O_CREAT
            permissions = bits
        case .createExclusive(let bits):
            flags |= O_RDWR | O_CREAT | O_EXCL
            permissions = bits
        }
        let descriptor = posixOpen(path, flags, permissions)
        guard descriptor >= 0 else { throw openFailure(.lastError, path: path) }
        let file = POSIXFile(descriptor: descriptor, path: path)
        let kind = try file.info().kind
        guard kind == .regular else {
            throw FileError(.notARegularFile(kind), operation: .open, path: path)
        }
        return file
    }

    /// What the file system has free for users without privileges.
    public func freeSpace(at path: String) throws(FileError) -> Int64? {
        try path.check(for: .info)
        var status = statvfs()
        guard statvfs(path, &status) == 0 else { throw FileError(code: .lastError, operation: .info, path: path) }
        // Some file systems do not count.
        if status.f_blocks == 0 { return nil }
        let (bytes, overflow) = UInt64(status.f_bavail).multipliedReportingOverflow(by: UInt64(status.f_frsize))
        return overflow ? .max : Int64(clamping: bytes)
    }

    /// What is at `path`.
    public func info(_ path: String, followingLinks: Bool) throws(FileError) -> FileInfo {
        try path.check(for: .info)
        var status = stat()
        guard (followingLinks ? stat(path, &status) : lstat(path, &status)) == 0 else {
            throw FileError(code: .lastError, operation: .info, path: path)
        }
        return FileInfo(status)
    }

    /// Which file is at `path`, and how long it is.
    public func extent(_ path: String, followingLinks: Bool) throws(FileError) -> FileExtent {
        try path.check(for: .info)
        let found = path.withCString { path in
            Result { () throws(FileError.Code) in try fileExtent(path: path, followingLinks: followingLinks) }
        }
        switch found {
        case .success(let extent): return extent
        case .failure(let code): throw FileError(code: code, operation: .info, path: path)
        }
    }

    /// The text of the symbolic link at `path`.
    public func readLink(_ path: String) throws(FileError) -> String {
        try path.check(for: .readLink)
        // PATH_MAX is 4,096 on Linux and 1,024 on Apple platforms; a longer text could not be opened either.
        var buffer = [CChar](repeating: 0, count: 4_096)
        let count = readlink(path, &buffer, buffer.count)
        guard count >= 0 else { throw FileError(code: .lastError, operation: .readLink, path: path) }
        let bytes = buffer.prefix(count).map(UInt8.init(bitPattern:))
        guard count < buffer.count, let text = String(validating: bytes, as: UTF8.self) else {
            throw FileError(.invalidPath, operation: .readLink, path: path)
        }
        return text
    }

    /// The names in the directory.
    public func list(_ directory: String) throws(FileError) -> [String] {
        try directory.check(for: .list)
        guard let stream = opendir(directory) else {
            throw FileError(code: .lastError, operation: .list, path: directory)
        }
        defer { closedir(stream) }
        var names: [String] = []
        while true {
            errno = 0
            guard let entry = readdir(stream) else {
                // readdir answers nil for the end as well as for an error.
                if errno != 0 { throw FileError(code: .lastError, operation: .list, path: directory) }
                return names
            }
            let name = withUnsafePointer(to: &entry.pointee.d_name) { tuple in
                tuple.withMemoryRebound(to: CChar.self, capacity: MemoryLayout.size(ofValue: tuple.pointee)) {
                    String(validatingCString: $0)
                }
            }
            if let name, name != ".", name != ".." { names.append(name) }
        }
    }

    /// Creates one directory.
    public func createDirectory(_ path: String, permissions: UInt32) throws(FileError) {
        try path.check(for: .createDirectory)
        guard mkdir(path, mode_t(truncatingIfNeeded: permissions)) == 0 else {
            throw FileError(code: .lastError, operation: .createDirectory, path: path)
        }
    }

    /// Renames a file.
    public func rename(_ source: String, to target: String) throws(FileError) {
        try source.check(for: .rename)
        try target.check(for: .rename)
        guard posixRename(source, target) == 0 else {
            throw FileError(code: .lastError, operation: .rename, path: target)
        }
    }

    /// Removes a name.
    public func unlink(_ path: String) throws(FileError) {
        try path.check(for: .unlink)
        guard posixUnlink(path) == 0 else { throw FileError(code: .lastError, operation: .unlink, path: path) }
    }

    /// Makes the directory's entries durable.
    public func syncDirectory(_ path: String) throws(FileError) {
        try path.check(for: .syncDirectory)
        let descriptor = posixOpen(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0)
        guard descriptor >= 0 else { throw FileError(code: .lastError, operation: .syncDirectory, path: path) }
        let code = syncDescriptor(descriptor, .full)
        _ = posixClose(descriptor)
        if let code { throw FileError(code: code, operation: .syncDirectory, path: path) }
    }

    /// Says which kind of file was in the way, where `errno` alone does not.
    private func openFailure(_ code: FileError.Code, path: String) -> FileError {
        switch code {
        case .noDevice, .notSupported, .isDirectory:
            // ENXIO: a FIFO without a reader, a socket, or a device without a driver. Darwin: ENOTSUP for a socket.
            if let kind = try? info(path, followingLinks: true).kind, kind != .regular {
                return FileError(.notARegularFile(kind), operation: .open, path: path, code: code)
            }
            return FileError(code: code, operation: .open, path: path)
        default:
            return FileError(code: code, operation: .open, path: path)
        }
    }
}

extension String {
    // Every save asks for its paths, and going through their characters one by one took as long as the system call.
    private var hasZero: Bool {
        utf8.withContiguousStorageIfAvailable { bytes in
            bytes.baseAddress.map { memchr($0, 0, bytes.count) != nil } ?? false
        } ?? utf8.contains(0)
    }

    /// Throws unless the operating system would see the whole string as a path.
    package func check(for operation: FileError.Operation) throws(FileError) {
        if isEmpty || hasZero { throw FileError(.invalidPath, operation: operation, path: self) }
    }
}
