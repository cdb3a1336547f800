/// Carries out a stage that sees both versions.
struct TransformRun {
    let step: MigrationPath.Step
    let transform: MigrationTransform
    let migration: any StoreMigration

    private static let batchSize = 1_000
    private static let mostExamples = 10

    /// Makes values and settles duplicates between the schemas, and comes to the version after.
    /// - Parameter current: the schema of the working records, which is the one before.
    /// - Returns: the records before the stage.
    /// - Throws: `MigrationError`, `MigrationRecordError`; the store's errors; what rules throw.
    func map(from current: StoredSchema) throws -> any VersionedDataStore {
        let before = try migration.frozen(under: step.source)
        let mapping = try CompiledMapping(
            transform.mapping, transform.duplicates, from: current, to: step.target.stored)
        if let cleared = mapping.cleared { try migration.adapt(to: cleared) }
        if let between = mapping.between {
            try migration.adapt(to: between)
            let working = try migration.working(under: Schema(stored: between))
            try makeValues(mapping.properties, in: working, between, before)
            for rule in transform.duplicates { try settle(rule, in: working, between) }
        }
        try migration.adapt(to: step.target.stored)
        return before
    }

    // MARK: Values

    private func makeValues(
        _ properties: [CompiledMapping.Property], in working: any VersionedDataStore, _ schema: StoredSchema,
        _ before: any VersionedDataStore
    ) throws {
        if properties.isEmpty { return }
        let old = before.currentVersion
        let (oldLayouts, layouts) = (step.source.stored.recordLayouts(), schema.recordLayouts())
        var refused = [[PersistentIdentifier]](repeating: [], count: properties.count)
        var counts = [Int](repeating: 0, count: properties.count)
        for entity in schema.entities {
            guard let layout = layouts[entity.name], let rows = working.currentVersion.rows(ofEntity: entity.name),
                let oldRows = old.rows(ofEntity: entity.name), let oldLayout = oldLayouts[entity.name]
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
            for row in 0..<rows.endRow where rows.contains(row: row) {
                let identifier = rows.identifier(ofRow: row)
                guard let oldRow = oldRows.row(of: identifier) else { continue }
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
        var first: [[StoredValue]: PersistentIdentifier] = [:]
        var removed: [(record: PersistentIdentifier, survivor: PersistentIdentifier)] = []
        var groups: Set<PersistentIdentifier> = []
        for record in try StoredRecords(ofEntity: rule.entity, in: version, schema, layouts) {
            let key = rule.properties.map { record[$0] ?? .null }
            if key.contains(where: \.isNull) { continue }
            guard let known = first[key] else {
                first[key] = record.id
                continue
            }
            groups.insert(known)
            removed.append((record.id, known))
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
        for start in stride(from: 0, to: removed.count, by: Self.batchSize) {
            let gone = removed[start..<min(start + Self.batchSize, removed.count)]
            _ = try working.save(
                DataStoreSaveChangesRequest(
                    deleted: try gone.map { try Self.snapshot(of: $0.record, in: working, layouts) },
                    editingState: EditingState(author: MigrationAuthor.name)))
        }
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
                values[slot] = value
                changed.insert(slot)
            }
            var batch = Batch(layout, working)
            try batch.update(survivor, values, changed)
            try batch.save()
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
        for (record, survivor) in removed {
            guard let layout = layouts[record.entityName], let own = layouts[survivor.entityName],
                let found = Self.record(record, in: working, layouts)
            else { continue }
            for slot in layout.slots where slot.role == .toManyStored {
                guard let place = own.slot(named: slot.name), case .identifiers(let members)? = found[slot.name],
                    !members.isEmpty
                else { continue }
                inherited[survivor, default: [:]][place, default: []] += members
            }
        }
        for entity in schema.entities {
            guard let layout = layouts[entity.name], let rows = version.rows(ofEntity: entity.name) else { continue }
            let links = layout.slots.indices.filter { [.toOne, .toManyStored].contains(layout.slots[$0].role) }
            if links.isEmpty { continue }
            var batch = Batch(layout, working)
            for row in 0..<rows.endRow where rows.contains(row: row) {
                let identifier = rows.identifier(ofRow: row)
                if survivors[identifier] != nil { continue }
                var values = ContiguousArray<StoredValue>(repeating: .null, count: layout.slots.count)
                var changed = SlotSet()
                for slot in links {
                    let value = try rows.readValue(row: row, slot: slot)
                    let moved = value.leading(by: survivors, adding: inherited[identifier]?[slot] ?? [])
                    if moved.isIdentical(to: value) { continue }
                    values[slot] = moved
                    changed.insert(slot)
                }
                if !changed.slots.isEmpty { try batch.update(identifier, values, changed) }
            }
            try batch.save()
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

    private static func snapshot(
        of identifier: PersistentIdentifier, in store: any VersionedDataStore, _ layouts: [String: RecordLayout]
    ) throws -> DefaultSnapshot {
        guard let record = record(identifier, in: store, layouts), let layout = layouts[identifier.entityName] else {
            throw MigrationRecordError.noSuchRecord(identifier)
        }
        return DefaultSnapshot(persistentIdentifier: identifier, layout: layout, values: try record.values())
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
