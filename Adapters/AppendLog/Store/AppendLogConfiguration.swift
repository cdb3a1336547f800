import Foundation
public import MortiseCore
public import MortiseEngine

/// When a save is on the disk.
public enum AppendLogDurability: Sendable, Hashable {
    /// Before `save()` returns.
    case full
    /// At most so long after `save()` returns; a power cut may take the saves of that time, the latest first. A sync that
    /// fails then is told by the next save, and by closing. With `sharing: .shared` it is as `full`, because other processes
    /// build on what they find.
    case batched(Duration)
    /// When the system sees fit; a power cut may take any number of the latest saves.
    case none
}

/// Who else may write the log while it is open.
public enum AppendLogSharing: Sendable, Hashable {
    /// Nobody: a second process that opens it for writing is told who has it.
    case exclusive
    /// Any number of processes that open it as shared: each takes in what the others saved before it saves itself.
    case shared
}

/// Keeps models in an append log: every save is a checksummed record behind the last one, and the log is the history.
public struct AppendLogConfiguration: DataStoreConfiguration, Sendable {
    public typealias Store = AppendLogStore

    public let name: String
    public var schema: Schema?
    /// The log, relative to the current folder unless it begins with a slash. It need not be there; its folder must.
    public let path: String
    /// Whether the store may be changed. One that may not needs the log to be there and takes no lock. Each of its fetches
    /// begins at what other processes have saved by then, as far as the log still has it: where a compaction dropped
    /// transactions that it has not read, or the schema was changed, it stays at what it has until it is opened anew.
    public let allowsSave: Bool
    public let sharing: AppendLogSharing
    public let durability: AppendLogDurability
    /// Which transactions a compaction keeps.
    public let history: AppendLogHistory
    public let checkpoints: AppendLogCheckpoints
    /// When history that is not kept is dropped, and its space given back.
    public internal(set) var compaction: AppendLogCompaction
    /// The permission bits of a file that was not there before.
    public let newFilePermissions: UInt32
    /// What the files are on, as it was given.
    let givenFileSystem: any FileSystem
    var fileSystem: any FileSystem { RepeatingFileSystem(givenFileSystem) }
    /// How far ahead of its frames the log is filled with zeros, in steps of this.
    package var allocationStep = LogWriter.allocationStep
    /// How many bytes of a long transaction are gathered before they are written.
    package var pieceSize = FrameStream.pieceSize
    /// How much history a compaction in the background has to be able to drop, in bytes of log.
    package var leastGarbage: Int64 = 4 << 20
    /// How much log has to be behind the last checkpoint for another to be written in closing, in bytes.
    package var leastReplay: Int64 = 1 << 20
    /// Whether a reader takes in what is saved after it was opened.
    var followsWriter = true
    /// How often a reader looks again at damage that a writer's work of the moment may look like.
    package var looksAgain = 5
    /// How often a shared log is looked at where the system tells of each write, in seconds.
    var looksWhereTold = 2.0
    /// What time the history says it is.
    var now: @Sendable () -> Date = { Date() }

    /// - Parameter name: the file's name without extension where none is given.
    public init(
        _ name: String? = nil, schema: Schema? = nil, path: String, allowsSave: Bool = true,
        sharing: AppendLogSharing = .exclusive, durability: AppendLogDurability = .full,
        history: AppendLogHistory = .keepAll,
        checkpoints: AppendLogCheckpoints = .automatic, compaction: AppendLogCompaction = .automatic,
        newFilePermissions: UInt32 = 0o600
    ) {
        self.init(
            name, schema: schema, path: path, allowsSave: allowsSave, sharing: sharing, durability: durability,
            history: history, checkpoints: checkpoints, compaction: compaction, newFilePermissions: newFilePermissions,
            in: POSIXFileSystem())
    }

    /// A store on another file system, such as a simulated one.
    public init(
        _ name: String? = nil, schema: Schema? = nil, path: String, allowsSave: Bool = true,
        sharing: AppendLogSharing = .exclusive, durability: AppendLogDurability = .full,
        history: AppendLogHistory = .keepAll,
        checkpoints: AppendLogCheckpoints = .automatic, compaction: AppendLogCompaction = .automatic,
        newFilePermissions: UInt32 = 0o600, in fileSystem: any FileSystem
    ) {
        self.name = name ?? URL(fileURLWithPath: path).deletingPathExtension().lastPathComponent
        self.schema = schema
        self.path = path
        self.allowsSave = allowsSave
        self.sharing = sharing
        self.durability = durability
        self.history = history
        self.checkpoints = checkpoints
        self.compaction = compaction
        self.newFilePermissions = newFilePermissions
        givenFileSystem = fileSystem
    }

    public static func == (lhs: AppendLogConfiguration, rhs: AppendLogConfiguration) -> Bool {
        lhs.name == rhs.name && lhs.path == rhs.path && lhs.hasSameOptions(as: rhs)
    }
    public func hash(into hasher: inout Hasher) {
        hasher.combine(name)
        hasher.combine(path)
    }

    func hasSameOptions(as other: AppendLogConfiguration) -> Bool {
        allowsSave == other.allowsSave && sharing == other.sharing && durability == other.durability
            && history == other.history
            && checkpoints == other.checkpoints && compaction == other.compaction
            && newFilePermissions == other.newFilePermissions
            && schema == other.schema
    }
}

/// How much history a compaction keeps, on call or in the background (`AppendLogCompaction`). Nothing else drops any, except
/// `deleteHistory`.
public enum AppendLogHistory: Sendable, Hashable {
    /// All of it: no compaction drops anything.
    case keepAll
    /// The transactions of the last so many days.
    case keep(days: Int)
    /// The transactions after a place in the history.
    case keepSince(DefaultHistoryToken)
}
