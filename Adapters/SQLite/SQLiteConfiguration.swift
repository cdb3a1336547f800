#if SQLite
import Foundation
public import MortiseCore

/// When a save is on the disk.
public enum SQLiteDurability: String, Sendable, Hashable {
    /// Before `save()` returns.
    case full
    /// When the system writes it; a power cut may take the latest saves, and damages nothing.
    case system
    /// When the system writes it. A power cut may damage the file.
    case none
}

/// Keeps models in a file of SQLite, which other processes may read and write at the same time. Needs the trait `SQLite`.
public struct SQLiteConfiguration: DataStoreConfiguration, Sendable {
    /// The store that the configuration opens.
    public typealias Store = SQLiteStore

    /// The configuration's name, unique in its container.
    public let name: String
    /// The models that the store keeps; nil until a container sets it.
    public var schema: Schema?
    /// The file, relative to the current folder unless it begins with a slash. It need not be there; its folder must.
    public let path: String
    /// Whether the store may be changed.
    public let allowsSave: Bool
    /// When a save is on the disk.
    public let durability: SQLiteDurability
    /// How long a call waits for another process that is writing, before it throws an error of the class `locked`.
    public let busyTimeout: Duration
    /// How many bytes of the file each connection keeps in memory.
    public let cacheBytes: Int
    /// How many connections for reading stay open; more are opened while they are needed.
    public let readers: Int
    /// To how many bytes the write-ahead log is cut when it has been written into the file.
    public let walLimit: Int
    /// Entities whose records may be dropped if the schema lacks them, though its version is that of the store.
    public var dropping: [String]
    /// Whether a context reads one state of the file from a fetch until its next fetch or save, whatever others save meanwhile: the
    /// store then claims `StoreCapability.readConsistency`.
    ///
    /// Each context keeps a connection with a read transaction for that, and the write-ahead log grows with every save as long as any
    /// of them has fetched before it. False by default: what a context loads after a fetch is as it is stored then.
    public var pinsReads = false
    /// Whether the store is opened so that nobody else can open it for writing.
    var isExclusive = false
    /// The lock that the opening gets from the caller, and releases when the store is closed; nil where it takes one itself.
    var heldLock: OpeningLock?
    /// How many bytes a page of a new file has; nil takes SQLite's.
    var pageSize: Int64?
    /// Who may read and write a new file; nil leaves that to the process.
    var permissions: mode_t?
    /// How often the store looks for saves of other processes, while somebody follows them.
    package var pollInterval: Duration = .milliseconds(200)

    /// Describes a store; opens nothing yet.
    /// - Parameters:
    ///   - name: the configuration's name, unique in its container; nil takes the file's name without extension.
    ///   - schema: the models that the store keeps; nil takes the container's.
    ///   - path: the file, relative to the current folder unless it begins with a slash. Its folder must exist.
    ///   - allowsSave: whether the store may be changed; false needs an existing file.
    ///   - durability: when a save is on the disk.
    ///   - busyTimeout: how long a call waits for another process that is writing.
    ///   - cacheBytes: how many bytes of the file each connection keeps in memory.
    ///   - readers: how many connections for reading stay open.
    ///   - walLimit: to how many bytes the write-ahead log is cut.
    ///   - dropping: entities whose records may be dropped if the schema lacks them, though its version is that of the store.
    public init(
        _ name: String? = nil, schema: Schema? = nil, path: String, allowsSave: Bool = true,
        durability: SQLiteDurability = .full, busyTimeout: Duration = .seconds(5), cacheBytes: Int = 64 << 20,
        readers: Int = 4, walLimit: Int = 64 << 20, dropping: [String] = []
    ) {
        self.name = name ?? URL(fileURLWithPath: path).deletingPathExtension().lastPathComponent
        self.schema = schema
        self.path = path
        self.allowsSave = allowsSave
        self.durability = durability
        self.busyTimeout = busyTimeout
        self.cacheBytes = cacheBytes
        self.readers = readers
        self.walLimit = walLimit
        self.dropping = dropping
    }
}
#endif
