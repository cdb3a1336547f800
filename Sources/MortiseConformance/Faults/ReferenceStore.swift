public import MortiseCore
import Foundation
import Synchronization

/// The data of a reference store. It outlives the store, so that the same data can be opened again.
public final class ReferenceStorage: Sendable {
    struct State: Sendable {
        /// Every record by its number, which is also its place in the order of insertion.
        var records: [UInt64: DefaultSnapshot] = [:]
        var nextNumber: UInt64 = 1
        /// What faulty stores leave lying about.
        var debris = Debris()
    }

    let identifier = UUID().uuidString
    let state = Mutex(State())

    public init() {}
}

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
    public let schema: Schema
    public var identifier: String { steps.storeIdentifier(configuration.storage.identifier) }
    private let storage: ReferenceStorage
    private let steps: ReferenceSteps

    /// - Throws: `DataStoreError.unsupportedFeature` for a configuration without schema, which a container never passes.
    public init(_ configuration: ReferenceConfiguration, migrationPlan: (any SchemaMigrationPlan.Type)?) throws {
        guard let schema = configuration.schema else { throw DataStoreError.unsupportedFeature }
        self.configuration = configuration
        self.schema = schema
        storage = configuration.storage
        var steps = ReferenceSteps()
        configuration.fault?.change(&steps)
        self.steps = steps
        storage.state.withLock { steps.open(&$0) }
    }

    // MARK: Fetching

    public func fetch<T: PersistentModel>(
        _ request: DataStoreFetchRequest<T>
    ) throws -> DataStoreFetchResult<T, DefaultSnapshot> {
        let records = try steps.answer(matches(request), storage, Schema.entityName(for: T.self))
        return DataStoreFetchResult(
            descriptor: request.descriptor,
            fetchedSnapshots: records[
                steps.window(request.descriptor.fetchOffset, request.descriptor.fetchLimit, records.count)
            ]
            .map { steps.handOut($0) })
    }

    public func fetchCount<T: PersistentModel>(_ request: DataStoreFetchRequest<T>) throws -> Int {
        let count = try matches(request).count
        let debris = storage.state.withLock { $0.debris }
        return request.descriptor.window(of: steps.count(count, debris, Schema.entityName(for: T.self))).count
    }

    public func fetchIdentifiers<T: PersistentModel>(
        _ request: DataStoreFetchRequest<T>
    ) throws -> [PersistentIdentifier] {
        let identifiers = try matches(request).map(\.persistentIdentifier)
        return steps.identifiers(Array(identifiers[request.descriptor.window(of: identifiers.count)]))
    }

    /// The records of the request's entity and its subentities, in the order asked for.
    private func matches<T: PersistentModel>(_ request: DataStoreFetchRequest<T>) throws -> [DefaultSnapshot] {
        if request.descriptor.predicate != nil, !steps.ignoresPredicates { throw DataStoreError.preferInMemoryFilter }
        let order = try request.descriptor.sortBy.map { descriptor in
            guard let name = (T.self as? Entry.Type).flatMap({ _ in descriptor.keyPath.flatMap(Entry.column) }) else {
                throw DataStoreError.preferInMemorySort
            }
            return SortKey(property: name, isAscending: descriptor.order == .forward)
        }
        let family = steps.family(Schema.entityName(for: T.self), schema.stored)
        let all = storage.state.withLock { steps.order($0) }
        let index = InverseIndex(all)
        let records = all.filter { family.contains($0.persistentIdentifier.entityName) }.map { derive($0, index) }
        return order.isEmpty ? records : steps.sort(records, order)
    }

    private func derive(_ record: DefaultSnapshot, _ index: InverseIndex) -> DefaultSnapshot {
        var values = record.values
        for (place, slot) in record.layout.slots.enumerated() where slot.role == .toManyDerived {
            guard let inverse = slot.property.relationship?.inverse else { continue }
            values[place] = .identifiers(steps.members(index.owners(of: record.persistentIdentifier, through: inverse)))
        }
        return DefaultSnapshot(persistentIdentifier: record.persistentIdentifier, layout: record.layout, values: values)
    }

    // MARK: Saving

    public func save(
        _ request: DataStoreSaveChangesRequest<DefaultSnapshot>
    ) throws -> DataStoreSaveChangesResult<DefaultSnapshot> {
        try storage.state.withLock { state in
            var next = state
            let remapped: [PersistentIdentifier: PersistentIdentifier]
            do {
                remapped = try apply(steps.accept(request), to: &next)
            } catch {
                if steps.keepsHalves { state = next }
                if steps.swallowsErrors { return DataStoreSaveChangesResult(for: identifier) }
                throw error
            }
            try steps.finish(state, &next)
            state = next
            return DataStoreSaveChangesResult(for: identifier, remappedIdentifiers: remapped)
        }
    }

    private func apply(
        _ request: DataStoreSaveChangesRequest<DefaultSnapshot>, to state: inout ReferenceStorage.State
    ) throws -> [PersistentIdentifier: PersistentIdentifier] {
        var remapped: [PersistentIdentifier: PersistentIdentifier] = [:]
        for snapshot in request.inserted {
            let number = steps.number(snapshot.persistentIdentifier.entityName, &state)
            remapped[snapshot.persistentIdentifier] = steps.identify(
                number, identifier, snapshot.persistentIdentifier.entityName)
        }
        for snapshot in request.inserted {
            guard let permanent = remapped[snapshot.persistentIdentifier], let number = permanent.sequenceNumber else {
                throw ReferenceStoreError.noSuchRecord(snapshot.persistentIdentifier)
            }
            state.records[number] = kept(steps.remapInserted(snapshot, permanent, remapped))
        }
        for snapshot in request.deleted {
            let identifier = snapshot.persistentIdentifier
            guard let number = identifier.sequenceNumber, state.records[number] != nil else {
                if steps.passesOverMissing { continue }
                throw ReferenceStoreError.noSuchRecord(identifier)
            }
            steps.delete(number, &state)
        }
        for (place, snapshot) in request.updated.enumerated() {
            let identifier = snapshot.persistentIdentifier
            guard let number = identifier.sequenceNumber, let old = state.records[number] else {
                if steps.passesOverMissing { continue }
                throw ReferenceStoreError.noSuchRecord(identifier)
            }
            let slots = place < request.changedSlots.count ? request.changedSlots[place] : nil
            state.records[number] = kept(steps.merge(old, steps.remapUpdated(snapshot, remapped), slots))
        }
        steps.clearReferences(request.deleted.map(\.persistentIdentifier), &state)
        return remapped
    }

    private func kept(_ snapshot: DefaultSnapshot) -> DefaultSnapshot {
        var values = snapshot.values
        for (place, slot) in snapshot.layout.slots.enumerated() where slot.role != .toManyDerived {
            values[place] = steps.keep(values[place], slot)
        }
        return DefaultSnapshot(
            persistentIdentifier: snapshot.persistentIdentifier, layout: snapshot.layout, values: values)
    }

    public func erase() throws {
        storage.state.withLock { steps.erase(&$0) }
    }
}

/// What a reference store refuses.
public enum ReferenceStoreError: Error, Hashable, Sendable {
    /// The record to be changed or deleted is not there.
    case noSuchRecord(PersistentIdentifier)
    /// A faulty store refuses what it should not.
    case refused
}

/// The records that refer to each record, by the property that holds the reference.
private struct InverseIndex {
    private struct Place: Hashable {
        let target: PersistentIdentifier
        let property: String
    }
    private var owners: [Place: [PersistentIdentifier]] = [:]

    init(_ records: [DefaultSnapshot]) {
        for record in records {
            for (slot, value) in zip(record.layout.slots, record.values) {
                switch value {
                case .identifier(let target):
                    owners[Place(target: target, property: slot.name), default: []].append(record.persistentIdentifier)
                case .identifiers(let targets) where slot.role == .toManyStored:
                    for target in targets {
                        owners[Place(target: target, property: slot.name), default: []].append(
                            record.persistentIdentifier)
                    }
                default: break
                }
            }
        }
    }

    func owners(of target: PersistentIdentifier, through property: String) -> [PersistentIdentifier] {
        owners[Place(target: target, property: property)] ?? []
    }
}
