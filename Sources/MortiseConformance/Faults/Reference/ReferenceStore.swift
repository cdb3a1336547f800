public import MortiseCore
import Foundation
import Synchronization

/// Opens a reference store: a storage, and the steps by which it is worked on.
public struct ReferenceConfiguration: DataStoreConfiguration, Sendable {
    /// The store that the configuration opens.
    public typealias Store = ReferenceStore

    /// The configuration's name.
    public let name: String
    /// The models that the store keeps; nil until a container sets it.
    public var schema: Schema?
    let storage: ReferenceStorage
    let fault: StoreFault?
    /// Whether the store runs migration plans, and never goes back to an older schema once it has adapted its records.
    let isOneWay: Bool
    /// Whether the store takes care of migration plans.
    public var handlesMigrationPlans: Bool { migration.handlesPlans }

    /// A correct store.
    public init(_ name: String = "reference", storage: ReferenceStorage) {
        self.init(name, storage: storage, fault: nil)
    }

    init(_ name: String, storage: ReferenceStorage, fault: StoreFault?, isOneWay: Bool = false) {
        self.name = name
        self.storage = storage
        self.fault = fault
        self.isOneWay = isOneWay
    }

    /// Makes the steps those of the kind of store that the configuration opens.
    func change(_ steps: inout ReferenceSteps) {
        guard isOneWay else { return }
        steps.migration.handlesPlans = true
        steps.adopt = { try ReferenceSteps.adopt($0, $1, &$2, isOneWay: true) }
    }

    var migration: ReferenceMigration {
        var steps = ReferenceSteps()
        change(&steps)
        fault?.change(&steps)
        return steps.migration
    }

    /// Two configurations are equal if they open the same storage.
    public static func == (lhs: ReferenceConfiguration, rhs: ReferenceConfiguration) -> Bool {
        lhs.name == rhs.name && lhs.storage === rhs.storage && lhs.fault?.id == rhs.fault?.id
    }
    /// Hashes the storage's identity.
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(storage)) }
}

/// A plain store: all records in one dictionary, nothing clever. What it does is right, and every step of it can be
/// exchanged for a wrong one, which makes the kit's faulty stores.
///
/// It derives the to-many sides that follow from others, sorts the kit's own `Entry`, and leaves every filter to the
/// framework.
public final class ReferenceStore: DataStore {
    /// The configuration that opens the store.
    public typealias Configuration = ReferenceConfiguration
    /// Snapshots by slot.
    public typealias Snapshot = DefaultSnapshot

    /// The configuration that opened the store.
    public let configuration: ReferenceConfiguration
    /// The models that the store keeps.
    public var schema: Schema { work.schema }
    /// The storage's identifier, the same at every opening.
    public var identifier: String { work.identifier }
    /// What the store claims, which a fault may change.
    public var capabilities: StoreCapabilities { work.steps.capabilities([.durability, .erase]) }
    private let work: ReferenceWork

    /// Opens the store.
    /// - Throws: `DataStoreError.unsupportedFeature` for a configuration without schema, which a container never passes;
    ///   `ReferenceStoreError.schemaMismatch`.
    public init(_ configuration: ReferenceConfiguration, migrationPlan: (any SchemaMigrationPlan.Type)?) throws {
        self.configuration = configuration
        try configuration.migrate(by: migrationPlan)
        work = try ReferenceWork(
            configuration.storage, configuration.schema, configuration.fault, change: configuration.change)
    }

    /// Fetches as the contract asks, changed by the fault.
    public func fetch<T: PersistentModel>(
        _ request: DataStoreFetchRequest<T>
    ) throws -> DataStoreFetchResult<T, DefaultSnapshot> { try work.fetch(request) }

    /// Counts as the contract asks, changed by the fault.
    public func fetchCount<T: PersistentModel>(_ request: DataStoreFetchRequest<T>) throws -> Int {
        try work.fetchCount(request)
    }

    /// Fetches identifiers as the contract asks, changed by the fault.
    public func fetchIdentifiers<T: PersistentModel>(
        _ request: DataStoreFetchRequest<T>
    ) throws -> [PersistentIdentifier] { try work.fetchIdentifiers(request) }

    /// Saves as the contract asks, changed by the fault.
    public func save(
        _ request: DataStoreSaveChangesRequest<DefaultSnapshot>
    ) throws -> DataStoreSaveChangesResult<DefaultSnapshot> { try work.save(request) }

    /// The present values of records.
    public func cachedSnapshots(
        for persistentIdentifiers: [PersistentIdentifier], editingState: EditingState
    ) throws -> [PersistentIdentifier: DefaultSnapshot] { work.cachedSnapshots(for: persistentIdentifiers) }

    /// Removes all records.
    /// - Throws: what the fault makes it throw.
    public func erase() throws { try work.erase() }
}
