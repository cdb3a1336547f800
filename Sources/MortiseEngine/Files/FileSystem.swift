/// The narrow seam between file adapters and the operating system.
///
/// Every operation blocks, does exactly one thing, and either does it or throws a ``FileError``. No operation retries:
/// an interrupted call throws ``FileError/Reason/interrupted`` and a transfer may be shorter than asked for. The loops
/// that complete partial transfers live above the seam (``OpenFile/writeAll(_:at:)``,
/// ``OpenFile/readAll(into:at:)``), so that a double can inject both.
///
/// Paths are `String`s in the operating system's syntax; relative ones start at the working directory. A path that is
/// empty or holds a NUL character throws ``FileError/Reason/invalidPath``.
///
/// All operations may be called from any thread.
public protocol FileSystem: Sendable {
    /// The identifier of the calling process, as lock files and names of temporaries show it.
    var processID: Int32 { get }

    /// A number that no other process and no other call is likely to get. Not for secrets.
    func uniqueNumber() -> UInt64

    /// Opens a regular file.
    ///
    /// Never waits: a FIFO, socket, device or directory at `path` throws
    /// ``FileError/Reason/notARegularFile(_:)`` at once and is left unread. Symbolic links are followed, except by
    /// ``OpenMode/createExclusive(permissions:)``. The file is not inherited by programs that the process starts.
    func open(_ path: String, mode: OpenMode) throws(FileError) -> any OpenFile

    /// Describes the file at `path`.
    ///
    /// - Parameters:
    ///   - path: A file, directory or link.
    ///   - followingLinks: `false` describes a symbolic link itself instead of its target.
    /// - Returns: Its kind, identity, size, permissions and times.
    /// - Throws: ``FileError``; with reason ``FileError/Reason/notFound`` if nothing is at `path`.
    func info(_ path: String, followingLinks: Bool) throws(FileError) -> FileInfo

    /// Which file is at `path`, and how long it is, without reading its times. The default implementation asks for all
    /// of its `info`.
    ///
    /// The length must include what was written through open files: a log that is shorter counts as truncated.
    ///
    /// - Parameters:
    ///   - path: A file, directory or link.
    ///   - followingLinks: As in ``info(_:followingLinks:)``.
    /// - Returns: The file's device, inode and length in bytes.
    /// - Throws: As ``info(_:followingLinks:)``.
    func extent(_ path: String, followingLinks: Bool) throws(FileError) -> FileExtent

    /// The text of the symbolic link at `path`, unresolved.
    func readLink(_ path: String) throws(FileError) -> String

    /// The names in the directory, without `.` and `..`, in no particular order.
    ///
    /// Names that are not valid UTF-8 are left out.
    func list(_ directory: String) throws(FileError) -> [String]

    /// Creates one directory; its parent must exist. Durable after ``syncDirectory(_:)`` of the parent.
    func createDirectory(_ path: String, permissions: UInt32) throws(FileError)

    /// Gives the file at `source` the name `target`, atomically replacing a file there.
    ///
    /// Other processes see either the old or the new file at `target`. Durable after ``syncDirectory(_:)``.
    func rename(_ source: String, to target: String) throws(FileError)

    /// Removes the name `path`; a symbolic link is removed, not its target. Durable after ``syncDirectory(_:)``.
    func unlink(_ path: String) throws(FileError)

    /// Makes every creation, renaming and removal in the directory durable.
    ///
    /// After an error nothing is known about them, and calling again proves nothing: do not retry.
    func syncDirectory(_ path: String) throws(FileError)

    /// How many bytes more the calling process may write where `path` is, as far as that is known: quotas and what others write
    /// meanwhile may make it less. The default implementation does not know.
    ///
    /// - Parameter path: A file or directory.
    /// - Returns: The bytes; `nil` if they are not known.
    /// - Throws: ``FileError``; with reason ``FileError/Reason/notFound`` if nothing is at `path`.
    func freeSpace(at path: String) throws(FileError) -> Int64?
}

extension FileSystem {
    /// Not known.
    public func freeSpace(at path: String) throws(FileError) -> Int64? { nil }

    /// The size and identity that `info` reports.
    /// - Throws: what `info` throws.
    public func extent(_ path: String, followingLinks: Bool) throws(FileError) -> FileExtent {
        try info(path, followingLinks: followingLinks).extent
    }
}

/// How ``FileSystem/open(_:mode:)`` opens.
///
/// Permissions are the usual nine bits and are narrowed by the process's umask;
/// ``OpenFile/setPermissions(_:)`` sets them exactly.
public enum OpenMode: Sendable, Hashable {
    /// For reading; the file must exist.
    case read
    /// For reading and writing; the file must exist.
    case readWrite
    /// For reading and writing; made empty if it does not exist.
    case create(permissions: UInt32)
    /// For reading and writing; throws ``FileError/Reason/alreadyExists`` if there is anything at the path.
    case createExclusive(permissions: UInt32)
}
