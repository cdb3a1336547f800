public import Foundation

// What the accessors that `@Model` writes call: one overload for each sort of property, chosen by the property's type.

/// Turns stored values into property values. The conversions are total: what a fetch handed out has been checked, and a
/// property of a model that is not stored has a value from its initialiser.
enum PropertyValue {
    static func coded<T: Decodable>(_ value: StoredValue) -> T? {
        if value.isNull, let none = (T.self as? any OptionalValue.Type)?.none as? T { return none }
        return try? StoredValueDecoder().decode(T.self, from: value)
    }

    /// What a required property without a stored value reads as: its declared default, or an empty value of its type.
    static func empty<T: Decodable>(_ type: T.Type, default declared: StoredValue) -> T? {
        if !declared.isNull, let value = PropertyAccess.value(declared, as: type) { return value }
        if let scalar = type as? any PersistentScalar.Type { return scalar.placeholder as? T }
        for empty in [StoredValue.array([]), .object([:])] {
            if let value: T = coded(empty) { return value }
        }
        return nil
    }

    /// The end of a chain of impossibilities: a required property without a value, of a type that has none to offer.
    static func missing<T>(_ type: T.Type, slot: Int, of model: any PersistentModel) -> Never {
        let name = ModelLayout.of(Swift.type(of: model)).record.slots.dropFirst(slot).first?.name ?? "slot \(slot)"
        fatalError("\(Swift.type(of: model)).\(name) was read before it was given a value; it is of type \(type).")
    }
}

extension Draft.Value {
    init<T: Encodable>(coding value: T) {
        if let optional = value as? any OptionalValue, optional.unwrapped == nil {
            self = .value(.null)
        } else if let coded = try? StoredValueEncoder().encode(value), Self.readsBack(coded, as: T.self) {
            self = .value(coded)
        } else {
            self = .unencodable(value)
        }
    }

    /// Whether a type reads what it has written. Where it does not, a getter would have nothing to return, and the record
    /// could not be fetched any more.
    private static func readsBack<T>(_ coded: StoredValue, as type: T.Type) -> Bool {
        // These do, and are what most coded properties have.
        if type == [String].self || type == [Int].self || type == [Double].self || type == Set<String>.self
            || type == [String: String].self
        {
            return true
        }
        guard let decodable = type as? any Decodable.Type else { return true }
        func decode<D: Decodable>(_ type: D.Type) -> Bool {
            (try? StoredValueDecoder().decode(type, from: coded)) != nil
        }
        return decode(decodable)
    }
}

// MARK: - Attributes

extension PersistentModel {
    @inlinable
    public func _value<T: PersistentScalar>(at slot: Int) -> T {
        if let row = _modelState.rowScalar(T.self, at: slot), let value = row { return value }
        return _ownScalar(at: slot) ?? _defaultScalar(at: slot)
    }
    @inlinable
    public func _value<T: PersistentScalar>(at slot: Int) -> T? {
        // Data that are not there may lie elsewhere.
        if let value = _modelState.rowScalar(T.self, at: slot), value != nil || T.self != Data.self { return value }
        return _ownScalar(at: slot)
    }

    @inlinable
    public func _value<T: RawRepresentable>(at slot: Int) -> T where T.RawValue: PersistentScalar {
        if let raw: T.RawValue = _value(at: slot), let value = T(rawValue: raw) { return value }
        if let value = T(rawValue: _defaultScalar(at: slot)) { return value }
        if let value = T(rawValue: .placeholder) { return value }
        _missing(T.self, at: slot)
    }
    @inlinable
    public func _value<T: RawRepresentable>(at slot: Int) -> T? where T.RawValue: PersistentScalar {
        let raw: T.RawValue? = _value(at: slot)
        return raw.flatMap { T(rawValue: $0) }
    }

    /// An attribute of a model that has values of its own, or no row.
    @usableFromInline
    func _ownScalar<T: PersistentScalar>(at slot: Int) -> T? { T(storedValue: _modelState.storedValue(at: slot)) }

    /// What a required attribute without a value reads as: its declared default, or the type's own placeholder.
    @usableFromInline
    func _defaultScalar<T: PersistentScalar>(at slot: Int) -> T {
        T(storedValue: _defaultValue(at: slot)) ?? T.placeholder
    }

    @usableFromInline
    func _missing<T>(_ type: T.Type, at slot: Int) -> Never { PropertyValue.missing(type, slot: slot, of: self) }

    @_disfavoredOverload
    public func _value<T: Codable>(at slot: Int) -> T {
        if case .unencodable(let value)? = _modelState.draft?[slot], let value = value as? T { return value }
        if let value: T = PropertyValue.coded(_modelState.storedValue(at: slot)) { return value }
        for empty in [_defaultValue(at: slot), .array([]), .object([:])] {
            if let value: T = PropertyValue.coded(empty) { return value }
        }
        PropertyValue.missing(T.self, slot: slot, of: self)
    }

    /// What a required property without a stored value has: the default that the model declares. Ephemeral attributes of
    /// fetched models come to this.
    func _defaultValue(at slot: Int) -> StoredValue {
        let properties = ModelLayout.of(type(of: self)).properties
        return (properties.dropFirst(slot).first as? Schema.Attribute)?.storedDefault ?? .null
    }

    @inlinable
    public func _setValue<T: PersistentScalar>(_ value: T, at slot: Int) { _write(stored: value.storedValue, at: slot) }
    @inlinable
    public func _setValue<T: PersistentScalar>(_ value: T?, at slot: Int) {
        _write(stored: value?.storedValue ?? .null, at: slot)
    }
    @inlinable
    public func _setValue<T: RawRepresentable>(_ value: T, at slot: Int) where T.RawValue: PersistentScalar {
        _write(stored: value.rawValue.storedValue, at: slot)
    }
    @inlinable
    public func _setValue<T: RawRepresentable>(_ value: T?, at slot: Int) where T.RawValue: PersistentScalar {
        _write(stored: value?.rawValue.storedValue ?? .null, at: slot)
    }
    @_disfavoredOverload
    public func _setValue<T: Codable>(_ value: T, at slot: Int) { _write(Draft.Value(coding: value), at: slot) }

    public func _transformableValue<T>(at slot: Int) -> T {
        switch _modelState.draft?[slot] {
        case .transformable(let kept)?, .unencodable(let kept)?:
            if let value = kept as? T { return value }
        default: break
        }
        let transformer = ModelLayout.of(type(of: self)).transformer(at: slot)
        if case .data(let data) = _modelState.storedValue(at: slot),
            let value = transformer?.reverseTransformedValue(data) as? T
        {
            return value
        }
        if let none = (T.self as? any OptionalValue.Type)?.none as? T { return none }
        PropertyValue.missing(T.self, slot: slot, of: self)
    }
    public func _setTransformableValue<T>(_ value: T, at slot: Int) {
        let layout = ModelLayout.of(type(of: self))
        _write(layout.transformed(value, at: slot).map(Draft.Value.value) ?? .unencodable(value), at: slot)
    }

    /// Puts a value into the model's draft and tells the context, once, that the model has changed.
    func _write(_ value: Draft.Value, at slot: Int) {
        if let table = _modelState.table, _modelState.flags.isDisjoint(with: [.isChanged, .isInserted, .isDeleted]) {
            table.state.noteChange(of: self)
        }
        _modelState.set(value, at: slot)
    }

    /// As `_write`, for a stored value.
    @usableFromInline
    func _write(stored value: consuming StoredValue, at slot: Int) {
        if let table = _modelState.table, _modelState.flags.isDisjoint(with: [.isChanged, .isInserted, .isDeleted]) {
            table.state.noteChange(of: self)
        }
        _modelState.set(stored: value, at: slot)
    }
}

extension ModelLayout {
    func transformer(at slot: Int) -> ValueTransformer? {
        guard slot < properties.count, let attribute = properties[slot] as? Schema.Attribute,
            let name = attribute.options.lazy.compactMap(\.transformerName).first
        else { return nil }
        return ValueTransformer.registered(NSValueTransformerName(name))
    }

    /// What is stored for a transformable value; nil where no transformer is registered, or it makes no data of it.
    func transformed(_ value: Any, at slot: Int) -> StoredValue? {
        if let optional = value as? any OptionalValue, optional.unwrapped == nil { return .null }
        return (transformer(at: slot)?.transformedValue(value) as? Data).map(StoredValue.data)
    }
}

// MARK: - Relationships

extension PersistentModel {
    public func _value<T: PersistentModel>(at slot: Int) -> T? { _target(at: slot) as? T }
    public func _value<T: PersistentModel>(at slot: Int) -> T {
        if let model = _target(at: slot) as? T { return model }
        if case .lost(let last)? = _modelState.draft?[slot], let model = last as? T { return model }
        if case .identifier(let identifier) = _modelState.storedValue(at: slot) {
            // Against its contract the store has no such record: a getter cannot throw, the next fetch or save does.
            _modelState.table?.state.latch(ModelContextError.noSuchModel(identifier))
            return Materialising.run { T(_modelState: ModelState(missing: identifier)) }
        }
        PropertyValue.missing(T.self, slot: slot, of: self)
    }
    public func _value<T: PersistentModel>(at slot: Int) -> [T] {
        if _modelState.draft == nil, _modelState.row >= 0, let table = _modelState.table,
            let members = table.state.members(of: table, row: _modelState.row, slot: slot, as: T.self)
        {
            return members
        }
        return _members(at: slot).compactMap { $0 as? T }
    }
    public func _value<T: PersistentModel>(at slot: Int) -> [T]? {
        let members: [T] = _value(at: slot)
        return members
    }

    public func _setValue<T: PersistentModel>(_ value: T?, at slot: Int) { _setTarget(value, at: slot) }
    public func _setValue<T: PersistentModel>(_ value: T, at slot: Int) { _setTarget(value, at: slot) }
    public func _setValue<T: PersistentModel>(_ value: [T], at slot: Int) { _setMembers(value, at: slot) }
    public func _setValue<T: PersistentModel>(_ value: [T]?, at slot: Int) { _setMembers(value ?? [], at: slot) }
}

// MARK: - Initial values

/// Initial values of types that are only `Codable`.
///
/// A protocol extension, because a type whose conformance is isolated to the main actor can be passed to one from an
/// initialiser that is not.
public protocol CodedInitialValues: ~Copyable {
    mutating func _initializeCoded<T: Codable>(at slot: Int, to value: T)
}

extension CodedInitialValues where Self: ~Copyable {
    @_disfavoredOverload
    public mutating func initialize<T: Codable>(at slot: Int, to value: T) { _initializeCoded(at: slot, to: value) }
}

extension ModelState: CodedInitialValues {
    @inlinable
    public mutating func initialize<T: PersistentScalar>(at slot: Int, to value: T) {
        initialize(stored: value.storedValue, at: slot)
    }
    @inlinable
    public mutating func initialize<T: PersistentScalar>(at slot: Int, to value: T?) {
        initialize(stored: value?.storedValue ?? .null, at: slot)
    }
    @inlinable
    public mutating func initialize<T: RawRepresentable>(at slot: Int, to value: T) where T.RawValue: PersistentScalar {
        initialize(stored: value.rawValue.storedValue, at: slot)
    }
    @inlinable
    public mutating func initialize<T: RawRepresentable>(at slot: Int, to value: T?)
    where T.RawValue: PersistentScalar {
        initialize(stored: value?.rawValue.storedValue ?? .null, at: slot)
    }
    public mutating func _initializeCoded<T: Codable>(at slot: Int, to value: T) {
        if flags.contains(.ignoresInitialValues) { return }
        initialize(Draft.Value(coding: value), at: slot)
    }
    public mutating func initialize<T: PersistentModel>(at slot: Int, to value: T) {
        initialize(.model(value), at: slot)
    }
    public mutating func initialize<T: PersistentModel>(at slot: Int, to value: T?) {
        initialize(.model(value), at: slot)
    }
    public mutating func initialize<T: PersistentModel>(at slot: Int, to value: [T]) {
        initialize(.models(MemberChanges(value)), at: slot)
    }
    public mutating func initialize<T: PersistentModel>(at slot: Int, to value: [T]?) {
        initialize(.models(MemberChanges(value ?? [])), at: slot)
    }
    public mutating func initializeTransformable<T>(at slot: Int, to value: T) {
        initialize(.transformable(value), at: slot)
    }
}

extension InitialValues: CodedInitialValues {
    public mutating func initialize<T: PersistentScalar>(at slot: Int, to value: T) {
        initialize(.value(value.storedValue), at: slot)
    }
    public mutating func initialize<T: PersistentScalar>(at slot: Int, to value: T?) {
        initialize(.value(value?.storedValue ?? .null), at: slot)
    }
    public mutating func initialize<T: RawRepresentable>(at slot: Int, to value: T) where T.RawValue: PersistentScalar {
        initialize(.value(value.rawValue.storedValue), at: slot)
    }
    public mutating func initialize<T: RawRepresentable>(at slot: Int, to value: T?)
    where T.RawValue: PersistentScalar {
        initialize(.value(value?.rawValue.storedValue ?? .null), at: slot)
    }
    public mutating func _initializeCoded<T: Codable>(at slot: Int, to value: T) {
        initialize(Draft.Value(coding: value), at: slot)
    }
    public mutating func initialize<T: PersistentModel>(at slot: Int, to value: T) {
        initialize(.model(value), at: slot)
    }
    public mutating func initialize<T: PersistentModel>(at slot: Int, to value: T?) {
        initialize(.model(value), at: slot)
    }
    public mutating func initialize<T: PersistentModel>(at slot: Int, to value: [T]) {
        initialize(.models(MemberChanges(value)), at: slot)
    }
    public mutating func initialize<T: PersistentModel>(at slot: Int, to value: [T]?) {
        initialize(.models(MemberChanges(value ?? [])), at: slot)
    }
    public mutating func initializeTransformable<T>(at slot: Int, to value: T) {
        initialize(.transformable(value), at: slot)
    }
}

extension MemberChanges {
    convenience init(_ models: [some PersistentModel]) {
        self.init()
        for model in models { add(model) }
    }
}
