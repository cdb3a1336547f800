/// Makes a history's changes for a store that knows its records by entity, slot and stored value.
extension Schema {
    /// Makes the history changes of a committed transaction: insertions, updates and deletions, each in identity order and numbered
    /// from 1 on. Deletions have the values that the models preserve, as far as the change set has them. Records of entities that
    /// the schema lacks are left out.
    public func historyChanges(of changes: ChangeSet, transaction: Int64) -> [HistoryChange] {
        var made: [HistoryChange] = []
        func append(_ change: HistoryChange?) { if let change { made.append(change) } }
        var next: Int64 { Int64(made.count) + 1 }
        for record in changes.inserted.records.sorted() {
            append(insertion(of: record, change: next, transaction: transaction))
        }
        var changes = changes
        changes.mergeUpdates()
        for update in changes.updated.sorted(by: { $0.record < $1.record }) {
            append(
                self.update(
                    of: update.record, properties: update.properties, change: next, transaction: transaction))
        }
        for deletion in changes.deleted.sorted(by: { $0.record < $1.record }) {
            append(
                self.deletion(
                    of: deletion.record, preserved: deletion.tombstone, change: next, transaction: transaction))
        }
        return made
    }

    /// Makes the history change of an insertion. Returns nil if the schema lacks the record's entity, or has no model type
    /// for it.
    public func insertion(
        of record: PersistentIdentifier, change: Int64, transaction: Int64
    ) -> HistoryChange? {
        func make<M: PersistentModel>(_ type: M.Type) -> HistoryChange {
            .insert(
                DefaultHistoryInsert<M>(changeIdentifier: change, transactionIdentifier: transaction, changed: record))
        }
        return layouts[record.entityName].map { make($0.type) }
    }

    /// Makes the history change of an update. Names in `properties` that the model does not have (any more) are left
    /// out. Returns nil if the schema lacks the record's entity.
    public func update(
        of record: PersistentIdentifier, properties: [String], change: Int64, transaction: Int64
    ) -> HistoryChange? {
        guard let layout = layouts[record.entityName] else { return nil }
        func make<M: PersistentModel>(_ type: M.Type) -> HistoryChange {
            .update(
                DefaultHistoryUpdate<M>(
                    changeIdentifier: change, transactionIdentifier: transaction, changed: record,
                    updatedAttributes: properties.compactMap { name in
                        layout.record.slot(named: name).flatMap { layout.keyPaths[$0] as? PartialKeyPath<M> }
                            // A key path of a model captures nothing; the marker says so, and cannot be asked for.
                            .map { unsafeBitCast($0, to: (any PartialKeyPath<M> & Sendable).self) }
                    }))
        }
        return make(layout.type)
    }

    /// Makes the history change of a deletion, with the preserved values as the store kept them, by property name.
    /// Returns nil if the schema lacks the record's entity.
    public func deletion(
        of record: PersistentIdentifier, preserved: [(name: String, value: StoredValue)], change: Int64,
        transaction: Int64
    ) -> HistoryChange? {
        guard let layout = layouts[record.entityName] else { return nil }
        func make<M: PersistentModel>(_ type: M.Type) -> HistoryChange {
            var values: [PartialKeyPath<M>: any Sendable] = [:]
            for (name, value) in preserved {
                guard let slot = layout.record.slot(named: name), let path = layout.keyPaths[slot] as? PartialKeyPath<M>
                else { continue }
                values[path] = Self.propertyValue(value, of: Swift.type(of: path).valueType)
            }
            return .delete(
                DefaultHistoryDelete<M>(
                    changeIdentifier: change, transactionIdentifier: transaction, changed: record,
                    tombstone: HistoryTombstone<M>(values)))
        }
        return make(layout.type)
    }

    /// The value that a property of the type has for a stored one; nil for null and for what the type cannot be.
    static func propertyValue(_ value: StoredValue, of type: any Any.Type) -> (any Sendable)? {
        if value.isNull { return nil }
        let plain = (type as? any OptionalValue.Type)?.wrappedType ?? type
        if let scalar = plain as? any PersistentScalar.Type { return scalar.init(storedValue: value) }
        func raw<R: RawRepresentable>(_ type: R.Type) -> Any? {
            guard let scalar = R.RawValue.self as? any PersistentScalar.Type else { return nil }
            return (scalar.init(storedValue: value) as? R.RawValue).flatMap(R.init(rawValue:))
        }
        func coded<D: Decodable>(_ type: D.Type) -> Any? { try? StoredValueDecoder().decode(type, from: value) }
        var found: Any?
        if let type = plain as? any RawRepresentable.Type { found = raw(type) }
        if found == nil, let type = plain as? any Decodable.Type { found = coded(type) }
        // The value was just made and nobody else has it; the marker cannot be asked for. Cast as an optional: passed by itself, the value
        // would be opened, and its own bytes taken for those of an existential.
        return unsafeBitCast(found, to: (any Sendable)?.self)
    }
}

extension ChangeSet.Deletion {
    /// The values that the model preserves, as far as they are known.
    fileprivate var tombstone: [(name: String, value: StoredValue)] {
        preserved.slots.compactMap { slot in
            guard layout.slots.indices.contains(slot), values.indices.contains(slot),
                layout.slots[slot].property.attribute?.options.contains(.preserveValueOnDeletion) == true
            else { return nil }
            return (layout.slots[slot].name, values[slot])
        }
    }
}
