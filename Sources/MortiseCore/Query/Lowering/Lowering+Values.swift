import Foundation

extension PredicateExpressions.Value: LowerableExpression {
    func lowered(_ lowering: inout Lowering) throws -> QueryExpression {
        if let placeholder = lowering.placeholder() { return placeholder }
        // The types that are captured most, without asking for conformances.
        return switch value {
        case let text as String: .constant(.string(text))
        case let number as Int: .constant(.integer(Int64(number)))
        case let number as Double: .constant(.double(number))
        case let truth as Bool: .constant(.bool(truth))
        case let date as Date: .constant(.date(date))
        case let uuid as UUID: .constant(.uuid(uuid))
        default: try ConstantLowering.lower(value)
        }
    }
}

/// Captured values.
enum ConstantLowering {
    static func lower(_ value: Any) throws -> QueryExpression {
        if let optional = value as? any OptionalValue {
            guard let unwrapped = optional.unwrapped else { return .constant(.null) }
            return try lower(unwrapped)
        }
        if let identifier = value as? PersistentIdentifier { return .constant(.identifier(identifier)) }
        if let model = value as? any PersistentModel { return .constant(.identifier(model.persistentModelID)) }
        if let character = value as? Character { return .constant(.string(String(character))) }
        if let scalar = value as? any PersistentScalar { return .constant(scalar.storedValue) }
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

extension PredicateExpressions.KeyPath: LowerableExpression {
    func lowered(_ lowering: inout Lowering) throws -> QueryExpression {
        let base = try lowering.lower(root)
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

/// Key paths into models: one property, a chain of them, or a model's identifier.
enum KeyPathLowering {
    static func lower(
        _ keyPath: AnyKeyPath, of model: any PersistentModel.Type, on base: QueryExpression
    ) throws -> QueryExpression {
        let layout = ModelLayout.of(model)
        if let slot = layout.slot(for: keyPath) {
            try checkStored(slot, of: layout)
            return .property(base, layout.queryProperty(slot))
        }
        if isIdentifier(keyPath, of: model) { return .identifier(base) }
        if let chain = RelatedKeyPaths.chain(of: keyPath, from: layout) {
            if let last = chain.last { try checkStored(last.slot, of: last.layout) }
            return chain.reduce(base) { .property($0, $1.layout.queryProperty($1.slot)) }
        }
        return try chain(text(of: keyPath), from: layout, on: base)
    }

    private static func checkStored(_ slot: Int, of layout: ModelLayout) throws {
        guard let attribute = layout.properties[slot] as? Schema.Attribute,
            attribute.isTransformable || attribute.options.contains(.ephemeral)
        else { return }
        throw NotLowerable(reason: "\(attribute.name) is stored in another form")
    }

    private static func isIdentifier<M: PersistentModel>(_ keyPath: AnyKeyPath, of model: M.Type) -> Bool {
        keyPath == \M.persistentModelID
            || (type(of: keyPath).valueType == PersistentIdentifier.self
                && "\(keyPath)".hasSuffix(".id") == false && keyPath == \M.id as AnyKeyPath)
    }

    /// Follows a key path of several components by comparing texts, since key paths do not show their components
    /// otherwise: each property's own key path has the text of its one component, which names its accessor.
    private static func chain(
        _ components: Substring, from layout: ModelLayout, on base: QueryExpression
    ) throws -> QueryExpression {
        for slot in layout.properties.indices {
            let own = text(of: layout.keyPaths[slot])
            guard !own.isEmpty, components.hasPrefix(own) else { continue }
            let expression = QueryExpression.property(base, layout.queryProperty(slot))
            var rest = components.dropFirst(own.count)
            if rest.first == "?" { rest = rest.dropFirst() }
            if rest.isEmpty { return expression }
            guard rest.first == "." else { continue }
            if layout.record.slots[slot].role == .toOne, let destination = layout.destinations[slot] {
                return try chain(rest.dropFirst(), from: destination, on: expression)
            }
            if let member = member(rest.dropFirst(), ofValueAt: slot, of: layout, on: expression) { return member }
        }
        throw NotLowerable(reason: "\(components) is not a persisted property of \(layout.entityName)")
    }

    /// A member of the composite value that a property holds.
    private static func member(
        _ name: Substring, ofValueAt slot: Int, of layout: ModelLayout, on value: QueryExpression
    ) -> QueryExpression? {
        guard let attribute = layout.properties[slot] as? Schema.Attribute, attribute.kind == .coded,
            (try? checkStored(slot, of: layout)) != nil
        else { return nil }
        let type = attribute.valueType
        let plain = (type as? any OptionalValue.Type)?.wrappedType ?? type
        // The mark at the end says that a nil on the way is one of the result.
        let property = name.last == "?" ? name.dropLast() : name
        guard let member = CompositeMembers.member(ofStoredProperty: property, in: plain) else { return nil }
        return .member(value, member.name).decoded(as: member.type)
    }

    /// Lowers a key path without its last component, which is the only component of another key path.
    static func lower(
        _ keyPath: AnyKeyPath, without tail: AnyKeyPath, of model: any PersistentModel.Type, on base: QueryExpression
    ) throws -> QueryExpression {
        let (whole, last) = (text(of: keyPath), text(of: tail))
        guard !last.isEmpty, whole.hasSuffix("." + last) else {
            throw NotLowerable(reason: "\(keyPath) does not end in \(tail)")
        }
        return try chain(whole.dropLast(last.count + 1), from: ModelLayout.of(model), on: base)
    }

    /// The components of a key path as text, without the root type.
    private static func text(of keyPath: AnyKeyPath) -> Substring {
        let full = String(reflecting: keyPath)
        guard let dot = full.firstIndex(of: ".") else { return "" }
        return full[full.index(after: dot)...]
    }
}

extension ModelLayout {
    func queryProperty(_ slot: Int) -> QueryProperty {
        QueryProperty(entity: entityName, name: properties[slot].name, slot: slot)
    }
}
