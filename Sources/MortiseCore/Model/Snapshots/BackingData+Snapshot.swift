extension BackingData {
    /// The values of this storage as a snapshot.
    func makeSnapshot() -> DefaultSnapshot {
        let layout = ModelLayout.of(Model.self)
        var values: ContiguousArray<StoredValue> = []
        for slot in layout.properties.indices {
            values.append(
                SnapshotReading.value(of: self, at: layout.keyPaths[slot], role: layout.record.slots[slot].role))
        }
        return DefaultSnapshot(
            persistentIdentifier: persistentModelID ?? .temporary(entityName: layout.entityName), layout: layout.record,
            values: values)
    }
}

private enum SnapshotReading {
    static func value<B: BackingData>(of data: B, at keyPath: AnyKeyPath, role: RecordLayout.Role) -> StoredValue {
        func attribute<D: Decodable>(_ type: D.Type) -> StoredValue? {
            guard let path = keyPath as? KeyPath<B.Model, D> else { return nil }
            let value: D = data.getValue(forKey: path)
            return (value as? any Encodable).map { PropertyAccess.stored($0) }
        }
        func toOne<M: PersistentModel>(_ type: M.Type) -> StoredValue? {
            if let path = keyPath as? KeyPath<B.Model, M> {
                let model: M = data.getValue(forKey: path)
                return .identifier(model.persistentModelID)
            }
            guard let path = keyPath as? KeyPath<B.Model, M?> else { return nil }
            let model: M? = data.getValue(forKey: path)
            return model.map { .identifier($0.persistentModelID) } ?? .null
        }
        func toMany<C: RelationshipCollection>(_ type: C.Type) -> StoredValue? {
            guard let path = keyPath as? KeyPath<B.Model, C> else { return nil }
            let models: C = data.getValue(forKey: path)
            return .identifiers(PropertyAccess.members(models).map(\.persistentModelID))
        }
        let type = Swift.type(of: keyPath).valueType
        switch role {
        case .attribute: return (type as? any Decodable.Type).flatMap { attribute($0) } ?? .null
        case .toOne:
            let plain = (type as? any OptionalValue.Type)?.wrappedType ?? type
            return (plain as? any PersistentModel.Type).flatMap { toOne($0) } ?? .null
        case .toManyStored, .toManyDerived:
            return (type as? any RelationshipCollection.Type).flatMap { toMany($0) } ?? .null
        }
    }
}
