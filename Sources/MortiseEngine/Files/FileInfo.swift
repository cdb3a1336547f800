/// What the file system says about one file.
public struct FileInfo: Sendable, Hashable {
    /// What kind of file it is.
    public var kind: FileKind
    /// The device that holds it.
    public var device: UInt64
    /// Its number on that device.
    public var inode: UInt64
    /// Its length in bytes.
    public var size: Int64
    /// Its permission bits (including set-id and sticky), without the kind.
    public var permissions: UInt32
    /// The owner's user number.
    public var user: UInt32
    /// The group that owns it.
    public var group: UInt32
    /// When its content last changed.
    public var modified: FileTime
    /// How many names it has (hard links).
    public var links: UInt64

    /// Creates a description out of its parts.
    public init(
        kind: FileKind, device: UInt64, inode: UInt64, size: Int64, permissions: UInt32, user: UInt32, group: UInt32,
        modified: FileTime, links: UInt64 = 1
    ) {
        self.kind = kind
        self.device = device
        self.inode = inode
        self.size = size
        self.permissions = permissions
        self.user = user
        self.group = group
        self.modified = modified
        self.links = links
    }

    /// Which file it is and how long.
    public var extent: FileExtent { FileExtent(device: device, inode: inode, size: size) }

    /// The part that tells this content of this file from any other.
    public var identity: FileIdentity {
        FileIdentity(device: device, inode: inode, size: size, modified: modified)
    }
}

/// Which file it is and how long: the part of a ``FileInfo`` that can be had without its times.
///
/// Linux (from 6.13) records precisely when a file changes if its change time was read before, and a sync that follows
/// takes half as long again. Ask for this instead if the file is being written.
public struct FileExtent: Sendable, Hashable {
    /// The device that holds it.
    public var device: UInt64
    /// Its number on that device.
    public var inode: UInt64
    /// Its length in bytes.
    public var size: Int64

    /// Creates a description out of its parts.
    public init(device: UInt64, inode: UInt64, size: Int64) {
        self.device = device
        self.inode = inode
        self.size = size
    }

    /// Whether both are of one file, whatever its length.
    public func isSameFile(as other: FileExtent) -> Bool { device == other.device && inode == other.inode }
}

/// A point in time as file systems keep it: whole seconds since 1970 and nanoseconds after them.
public struct FileTime: Sendable, Hashable, Comparable {
    /// Whole seconds since 1970-01-01 00:00 UTC.
    public var seconds: Int64
    /// Nanoseconds after `seconds`, 0 to 999,999,999.
    public var nanoseconds: Int64

    /// Creates a time out of its parts.
    public init(seconds: Int64, nanoseconds: Int64) {
        self.seconds = seconds
        self.nanoseconds = nanoseconds
    }

    /// Whether the left time is earlier.
    public static func < (left: FileTime, right: FileTime) -> Bool {
        (left.seconds, left.nanoseconds) < (right.seconds, right.nanoseconds)
    }
}

/// What a path leads to.
public enum FileKind: String, Sendable, Hashable, CaseIterable {
    /// A file of bytes; the only kind that a store can live in.
    case regular
    /// A directory.
    case directory
    /// A symbolic link that was not followed.
    case symbolicLink
    /// A named pipe.
    case fifo
    /// A socket.
    case socket
    /// A terminal, `/dev/null` and the like.
    case characterDevice
    /// A disk.
    case blockDevice
    /// Something this platform has and the others have not.
    case unknown

    /// The kind in words, with its article.
    var text: String {
        switch self {
        case .regular: "a regular file"
        case .directory: "a directory"
        case .symbolicLink: "a symbolic link"
        case .fifo: "a FIFO"
        case .socket: "a socket"
        case .characterDevice: "a character device"
        case .blockDevice: "a block device"
        case .unknown: "of unknown kind"
        }
    }

    /// The kind that the upper bits of a `st_mode` stand for.
    init(modeBits: UInt32) {
        switch modeBits & 0o170000 {
        case 0o100000: self = .regular
        case 0o040000: self = .directory
        case 0o120000: self = .symbolicLink
        case 0o010000: self = .fifo
        case 0o140000: self = .socket
        case 0o020000: self = .characterDevice
        case 0o060000: self = .blockDevice
        default: self = .unknown
        }
    }
}
