/// A store that keeps its schema with its records, so that a program without its models can open it from its
/// configuration alone.
///
/// The store is read through `VersionedDataStore` or `QueryableDataStore`, with `Schema(stored:)` of the schema that
/// `storedSchema()` returns as the configuration's schema.
public protocol SelfDescribingConfiguration: DataStoreConfiguration {
    /// The schema of the stored data; nil if the store does not exist yet. Takes no lock and changes nothing.
    /// - Throws: the adapter's errors for a store that cannot be read.
    func storedSchema() throws -> StoredSchema?

    /// The configuration that opens the same store for reading only, without disturbing its writer.
    func readOnly() -> Self

    /// The configuration that opens the same store for reading, and takes in what other processes commit meanwhile as far
    /// as the store can. The default is `readOnly()`.
    func following() -> Self

    /// Where the store is, such as a path or a host.
    var location: String { get }

    /// The store's existing files.
    /// - Throws: the adapter's errors for files that cannot be examined.
    func storeFiles() throws -> [StoreFile]

    /// How many bytes more can be written where the store is; nil, the default, if that is not known.
    /// - Throws: the adapter's errors for a place that cannot be examined.
    func freeSpace() throws -> Int64?

    /// What an acknowledged save survives.
    var durabilityGrade: DurabilityGrade { get }

    /// Entities whose records may be dropped if the configuration's schema lacks them, though its version is that of
    /// the store. None by default.
    var dropping: [String] { get }

    /// Whether opening the store itself refuses a schema that is older than the stored one, or lacks entities with
    /// records: `MigrationError.newerStore`, `.unnamedEntities`. If false, which is the default, the container compares
    /// the schemas before it opens the store.
    var checksStoredSchema: Bool { get }
}

extension SelfDescribingConfiguration {
    /// Nil: not known.
    public func freeSpace() throws -> Int64? { nil }
    /// Empty: no records may be dropped.
    public var dropping: [String] { [] }
    /// `readOnly()`: the store does not follow others.
    public func following() -> Self { readOnly() }
    /// False: a container compares the schemas.
    public var checksStoredSchema: Bool { false }
}

/// A file that belongs to a store.
public struct StoreFile: Sendable, Hashable {
    /// The file's path.
    public let path: String
    /// The file's purpose, in one or two words.
    public let role: String
    /// The file's size in bytes.
    public let bytes: Int64

    /// Describes a file.
    public init(path: String, role: String, bytes: Int64) {
        self.path = path
        self.role = role
        self.bytes = bytes
    }
}

/// What an acknowledged save survives.
public enum DurabilityGrade: Sendable, Hashable, CustomStringConvertible {
    /// Nothing: the data ends with the process.
    case process
    /// The end of the process; the system decides when a save survives a loss of power.
    case system
    /// The end of the process at once, and a loss of power after at most this interval.
    case interval(Duration)
    /// A loss of power.
    case full

    /// What an acknowledged save survives, in words.
    public var description: String {
        switch self {
        case .process: "none; the data ends with the process"
        case .system: "survives the end of the process; survives loss of power once the system has written it"
        case .interval(let duration):
            "survives the end of the process; survives loss of power after at most \(duration)"
        case .full: "survives loss of power"
        }
    }
}
