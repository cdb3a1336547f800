/// A store that keeps its schema with its records, so that it can be opened from its configuration alone by a program that
/// has never seen the models.
///
/// The store is read through `VersionedDataStore` or `QueryableDataStore`, with `Schema(stored:)` of what `storedSchema()`
/// returned as the configuration's schema.
public protocol SelfDescribingConfiguration: DataStoreConfiguration {
    /// The schema of the store as it is; nil where there is no store yet. Takes no lock and changes nothing.
    /// - Throws: the adapter's errors for a store that cannot be read.
    func storedSchema() throws -> StoredSchema?

    /// The configuration that opens the same store for reading only, without disturbing who writes it.
    func readOnly() -> Self

    /// Where the store is, in the adapter's words: a path, a host.
    var location: String { get }

    /// The files that the store consists of, those that are there.
    func storeFiles() throws -> [StoreFile]

    /// When a save is safe.
    var durabilityGrade: DurabilityGrade { get }

    /// A text that is another one whenever the content of the store may have changed.
    func changeMark() throws -> String
}

/// A file that belongs to a store.
public struct StoreFile: Sendable, Hashable {
    public let path: String
    /// What it is for, in a word or two.
    public let role: String
    public let bytes: Int64

    public init(path: String, role: String, bytes: Int64) {
        self.path = path
        self.role = role
        self.bytes = bytes
    }
}

/// What an acknowledged save survives.
public enum DurabilityGrade: Sendable, Hashable, CustomStringConvertible {
    /// Nothing: it goes with the process.
    case process
    /// The end of the process; the system decides when it survives a loss of power.
    case system
    /// The end of the process at once, a loss of power after at most so long.
    case interval(Duration)
    /// A loss of power.
    case full

    public var description: String {
        switch self {
        case .process: "none: it ends with the process"
        case .system: "survives the end of the process; loss of power at the system's leisure"
        case .interval(let duration): "survives the end of the process; loss of power after at most \(duration)"
        case .full: "survives loss of power"
        }
    }
}

/// A store whose every save costs as much as all that it holds: many saves can share that cost.
public protocol BulkSavingDataStore: DataStore {
    /// Runs a body in which saves return before they are durable.
    ///
    /// They are once the body calls `flush`, and when this returns or throws.
    /// - Throws: what the body throws; what makes a save fail.
    func saveInBulk<R>(_ body: (_ flush: () throws -> Void) throws -> R) throws -> R
}
