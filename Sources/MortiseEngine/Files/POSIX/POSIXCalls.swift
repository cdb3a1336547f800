#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

// Free functions, because inside the types the methods of the same name hide the calls.

func posixOpen(_ path: String, _ flags: Int32, _ permissions: UInt32) -> Int32 {
    open(path, flags, mode_t(truncatingIfNeeded: permissions))
}

func posixClose(_ descriptor: Int32) -> Int32 { close(descriptor) }

func posixRename(_ source: String, _ target: String) -> Int32 { rename(source, target) }

func posixUnlink(_ path: String) -> Int32 { unlink(path) }

/// Syncs an open file or directory; `nil` means success.
func syncDescriptor(_ descriptor: Int32, _ kind: SyncKind) -> FileError.Code? {
    #if canImport(Darwin)
    if fcntl(descriptor, F_FULLFSYNC) == 0 { return nil }
    // Network file systems have no F_FULLFSYNC; there fsync is all there is.
    guard errno == ENOTSUP || errno == EINVAL || errno == ENOTTY else { return .lastError }
    return fsync(descriptor) == 0 ? nil : .lastError
    #else
    switch kind {
    case .data: return fdatasync(descriptor) == 0 ? nil : .lastError
    case .full: return fsync(descriptor) == 0 ? nil : .lastError
    }
    #endif
}

/// Which file is at a path, or is open if the path is nil, without reading its times.
func fileExtent(
    descriptor: Int32 = -1, path: UnsafePointer<CChar>? = nil, followingLinks: Bool = true
) throws(FileError.Code) -> FileExtent {
    // As in the header's struct.
    var extent: (device: UInt64, inode: UInt64, size: Int64) = (0, 0, 0)
    let code = mortise_file_extent(descriptor, path, followingLinks ? 1 : 0, &extent)
    if code != 0 { throw FileError.Code(rawValue: code) }
    return FileExtent(device: extent.device, inode: extent.inode, size: extent.size)
}

/// Has the system begin to write a part of a file; `nil` means that nothing failed so far.
func startWriting(_ descriptor: Int32, _ range: Range<Int64>) -> FileError.Code? {
    let code = mortise_start_writing(descriptor, range.lowerBound, range.upperBound - range.lowerBound)
    return code == 0 ? nil : FileError.Code(rawValue: code)
}

/// The process's own limit on the length of a file in bytes (`ulimit -f`), or `nil` if it has none.
func fileSizeLimit() -> Int64? {
    var limit = rlimit()
    #if canImport(Glibc)
    guard getrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0 else { return nil }
    #else
    guard getrlimit(RLIMIT_FSIZE, &limit) == 0 else { return nil }
    #endif
    return Int64(exactly: limit.rlim_cur)
}

extension FileError.Code {
    /// The calling thread's `errno`.
    static var lastError: FileError.Code { FileError.Code(rawValue: errno) }
}

extension FileInfo {
    init(_ status: stat) {
        #if canImport(Darwin)
        let time = status.st_mtimespec
        #else
        let time = status.st_mtim
        #endif
        self.init(
            kind: FileKind(modeBits: UInt32(status.st_mode)),
            device: UInt64(truncatingIfNeeded: status.st_dev),
            inode: UInt64(truncatingIfNeeded: status.st_ino),
            size: Int64(truncatingIfNeeded: status.st_size),
            permissions: UInt32(status.st_mode) & 0o7777,
            user: status.st_uid,
            group: status.st_gid,
            modified: FileTime(
                seconds: Int64(truncatingIfNeeded: time.tv_sec), nanoseconds: Int64(truncatingIfNeeded: time.tv_nsec)),
            links: UInt64(truncatingIfNeeded: status.st_nlink))
    }
}
