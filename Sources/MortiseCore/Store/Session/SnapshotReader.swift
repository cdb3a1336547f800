/// Reads a store's snapshots into values by slot, and checks them: what is wrong is the store's mistake and is said as
/// such.
struct SnapshotReader {
    let store: String
    let layout: ModelLayout
    /// Whether null in a to-many relationship says that the store has not read it.
    var mayDefer = false

    func values(of snapshot: DefaultSnapshot) throws -> ContiguousArray<StoredValue> {
        if snapshot.layout === layout.record {
            try check(snapshot.values, of: snapshot.persistentIdentifier)
            return snapshot.values
        }
        var byName: [String: StoredValue] = [:]
        for (slot, value) in zip(snapshot.layout.slots, snapshot.values) { byName[slot.name] = value }
        return try values(byName, of: snapshot.persistentIdentifier)
    }

    func values(ofForeign snapshot: some DataStoreSnapshot) throws -> ContiguousArray<StoredValue> {
        let identifier = snapshot.persistentIdentifier
        let tree: StoredValue
        do {
            tree = try StoredValueEncoder().encode(snapshot)
        } catch {
            throw fault(identifier, "its snapshot cannot be encoded (\(error)).")
        }
        guard case .object(var members) = tree else {
            throw fault(
                identifier, "its snapshot does not encode into a container keyed by DataStoreSnapshotCodingKey.")
        }
        members[DataStoreSnapshotCodingKey.persistentIdentifier.stringValue] = nil
        return try values(members, of: identifier)
    }

    private func values(
        _ byName: [String: StoredValue], of identifier: PersistentIdentifier
    ) throws -> ContiguousArray<StoredValue> {
        if let unknown = byName.keys.filter({ layout.record.slot(named: $0) == nil }).min() {
            throw fault(
                identifier, "its snapshot has a value for \"\(unknown)\", which \(layout.entityName) does not have.")
        }
        var values: ContiguousArray<StoredValue> = []
        values.reserveCapacity(layout.record.slots.count)
        for slot in layout.record.slots {
            guard let found = byName[slot.name] else {
                throw fault(
                    identifier,
                    "its snapshot has no value for \"\(slot.name)\"; encode nil as an explicit null.")
            }
            values.append(try value(found, for: slot, of: identifier))
        }
        try check(values, of: identifier)
        return values
    }

    private func value(
        _ found: StoredValue, for slot: RecordLayout.Slot, of identifier: PersistentIdentifier
    ) throws -> StoredValue {
        if found.isNull { return slot.role.isToMany && !mayDefer ? .identifiers([]) : .null }
        switch slot.role {
        case .attribute:
            if let kind = slot.property.attribute?.kind, let value = found.coerced(to: kind) { return value }
        case .toOne:
            if case .identifier = found { return found }
            if let target = try? StoredValueDecoder().decode(PersistentIdentifier.self, from: found) {
                return .identifier(target)
            }
        case .toManyStored, .toManyDerived:
            if case .identifiers = found { return found }
            if let targets = try? StoredValueDecoder().decode([PersistentIdentifier].self, from: found) {
                return .identifiers(targets)
            }
        }
        throw fault(identifier, "\"\(slot.name)\" holds \(found.kindName), which is not a value of that property.")
    }

    private func check(_ values: ContiguousArray<StoredValue>, of identifier: PersistentIdentifier) throws {
        guard values.count == layout.record.slots.count else {
            throw fault(
                identifier, "its snapshot has \(values.count) values for \(layout.record.slots.count) properties.")
        }
        for index in values.indices where values[index].isNull {
            let slot = layout.record.slots[index]
            if !slot.property.isOptional, !slot.role.isToMany,
                slot.property.attribute?.options.contains(.ephemeral) != true
            {
                throw fault(identifier, "\"\(slot.name)\" is null, but \(layout.entityName) requires a value.")
            }
        }
        try layout.verify(values, of: identifier)
    }

    private func fault(_ identifier: PersistentIdentifier, _ text: String) -> ModelContextError {
        .storeContract(store: store, fault: "For \(identifier), \(text)")
    }
}

extension ModelLayout {
    /// Checks that the stored values convert to the properties' types: enum cases, decodable values.
    func verify(_ values: ContiguousArray<StoredValue>, of identifier: PersistentIdentifier) throws {
        for slot in values.indices where checks.count > slot {
            guard let check = checks[slot], !check(values[slot]) else { continue }
            throw ModelContextError.invalidStoredValue(
                entity: entityName, property: properties[slot].name, model: identifier,
                found: CodedForm(value: values[slot]).description)
        }
    }

    /// Whether any property can hold a stored value of the right kind that its type does not know.
    var needsVerification: Bool { checks.contains { $0 != nil } }
}
