import Foundation

extension PredicateExpressions.Value: LowerableExpression {
    func lowered(_ lowering: inout Lowering) throws -> QueryExpression {
        // The types that are captured most, without asking for conformances.
        if Output.self == String.self, let text = value as? String { return .constant(.string(text)) }
        if Output.self == Int.self, let number = value as? Int { return .constant(.integer(Int64(number))) }
        if Output.self == Double.self, let number = value as? Double { return .constant(.double(number)) }
        if Output.self == Bool.self, let truth = value as? Bool { return .constant(.bool(truth)) }
        if Output.self == Date.self, let date = value as? Date { return .constant(.date(date)) }
        if Output.self == UUID.self, let uuid = value as? UUID { return .constant(.uuid(uuid)) }
        return try ConstantLowering.lower(value)
    }
}

/// Captured values.
enum ConstantLowering {
    static func lower(_ value: Any) throws -> QueryExpression {
        if let optional = value as? any OptionalValue {
            guard let unwrapped = optional.unwrapped else { return .constant(.null) }
            return try lower(unwrapped)
        }
        if let scalar = value as? any PersistentScalar { return .constant(scalar.storedValue) }
        if let identifier = value as? PersistentIdentifier { return .constant(.identifier(identifier)) }
        if let model = value as? any PersistentModel { return .constant(.identifier(model.persistentModelID)) }
        if let character = value as? Character { return .constant(.string(String(character))) }
        if let result = value as? ComparisonResult { return .constant(.integer(Int64(result.rawValue))) }
        if let range = value as? any LowerableRange { return try range.loweredRange() }
        if let list = value as? any LowerableList { return .list(try list.elements.map(lower)) }
        if let raw = value as? any RawRepresentable, StorageKind(of: type(of: value)) != .coded {
            return .constant(try rawValue(raw))
        }
        if value is [String: Any], let encodable = value as? any Encodable,
            let coded = try? StoredValueEncoder().encode(encodable)
        {
            return .constant(coded)
        }
        throw NotLowerable(reason: "\(type(of: value)) has no stored form of its own")
    }

    private static func rawValue<R: RawRepresentable>(_ value: R) throws -> StoredValue {
        guard let scalar = value.rawValue as? any PersistentScalar else {
            throw NotLowerable(reason: "\(R.RawValue.self) is not stored")
        }
        return scalar.storedValue
    }
}

protocol LowerableList {
    var elements: [Any] { get }
}
extension Array: LowerableList {
    var elements: [Any] { self }
}
extension ArraySlice: LowerableList {
    var elements: [Any] { Array(self) }
}
extension Set: LowerableList {
    var elements: [Any] { Array(self) }
}

protocol LowerableRange {
    func loweredRange() throws -> QueryExpression
}
extension Range: LowerableRange {
    func loweredRange() throws -> QueryExpression {
        .range(try ConstantLowering.lower(lowerBound), try ConstantLowering.lower(upperBound), isClosed: false)
    }
}
extension ClosedRange: LowerableRange {
    func loweredRange() throws -> QueryExpression {
        .range(try ConstantLowering.lower(lowerBound), try ConstantLowering.lower(upperBound), isClosed: true)
    }
}

extension PredicateExpressions.KeyPath: LowerableExpression
where Root: LowerableExpression {
    func lowered(_ lowering: inout Lowering) throws -> QueryExpression {
        let base = try root.lowered(&lowering)
        if let known = KnownKeyPaths.property(of: keyPath) { return known.expression(on: base) }
        switch kind {
        case .collectionCount: return .count(base)
        case .collectionIsEmpty: return .isEmpty(base)
        case .collectionFirst: return .first(base)
        case .bidirectionalCollectionLast: return .last(base)
        default: break
        }
        if let model = Root.Output.self as? any PersistentModel.Type {
            let expression = try KeyPathLowering.lower(keyPath, of: model, on: base)
            let decodedKind =
                Output.self is any SequenceElement.Type ? ComparableType.decodedKind(Output.self) : nil
            if case .property(base, let property) = expression {
                KnownKeyPaths.remember(keyPath, .init(property: property, decodedKind: decodedKind))
            }
            return decodedKind.map { .decoded(expression, $0) } ?? expression
        }
        if StorageKind(of: Root.Output.self) != .coded,
            let type = Root.Output.self as? any (RawRepresentable & CaseIterable).Type,
            Self.isRawValue(keyPath, of: type)
        {
            return base
        }
        if let member = CompositeMembers.name(of: keyPath, in: Root.Output.self) {
            return .member(base, member).decoded(as: Output.self)
        }
        if StorageKind(of: Root.Output.self) == .coded {
            throw NotLowerable(reason: "\(Root.Output.self) does not name \(keyPath) as a CompositeValue")
        }
        throw NotLowerable(reason: "\(keyPath) is not a persisted property")
    }
}

extension PredicateExpressions.KeyPath {
    /// Whether a key path says of every case what `rawValue` says: the one written for the type is not equal to the one
    /// written for the protocol.
    private static func isRawValue<R: RawRepresentable & CaseIterable>(_ keyPath: AnyKeyPath, of type: R.Type) -> Bool {
        guard let path = keyPath as? KeyPath<R, R.RawValue> else { return false }
        return R.allCases.allSatisfy { AnyHashable(raw: $0[keyPath: path]) == AnyHashable(raw: $0.rawValue) }
    }
}

extension AnyHashable {
    fileprivate init?<T>(raw value: T) {
        guard let hashable = value as? any Hashable else { return nil }
        self = AnyHashable(hashable)
    }
}

extension QueryExpression {
    /// A part of a coded value, converted to the kind in which its Swift type is stored.
    func decoded(as type: any Any.Type) -> QueryExpression {
        ComparableType.decodedKind(type).map { .decoded(self, $0) } ?? self
    }
}

/// Key paths into models: one property, a chain of properties and members, or a model's identifier.
enum KeyPathLowering {
    /// What a key path reads, without a tail that may be appended to it.
    /// - Throws: `NotLowerable` for a key path to anything else.
    static func lower(
        _ keyPath: AnyKeyPath, without tail: AnyKeyPath? = nil, of model: any PersistentModel.Type,
        on base: QueryExpression
    ) throws -> QueryExpression {
        let layout = ModelLayout.of(model)
        if tail == nil {
            if let slot = layout.slot(for: keyPath) {
                try checkStored(slot, of: layout)
                return .property(base, layout.queryProperty(slot))
            }
            if isIdentifier(keyPath, of: model) { return .identifier(base) }
        }
        guard let chain = KeyPathChains.chain(of: keyPath, from: layout, followedBy: tail) else {
            throw NotLowerable(reason: "\(keyPath) is not a persisted property of \(layout.entityName)")
        }
        if case .property(let owner, let slot)? = chain.last { try checkStored(slot, of: owner) }
        return chain.reduce(base) { $1.expression(on: $0) }
    }

    private static func checkStored(_ slot: Int, of layout: ModelLayout) throws {
        if layout.isStoredAsItIs(slot) { return }
        throw NotLowerable(reason: "\(layout.properties[slot].name) is stored in another form")
    }

    /// Not by `id`: in generic code its key path is that of the protocol, which a model may have fulfilled by a property of
    /// its own.
    private static func isIdentifier<M: PersistentModel>(_ keyPath: AnyKeyPath, of model: M.Type) -> Bool {
        keyPath == \M.persistentModelID
    }
}

extension ModelLayout {
    func queryProperty(_ slot: Int) -> QueryProperty {
        QueryProperty(entity: entityName, name: properties[slot].name, slot: slot)
    }
}
