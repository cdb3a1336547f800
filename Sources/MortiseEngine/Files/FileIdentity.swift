/// Which file, with which content, was seen at some moment.
///
/// Keep the one from opening or writing a store file and ask ``change(at:in:)`` before the next write, to detect that
/// the file was replaced, deleted or edited meanwhile. An edit that keeps the length, within the file system's time
/// resolution (nanoseconds to some milliseconds; 2 s on FAT), goes undetected; a checksum of the content detects it.
public struct FileIdentity: Sendable, Hashable {
    /// The device that holds the file.
    var device: UInt64
    /// The file's number on that device.
    var inode: UInt64
    /// Its length in bytes.
    var size: Int64
    /// When its content last changed.
    package var modified: FileTime

    /// Creates an identity out of its parts.
    init(device: UInt64, inode: UInt64, size: Int64, modified: FileTime) {
        self.device = device
        self.inode = inode
        self.size = size
        self.modified = modified
    }

    /// What happened to the file at `path` since this identity was taken, or `nil` if nothing did.
    ///
    /// Symbolic links are followed. Throws what ``FileSystem/info(_:followingLinks:)`` throws, except "not found", which
    /// is an answer here.
    public func change(at path: String, in fileSystem: any FileSystem) throws(FileError) -> FileChange? {
        guard let info = try fileSystem.infoIfPresent(path, followingLinks: true) else { return .deleted }
        return change(to: info.identity)
    }

    /// How `later`, seen at the same path, differs from this identity, or `nil` if it does not.
    func change(to later: FileIdentity) -> FileChange? {
        if device != later.device || inode != later.inode { return .replaced }
        if later.size < size { return .truncated(from: size, to: later.size) }
        if later.size > size { return .extended(from: size, to: later.size) }
        if modified != later.modified { return .modified }
        return nil
    }
}

/// How a file was changed by something other than its store.
public enum FileChange: Sendable, Hashable, CustomStringConvertible {
    /// Nothing is at the path any more.
    case deleted
    /// Another file is at the path.
    case replaced
    /// The file became shorter; lengths in bytes.
    case truncated(from: Int64, to: Int64)
    /// The file became longer; lengths in bytes.
    case extended(from: Int64, to: Int64)
    /// The file has its length but was written to.
    case modified

    /// The change in words, to follow "the file was".
    public var description: String {
        switch self {
        case .deleted: "deleted"
        case .replaced: "replaced by another file"
        case .truncated(let from, let to): "truncated from \(from) to \(to) bytes"
        case .extended(let from, let to): "extended from \(from) to \(to) bytes"
        case .modified: "modified"
        }
    }
}
