/// A capability that a store may have beyond what every `DataStore` does.
///
/// The conformance kit also tests what a store does not claim: it has to refuse that cleanly, or lack it.
public struct StoreCapability: RawRepresentable, Hashable, Comparable, Codable, Sendable, CustomStringConvertible {
    /// The capability's name in reports.
    public let rawValue: String

    /// Makes a capability. Unknown names are kept.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// Saved records are there when the same storage is opened again.
    public static let reopening = StoreCapability(rawValue: "reopening")
    /// A save that has returned survives the end of the process or the machine without closing the store.
    public static let durability = StoreCapability(rawValue: "durability")
    /// `erase()` removes all records.
    public static let erase = StoreCapability(rawValue: "erase")
    /// `DataStoreBatching`: the store deletes many records without reading them first.
    public static let batchDelete = StoreCapability(rawValue: "batchDelete")
    /// The store executes batches itself: `QueryableDataStore.execute(_:)`.
    public static let batchUpdate = StoreCapability(rawValue: "batchUpdate")
    /// The store answers aggregations: `QueryableDataStore.aggregate(_:in:)`.
    public static let aggregates = StoreCapability(rawValue: "aggregates")
    /// The store itself refuses a save that would give two records the same unique values: those for which Swift's `==` holds, so that
    /// both zeros are one value. Null, and a `Double`, `Float` or `Date` that is not a number, conflict with nothing.
    public static let uniqueness = StoreCapability(rawValue: "uniqueness")
    /// The store itself refuses a save after which a record would refer to a missing one.
    public static let referentialIntegrity = StoreCapability(rawValue: "referentialIntegrity")
    /// `QueryableDataStore`: the store plans queries, and may evaluate parts of them itself.
    public static let queries = StoreCapability(rawValue: "queries")
    /// The store may be called from several threads at once; the container then does not serialize its calls. Such a store is
    /// `Sendable`.
    public static let concurrency = StoreCapability(rawValue: "concurrency")
    /// `VersionedDataStore`: a state of the store can be held and read while later saves go on.
    public static let versions = StoreCapability(rawValue: "versions")
    /// The store tells the version of each record (`RecordVersionTelling`), and refuses with `RecordsSuperseded` a save that
    /// is based on another than the stored one. Its storage may be opened more than once, and written by others.
    public static let recordVersions = StoreCapability(rawValue: "recordVersions")
    /// The store may leave out to-many relationships, for the framework to read when they are needed: in its snapshots, null in
    /// a to-many relationship says so. For stores of queries without versions whose snapshots are `DefaultSnapshot`.
    ///
    /// One that the query names in `StoreQuery.prefetch` must be there; otherwise reads throw `ModelContextError.storeContract`.
    /// In updates that the store gets to save, null in a to-many relationship leaves that as it is stored. A getter that cannot
    /// read a list shows what was known of it, and the next call that can throw does. A model of a deleted record shows only
    /// those lists that had been read.
    public static let deferredRelationships = StoreCapability(rawValue: "deferredRelationships")
    /// The store answers all plans of one `ReadScope` from one state of its storage. For stores of queries without versions.
    public static let readConsistency = StoreCapability(rawValue: "readConsistency")
    /// `DataStore.changeFeed`: the store itself posts what it commits.
    public static let announcements = StoreCapability(rawValue: "announcements")
    /// `HistoryProviding`: the store keeps a history of its saves.
    public static let history = StoreCapability(rawValue: "history")
    /// A save may insert a record under the identifier of one that the store has deleted: under which another context knows it, and
    /// relationships lead to it. Such an identifier is not temporary, and the store returns it as the record's own; another one if it
    /// cannot give it again. An undo asks for that. The conformance kit does not test it, so that it is not in `all`.
    public static let restoresIdentifiers = StoreCapability(rawValue: "restoresIdentifiers")
    /// `DataStore.restore(_:ofStore:nextNumber:)`: the store can take the place of another one, with its identifier, and with its
    /// records under theirs. The conformance kit tests it where it migrates the store, so that it is not in `all`.
    public static let restoring = StoreCapability(rawValue: "restoring")
    /// `DataStore.checkHealth()`: the store can tell whether it would take the next save. The conformance kit does not test it, so that
    /// it is not in `all`.
    public static let healthChecks = StoreCapability(rawValue: "healthChecks")
    /// The store keeps no history, and the container records one for as long as it is open: at most 4,096 transactions, whose tokens expire
    /// with the container. Saves of other processes that the store does not announce are unknown to it, and one that it announces without
    /// identifiers makes earlier tokens expire. No store claims this; `ModelContainer` tells it.
    public static let recordedHistory = StoreCapability(rawValue: "recordedHistory")
    /// A container brings the store from one version of its models to another, with code of a plan: its configuration is a
    /// `MigratableConfiguration` and allows it.
    public static let migration = StoreCapability(rawValue: "migration")
    /// The store holds files, locks or connections, and `close()` releases them.
    public static let closing = StoreCapability(rawValue: "closing")

    /// Every capability that the conformance kit tests, in the order of reports.
    public static let all: [StoreCapability] = [
        .reopening, .durability, .erase, .batchDelete, .batchUpdate, .aggregates, .uniqueness, .referentialIntegrity,
        .queries, .concurrency, .versions, .recordVersions, .deferredRelationships, .readConsistency,
        .announcements, .history, .migration, .closing,
    ]

    /// The capabilities that this one requires.
    var implied: [StoreCapability] {
        switch self {
        case .versions: [.concurrency, .queries]
        case .durability, .migration: [.reopening]
        case .deferredRelationships, .readConsistency: [.queries]
        default: []
        }
    }

    /// What the capability lets a store's user do, for reports.
    public var summary: String {
        switch self {
        case .reopening: "keeps saved records when it is closed and opened again"
        case .durability: "keeps every acknowledged save when its process ends"
        case .erase: "erases all records at once"
        case .batchDelete: "deletes many records without reading them"
        case .batchUpdate: "changes many records without reading them"
        case .aggregates: "counts, sums and groups records itself"
        case .uniqueness: "enforces unique values itself"
        case .referentialIntegrity: "refuses references to missing records"
        case .queries: "plans queries, and may answer parts of them itself"
        case .concurrency: "may be called from several threads at once"
        case .versions: "keeps an old state readable during later saves"
        case .recordVersions: "refuses to overwrite what others have changed"
        case .deferredRelationships: "reads to-many relationships only when they are needed"
        case .readConsistency: "answers all that belongs to one fetch from one state"
        case .announcements: "posts its commits to a feed"
        case .history: "keeps what its saves changed"
        case .restoresIdentifiers: "gives a deleted record that comes back its identifier again"
        case .restoring: "takes the place of another store, identifiers included"
        case .healthChecks: "tells whether it would take the next save"
        case .recordedHistory: "has what its saves changed recorded while it is open"
        case .migration: "comes to the next version of its models by a plan, code included"
        case .closing: "releases its resources when closed"
        default: rawValue
        }
    }

    /// The capability's name.
    public var description: String { rawValue }
    /// Orders by name.
    public static func < (lhs: StoreCapability, rhs: StoreCapability) -> Bool { lhs.rawValue < rhs.rawValue }
}

/// The capabilities that a store claims: the declared ones and those that they imply.
public struct StoreCapabilities: Hashable, Sendable, ExpressibleByArrayLiteral, CustomStringConvertible {
    /// The capabilities as the store declares them.
    public let declared: Set<StoreCapability>
    /// The declared capabilities and those that they imply.
    public let all: Set<StoreCapability>

    /// Makes a set of capabilities.
    public init(_ declared: some Sequence<StoreCapability>) {
        self.declared = Set(declared)
        var all: Set<StoreCapability> = []
        var pending = Array(declared)
        while let next = pending.popLast() {
            if all.insert(next).inserted { pending += next.implied }
        }
        self.all = all
    }

    /// Makes a set of capabilities.
    public init(arrayLiteral elements: StoreCapability...) { self.init(elements) }

    /// Whether the store has a capability, declared or implied by others.
    public func contains(_ capability: StoreCapability) -> Bool { all.contains(capability) }

    /// The names in alphabetical order; `none` for the empty set.
    public var description: String {
        all.isEmpty ? "none" : all.sorted().map(\.rawValue).joined(separator: ", ")
    }
}
