import MortiseCore

/// How a reference store is migrated by its container. Each step is right by default.
struct ReferenceCopying: Sendable {
    typealias State = ReferenceStorage.State

    /// Where each property of the next version takes its values from.
    var origins: @Sendable (_ layout: RecordLayout, _ old: RecordLayout) -> [Int?] = { $0.origins(in: $1) }
    /// What a new property begins with.
    var first: @Sendable (RecordLayout.Slot) -> StoredValue = {
        $0.property.attribute?.defaultValue ?? ($0.role.isToMany ? .identifiers([]) : .null)
    }
    /// The loss that the store reports.
    var told: @Sendable (SchemaLoss) -> SchemaLoss = { $0 }
    var checksUniqueness = true
    /// Changes the outcome before it is stored.
    var finish: @Sendable (_ outcome: inout State, _ before: State) -> Void = { _, _ in }
    var deletes = true
    var clearsReferences = true
    /// Whether what is done to the working store goes into the storage at once.
    var writesAtOnce = false
    /// Whether what was saved since is lost by the next version.
    var forgetsSaves = false
    var thawsFrozen = false
    var looksForOpenStores = true
    var keepsOthersOut = true
    var letsGo = true
    var carriesPreviewsOut = false
    var swallowsFailedWrites = false
    /// Whether a crash after a failed switch leaves a part of what was to be.
    var tearsFailedWrites = false
    /// Whether the storage is replaced as soon as the outcome is prepared, or not even prepared before it is replaced.
    var switchesEarly = false
    var preparesNothing = false
    /// Whether anything is stored in the end.
    var commits = true
}

extension ReferenceCopying {
    /// Brings records to another schema.
    /// - Returns: what it does not take of them.
    /// - Throws: `ReferenceStoreError`.
    func adapt(_ state: inout State, to schema: StoredSchema) throws(ReferenceStoreError) -> SchemaLoss {
        let old = state.schema ?? schema
        let (before, layouts) = (old.recordLayouts(), schema.recordLayouts())
        var records: [UInt64: DefaultSnapshot] = [:]
        var gone: [String: Int] = [:]
        var lost: [String: [String: Int]] = [:]
        for (number, record) in state.records {
            let entity = record.persistentIdentifier.entityName
            guard let layout = layouts[entity], let known = before[entity] else {
                gone[entity, default: 0] += 1
                continue
            }
            let origins = origins(layout, known)
            var values: ContiguousArray<StoredValue> = []
            for (slot, origin) in zip(layout.slots, origins) {
                var value = origin.map { record.values[$0] } ?? first(slot)
                if let origin, known.slots[origin].property.attribute?.kind != slot.property.attribute?.kind {
                    throw .schemaMismatch(entity: entity, property: slot.name)
                }
                if value.isNull, !slot.property.isOptional, !slot.role.isToMany {
                    value = slot.property.attribute?.defaultValue ?? .null
                    if value.isNull { throw .schemaMismatch(entity: entity, property: slot.name) }
                }
                values.append(value)
            }
            for (place, slot) in known.slots.enumerated()
            where slot.role != .toManyDerived && !origins.contains(place) && !record.values[place].isEmpty {
                lost[entity, default: [:]][slot.name, default: 0] += 1
            }
            records[number] = DefaultSnapshot(
                persistentIdentifier: record.persistentIdentifier, layout: layout, values: values)
        }
        if checksUniqueness { try check(records.values, layouts) }
        state.records = records
        state.schema = schema
        state.original = nil
        state.version += 1
        return told(
            SchemaLoss(
                stored: old.version, opened: schema.version,
                entities: gone.map { SchemaLoss.Entity(name: $0.key, records: $0.value) },
                properties: lost.flatMap { entity, properties in
                    properties.map { SchemaLoss.Property(entity: entity, name: $0.key, values: $0.value) }
                }))
    }

    private func check(
        _ records: some Sequence<DefaultSnapshot>, _ layouts: [String: RecordLayout]
    ) throws(ReferenceStoreError) {
        for (entity, records) in Dictionary(grouping: records, by: \.persistentIdentifier.entityName) {
            for slots in layouts[entity]?.uniqueConstraints ?? [] {
                let keys = records.map { record in slots.map { record.values[$0] } }
                    .filter { !$0.contains(where: \.isNull) }
                for (place, key) in keys.enumerated() where keys[..<place].contains(where: { $0 == key }) {
                    throw .notUnique(
                        entity: entity, properties: slots.compactMap { layouts[entity]?.slots[$0].name })
                }
            }
        }
    }

    /// Removes records, and the references to them.
    func delete(_ gone: Set<PersistentIdentifier>, from state: inout State) {
        if deletes { state.records = state.records.filter { !gone.contains($0.value.persistentIdentifier) } }
        state.version += 1
        if !clearsReferences { return }
        for (number, record) in state.records {
            let values = record.values.map { value -> StoredValue in
                switch value {
                case .identifier(let target) where gone.contains(target): .null
                case .identifiers(let targets): .identifiers(targets.filter { !gone.contains($0) })
                default: value
                }
            }
            state.records[number] = DefaultSnapshot(
                persistentIdentifier: record.persistentIdentifier, layout: record.layout,
                values: ContiguousArray(values))
        }
    }
}

extension StoredValue {
    /// Whether there is nothing that could be lost.
    fileprivate var isEmpty: Bool { isNull || self == .identifiers([]) }
}
