/// Something that a store may or may not do, beyond what every `DataStore` has to.
///
/// What a store does not claim is tested too by the conformance kit: the store has to refuse it cleanly, or lack it
/// altogether.
public struct StoreCapability: RawRepresentable, Hashable, Comparable, Codable, Sendable, CustomStringConvertible {
    public let rawValue: String

    public init(rawValue: String) { self.rawValue = rawValue }

    /// What was saved is there when the same storage is opened again.
    public static let reopening = StoreCapability(rawValue: "reopening")
    /// A save that has returned is there after the process or the machine has stopped without closing the store.
    public static let durability = StoreCapability(rawValue: "durability")
    /// `erase()` removes all records.
    public static let erase = StoreCapability(rawValue: "erase")
    /// `DataStoreBatching`: the store deletes many records without their being read first.
    public static let batchDelete = StoreCapability(rawValue: "batchDelete")
    /// `BatchChangingDataStore`: the store changes and deletes the records of a query without their being read first.
    public static let batchUpdate = StoreCapability(rawValue: "batchUpdate")
    /// The store itself refuses a save that would give two records the same unique values.
    public static let uniqueness = StoreCapability(rawValue: "uniqueness")
    /// The store itself refuses a save after which a record would refer to one that is not there.
    public static let referentialIntegrity = StoreCapability(rawValue: "referentialIntegrity")
    /// `QueryableDataStore` or `VersionedDataStore`: the store plans queries, and may do parts of them itself.
    public static let queries = StoreCapability(rawValue: "queries")
    /// `ConcurrentDataStore`: the store may be called from several threads at once.
    public static let concurrency = StoreCapability(rawValue: "concurrency")
    /// `VersionedDataStore`: a state of the store can be held and read while later saves go on.
    public static let versions = StoreCapability(rawValue: "versions")
    /// `HistoryProviding`: the store keeps what its saves changed.
    public static let history = StoreCapability(rawValue: "history")
    /// `ClosableDataStore`: the store gives its resources free when the container is closed.
    public static let closing = StoreCapability(rawValue: "closing")

    /// Every capability that there is a word for, in the order of reports.
    public static let all: [StoreCapability] = [
        .reopening, .durability, .erase, .batchDelete, .batchUpdate, .uniqueness, .referentialIntegrity, .queries,
        .concurrency, .versions, .history, .closing,
    ]

    /// What has to be there where this is.
    var implied: [StoreCapability] {
        switch self {
        case .versions: [.concurrency, .queries]
        case .durability: [.reopening]
        default: []
        }
    }

    /// What the capability lets a store's user do, for reports.
    public var summary: String {
        switch self {
        case .reopening: "what was saved is there after reopening"
        case .durability: "survives the end of the process with all that it acknowledged"
        case .erase: "erases all records at once"
        case .batchDelete: "deletes many records without reading them"
        case .batchUpdate: "changes many records without reading them"
        case .uniqueness: "enforces unique values itself"
        case .referentialIntegrity: "refuses references to what is not there"
        case .queries: "plans queries, and may do parts of them itself"
        case .concurrency: "may be called from several threads at once"
        case .versions: "keeps a state readable while later saves go on"
        case .history: "keeps what its saves changed"
        case .closing: "gives its resources free when closed"
        default: rawValue
        }
    }

    public var description: String { rawValue }
    public static func < (lhs: StoreCapability, rhs: StoreCapability) -> Bool { lhs.rawValue < rhs.rawValue }
}

/// What a store claims to be capable of: what was declared, and what follows from that.
public struct StoreCapabilities: Hashable, Sendable, ExpressibleByArrayLiteral, CustomStringConvertible {
    public let declared: Set<StoreCapability>
    /// The declared capabilities and those that they imply.
    public let all: Set<StoreCapability>

    public init(_ declared: some Sequence<StoreCapability>) {
        self.declared = Set(declared)
        var all: Set<StoreCapability> = []
        var pending = Array(declared)
        while let next = pending.popLast() {
            if all.insert(next).inserted { pending += next.implied }
        }
        self.all = all
    }

    public init(arrayLiteral elements: StoreCapability...) { self.init(elements) }

    public func contains(_ capability: StoreCapability) -> Bool { all.contains(capability) }

    public var description: String {
        all.isEmpty ? "none" : all.sorted().map(\.rawValue).joined(separator: ", ")
    }
}

extension DataStore {
    /// What follows from the protocols that the store conforms to.
    public var capabilities: StoreCapabilities { StoreCapabilities(conformances: self) }
}

extension StoreCapabilities {
    /// The capabilities that are protocols, as far as a store conforms to them.
    public init(conformances store: any DataStore) {
        var found: Set<StoreCapability> = []
        if store is any DataStoreBatching { found.insert(.batchDelete) }
        if store is any BatchChangingDataStore { found.insert(.batchUpdate) }
        if store is any QueryableDataStore { found.insert(.queries) }
        if store is any ConcurrentDataStore { found.insert(.concurrency) }
        if store is any VersionedDataStore { found.insert(.versions) }
        if store is any HistoryProviding { found.insert(.history) }
        if store is any ClosableDataStore { found.insert(.closing) }
        self.init(found)
    }

    /// These capabilities and others.
    public func union(_ others: some Sequence<StoreCapability>) -> StoreCapabilities {
        StoreCapabilities(declared.union(others))
    }
}

extension ModelContainer {
    /// What the store of a configuration can do; nil where no configuration has that name.
    public func capabilities(forConfigurationNamed name: String) -> StoreCapabilities? {
        stores.first { $0.configurationName == name }?.underlying.capabilities
    }
}
