import Foundation

/// The snapshot type of this framework's own stores, usable by any store: values by slot, without a dictionary.
///
/// Encoded, every property stands under its own name at the top level. Decoding needs to know the kinds of the
/// properties: those of the model type with the same entity name and property names that this process has put into a
/// `Schema`. Where there is none the values decode by their form alone, and take their kinds when a context reads them.
public struct DefaultSnapshot: DataStoreSnapshot {
    public let persistentIdentifier: PersistentIdentifier
    /// Names, kinds and roles of the values.
    public let layout: RecordLayout
    /// The values by slot.
    public private(set) var values: ContiguousArray<StoredValue>

    /// - Parameter values: one for each slot of the layout; missing ones are null, surplus ones are dropped.
    public init(
        persistentIdentifier: PersistentIdentifier, layout: RecordLayout, values: ContiguousArray<StoredValue>
    ) {
        self.persistentIdentifier = persistentIdentifier
        self.layout = layout
        self.values = values
        if values.count < layout.slots.count {
            self.values += repeatElement(.null, count: layout.slots.count - values.count)
        } else if values.count > layout.slots.count {
            self.values.removeLast(values.count - layout.slots.count)
        }
    }

    public init(
        from backingData: any BackingData, relatedBackingDatas: inout [PersistentIdentifier: any BackingData]
    ) {
        self = backingData.makeSnapshot()
    }

    /// The value of the property with that name; nil where the record has no such property.
    public subscript(property name: String) -> StoredValue? {
        layout.slot(named: name).map { values[$0] }
    }

    public func copy(
        persistentIdentifier: PersistentIdentifier,
        remappedIdentifiers: [PersistentIdentifier: PersistentIdentifier]? = [:]
    ) -> DefaultSnapshot {
        var copy = DefaultSnapshot(persistentIdentifier: persistentIdentifier, layout: layout, values: values)
        if let map = remappedIdentifiers, !map.isEmpty {
            for slot in values.indices { copy.values[slot].remapIdentifiers(map) }
        }
        return copy
    }
}

extension StoredValue {
    /// Exchanges the identifiers of a relationship value; those that are not in the map stay.
    public mutating func remapIdentifiers(_ map: [PersistentIdentifier: PersistentIdentifier]) {
        switch self {
        case .identifier(let identifier):
            if let mapped = map[identifier] { self = .identifier(mapped) }
        case .identifiers(let identifiers):
            if identifiers.contains(where: { map[$0] != nil }) {
                self = .identifiers(identifiers.map { map[$0] ?? $0 })
            }
        default: break
        }
    }
}

extension DefaultSnapshot: Codable {
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: DataStoreSnapshotCodingKey.self)
        let identifier = try container.decode(PersistentIdentifier.self, forKey: .persistentIdentifier)
        let names = Set(
            container.allKeys.compactMap { key in
                if case .modeledProperty(let name) = key { name } else { nil }
            })
        persistentIdentifier = identifier
        if let known = ModelLayout.known(entityName: identifier.entityName, propertyNames: names) {
            layout = known.record
            values = []
            for slot in known.record.slots {
                values.append(try Self.value(of: slot, in: container))
            }
        } else {
            let sorted = names.sorted()
            layout = RecordLayout(
                entityName: identifier.entityName, superentityName: nil,
                slots: sorted.map {
                    .init(
                        property: StoredProperty(
                            name: $0, isOptional: true, content: .attribute(StoredAttribute(kind: .coded))),
                        declaringEntity: identifier.entityName, role: .attribute)
                }, uniqueConstraints: [])
            values = []
            for name in sorted { values.append(try Self.formless(container, .modeledProperty(name))) }
        }
    }

    private static func value(
        of slot: RecordLayout.Slot, in container: KeyedDecodingContainer<DataStoreSnapshotCodingKey>
    ) throws -> StoredValue {
        let key = DataStoreSnapshotCodingKey.modeledProperty(slot.name)
        guard try container.contains(key) && !container.decodeNil(forKey: key) else { return .null }
        if slot.role == .toOne { return .identifier(try container.decode(PersistentIdentifier.self, forKey: key)) }
        if slot.role.isToMany { return .identifiers(try container.decode([PersistentIdentifier].self, forKey: key)) }
        guard let kind = slot.property.attribute?.kind else { return .null }
        switch kind {
        case .data: return .data(try container.decode(Data.self, forKey: key))
        case .url: return .url(try container.decode(URL.self, forKey: key))
        default: break
        }
        let formless = try container.decode(CodedForm.self, forKey: key).value
        guard let value = formless.coerced(to: kind) else {
            throw DecodingError.dataCorruptedError(
                forKey: key, in: container,
                debugDescription: "\(formless.kindName) stands where \(slot.name) is of kind \(kind.rawValue).")
        }
        return value
    }

    /// A value by its form alone; identifiers are recognised by their keys.
    private static func formless(
        _ container: KeyedDecodingContainer<DataStoreSnapshotCodingKey>, _ key: DataStoreSnapshotCodingKey
    ) throws -> StoredValue {
        if let identifier = try? container.decode(PersistentIdentifier.self, forKey: key) {
            return .identifier(identifier)
        }
        if let identifiers = try? container.decode([PersistentIdentifier].self, forKey: key), !identifiers.isEmpty {
            return .identifiers(identifiers)
        }
        return try container.decode(CodedForm.self, forKey: key).value
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: DataStoreSnapshotCodingKey.self)
        try container.encode(persistentIdentifier, forKey: .persistentIdentifier)
        for (slot, value) in zip(layout.slots, values) {
            let key = DataStoreSnapshotCodingKey.modeledProperty(slot.name)
            switch value {
            case .data(let data): try container.encode(data, forKey: key)
            case .url(let url): try container.encode(url, forKey: key)
            case .identifiers(let identifiers): try container.encode(identifiers, forKey: key)
            default: try container.encode(CodedForm(value: value), forKey: key)
            }
        }
    }
}

extension ModelLayout {
    /// A layout of this process whose entity has that name and whose properties include those named.
    static func known(entityName: String, propertyNames: Set<String>) -> ModelLayout? {
        all(named: entityName).first { layout in
            propertyNames.allSatisfy { layout.record.slot(named: $0) != nil }
        }
    }
}
