import Foundation
public import MortiseCore
public import MortiseEngine

/// Keeps models in one JSON file that people can read, compare and edit.
public struct JSONFileConfiguration: DataStoreConfiguration, Sendable {
    /// The store that the configuration opens.
    public typealias Store = JSONFileStore

    /// The configuration's name, unique in its container.
    public let name: String
    /// The models that the store keeps; nil until a container sets it.
    public var schema: Schema?
    /// The file, relative to the current folder unless it begins with a slash. It need not be there; its folder must.
    public let path: String
    /// Whether the store may be changed. A read-only store needs an existing file, takes no lock, and takes in what others
    /// save to it.
    public let allowsSave: Bool
    /// Whether the seal must match the text.
    public let integrity: JSONFileIntegrity
    /// The permission bits of a new file; an existing one keeps its own.
    public let newFilePermissions: UInt32
    /// Entities whose records may be dropped if the schema lacks them, though its version is that of the file.
    public var dropping: [String]
    /// How much of its history the store keeps in the file `NAME.history`; `.none` keeps none, and writes no such file.
    public let history: HistoryRetention
    /// When a save's part of the history is on the disk.
    public let historyDurability: JSONFileHistoryDurability
    let fileSystem: any FileSystem
    /// A file larger than this is refused before it is read, and not written.
    package var largestFile = Self.largestFile
    static let largestFile: Int64 = 8 << 30
    /// Whether the file is opened to be brought to another version, by nobody else in this process meanwhile.
    var isMigrating = false

    /// Describes a JSON file; opens nothing yet.
    /// - Parameters:
    ///   - name: the configuration's name, unique in its container; nil takes the file's name without extension.
    ///   - schema: the models that the store keeps; nil takes the container's.
    ///   - path: the file, relative to the current folder unless it begins with a slash. Its folder must exist.
    ///   - allowsSave: whether the store may be changed; false needs an existing file and takes no lock.
    ///   - integrity: whether the seal must match the text.
    ///   - newFilePermissions: the permission bits of a new file; an existing one keeps its own.
    ///   - dropping: entities whose records may be dropped if the schema lacks them, though its version is that of the
    ///     file. The first save then keeps a copy of the old file. Names that neither the file nor the schema has are
    ///     ignored, as are those that the schema has.
    ///   - history: how much of its history the store keeps.
    ///   - historyDurability: when a save's part of the history is on the disk.
    public init(
        _ name: String? = nil, schema: Schema? = nil, path: String, allowsSave: Bool = true,
        integrity: JSONFileIntegrity = .required, newFilePermissions: UInt32 = 0o600, dropping: [String] = [],
        history: HistoryRetention = .unlimited, historyDurability: JSONFileHistoryDurability = .withSave
    ) {
        self.init(
            name, schema: schema, path: path, allowsSave: allowsSave, integrity: integrity,
            newFilePermissions: newFilePermissions, dropping: dropping, history: history,
            historyDurability: historyDurability, in: POSIXFileSystem())
    }

    /// A store on another file system, such as a simulated one.
    public init(
        _ name: String? = nil, schema: Schema? = nil, path: String, allowsSave: Bool = true,
        integrity: JSONFileIntegrity = .required, newFilePermissions: UInt32 = 0o600, dropping: [String] = [],
        history: HistoryRetention = .unlimited, historyDurability: JSONFileHistoryDurability = .withSave,
        in fileSystem: any FileSystem
    ) {
        self.history = history
        self.historyDurability = historyDurability
        self.name = name ?? URL(fileURLWithPath: path).deletingPathExtension().lastPathComponent
        self.schema = schema
        self.path = path
        self.allowsSave = allowsSave
        self.integrity = integrity
        self.newFilePermissions = newFilePermissions
        self.dropping = dropping
        self.fileSystem = fileSystem
    }

    /// Two configurations are equal if they open the same file in the same way.
    public static func == (lhs: JSONFileConfiguration, rhs: JSONFileConfiguration) -> Bool {
        lhs.name == rhs.name && lhs.path == rhs.path && lhs.hasSameOptions(as: rhs)
    }
    /// Consistent with `==`.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(name)
        hasher.combine(path)
    }

    func hasSameOptions(as other: JSONFileConfiguration) -> Bool {
        allowsSave == other.allowsSave && integrity == other.integrity && newFilePermissions == other.newFilePermissions
            && dropping == other.dropping && history == other.history
            && historyDurability == other.historyDurability && schema == other.schema
            && largestFile == other.largestFile
            && !isMigrating && !other.isMigrating
    }
}

/// When a save's part of a JSON store's history is on the disk.
public enum JSONFileHistoryDurability: Sendable, Hashable {
    /// Before the save returns, as the records are.
    case withSave
    /// When the system sees fit. A power cut may take it, and the history then begins anew.
    case later
}
