import Foundation

/// Carries out a stage that sees both versions.
struct TransformRun {
    let step: MigrationPath.Step
    let transform: MigrationTransform
    let migration: any StoreMigration
    /// Takes what the schemas do not take of the records, with the old properties whose values were converted.
    var note: (_ loss: SchemaLoss, _ converted: [String: Set<String>]) throws -> Void = { _, _ in }
    var advance: (_ records: Int) throws -> Void = { _ in }

    private static let batchSize = 1_000
    private static let mostExamples = 10

    /// Makes values and settles duplicates between the schemas, and comes to the version after.
    /// - Parameter current: the schema of the working records, which is the one before.
    /// - Returns: the records before the stage.
    /// - Throws: `MigrationError`, `MigrationRecordError`; the store's errors; what rules throw.
    func map(from current: StoredSchema) throws -> any VersionedDataStore {
        let before = try migration.frozen(under: step.source)
        // Rules are about what entities have, under the names that they have from here on.
        let renaming = EntityRenaming(from: current, to: step.target.stored)
        let renamed = renaming.names.isEmpty ? current : renaming.applied(to: current)
        let names = Dictionary(renaming.names.map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
        let mapping = try CompiledMapping(
            transform.mapping, transform.duplicates, from: renamed, original: current, to: step.target.stored)
        if !mapping.schemas.isEmpty, !names.isEmpty { try self.note(try migration.adapt(to: renamed), [:]) }
        func note(_ loss: SchemaLoss, _ converted: [String: Set<String>]) throws {
            try self.note(
                loss.renamingEntities(names),
                Dictionary(converted.map { (names[$0] ?? $0, $1) }, uniquingKeysWith: { $0.union($1) }))
        }
        for (place, schema) in mapping.schemas.enumerated() {
            let isFirst = place == 0
            let loss = try migration.adapt(to: schema, converting: isFirst ? mapping.kept : [:])
            try note(loss, isFirst ? mapping.converted : [:])
        }
        if let between = mapping.between {
            let working = try migration.working(under: Schema(stored: between))
            try makeValues(mapping.properties, in: working, between, before, under: names)
            for rule in transform.duplicates { try settle(rule, in: working, between) }
            try note(try migration.adapt(to: step.target.stored), [:])
        } else {
            // The store's own loss has the names of before.
            try self.note(try migration.adapt(to: step.target.stored), [:])
        }
        return before
    }

    // MARK: Values

    private func makeValues(
        _ properties: [CompiledMapping.Property], in working: any VersionedDataStore, _ schema: StoredSchema,
        _ before: any VersionedDataStore, under names: [String: String]
    ) throws {
        if properties.isEmpty { return }
        let old = before.currentVersion
        let (oldLayouts, layouts) = (step.source.stored.recordLayouts(), schema.recordLayouts())
        var refused = [[PersistentIdentifier]](repeating: [], count: properties.count)
        var counts = [Int](repeating: 0, count: properties.count)
        for entity in schema.entities {
            guard let layout = layouts[entity.name], let table = working.currentVersion.rows(ofEntity: entity.name),
                let oldTable = old.rows(ofEntity: names[entity.name] ?? entity.name),
                let oldLayout = oldLayouts[names[entity.name] ?? entity.name]
            else { continue }
            let due = properties.enumerated().compactMap { place, property -> (Int, CompiledMapping.Property, Int)? in
                guard
                    let slot = layout.slots.firstIndex(where: {
                        $0.name == property.name && $0.declaringEntity == property.entity
                    })
                else { return nil }
                return (place, property, slot)
            }
            if due.isEmpty { continue }
            var batch = Batch(layout, working)
            var (place, left) = (0, table.count)
            var (parts, oldParts) = (PartedRows(table), PartedRows(oldTable))
            for number in 0..<table.endRow {
                let (rows, row) = parts.part(around: number)
                guard rows.contains(row: row) else { continue }
                if place % TransformRun.batchSize == 0 {
                    try advance(min(TransformRun.batchSize, left))
                    left -= min(TransformRun.batchSize, left)
                }
                place += 1
                let identifier = rows.identifier(ofRow: row)
                guard let (oldRows, oldRow) = oldParts.find(identifier.renamed(names), near: number) else { continue }
                let record = StoredRecord(oldRows, row: oldRow, oldLayout)
                var values = ContiguousArray<StoredValue>(repeating: .null, count: layout.slots.count)
                var changed = SlotSet()
                for (place, property, slot) in due {
                    let present = property.conversion == nil ? try rows.readValue(row: row, slot: slot) : .null
                    guard let value = try Self.value(of: property, record, present) else {
                        counts[place] += 1
                        if refused[place].count < Self.mostExamples { refused[place].append(identifier) }
                        continue
                    }
                    if value.isNull || !present.isNull { continue }
                    guard value.fits(property.kind) else {
                        throw MigrationRecordError.otherType(
                            record: identifier, property: property.name, expected: property.kind.rawValue)
                    }
                    values[slot] = value
                    changed.insert(slot)
                }
                if !changed.slots.isEmpty { try batch.update(identifier, values, changed) }
            }
            try batch.save()
        }
        try old.check()
        for (place, property) in properties.enumerated() where counts[place] > 0 {
            throw MigrationError.valuesNotRepresentable(
                entity: property.entity, property: property.name, count: counts[place], examples: refused[place])
        }
    }

    /// The value that a property begins with; nil if its kind has none.
    private static func value(
        of property: CompiledMapping.Property, _ record: StoredRecord, _ present: StoredValue
    ) throws -> StoredValue? {
        var value = present
        if let conversion = property.conversion, let source = property.source {
            if case .made(let make) = conversion.way {
                value = try make(record)
            } else {
                guard
                    let converted = conversion.converted(
                        record[source] ?? .null, to: property.kind, default: property.fallback)
                else { return nil }
                value = converted
            }
        }
        if value.isNull, let filling = property.filling { value = try filling(record) }
        return value
    }

    /// Updates of records of one entity, saved many at a time.
    private struct Batch {
        let layout: RecordLayout
        let store: any VersionedDataStore
        private var updated: [DefaultSnapshot] = []
        private var slots: [SlotSet] = []

        init(_ layout: RecordLayout, _ store: any VersionedDataStore) {
            self.layout = layout
            self.store = store
        }

        mutating func update(
            _ identifier: PersistentIdentifier, _ values: ContiguousArray<StoredValue>, _ changed: SlotSet
        ) throws {
            updated.append(DefaultSnapshot(persistentIdentifier: identifier, layout: layout, values: values))
            slots.append(changed)
            if updated.count >= TransformRun.batchSize { try save() }
        }

        mutating func save() throws {
            if updated.isEmpty { return }
            _ = try store.save(
                DataStoreSaveChangesRequest(
                    updated: updated, editingState: EditingState(author: MigrationAuthor.name), changedSlots: slots))
            updated = []
            slots = []
        }
    }

    // MARK: Duplicates

    private func settle(_ rule: DuplicateRule, in working: any VersionedDataStore, _ schema: StoredSchema) throws {
        let layouts = schema.recordLayouts()
        guard let layout = layouts[rule.entity] else {
            throw MigrationError.invalidMapping(
                property: rule.entity, reason: "is an entity that the new schema lacks")
        }
        for name in rule.properties where layout.slots.first(where: { $0.name == name })?.property.attribute == nil {
            throw MigrationError.invalidMapping(
                property: "\(rule.entity).\(name)", reason: "is no attribute of the new schema")
        }
        let version = working.currentVersion
        let defaults = step.target.stored.defaults(in: schema.subtree(of: rule.entity))
        func forEachKey(_ body: (PersistentIdentifier, [StoredValue]) -> Void) throws {
            for record in try StoredRecords(ofEntity: rule.entity, in: version, schema, layouts) {
                let key = rule.properties.map { name in
                    let value = record[name] ?? .null
                    return (value.isNull ? defaults[record.entity]?[name] ?? .null : value).uniqueForm
                }
                if !key.contains(where: \.isNeverUnique) { body(record.id, key) }
            }
        }
        // Keys may be long and many: kept are those alone whose hash value two records have.
        var hashes: [Int] = []
        try forEachKey { hashes.append($1.hashValue) }
        hashes.sort()
        let repeated = Set(zip(hashes, hashes.dropFirst()).lazy.filter { $0 == $1 }.map(\.0))
        hashes = []
        var removed: [(record: PersistentIdentifier, survivor: PersistentIdentifier)] = []
        var groups: Set<PersistentIdentifier> = []
        if !repeated.isEmpty {
            var first: [[StoredValue]: PersistentIdentifier] = [:]
            try forEachKey { record, key in
                guard repeated.contains(key.hashValue) else { return }
                if let known = first[key] {
                    groups.insert(known)
                    removed.append((record, known))
                } else {
                    first[key] = record
                }
            }
        }
        try version.check()
        if removed.isEmpty { return }
        if case .report = rule.keep {
            throw MigrationError.duplicates(
                entity: rule.entity, properties: rule.properties, groups: groups.count,
                records: removed.count + groups.count,
                examples: removed.prefix(Self.mostExamples).map(\.record))
        }
        if case .last = rule.keep { removed = Self.keepingLast(removed) }
        if let merge = rule.merge { try self.merge(removed, merge, in: working, layouts) }
        try relink(removed, in: working, schema, layouts)
        try migration.delete(removed.map(\.record))
    }

    /// The last of each group takes the place of the first.
    private static func keepingLast(
        _ removed: [(record: PersistentIdentifier, survivor: PersistentIdentifier)]
    ) -> [(record: PersistentIdentifier, survivor: PersistentIdentifier)] {
        var last: [PersistentIdentifier: PersistentIdentifier] = [:]
        for (record, survivor) in removed { last[survivor] = record }
        var seen: Set<PersistentIdentifier> = []
        var result: [(record: PersistentIdentifier, survivor: PersistentIdentifier)] = []
        for (record, survivor) in removed {
            guard let kept = last[survivor] else { continue }
            if seen.insert(survivor).inserted { result.append((survivor, kept)) }
            if record != kept { result.append((record, kept)) }
        }
        return result
    }

    private func merge(
        _ removed: [(record: PersistentIdentifier, survivor: PersistentIdentifier)],
        _ merge: (StoredRecord, StoredRecord) throws -> [String: StoredValue], in working: any VersionedDataStore,
        _ layouts: [String: RecordLayout]
    ) throws {
        for (other, survivor) in removed {
            // The survivor as the records before this one have left it.
            guard let kept = Self.record(survivor, in: working, layouts),
                let gone = Self.record(other, in: working, layouts),
                let layout = layouts[survivor.entityName]
            else { continue }
            var values = try kept.values()
            var changed = SlotSet()
            for (name, value) in try merge(kept, gone) {
                guard let slot = layout.slot(named: name) else {
                    throw MigrationRecordError.unknownProperty(entity: layout.entityName, property: name)
                }
                guard value.fits(layout.slots[slot]) else {
                    throw MigrationRecordError.unfit(value, layout.slots[slot], record: survivor)
                }
                values[slot] = value
                changed.insert(slot)
            }
            var pairs = PairedChange(in: working, layouts)
            try pairs.update(survivor, layout, values, changed)
            try pairs.save(editing: EditingState(author: MigrationAuthor.name))
        }
    }

    /// Has references lead to the records that stay, and gives these the members of those that go.
    private func relink(
        _ removed: [(record: PersistentIdentifier, survivor: PersistentIdentifier)], in working: any VersionedDataStore,
        _ schema: StoredSchema, _ layouts: [String: RecordLayout]
    ) throws {
        let survivors = Dictionary(removed.map { ($0.record, $0.survivor) }, uniquingKeysWith: { first, _ in first })
        let version = working.currentVersion
        // By survivor and slot, the members that come from those that go.
        var inherited: [PersistentIdentifier: [Int: [PersistentIdentifier]]] = [:]
        var partners = Partners(layouts)
        for (record, survivor) in removed {
            guard let layout = layouts[record.entityName], let own = layouts[survivor.entityName],
                let found = Self.record(record, in: working, layouts),
                let kept = Self.record(survivor, in: working, layouts)
            else { continue }
            for slot in layout.slots {
                guard let place = own.slot(named: slot.name) else { continue }
                switch found[slot.name] {
                case .identifiers(let members)? where slot.role == .toManyStored && !members.isEmpty:
                    inherited[survivor, default: [:]][place, default: []] += members
                case .identifier(let partner)? where partners.isPaired(layout, slot.name):
                    // A survivor keeps the partner that it has.
                    guard survivors[partner] == nil, kept[slot.name]?.isNull == true else { continue }
                    partners.give(partner, to: survivor, place, slot)
                default: continue
                }
            }
        }
        // Both sides of a pair change in one save.
        var paired: (updated: [DefaultSnapshot], slots: [SlotSet]) = ([], [])
        for entity in schema.entities {
            guard let layout = layouts[entity.name], let rows = version.rows(ofEntity: entity.name) else { continue }
            let links = layout.slots.indices.filter { [.toOne, .toManyStored].contains(layout.slots[$0].role) }
            if links.isEmpty { continue }
            let pairedSlots = SlotSet(links.filter { partners.isPaired(layout, layout.slots[$0].name) })
            var batch = Batch(layout, working)
            for row in 0..<rows.endRow where rows.contains(row: row) {
                let identifier = rows.identifier(ofRow: row)
                if survivors[identifier] != nil { continue }
                var isPaired = false
                var values = ContiguousArray<StoredValue>(repeating: .null, count: layout.slots.count)
                var changed = SlotSet()
                for slot in links {
                    let value = try rows.readValue(row: row, slot: slot)
                    let moved =
                        pairedSlots.contains(slot)
                        ? partners.partner(of: identifier, slot, value, survivors)
                        : value.leading(by: survivors, adding: inherited[identifier]?[slot] ?? [])
                    if moved.isIdentical(to: value) { continue }
                    if moved.isNull, !layout.slots[slot].property.isOptional {
                        throw MigrationRecordError.wouldLackPartner(
                            record: identifier, property: layout.slots[slot].name)
                    }
                    values[slot] = moved
                    changed.insert(slot)
                    if pairedSlots.contains(slot) { isPaired = true }
                }
                if changed.slots.isEmpty { continue }
                if isPaired {
                    paired.updated.append(
                        DefaultSnapshot(persistentIdentifier: identifier, layout: layout, values: values))
                    paired.slots.append(changed)
                } else {
                    try batch.update(identifier, values, changed)
                }
            }
            try batch.save()
        }
        if paired.updated.isEmpty { return }
        _ = try working.save(
            DataStoreSaveChangesRequest(
                updated: paired.updated, editingState: EditingState(author: MigrationAuthor.name),
                changedSlots: paired.slots))
    }

    /// What one-to-one relationships of records that stay lead to, where they led to some that go.
    private struct Partners {
        private let layouts: [String: RecordLayout]
        private var given: [PersistentIdentifier: [Int: PersistentIdentifier]] = [:]
        /// By partner and its slot, who has it now.
        private var owners: [PersistentIdentifier: [Int: PersistentIdentifier]] = [:]

        init(_ layouts: [String: RecordLayout]) { self.layouts = layouts }

        /// Whether a relationship and its inverse lead to one record each.
        func isPaired(_ layout: RecordLayout, _ name: String) -> Bool {
            guard let slot = layout.slot(named: name), layout.slots[slot].role == .toOne,
                let relationship = layout.slots[slot].property.relationship, let inverse = relationship.inverse,
                let other = layouts[relationship.destination], let back = other.slot(named: inverse)
            else { return false }
            return other.slots[back].role == .toOne
        }

        mutating func give(
            _ partner: PersistentIdentifier, to survivor: PersistentIdentifier, _ slot: Int,
            _ described: RecordLayout.Slot
        ) {
            guard given[survivor]?[slot] == nil, let inverse = described.property.relationship?.inverse,
                let back = layouts[partner.entityName]?.slot(named: inverse)
            else { return }
            given[survivor, default: [:]][slot] = partner
            owners[partner, default: [:]][back] = survivor
        }

        func partner(
            of record: PersistentIdentifier, _ slot: Int, _ value: StoredValue,
            _ survivors: [PersistentIdentifier: PersistentIdentifier]
        ) -> StoredValue {
            if let partner = given[record]?[slot] { return .identifier(partner) }
            guard case .identifier(let other) = value, let survivor = survivors[other] else { return value }
            // The survivor has another partner, and one can have only one.
            return owners[record]?[slot] == survivor ? .identifier(survivor) : .null
        }
    }

    private static func record(
        _ identifier: PersistentIdentifier, in store: any VersionedDataStore, _ layouts: [String: RecordLayout]
    ) -> StoredRecord? {
        guard let layout = layouts[identifier.entityName],
            let rows = store.currentVersion.rows(ofEntity: identifier.entityName), let row = rows.row(of: identifier)
        else { return nil }
        return StoredRecord(rows, row: row, layout)
    }
}

extension StoredSchema {
    /// By entity and property, the values that records without one get where the property is required.
    fileprivate func defaults(in entities: [String]) -> [String: [String: StoredValue]] {
        let layouts = recordLayouts()
        return Dictionary(
            entities.map { entity in
                (
                    entity,
                    Dictionary(
                        (layouts[entity]?.slots ?? []).compactMap { slot in
                            slot.property.isOptional
                                ? nil : slot.property.attribute?.defaultValue.map { (slot.name, $0) }
                        }, uniquingKeysWith: { first, _ in first })
                )
            }, uniquingKeysWith: { first, _ in first })
    }
}

extension StoredValue {
    /// References that lead to others instead, each once, and more of them.
    fileprivate func leading(
        by survivors: [PersistentIdentifier: PersistentIdentifier], adding more: [PersistentIdentifier]
    ) -> StoredValue {
        switch self {
        case .identifier(let record): return survivors[record].map(StoredValue.identifier) ?? self
        case .identifiers(let records):
            if more.isEmpty, !records.contains(where: { survivors[$0] != nil }) { return self }
            return .identifiers(Set((records + more).map { survivors[$0] ?? $0 }).sorted())
        default: return self
        }
    }
}
