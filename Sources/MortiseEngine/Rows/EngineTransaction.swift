import HashTreeCollections
import MortiseCore

/// One writer's work on the next version. Dropped without a trace unless it is finished and published.
final class EngineTransaction {
    private let base: EngineVersion
    private let catalog: Catalog
    private var tables: [String: TableWriter] = [:]
    private var uniques: [UniqueConstraint: UniqueIndex]
    private var nextSequence: UInt64
    private var isChanged = false
    /// What stored relationships gained and lost, by the record and property that is derived from them.
    private var derived: [DerivedPlace: DerivedChange] = [:]
    /// References written by this transaction; their targets have to be there at its end.
    private var written: [(entity: String, slot: Int, record: UInt64, target: PersistentIdentifier)] = []
    private var deletedPlaces: Set<PersistentIdentifier> = []
    var changes = CommittedChanges()

    private struct DerivedPlace: Hashable {
        let target: PersistentIdentifier
        let property: String
    }
    private struct DerivedChange {
        var added: [PersistentIdentifier] = []
        var removed: Set<PersistentIdentifier> = []
    }

    init(_ base: EngineVersion) {
        self.base = base
        catalog = base.catalog
        uniques = base.uniques
        nextSequence = base.nextSequence
    }

    /// The number of the version that the transaction starts from.
    var baseNumber: UInt64 { base.number }

    private func table(_ entity: String) throws -> TableWriter {
        if let table = tables[entity] { return table }
        guard let layout = catalog.layouts[entity] else { throw EngineError.unknownEntity(entity) }
        let table =
            base.tables[entity].map { TableWriter($0, owner: base.number + 1) }
            ?? TableWriter(
                layout: layout, storeIdentifier: catalog.storeIdentifier, owner: base.number + 1, isOutside: false)
        tables[entity] = table
        return table
    }

    /// Where a record is now; nil if it is not there.
    private func find(_ identifier: PersistentIdentifier) throws -> (table: TableWriter, row: Int)? {
        guard let sequence = identifier.sequenceNumber, identifier.storeIdentifier == catalog.storeIdentifier,
            catalog.layouts[identifier.entityName] != nil
        else { return nil }
        let table = try table(identifier.entityName)
        return table.row(sequence).map { (table, $0) }
    }

    // MARK: A save

    func apply(
        _ request: DataStoreSaveChangesRequest<DefaultSnapshot>
    ) throws -> [PersistentIdentifier: PersistentIdentifier] {
        var remapped: [PersistentIdentifier: PersistentIdentifier] = [:]
        remapped.reserveCapacity(request.inserted.count)
        for snapshot in request.inserted {
            let entity = snapshot.persistentIdentifier.entityName
            guard catalog.layouts[entity] != nil else { throw EngineError.unknownEntity(entity) }
            remapped[snapshot.persistentIdentifier] = catalog.identifier(nextSequence, entity)
            nextSequence += 1
        }
        for snapshot in request.deleted { try delete(snapshot.persistentIdentifier) }
        var reindexed: [(PersistentIdentifier, TableWriter, Int)] = []
        for (index, snapshot) in request.updated.enumerated() {
            let slots = index < request.changedSlots.count ? request.changedSlots[index] : nil
            let identifier = snapshot.persistentIdentifier
            guard let (table, row) = try find(identifier) else { throw EngineError.noSuchRecord(identifier) }
            unindex(identifier, table, row)
            try update(snapshot, slots, remapped, identifier, table, row)
            reindexed.append((identifier, table, row))
        }
        for (identifier, table, row) in reindexed { try index(identifier, table, row) }
        for snapshot in request.inserted {
            guard let identifier = remapped[snapshot.persistentIdentifier] else { continue }
            try insert(snapshot, as: identifier, remapped)
        }
        try settle()
        return remapped
    }

    private func insert(
        _ snapshot: DefaultSnapshot, as identifier: PersistentIdentifier,
        _ remapped: [PersistentIdentifier: PersistentIdentifier]
    ) throws {
        let table = try table(identifier.entityName)
        let sequence = identifier.sequenceNumber ?? 0
        var values = try arranged(snapshot, for: table.layout)
        for (index, slot) in table.layout.slots.enumerated() {
            values[index].remapIdentifiers(remapped)
            if slot.role == .toManyDerived {
                values[index] = .identifiers([])
            } else if slot.property.attribute?.options.contains(.ephemeral) == true {
                values[index] = .null
            } else {
                values[index] = try checked(values[index], slot, identifier)
            }
        }
        for relationship in catalog.relationships[identifier.entityName] ?? [] {
            noteReferences(.null, values[relationship.slot], relationship, identifier)
        }
        table.append(sequence, values)
        isChanged = true
        changes.inserted.append(identifier)
        if let row = table.row(sequence) { try index(identifier, table, row) }
    }

    private func update(
        _ snapshot: DefaultSnapshot, _ slots: SlotSet?, _ remapped: [PersistentIdentifier: PersistentIdentifier],
        _ identifier: PersistentIdentifier, _ table: TableWriter, _ row: Int
    ) throws {
        let values = try arranged(snapshot, for: table.layout)
        var changedSlots = SlotSet()
        for (index, slot) in table.layout.slots.enumerated() where slots?.contains(index) ?? true {
            if slot.role == .toManyDerived || slot.property.attribute?.options.contains(.ephemeral) == true { continue }
            var value = values[index]
            value.remapIdentifiers(remapped)
            value = try checked(value, slot, identifier)
            let old = table.value(row, index)
            guard !old.isIdentical(to: value) else { continue }
            if let relationship = catalog.relationships[identifier.entityName]?.first(where: { $0.slot == index }) {
                noteReferences(old, value, relationship, identifier)
            }
            table.set(value, row, index)
            changedSlots.insert(index)
            isChanged = true
        }
        if !changedSlots.isEmpty { changes.updated.append((identifier, changedSlots)) }
    }

    /// The values of a snapshot in this engine's slots: its layout is usually the same, slot for slot.
    private func arranged(
        _ snapshot: DefaultSnapshot, for layout: RecordLayout
    ) throws -> ContiguousArray<StoredValue> {
        if snapshot.layout === layout || snapshot.layout.slots.elementsEqual(layout.slots, by: { $0.name == $1.name }) {
            return snapshot.values
        }
        return ContiguousArray(layout.slots.map { snapshot[property: $0.name] ?? .null })
    }

    private func checked(
        _ value: StoredValue, _ slot: RecordLayout.Slot, _ record: PersistentIdentifier
    ) throws -> StoredValue {
        var value = value
        var fits: Bool
        switch slot.role {
        case .attribute:
            fits = slot.property.attribute.map { value.fits($0.kind) } ?? false
            if value.isNull, !slot.property.isOptional {
                if let fallback = slot.property.attribute?.defaultValue { value = fallback } else { fits = false }
            }
        case .toOne:
            if case .identifier = value { fits = true } else { fits = value.isNull && slot.property.isOptional }
        case .toManyStored, .toManyDerived:
            if value.isNull { value = .identifiers([]) }
            if case .identifiers(let identifiers) = value {
                value = .identifiers(Set(identifiers).sorted())
                fits = true
            } else {
                fits = false
            }
        }
        guard fits else {
            throw EngineError.unfitValue(
                entity: record.entityName, property: slot.name, record: record, found: "\(value)")
        }
        return value
    }

    // MARK: Deletion

    private func delete(_ identifier: PersistentIdentifier) throws {
        guard let (table, row) = try find(identifier) else { throw EngineError.noSuchRecord(identifier) }
        unindex(identifier, table, row)
        for relationship in catalog.relationships[identifier.entityName] ?? [] {
            noteReferences(table.value(row, relationship.slot), .null, relationship, identifier)
        }
        table.remove(row)
        deletedPlaces.insert(identifier)
        changes.deleted.append(identifier)
        isChanged = true
    }

    func deleteAll(ofEntity name: String, includingSubentities: Bool) throws {
        guard catalog.layouts[name] != nil else { throw EngineError.unknownEntity(name) }
        let entities = includingSubentities ? catalog.subtrees[name] ?? [name] : [name]
        for entity in entities.sorted() {
            var all: [PersistentIdentifier] = []
            try table(entity).forEachRow { _, sequence in all.append(catalog.identifier(sequence, entity)) }
            for identifier in all { try delete(identifier) }
        }
        try clearReferencesToDeleted()
        try settle()
    }

    func erase() {
        for (entity, version) in base.tables {
            // The rows stay, dead: readers of older versions know records by their rows.
            let table = TableWriter(version, owner: base.number + 1)
            table.forEachRow { row, _ in table.remove(row) }
            tables[entity] = table
        }
        uniques = [:]
        isChanged = true
        changes.isErasure = true
    }

    /// Clears what still refers to deleted records, through relationships that have the deleted side as their inverse.
    private func clearReferencesToDeleted() throws {
        for (entity, relationships) in catalog.relationships {
            for relationship in relationships where leadsToDeleted(relationship.destination) {
                try clear(entity, relationship)
            }
        }
    }

    private func leadsToDeleted(_ destination: String) -> Bool {
        let family = catalog.subtrees[destination] ?? []
        return deletedPlaces.contains { family.contains($0.entityName) }
    }

    private func clear(_ entity: String, _ relationship: Catalog.RelationshipSlot) throws {
        let table = try table(entity)
        var found: [(row: Int, sequence: UInt64, new: StoredValue)] = []
        table.forEachRow { row, sequence in
            switch table.value(row, relationship.slot) {
            case .identifier(let target) where deletedPlaces.contains(target): found.append((row, sequence, .null))
            case .identifiers(let targets) where targets.contains(where: deletedPlaces.contains):
                found.append((row, sequence, .identifiers(targets.filter { !deletedPlaces.contains($0) })))
            default: break
            }
        }
        let slot = table.layout.slots[relationship.slot]
        for (row, sequence, new) in found {
            let identifier = catalog.identifier(sequence, entity)
            let old = table.value(row, relationship.slot)
            if new.isNull, !slot.property.isOptional, case .identifier(let target) = old {
                throw EngineError.danglingReference(
                    entity: entity, property: slot.name, record: identifier, target: target)
            }
            noteReferences(old, new, relationship, identifier)
            table.set(new, row, relationship.slot)
            changes.updated.append((identifier, SlotSet([relationship.slot])))
        }
    }

    // MARK: References

    private func noteReferences(
        _ old: StoredValue, _ new: StoredValue, _ relationship: Catalog.RelationshipSlot, _ owner: PersistentIdentifier
    ) {
        let before = Self.targets(old)
        let after = Self.targets(new)
        for target in after where before.isEmpty || !before.contains(target) {
            written.append((owner.entityName, relationship.slot, owner.sequenceNumber ?? 0, target))
            if let property = relationship.derived {
                let place = DerivedPlace(target: target, property: property)
                if derived[place, default: DerivedChange()].removed.remove(owner) == nil {
                    derived[place]?.added.append(owner)
                }
            }
        }
        guard let property = relationship.derived, !before.isEmpty else { return }
        let kept = Set(after)
        for target in before where !kept.contains(target) {
            derived[DerivedPlace(target: target, property: property), default: DerivedChange()].removed.insert(owner)
        }
    }

    private static func targets(_ value: StoredValue) -> [PersistentIdentifier] {
        switch value {
        case .identifier(let target): [target]
        case .identifiers(let targets): targets
        default: []
        }
    }

    /// Brings derived relationships up to date and sees to it that nothing refers to what is not there.
    private func settle() throws {
        if !deletedPlaces.isEmpty {
            for reference in catalog.oneWay where leadsToDeleted(reference.destination) {
                try clear(
                    reference.entity,
                    .init(
                        slot: reference.slot, destination: reference.destination, isToMany: reference.isToMany,
                        derived: nil))
            }
        }
        for (place, change) in derived {
            guard let (table, row) = try find(place.target), let slot = table.layout.slot(named: place.property) else {
                continue
            }
            var members = Self.targets(table.value(row, slot))
            if !change.removed.isEmpty { members.removeAll(where: change.removed.contains) }
            if !change.added.isEmpty {
                let needsOrder = members.last.map { last in change.added.contains { $0 < last } } ?? true
                members += change.added
                if needsOrder { members = Set(members).sorted() }
            }
            table.set(.identifiers(members), row, slot)
        }
        for reference in written {
            let record = catalog.identifier(reference.record, reference.entity)
            guard try find(record) != nil, let layout = catalog.layouts[reference.entity] else { continue }
            let slot = layout.slots[reference.slot]
            guard try find(reference.target) != nil else {
                throw EngineError.danglingReference(
                    entity: reference.entity, property: slot.name, record: record, target: reference.target)
            }
            let destination = slot.property.relationship?.destination ?? ""
            guard catalog.subtrees[destination]?.contains(reference.target.entityName) == true else {
                throw EngineError.wrongDestination(
                    entity: reference.entity, property: slot.name, record: record, target: reference.target)
            }
        }
        try refuseReferencesToDeleted()
    }

    /// A deleted record's derived relationships have to be empty by now: what is in them still refers to it.
    private func refuseReferencesToDeleted() throws {
        for deleted in deletedPlaces {
            guard let layout = catalog.layouts[deleted.entityName], let before = base.tables[deleted.entityName],
                let sequence = deleted.sequenceNumber, let row = before.row(ofSequence: sequence)
            else { continue }
            for (index, slot) in layout.slots.enumerated() where slot.role == .toManyDerived {
                let removed = derived[DerivedPlace(target: deleted, property: slot.name)]?.removed ?? []
                let left = Self.targets(before.value(row: row, slot: index)).first {
                    !removed.contains($0) && !deletedPlaces.contains($0)
                }
                if let left, let relationship = slot.property.relationship {
                    throw EngineError.danglingReference(
                        entity: left.entityName, property: relationship.inverse ?? "", record: left, target: deleted)
                }
            }
        }
    }

    // MARK: Uniqueness

    private func key(_ slots: [Int], _ table: TableWriter, _ row: Int) -> UniqueKey? {
        UniqueKey(slots.map { table.value(row, $0) })
    }

    private func unindex(_ identifier: PersistentIdentifier, _ table: TableWriter, _ row: Int) {
        for (constraint, slots) in catalog.constraints[identifier.entityName] ?? [] {
            if let key = key(slots, table, row) { uniques[constraint]?.removeValue(forKey: key) }
        }
    }

    private func index(_ identifier: PersistentIdentifier, _ table: TableWriter, _ row: Int) throws {
        let place = RecordPlace(
            entity: catalog.entityNumbers[identifier.entityName] ?? 0, sequence: identifier.sequenceNumber ?? 0)
        for (constraint, slots) in catalog.constraints[identifier.entityName] ?? [] {
            guard let key = key(slots, table, row) else { continue }
            if let other = uniques[constraint, default: UniqueIndex()].updateValue(place, forKey: key), other != place {
                throw EngineError.notUnique(
                    entity: identifier.entityName, properties: slots.map { table.layout.slots[$0].name },
                    record: identifier,
                    other: catalog.identifier(other.sequence, catalog.entityNames[other.entity]))
            }
        }
    }

    // MARK: The end

    /// The version that this transaction makes; nil where nothing changed.
    func finished() -> EngineVersion? {
        guard isChanged else { return nil }
        var all = base.tables
        for (name, table) in tables { all[name] = table.finished() }
        return EngineVersion(
            number: base.number + 1, nextSequence: nextSequence, tables: all, uniques: uniques, catalog: catalog)
    }
}
