import Foundation

/// What one entry of a model's metadata says, made into a schema property.
struct PropertyReading {
    let property: any SchemaProperty
    let destination: (any PersistentModel.Type)?
    /// The inverse that `@Relationship` names.
    let inverse: AnyKeyPath?
    let check: ((StoredValue) -> Bool)?

    init(_ metadata: Schema.PropertyMetadata, entityName: String, faults: inout [SchemaError]) {
        let type = Swift.type(of: metadata.keypath).valueType
        if let (model, isToMany) = Self.relationshipTarget(of: type) {
            if metadata.metadata is Schema.Attribute,
                (metadata.metadata as? Schema.Attribute)?.options.contains(.unique) == true, isToMany
            {
                faults.append(.uniqueToMany(entity: entityName, property: metadata.name))
            }
            // A copy, because a model written by hand may describe itself with the same objects each time.
            let relationship =
                (metadata.metadata as? Schema.Relationship).map(Schema.Relationship.init(copying:))
                ?? Schema.Relationship()
            if let attribute = metadata.metadata as? Schema.Attribute {
                relationship.originalName = attribute.originalName
                relationship.hashModifier = attribute.hashModifier
                if attribute.options.contains(.unique) { relationship.options = [.unique] }
            }
            relationship.name = metadata.name
            if relationship.originalName.isEmpty { relationship.originalName = metadata.name }
            relationship.keypath = metadata.keypath
            relationship.valueType = type
            relationship.isToOneRelationship = !isToMany
            property = relationship
            destination = model
            inverse = relationship.inverseKeyPath
            check = nil
            return
        }
        if metadata.metadata is Schema.Relationship {
            faults.append(.notARelationship(entity: entityName, property: metadata.name, type: "\(type)"))
        }
        let attribute = (metadata.metadata as? Schema.Attribute)?.makeCopy() ?? Schema.Attribute()
        attribute.name = metadata.name
        if attribute.originalName.isEmpty { attribute.originalName = metadata.name }
        attribute.valueType = type
        attribute.isOptional = type is any OptionalValue.Type
        attribute.defaultValue = metadata.defaultValue
        if attribute.isTransformable {
            attribute.kind = .data
        } else if attribute.options.contains(.codable) {
            attribute.kind = .coded
        } else {
            attribute.kind = StorageKind(of: type)
        }
        if let kind = attribute.kind {
            attribute.storedDefault = metadata.defaultValue.flatMap { StoredValue(property: $0, kind: kind) }
        } else {
            faults.append(.unsupportedType(entity: entityName, property: metadata.name, type: "\(type)"))
        }
        property = attribute
        destination = nil
        inverse = nil
        let declared = attribute.storedDefault ?? .null
        if attribute.options.contains(.ephemeral) {
            // Fetched models have nothing else.
            if !Self.hasEmptyValue(type, attribute, declared) {
                faults.append(
                    .ephemeralWithoutValue(entity: entityName, property: metadata.name, type: "\(type)"))
            }
            check = nil
            return
        }
        let known = attribute.isTransformable ? Self.transformableCheck(for: type, attribute) : Self.check(for: type)
        let mayBeNull = Self.hasEmptyValue(type, attribute, declared)
        check = known.map { known in { $0.isNull ? mayBeNull : known($0) } }
    }

    /// Whether a property without a stored value has one to show.
    private static func hasEmptyValue(_ type: any Any.Type, _ attribute: Schema.Attribute, _ declared: StoredValue)
        -> Bool
    {
        if attribute.isOptional { return true }
        if attribute.isTransformable { return false }
        if let raw = type as? any RawRepresentable.Type, StorageKind(of: type) != .coded {
            func has<R: RawRepresentable>(_ type: R.Type) -> Bool {
                guard let scalar = R.RawValue.self as? any PersistentScalar.Type else { return false }
                return PropertyAccess.value(declared, ofRaw: type) != nil
                    || (scalar.placeholder as? R.RawValue).flatMap(R.init(rawValue:)) != nil
                    || PropertyValue.firstCase(of: type) != nil
            }
            return has(raw)
        }
        guard let decodable = type as? any Decodable.Type else { return true }
        func has<D: Decodable>(_ type: D.Type) -> Bool { PropertyValue.empty(type, default: declared) != nil }
        return has(decodable)
    }

    /// The model type that a property type refers to, and whether it is to-many; nil for attributes.
    static func relationshipTarget(of type: any Any.Type) -> (any PersistentModel.Type, isToMany: Bool)? {
        if let collection = type as? any RelationshipCollection.Type { return (element(of: collection), true) }
        if let model = type as? any PersistentModel.Type { return (model, false) }
        if let optional = type as? any OptionalValue.Type, let model = optional.wrappedType as? any PersistentModel.Type
        {
            return (model, false)
        }
        return nil
    }

    private static func element<C: RelationshipCollection>(of type: C.Type) -> any PersistentModel.Type {
        C.PersistentElement.self
    }

    /// Enums and coded values can be stored well and mean nothing; everything else is right when its kind is.
    private static func check(for type: any Any.Type) -> ((StoredValue) -> Bool)? {
        let plain = (type as? any OptionalValue.Type)?.wrappedType ?? type
        if plain is any PersistentScalar.Type { return nil }
        if let raw = plain as? any RawRepresentable.Type, StorageKind(of: plain) != .coded { return rawCheck(raw) }
        if let decodable = plain as? any Decodable.Type { return codedCheck(decodable) }
        return nil
    }

    private static func rawCheck<R: RawRepresentable>(_ type: R.Type) -> ((StoredValue) -> Bool)? {
        guard let scalar = R.RawValue.self as? any PersistentScalar.Type else { return nil }
        return { value in
            value.isNull || (scalar.init(storedValue: value) as? R.RawValue).flatMap(R.init(rawValue:)) != nil
        }
    }

    private static func transformableCheck(
        for type: any Any.Type, _ attribute: Schema.Attribute
    ) -> ((StoredValue) -> Bool)? {
        guard let name = attribute.valueTransformerName else { return nil }
        func check<T>(_ type: T.Type) -> (StoredValue) -> Bool {
            { value in
                guard case .data(let data) = value else { return false }
                let read: T? = name.untransformed(data)
                return read != nil
            }
        }
        return _openExistential(type, do: check)
    }

    private static func codedCheck<D: Decodable>(_ type: D.Type) -> (StoredValue) -> Bool {
        { value in value.isNull || (try? StoredValueDecoder().decode(type, from: value)) != nil }
    }
}

extension StoredValue {
    /// A property's value, of any type, in the form of a kind; nil if it is not of that kind.
    init?(property value: Any, kind: StorageKind) {
        if let optional = value as? any OptionalValue {
            guard let unwrapped = optional.unwrapped else {
                self = .null
                return
            }
            self.init(property: unwrapped, kind: kind)
        } else if kind != .coded, let scalar = value as? any PersistentScalar {
            self = scalar.storedValue
        } else if kind != .coded, let raw = value as? any RawRepresentable, let stored = Self.raw(raw) {
            self = stored
        } else if let encodable = value as? any Encodable, let coded = try? StoredValueEncoder().encode(encodable) {
            self = coded
        } else {
            return nil
        }
        if !fits(kind) { return nil }
    }

    private static func raw<R: RawRepresentable>(_ value: R) -> StoredValue? {
        (value.rawValue as? any PersistentScalar)?.storedValue
    }
}
