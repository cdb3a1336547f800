import Foundation
import MortiseCore
import Synchronization

/// The work of the reference stores, step by step.
final class ReferenceWork: Sendable {
    let schema: Schema
    let storage: ReferenceStorage
    let steps: ReferenceSteps
    let layouts: [String: RecordLayout]
    /// By entity, it and all that inherit from it.
    private let families: [String: Set<String>]
    private let outlines = Mutex<[ObjectIdentifier: Outline]>([:])
    let feed = ChangeFeed()
    private let closed = Mutex(false)
    private let latest = Mutex<ReferenceVersion.Contents?>(nil)

    let identifier: String

    init(
        _ storage: ReferenceStorage, _ schema: Schema?, _ fault: StoreFault?,
        change: (inout ReferenceSteps) -> Void = { _ in }
    ) throws {
        guard let schema else { throw DataStoreError.unsupportedFeature }
        self.schema = schema
        self.storage = storage
        layouts = schema.stored.recordLayouts()
        families = Self.families(layouts)
        var steps = ReferenceSteps()
        change(&steps)
        fault?.change(&steps)
        self.steps = steps
        identifier = steps.storeIdentifier(storage.identifier, storage.copies)
        try storage.state.withLock { state in
            steps.open(&state)
            try steps.adopt(schema.stored, layouts, &state)
        }
    }

    /// By entity, it and all that inherit from it. A store is opened for each case, and the schema has a hundred entities.
    private static func families(_ layouts: [String: RecordLayout]) -> [String: Set<String>] {
        var families: [String: Set<String>] = [:]
        for name in layouts.keys {
            var ancestor: String? = name
            while let next = ancestor {
                families[next, default: []].insert(name)
                ancestor = layouts[next]?.superentityName
            }
        }
        return families
    }

    // MARK: Fetching

    func fetch<T: PersistentModel>(
        _ request: DataStoreFetchRequest<T>
    ) throws -> DataStoreFetchResult<T, DefaultSnapshot> {
        let records = try steps.answer(matches(request), storage, Schema.entityName(for: T.self))
        let window = steps.window(request.descriptor.fetchOffset, request.descriptor.fetchLimit, records.count)
        return DataStoreFetchResult(
            descriptor: request.descriptor, fetchedSnapshots: records[window].map { steps.handOut($0) })
    }

    func fetchCount<T: PersistentModel>(_ request: DataStoreFetchRequest<T>) throws -> Int {
        let count = try matches(request).count
        let debris = storage.state.withLock { $0.debris }
        let counted = steps.count(count, debris, Schema.entityName(for: T.self))
        return steps.countWindow(request.descriptor.fetchOffset, request.descriptor.fetchLimit, counted)
    }

    func fetchIdentifiers<T: PersistentModel>(_ request: DataStoreFetchRequest<T>) throws -> [PersistentIdentifier] {
        let identifiers = try matches(request).map(\.persistentIdentifier)
        return steps.identifiers(Array(identifiers[request.descriptor.window(of: identifiers.count)]))
    }

    /// The records of the request's entity and its subentities, in the order asked for.
    private func matches<T: PersistentModel>(_ request: DataStoreFetchRequest<T>) throws -> [DefaultSnapshot] {
        if try isClosedAndEmpty() { return [] }
        if request.descriptor.predicate != nil, !steps.ignoresPredicates { throw DataStoreError.preferInMemoryFilter }
        let order = try request.descriptor.sortBy.map { descriptor in
            guard let name = (T.self as? Entry.Type).flatMap({ _ in descriptor.keyPath.flatMap(Entry.column) }) else {
                throw DataStoreError.preferInMemorySort
            }
            return SortKey(property: name, isAscending: descriptor.order == .forward)
        }
        let records = records(of: Schema.entityName(for: T.self))
        return order.isEmpty ? records : steps.sort(records, order)
    }

    /// All records of an entity and its subentities, in identity order, with what follows from others.
    func records(of entity: String) -> [DefaultSnapshot] {
        let family = steps.family(entity, schema.stored)
        let all = storage.state.withLock { steps.order($0) }
        let found = all.filter { family.contains($0.persistentIdentifier.entityName) }
        if found.allSatisfy({ outline(of: $0.layout).derived.isEmpty }) { return found }
        let index = InverseIndex(all)
        return found.map { derive($0, index) }
    }

    /// Records that a context has changed and rolls back.
    func cachedSnapshots(for identifiers: [PersistentIdentifier]) -> [PersistentIdentifier: DefaultSnapshot] {
        let (all, debris) = storage.state.withLock { (steps.order($0), $0.debris) }
        let index = InverseIndex(all)
        let wanted = Set(identifiers)
        let found = all.filter { wanted.contains($0.persistentIdentifier) }
            .map { ($0.persistentIdentifier, steps.cached(derive($0, index), debris)) }
        return Dictionary(found, uniquingKeysWith: { first, _ in first })
    }

    func derive(_ record: DefaultSnapshot, _ index: InverseIndex) -> DefaultSnapshot {
        let derived = outline(of: record.layout).derived
        if derived.isEmpty { return record }
        var values = record.values
        for place in derived {
            let slot = record.layout.slots[place]
            if let members = members(of: record.persistentIdentifier, slot, index) { values[place] = members }
        }
        return DefaultSnapshot(persistentIdentifier: record.persistentIdentifier, layout: record.layout, values: values)
    }

    /// What has to be looked at in records of a layout.
    func outline(of layout: RecordLayout) -> Outline {
        outlines.withLock { outlines in
            if let known = outlines[ObjectIdentifier(layout)] { return known }
            let outline = Outline(layout)
            outlines[ObjectIdentifier(layout)] = outline
            return outline
        }
    }

    /// The members of a derived to-many relationship; nil for any other property.
    func members(of record: PersistentIdentifier, _ slot: RecordLayout.Slot, _ index: InverseIndex) -> StoredValue? {
        guard slot.role == .toManyDerived, let relationship = slot.property.relationship,
            let inverse = relationship.inverse
        else { return nil }
        let end = DerivedEnd(
            slot: slot, inverse: inverse, owners: families[relationship.destination] ?? [relationship.destination])
        return .identifiers(steps.members(steps.owners(record, end, index)))
    }

    // MARK: Versions

    var version: ReferenceVersion {
        let state = storage.state.withLock { $0 }
        let contents = latest.withLock { latest in
            if let latest, latest.state.version == state.version, !steps.countsLooks { return latest }
            let contents = ReferenceVersion.Contents(state, number: steps.countsLooks ? (latest?.number ?? 0) + 1 : nil)
            latest = contents
            return contents
        }
        return ReferenceVersion(contents, self)
    }

    // MARK: Closing

    func close() throws {
        let wasClosed = closed.withLock { closed in
            defer { closed = true }
            return closed
        }
        if wasClosed, steps.closesOnce { throw steps.explain(.closed) }
    }

    /// Whether a store with a fault answers with nothing, since it is closed.
    /// - Throws: that it is closed, if it is without that fault.
    func isClosedAndEmpty() throws -> Bool {
        if steps.isEmptyWhenClosed { return closed.withLock { $0 } }
        try checkOpen()
        return false
    }

    func checkOpen() throws {
        if closed.withLock({ $0 }), !steps.worksWhenClosed { throw steps.explain(.closed) }
    }
}

/// The slots of an entity that a store has to look at in each of its records. A slot has much to say, and reading all of it for
/// every record is most of the work of a store that has many.
struct Outline: Sendable {
    let layout: RecordLayout
    /// Those of to-many relationships that follow from others.
    let derived: [Int]
    /// Those of relationships that are kept.
    let references: [Int]

    init(_ layout: RecordLayout) {
        self.layout = layout
        derived = layout.slots.indices.filter { layout.slots[$0].role == .toManyDerived }
        references = layout.slots.indices.filter { [.toOne, .toManyStored].contains(layout.slots[$0].role) }
    }
}

/// The records that refer to each record, by the property that holds the reference.
struct InverseIndex: Sendable {
    private struct Place: Hashable {
        let target: PersistentIdentifier
        let property: String
    }
    private var owners: [Place: [PersistentIdentifier]] = [:]

    init(_ records: [DefaultSnapshot]) {
        for record in records {
            for place in record.values.indices {
                switch record.values[place] {
                case .identifier(let target):
                    let slot = record.layout.slots[place]
                    owners[Place(target: target, property: slot.name), default: []].append(record.persistentIdentifier)
                case .identifiers(let targets):
                    let slot = record.layout.slots[place]
                    guard slot.role == .toManyStored else { continue }
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

    /// The records that one refers to by a property.
    func targets(of owner: PersistentIdentifier, through property: String) -> [PersistentIdentifier] {
        owners.filter { $0.key.property == property && $0.value.contains(owner) }.map(\.key.target).sorted()
    }

    /// The records that refer to another by any property.
    func owners(of target: PersistentIdentifier) -> [PersistentIdentifier] {
        Set(owners.filter { $0.key.target == target }.flatMap(\.value)).sorted()
    }
}
