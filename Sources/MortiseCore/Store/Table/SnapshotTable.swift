public import Foundation

/// The records of a store that keeps all of them in memory and writes them in its own format: a folder of files, a
/// document, a service's answer.
///
/// It does what every such store has to do: it assigns identifiers to new records, replaces temporary ones everywhere,
/// applies changes as a whole or not at all, keeps the order of insertion, and derives the computed sides of
/// relationships. The store only reads and writes the records:
///
///     func save(_ request: DataStoreSaveChangesRequest<DefaultSnapshot>) throws
///         -> DataStoreSaveChangesResult<DefaultSnapshot>
///     {
///         var changed = table
///         let result = try changed.apply(request)
///         try write(changed)
///         table = changed
///         return result
///     }
///
/// It is a value type: a copy keeps its state. Reading an entity takes time in proportion to its records and to those
/// that refer to it by a relationship that it derives. It enforces neither unique values nor referential integrity; a
/// reference to a missing record reads as nil.
public struct SnapshotTable: Sendable {
    /// The schema of the records.
    public let schema: StoredSchema
    /// The store's identifier, which is part of the identifiers of its records.
    public private(set) var storeIdentifier: String
    /// The number of the record that is inserted next. Numbers are not used again: a store that is opened again has to
    /// restore the one it had, because numbers define the order in which records were inserted.
    public internal(set) var nextNumber: UInt64

    let layouts: [String: RecordLayout]
    private let families: [String: [String]]
    /// The records of each entity by number.
    private(set) var records: [String: [DefaultSnapshot]] = [:]
    /// Text tables of entities that the schema does not have.
    var foreign: [String: Foreign] = [:]
    /// How the schema that the texts were written under describes those entities.
    var foreignEntities: [StoredEntity] = []

    struct Foreign: Sendable {
        let kinds: String
        let rows: [[String?]]
    }

    /// Creates a table without records.
    /// - Parameters:
    ///   - schema: the schema of the records.
    ///   - storeIdentifier: the store's identifier; a new one by default.
    ///   - nextNumber: the number of the first record to be inserted; at least 1.
    public init(_ schema: StoredSchema, storeIdentifier: String = UUID().uuidString, nextNumber: UInt64 = 1) {
        self.schema = schema
        self.storeIdentifier = storeIdentifier
        self.nextNumber = nextNumber
        layouts = schema.recordLayouts()
        families = Dictionary(
            schema.entities.map { ($0.name, schema.subtree(of: $0.name)) }, uniquingKeysWith: { first, _ in first })
    }

    // MARK: Reading

    /// The stored record with an identifier, without derived relationships; nil if there is no such record.
    public subscript(identifier: PersistentIdentifier) -> DefaultSnapshot? {
        place(of: identifier).flatMap { records[identifier.entityName]?[$0] }
    }

    /// Reads the records of an entity, complete with derived relationships.
    /// - Parameters:
    ///   - entity: the entity's name.
    ///   - includingSubentities: whether to include records of entities that inherit from it.
    /// - Returns: the records in order of insertion; empty for an entity that the schema does not have.
    public func snapshots(of entity: String, includingSubentities: Bool = true) -> [DefaultSnapshot] {
        snapshots(of: entity, includingSubentities: includingSubentities) { _ in true }
    }

    /// The records for which `isIncluded` returns true, complete with derived relationships. `isIncluded` sees
    /// attributes and stored relationships only.
    public func snapshots(
        of entity: String, includingSubentities: Bool = true, where isIncluded: (DefaultSnapshot) throws -> Bool
    ) rethrows -> [DefaultSnapshot] {
        let family = includingSubentities ? families[entity] ?? [] : [entity]
        let parts = try family.map { try (records[$0] ?? []).filter(isIncluded) }.filter { !$0.isEmpty }
        guard parts.count > 1 else { return completed(parts.first ?? []) }
        return completed(parts.joined().sorted { $0.persistentIdentifier < $1.persistentIdentifier })
    }

    /// Answers a fetch without predicate in order of insertion, and declines the rest to the framework.
    /// - Throws: `DataStoreError.preferInMemoryFilter`, `.preferInMemorySort`.
    public func fetch<T: PersistentModel>(
        _ request: DataStoreFetchRequest<T>
    ) throws(DataStoreError) -> DataStoreFetchResult<T, DefaultSnapshot> {
        let descriptor = request.descriptor
        if descriptor.predicate != nil { throw .preferInMemoryFilter }
        if !descriptor.sortBy.isEmpty { throw .preferInMemorySort }
        let found = snapshots(of: Schema.entityName(for: T.self))
        return DataStoreFetchResult(
            descriptor: descriptor, fetchedSnapshots: Array(found[descriptor.window(of: found.count)]))
    }

    /// The number of records of an entity; 0 for an entity that the schema does not have.
    public func count(of entity: String, includingSubentities: Bool = true) -> Int {
        let family = includingSubentities ? families[entity] ?? [] : [entity]
        return family.reduce(0) { $0 + (records[$1]?.count ?? 0) }
    }

    // MARK: Changing

    /// Applies the changes of a save.
    /// - Returns: the result for `DataStore.save(_:)` to return, with the permanent identifiers of the inserted
    ///   records.
    /// - Throws: `SnapshotTableError` for a changed or deleted record that does not exist, for a deleted record to which another one
    ///   has to refer, and for an entity that the schema does not have. The table does not change then.
    public mutating func apply(
        _ request: DataStoreSaveChangesRequest<DefaultSnapshot>
    ) throws(SnapshotTableError) -> DataStoreSaveChangesResult<DefaultSnapshot> {
        // Whatever can throw comes first.
        for snapshot in request.updated + request.deleted where place(of: snapshot.persistentIdentifier) == nil {
            throw .noSuchRecord(snapshot.persistentIdentifier)
        }
        let gone = Set(request.deleted.map(\.persistentIdentifier))
        try checkNoneIsRequired(gone, after: request)
        var permanent: [PersistentIdentifier: PersistentIdentifier] = [:]
        var next = nextNumber
        for temporary in request.inserted.map(\.persistentIdentifier) {
            guard layouts[temporary.entityName] != nil else { throw .unknownEntity(temporary.entityName) }
            permanent[temporary] = .numbered(next, storeIdentifier: storeIdentifier, entityName: temporary.entityName)
            let (following, isTooLarge) = next.addingReportingOverflow(1)
            if isTooLarge { throw .numbersExhausted }
            next = following
        }
        nextNumber = next
        for snapshot in request.inserted {
            let temporary = snapshot.persistentIdentifier
            let new = snapshot.copy(
                persistentIdentifier: permanent[temporary] ?? temporary, remappedIdentifiers: permanent)
            records[temporary.entityName, default: []].append(kept(new))
        }
        for (number, snapshot) in request.updated.enumerated() {
            let new = snapshot.copy(
                persistentIdentifier: snapshot.persistentIdentifier, remappedIdentifiers: permanent)
            update(new, slots: number < request.changedSlots.count ? request.changedSlots[number] : nil)
        }
        delete(gone)
        return DataStoreSaveChangesResult(for: storeIdentifier, remappedIdentifiers: permanent)
    }

    /// Adds records that were stored before, under their identifiers.
    /// - Throws: `SnapshotTableError` for an entity that the schema does not have, and for a number that two records
    ///   have. The table does not change then.
    public mutating func load(
        _ snapshots: [DefaultSnapshot], of entity: String
    ) throws(SnapshotTableError) {
        guard layouts[entity] != nil else { throw .unknownEntity(entity) }
        let all = ((records[entity] ?? []) + snapshots.map(kept))
            .sorted { $0.persistentIdentifier < $1.persistentIdentifier }
        for (one, other) in zip(all, all.dropFirst()) where one.persistentIdentifier == other.persistentIdentifier {
            throw .repeatedRecord(one.persistentIdentifier)
        }
        let last = all.last?.persistentIdentifier.sequenceNumber ?? 0
        let (following, isTooLarge) = last.addingReportingOverflow(1)
        if isTooLarge { throw .numbersExhausted }
        if !all.isEmpty { nextNumber = max(nextNumber, following) }
        records[entity] = all
    }

    /// Adds records of another store, whose identifier the table takes: what `DataStore.restore(_:ofStore:nextNumber:)` asks for.
    /// - Parameters:
    ///   - snapshots: records of any entities, in any order.
    ///   - store: the identifier of the other store.
    ///   - nextNumber: the number that the next record to be inserted gets at least.
    /// - Throws: `SnapshotTableError` as `load(_:of:)` throws it, and for a table that has records of its own. The table does not change
    ///   then.
    public mutating func restore(
        _ snapshots: [DefaultSnapshot], ofStore store: String, nextNumber: UInt64
    ) throws(SnapshotTableError) {
        if store != storeIdentifier, records.values.contains(where: { !$0.isEmpty }) {
            throw .holdsRecords(ofStore: storeIdentifier)
        }
        var changed = self
        changed.storeIdentifier = store
        for (entity, records) in Dictionary(grouping: snapshots, by: \.persistentIdentifier.entityName) {
            try changed.load(records, of: entity)
        }
        changed.nextNumber = max(changed.nextNumber, nextNumber)
        self = changed
    }

    /// Removes all records. Their numbers are not used again.
    public mutating func removeAll() { records = [:] }

    private mutating func update(_ snapshot: DefaultSnapshot, slots: SlotSet?) {
        let identifier = snapshot.persistentIdentifier
        guard let place = place(of: identifier), let old = records[identifier.entityName]?[place] else { return }
        var values = old.values
        for slot in values.indices where slot < snapshot.values.count && slots?.contains(slot) ?? true {
            values[slot] = snapshot.values[slot]
        }
        let new = kept(DefaultSnapshot(persistentIdentifier: identifier, layout: old.layout, values: values))
        records[identifier.entityName]?[place] = new
    }

    /// A reference that has to be there is not cleared with the record that it leads to: what is left could not be read again.
    private func checkNoneIsRequired(
        _ gone: Set<PersistentIdentifier>, after request: DataStoreSaveChangesRequest<DefaultSnapshot>
    ) throws(SnapshotTableError) {
        let required = layouts.mapValues { layout in
            layout.slots.indices.filter { layout.slots[$0].role == .toOne && !layout.slots[$0].property.isOptional }
        }
        try checkTargets(of: request, in: required, gone)
        if gone.isEmpty { return }
        var updates: [PersistentIdentifier: Int] = [:]
        for (place, snapshot) in request.updated.enumerated() { updates[snapshot.persistentIdentifier] = place }
        for (entity, slots) in required where !slots.isEmpty {
            for record in records[entity] ?? [] where !gone.contains(record.persistentIdentifier) {
                let update = updates[record.persistentIdentifier]
                for slot in slots {
                    let changed = update.map { $0 < request.changedSlots.count ? request.changedSlots[$0] : nil }
                    var value = record.values[slot]
                    if let update, changed??.contains(slot) ?? true { value = request.updated[update].values[slot] }
                    guard case .identifier(let target) = value, gone.contains(target) else { continue }
                    throw .isRequired(
                        target, by: record.persistentIdentifier, property: record.layout.slots[slot].name)
                }
            }
        }
    }

    /// A reference that has to be there leads to a record that is there, or to one that the save inserts.
    private func checkTargets(
        of request: DataStoreSaveChangesRequest<DefaultSnapshot>, in required: [String: [Int]],
        _ gone: Set<PersistentIdentifier>
    ) throws(SnapshotTableError) {
        let new = Set(request.inserted.map(\.persistentIdentifier))
        func check(_ snapshot: DefaultSnapshot, _ changed: SlotSet?) throws(SnapshotTableError) {
            let identifier = snapshot.persistentIdentifier
            for slot in required[identifier.entityName] ?? [] where slot < snapshot.values.count {
                guard changed?.contains(slot) ?? true, case .identifier(let target) = snapshot.values[slot] else {
                    continue
                }
                if gone.contains(target) {
                    throw .isRequired(target, by: identifier, property: snapshot.layout.slots[slot].name)
                }
                if !new.contains(target), place(of: target) == nil { throw .noSuchRecord(target) }
            }
        }
        for snapshot in request.inserted { try check(snapshot, nil) }
        for (number, snapshot) in request.updated.enumerated() {
            try check(snapshot, number < request.changedSlots.count ? request.changedSlots[number] : nil)
        }
    }

    private mutating func delete(_ gone: Set<PersistentIdentifier>) {
        if gone.isEmpty { return }
        for entity in records.keys {
            records[entity]?.removeAll { gone.contains($0.persistentIdentifier) }
            guard layouts[entity]?.slots.contains(where: \.role.isRelationship) == true else { continue }
            for place in records[entity]?.indices ?? 0..<0 {
                if let cleared = records[entity]?[place].clearing(gone.contains) { records[entity]?[place] = cleared }
            }
        }
    }

    // MARK: Records

    private func place(of identifier: PersistentIdentifier) -> Int? {
        guard let rows = records[identifier.entityName] else { return nil }
        var range = 0..<rows.count
        while !range.isEmpty {
            let middle = range.lowerBound + range.count / 2
            let found = rows[middle].persistentIdentifier
            if found == identifier { return middle }
            range = found < identifier ? middle + 1..<range.upperBound : range.lowerBound..<middle
        }
        return nil
    }

    /// A record as it is kept: with the layout of this table, the members of a relationship in their order, and nothing
    /// for sides that follow from others.
    private func kept(_ snapshot: DefaultSnapshot) -> DefaultSnapshot {
        let layout = layouts[snapshot.persistentIdentifier.entityName] ?? snapshot.layout
        var values = snapshot.values
        for (place, slot) in layout.slots.enumerated() where place < values.count {
            switch (slot.role, values[place]) {
            case (.toManyStored, .identifiers(let members)): values[place] = .identifiers(Set(members).sorted())
            case (.toManyStored, .null), (.toManyDerived, _): values[place] = .identifiers([])
            default: break
            }
        }
        return DefaultSnapshot(
            persistentIdentifier: snapshot.persistentIdentifier, layout: layout, values: values)
    }

    /// Records as they are handed out.
    private func completed(_ found: [DefaultSnapshot]) -> [DefaultSnapshot] {
        let slots = Set(found.map(\.persistentIdentifier.entityName)).flatMap { layouts[$0]?.slots ?? [] }
        guard slots.contains(where: \.role.isRelationship) else { return found }
        let wanted = Set(found.map(\.persistentIdentifier))
        var owners: [RelationshipEnd: [PersistentIdentifier: [PersistentIdentifier]]] = [:]
        for end in Set(slots.compactMap(\.derivedFrom)) { owners[end] = references(through: end, to: wanted) }
        return found.map { record in
            let whole = record.clearing { place(of: $0) == nil } ?? record
            var values = whole.values
            for (place, slot) in record.layout.slots.enumerated() {
                guard let end = slot.derivedFrom else { continue }
                values[place] = .identifiers(owners[end]?[record.persistentIdentifier] ?? [])
            }
            return DefaultSnapshot(
                persistentIdentifier: record.persistentIdentifier, layout: record.layout, values: values)
        }
    }

    /// The records that refer to others by a relationship, for each of those that are wanted.
    private func references(
        through end: RelationshipEnd, to wanted: Set<PersistentIdentifier>
    ) -> [PersistentIdentifier: [PersistentIdentifier]] {
        var owners: [PersistentIdentifier: [PersistentIdentifier]] = [:]
        for entity in families[end.entity] ?? [] {
            guard let slot = layouts[entity]?.slot(named: end.property) else { continue }
            for record in records[entity] ?? [] {
                for target in record.values[slot].targets where wanted.contains(target) {
                    owners[target, default: []].append(record.persistentIdentifier)
                }
            }
        }
        return owners.mapValues { $0.sorted() }
    }
}

/// The side of a relationship from which the other follows.
private struct RelationshipEnd: Hashable {
    let entity: String
    let property: String
}

extension RecordLayout.Slot {
    fileprivate var derivedFrom: RelationshipEnd? {
        guard role == .toManyDerived, let relationship = property.relationship, let inverse = relationship.inverse
        else {
            return nil
        }
        return RelationshipEnd(entity: relationship.destination, property: inverse)
    }
}

extension StoredValue {
    /// The records that a relationship's value refers to; empty for other values.
    public var targets: [PersistentIdentifier] {
        switch self {
        case .identifier(let target): [target]
        case .identifiers(let targets): targets
        default: []
        }
    }
}

extension DefaultSnapshot {
    /// The record without its references to deleted records; nil if it has none.
    fileprivate func clearing(_ isGone: (PersistentIdentifier) -> Bool) -> DefaultSnapshot? {
        var cleared: ContiguousArray<StoredValue>?
        for (place, value) in values.enumerated() where value.targets.contains(where: isGone) {
            if case .identifiers(let members) = value {
                cleared = cleared ?? values
                cleared?[place] = .identifiers(members.filter { !isGone($0) })
            } else {
                cleared = cleared ?? values
                cleared?[place] = .null
            }
        }
        return cleared.map {
            DefaultSnapshot(persistentIdentifier: persistentIdentifier, layout: layout, values: $0)
        }
    }
}
