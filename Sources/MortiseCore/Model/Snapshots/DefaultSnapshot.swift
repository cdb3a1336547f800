import Foundation

/// The snapshot type of this framework's own stores, usable by any store: values by slot, without a dictionary.
///
/// In encoded form, every property is at the top level under its own name. Decoding needs to know the kinds of the
/// properties: those of the model type with the same entity name and property names that this process has put into a
/// `Schema`. Without such a type the values decode by their form alone, and take their kinds when a context reads them.
public struct DefaultSnapshot: RecordVersionTelling {
    /// The record that the values are of.
    public let persistentIdentifier: PersistentIdentifier
    /// The names, kinds and roles of the values.
    public let layout: RecordLayout
    /// The values by slot of `layout`.
    public private(set) var values: ContiguousArray<StoredValue>
    /// The version of the record, in a store that numbers them; 0 otherwise. It is not encoded.
    public var recordVersion: UInt64 = 0

    /// Creates a snapshot.
    /// - Parameters:
    ///   - persistentIdentifier: the record's identifier.
    ///   - layout: the layout of the record's entity.
    ///   - values: one value for each slot of the layout. Missing values become null; surplus values are dropped.
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

    /// Takes the values of a model's backing data.
    public init(
        from backingData: any BackingData, relatedBackingDatas: inout [PersistentIdentifier: any BackingData]
    ) {
        self = backingData.makeSnapshot()
    }

    /// The value of the property with that name; nil if the record has no such property.
    public subscript(property name: String) -> StoredValue? {
        layout.slot(named: name).map { values[$0] }
    }

    /// A copy under another identifier, with the identifiers in its relationships replaced. A list in which some are replaced is
    /// put in identity order.
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
    /// Replaces the identifiers of a relationship value; those that are not in the map stay. A list in which some are replaced
    /// is in identity order then, in which a context shows the members of every relationship.
    public mutating func remapIdentifiers(_ map: [PersistentIdentifier: PersistentIdentifier]) {
        switch self {
        case .identifier(let identifier):
            if let mapped = map[identifier] { self = .identifier(mapped) }
        case .identifiers(let identifiers):
            if identifiers.contains(where: { map[$0] != nil }) {
                self = .identifiers(identifiers.map { map[$0] ?? $0 }.sorted())
            }
        default: break
        }
    }

}

extension DefaultSnapshot: Codable {
    /// Decodes a snapshot.
    /// - Throws: `DecodingError` if a value is not of its property's kind.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: DataStoreSnapshotCodingKey.self)
        let identifier = try container.decode(PersistentIdentifier.self, forKey: .persistentIdentifier)
        let names = Set(
            container.allKeys.compactMap { key in
                if case .modeledProperty(let name) = key { name } else { nil }
            })
        persistentIdentifier = identifier
        let known = ModelLayout.known(entityName: identifier.entityName, propertyNames: names)
        if let (fitting, found) = try Self.values(in: container, known.map(\.record)) {
            layout = fitting
            values = found
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

    /// The values as read by the first of several layouts that fits; nil if there are no layouts.
    /// - Throws: the error of the first layout if none fits.
    private static func values(
        in container: KeyedDecodingContainer<DataStoreSnapshotCodingKey>, _ layouts: [RecordLayout]
    ) throws -> (RecordLayout, ContiguousArray<StoredValue>)? {
        var fault: (any Error)?
        for layout in layouts {
            do {
                return (layout, ContiguousArray(try layout.slots.map { try value(of: $0, in: container) }))
            } catch {
                fault = fault ?? error
            }
        }
        if let fault { throw fault }
        return nil
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
                debugDescription: "Expected \(kind.rawValue) for \(slot.name), found \(formless.kindName).")
        }
        return value
    }

    /// A value by its form alone; identifiers are recognized by their keys.
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

    /// Encodes the identifier and every property under its own name.
    /// - Throws: what the encoder throws.
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
    /// The layouts of this process whose entity has that name and whose properties include those named. Those of open
    /// containers come first, then those with fewer other properties; layouts with equally many, which are versions of
    /// one model, are in order of their types' full names, so that every run of a program decodes alike.
    static func known(entityName: String, propertyNames: Set<String>) -> [ModelLayout] {
        all(named: entityName).filter { layout in
            propertyNames.allSatisfy { layout.record.slot(named: $0) != nil }
        }.map { layout in
            (
                layout: layout, use: LayoutsInUse.contains(layout) ? 0 : 1, count: layout.properties.count,
                name: String(reflecting: layout.type)
            )
        }.sorted { ($0.use, $0.count, $0.name) < ($1.use, $1.count, $1.name) }.map(\.layout)
    }
}
