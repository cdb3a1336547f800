import Foundation
public import MortiseCore
public import MortiseEngine

/// When a save is on the disk.
public enum AppendLogDurability: Sendable, Hashable {
    /// Before `save()` returns.
    case full
    /// At most this long after `save()` returns; a power cut may take the saves of that time, the latest first. The
    /// next save, and closing, throw the error of a sync that failed. With `sharing: .shared` it is the same as `full`,
    /// because other processes build on what they find.
    case batched(Duration)
    /// When the system sees fit; a power cut may take any number of the latest saves.
    case none
}

/// Which processes may write the log while it is open.
public enum AppendLogSharing: Sendable, Hashable {
    /// Nobody: a second process that opens it for writing gets an error that names the holder.
    case exclusive
    /// Any number of processes that open it as shared: each takes in what the others saved before it saves itself.
    case shared
}

/// Keeps models in an append log: every save appends a checksummed record, and the log is the history.
public struct AppendLogConfiguration: DataStoreConfiguration, Sendable {
    /// The store that the configuration opens.
    public typealias Store = AppendLogStore

    /// The configuration's name, unique in its container.
    public let name: String
    /// The models that the store keeps; nil until a container sets it.
    public var schema: Schema?
    /// The log, relative to the current folder unless it begins with a slash. It need not be there; its folder must.
    public let path: String
    /// Whether the store may be changed. A read-only store needs an existing log and takes no lock. Each of its fetches
    /// sees what other processes have saved by then, as long as the log still has it: once a compaction drops
    /// transactions that it has not read, or the schema changes, it stays at its version until it is opened again.
    public let allowsSave: Bool
    /// Whether other processes may write the log at the same time.
    public let sharing: AppendLogSharing
    /// When a save is on disk.
    public let durability: AppendLogDurability
    /// Which transactions a compaction keeps.
    public let history: AppendLogHistory
    /// When checkpoints are written.
    public internal(set) var checkpoints: AppendLogCheckpoints
    /// When history that is not kept is dropped, and its space given back.
    public internal(set) var compaction: AppendLogCompaction
    /// The permission bits of a new file; an existing one keeps its own.
    public let newFilePermissions: UInt32
    /// Entities whose records may be dropped if the schema lacks them, though its version is that of the log.
    public var dropping: [String]
    /// What the files are on, as it was given.
    let givenFileSystem: any FileSystem
    var fileSystem: any FileSystem { RepeatingFileSystem(givenFileSystem) }
    /// The step of preallocation: the log is filled with zeros up to the next multiple, in bytes.
    package var allocationStep = LogWriter.allocationStep
    /// How many bytes of a long transaction are gathered before they are written.
    package var pieceSize = FrameStream.pieceSize
    /// How many parts the coded values of a record may have, where that is less than the format allows.
    package var mostParts = Int.max
    /// How much history a compaction in the background has to be able to drop, in bytes of log.
    package var leastGarbage: Int64 = 4 << 20
    /// How long the log after the last checkpoint must be for closing to write another, in bytes.
    package var leastReplay: Int64 = 1 << 20
    /// Whether the log is opened to be brought to another version, by nobody else in this process meanwhile.
    var isMigrating = false
    /// Whether a reader takes in what is saved after it was opened.
    var followsWriter = true
    /// How often a reader looks again at damage that a writer's work of the moment may look like.
    package var readRetries = 5
    /// How often a shared log is checked where the system reports each write, in seconds.
    var pollIntervalWhenNotified = 2.0
    /// What time the history says it is.
    var now: @Sendable () -> Date = { Date() }
    /// What makes the marks of transactions.
    var nextMark: @Sendable () -> UInt64 = { HistoryMark.next() }

    /// Describes a log; opens nothing yet.
    /// - Parameters:
    ///   - name: the configuration's name, unique in its container; nil takes the file's name without extension.
    ///   - schema: the models that the store keeps; nil takes the container's.
    ///   - path: the log, relative to the current folder unless it begins with a slash. Its folder must exist.
    ///   - allowsSave: whether the store may be changed; false needs an existing log and takes no lock.
    ///   - sharing: whether other processes may write the log at the same time.
    ///   - durability: when a save is on disk.
    ///   - history: which transactions a compaction keeps.
    ///   - checkpoints: when checkpoints are written.
    ///   - compaction: when history that is not kept is dropped.
    ///   - newFilePermissions: the permission bits of new files.
    ///   - dropping: entities whose records may be dropped if the schema lacks them, though its version is that of the
    ///     log. The first save then keeps a copy of the old store. Names that neither the log nor the schema has are
    ///     ignored, as are those that the schema has.
    public init(
        _ name: String? = nil, schema: Schema? = nil, path: String, allowsSave: Bool = true,
        sharing: AppendLogSharing = .exclusive, durability: AppendLogDurability = .full,
        history: AppendLogHistory = .keepAll,
        checkpoints: AppendLogCheckpoints = .automatic, compaction: AppendLogCompaction = .automatic,
        newFilePermissions: UInt32 = 0o600, dropping: [String] = []
    ) {
        self.init(
            name, schema: schema, path: path, allowsSave: allowsSave, sharing: sharing, durability: durability,
            history: history, checkpoints: checkpoints, compaction: compaction, newFilePermissions: newFilePermissions,
            dropping: dropping, in: POSIXFileSystem())
    }

    /// A store on another file system, such as a simulated one.
    public init(
        _ name: String? = nil, schema: Schema? = nil, path: String, allowsSave: Bool = true,
        sharing: AppendLogSharing = .exclusive, durability: AppendLogDurability = .full,
        history: AppendLogHistory = .keepAll,
        checkpoints: AppendLogCheckpoints = .automatic, compaction: AppendLogCompaction = .automatic,
        newFilePermissions: UInt32 = 0o600, dropping: [String] = [], in fileSystem: any FileSystem
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
        self.dropping = dropping
        givenFileSystem = fileSystem
    }

    /// Two configurations are equal if they open the same log in the same way.
    public static func == (lhs: AppendLogConfiguration, rhs: AppendLogConfiguration) -> Bool {
        lhs.name == rhs.name && lhs.path == rhs.path && lhs.hasSameOptions(as: rhs)
    }
    /// Consistent with `==`.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(name)
        hasher.combine(path)
    }

    func hasSameOptions(as other: AppendLogConfiguration) -> Bool {
        allowsSave == other.allowsSave && sharing == other.sharing && durability == other.durability
            && history == other.history
            && checkpoints == other.checkpoints && compaction == other.compaction
            && newFilePermissions == other.newFilePermissions && dropping == other.dropping
            && schema == other.schema && !isMigrating && !other.isMigrating
    }
}

/// How much history a compaction keeps, on call or in the background (`AppendLogCompaction`). Nothing else drops any, except
/// `deleteHistory`.
public enum AppendLogHistory: Sendable, Hashable {
    /// All of it: no compaction drops anything.
    case keepAll
    /// Transactions of the last `days` days.
    case keep(days: Int)
    /// The transactions after the one that a history token names.
    case keepSince(DefaultHistoryToken)
    /// What a retention keeps. Bytes are those of the log, to 256 transactions.
    case retain(HistoryRetention)
}
