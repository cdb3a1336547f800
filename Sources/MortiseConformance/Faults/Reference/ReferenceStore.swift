public import MortiseCore
import Foundation
import Synchronization

/// Opens a reference store: a storage, and the steps by which it is worked on.
public struct ReferenceConfiguration: DataStoreConfiguration, Sendable {
    public typealias Store = ReferenceStore

    public let name: String
    public var schema: Schema?
    let storage: ReferenceStorage
    let fault: StoreFault?

    /// A correct store.
    public init(_ name: String = "reference", storage: ReferenceStorage) {
        self.init(name, storage: storage, fault: nil)
    }

    init(_ name: String, storage: ReferenceStorage, fault: StoreFault?) {
        self.name = name
        self.storage = storage
        self.fault = fault
    }

    public static func == (lhs: ReferenceConfiguration, rhs: ReferenceConfiguration) -> Bool {
        lhs.name == rhs.name && lhs.storage === rhs.storage && lhs.fault?.id == rhs.fault?.id
    }
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(storage)) }
}

/// A plain store: all records in one dictionary, nothing clever. What it does is right, and every step of it can be
/// exchanged for a wrong one, which makes the kit's faulty stores.
///
/// It derives the to-many sides that follow from others, sorts the kit's own `Entry`, and leaves every filter to the
/// framework.
public final class ReferenceStore: DataStore {
    public typealias Configuration = ReferenceConfiguration
    public typealias Snapshot = DefaultSnapshot

    public let configuration: ReferenceConfiguration
    public var schema: Schema { work.schema }
    public var identifier: String { work.identifier }
    public var capabilities: StoreCapabilities { work.steps.capabilities([.durability, .erase]) }
    private let work: ReferenceWork

    /// - Throws: `DataStoreError.unsupportedFeature` for a configuration without schema, which a container never passes;
    ///   `ReferenceStoreError.schemaMismatch`.
    public init(_ configuration: ReferenceConfiguration, migrationPlan: (any SchemaMigrationPlan.Type)?) throws {
        self.configuration = configuration
        work = try ReferenceWork(configuration.storage, configuration.schema, configuration.fault)
    }

    public func fetch<T: PersistentModel>(
        _ request: DataStoreFetchRequest<T>
    ) throws -> DataStoreFetchResult<T, DefaultSnapshot> { try work.fetch(request) }

    public func fetchCount<T: PersistentModel>(_ request: DataStoreFetchRequest<T>) throws -> Int {
        try work.fetchCount(request)
    }

    public func fetchIdentifiers<T: PersistentModel>(
        _ request: DataStoreFetchRequest<T>
    ) throws -> [PersistentIdentifier] { try work.fetchIdentifiers(request) }

    public func save(
        _ request: DataStoreSaveChangesRequest<DefaultSnapshot>
    ) throws -> DataStoreSaveChangesResult<DefaultSnapshot> { try work.save(request) }

    public func erase() throws { try work.erase() }
}
