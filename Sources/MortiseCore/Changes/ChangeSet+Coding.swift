// Records are coded as snapshots are: each property under its own name, so that a change set can be read under another
// version of the schema.

extension ChangeSet: Codable {
    private enum Key: String, CodingKey {
        case baseVersion, author, inserted, updated, deleted, isErasure, isIncomplete, commit
    }

    /// Decodes changes. Names are matched with the models of this process as in `DefaultSnapshot`.
    /// - Throws: `DecodingError` if a value is not of its property's kind.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        self.init(
            baseVersion: try container.decodeIfPresent(UInt64.self, forKey: .baseVersion),
            author: try container.decodeIfPresent(String.self, forKey: .author))
        inserted = try container.decodeIfPresent(Insertions.self, forKey: .inserted) ?? Insertions()
        updated = try container.decodeIfPresent([Update].self, forKey: .updated) ?? []
        deleted = try container.decodeIfPresent([Deletion].self, forKey: .deleted) ?? []
        isErasure = try container.decodeIfPresent(Bool.self, forKey: .isErasure) ?? false
        isIncomplete = try container.decodeIfPresent(Bool.self, forKey: .isIncomplete) ?? false
        commit = try container.decodeIfPresent(Commit.self, forKey: .commit)
    }

    /// Encodes the changes; parts that are empty are left out.
    /// - Throws: what the encoder throws.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encodeIfPresent(baseVersion, forKey: .baseVersion)
        try container.encodeIfPresent(author, forKey: .author)
        if !inserted.isEmpty { try container.encode(inserted, forKey: .inserted) }
        if !updated.isEmpty { try container.encode(updated, forKey: .updated) }
        if !deleted.isEmpty { try container.encode(deleted, forKey: .deleted) }
        if isErasure { try container.encode(isErasure, forKey: .isErasure) }
        if isIncomplete { try container.encode(isIncomplete, forKey: .isIncomplete) }
        try container.encodeIfPresent(commit, forKey: .commit)
    }
}

extension ChangeSet.Insertions: Codable {
    private enum Key: String, CodingKey { case records, values }

    /// Decodes new records.
    /// - Throws: `DecodingError`.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        if container.contains(.values) {
            self.init(try container.decode([DefaultSnapshot].self, forKey: .values))
        } else {
            self.init(records: try container.decode([PersistentIdentifier].self, forKey: .records))
        }
    }

    /// Encodes the records with their values where these are known, and otherwise their identifiers.
    /// - Throws: what the encoder throws.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        if hasValues {
            try container.encode(Array(values), forKey: .values)
        } else {
            try container.encode(Array(records), forKey: .records)
        }
    }
}

extension ChangeSet.Update: Codable {
    private enum Key: String, CodingKey { case record, properties, values, oldValues }

    /// Decodes an update.
    /// - Throws: `DecodingError`.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        let record = try container.decode(PersistentIdentifier.self, forKey: .record)
        let properties = try container.decode([String].self, forKey: .properties)
        let values = try container.decodeIfPresent(DefaultSnapshot.self, forKey: .values)
        let old = try container.decodeIfPresent(DefaultSnapshot.self, forKey: .oldValues)
        let layout = values?.layout ?? old?.layout ?? RecordLayout.known(record.entityName, with: properties)
        self.init(
            record: record, layout: layout, slots: SlotSet(properties.compactMap { layout.slot(named: $0) }),
            values: values.map { layout.values(of: $0) } ?? [], oldValues: old.map { layout.values(of: $0) } ?? [])
    }

    /// Encodes the record, the names of the properties that changed, and the values that are known.
    /// - Throws: what the encoder throws.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(record, forKey: .record)
        try container.encode(properties, forKey: .properties)
        if !values.isEmpty { try container.encode(layout.snapshot(of: record, values, slots), forKey: .values) }
        if !oldValues.isEmpty {
            try container.encode(layout.snapshot(of: record, oldValues, slots), forKey: .oldValues)
        }
    }
}

extension ChangeSet.Deletion: Codable {
    private enum Key: String, CodingKey { case record, properties, values }

    /// Decodes a deletion.
    /// - Throws: `DecodingError`.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        let record = try container.decode(PersistentIdentifier.self, forKey: .record)
        let properties = try container.decodeIfPresent([String].self, forKey: .properties) ?? []
        let values = try container.decodeIfPresent(DefaultSnapshot.self, forKey: .values)
        let layout = values?.layout ?? RecordLayout.known(record.entityName, with: properties)
        self.init(
            record: record, layout: layout, values: values.map { layout.values(of: $0) } ?? [],
            preserved: values == nil ? SlotSet() : SlotSet(properties.compactMap { layout.slot(named: $0) }))
    }

    /// Encodes the record and the preserved values.
    /// - Throws: what the encoder throws.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(record, forKey: .record)
        if preserved.isEmpty { return }
        try container.encode(
            preserved.slots.filter(layout.slots.indices.contains).map { layout.slots[$0].name }, forKey: .properties)
        if !values.isEmpty { try container.encode(layout.snapshot(of: record, values, preserved), forKey: .values) }
    }
}

extension RecordLayout {
    /// The layout of a model of this process that has the named properties; otherwise one of these alone, of no certain kinds.
    fileprivate static func known(_ entityName: String, with properties: [String]) -> RecordLayout {
        if let known = ModelLayout.known(entityName: entityName, propertyNames: Set(properties)).first {
            return known.record
        }
        return RecordLayout(
            entityName: entityName, superentityName: nil,
            slots: properties.map { name in
                Slot(
                    property: StoredProperty(
                        name: name, isOptional: true, content: .attribute(StoredAttribute(kind: .coded))),
                    declaringEntity: entityName, role: .attribute)
            }, uniqueConstraints: [])
    }

    /// A snapshot of some slots; the others are null.
    fileprivate func snapshot(
        of record: PersistentIdentifier, _ values: ContiguousArray<StoredValue>, _ slots: SlotSet
    ) -> DefaultSnapshot {
        DefaultSnapshot(
            persistentIdentifier: record, layout: self,
            values: ContiguousArray(values.indices.map { slots.contains($0) ? values[$0] : .null }))
    }

    /// The values of a snapshot in the order of this layout's slots.
    fileprivate func values(of snapshot: DefaultSnapshot) -> ContiguousArray<StoredValue> {
        if snapshot.layout === self { return snapshot.values }
        return ContiguousArray(slots.map { snapshot[property: $0.name] ?? .null })
    }
}
