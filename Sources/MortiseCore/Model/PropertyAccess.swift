/// Conversions between stored and property values where the property's type is only a type parameter.
enum PropertyAccess {
    static func value<Value: Decodable>(_ stored: StoredValue, as type: Value.Type) -> Value? {
        if let optional = type as? any OptionalValue.Type {
            if stored.isNull { return optional.none as? Value }
            return plain(stored, as: optional.wrappedType) as? Value
        }
        return plain(stored, as: type) as? Value
    }

    private static func plain(_ stored: StoredValue, as type: any Any.Type) -> Any? {
        if let scalar = type as? any PersistentScalar.Type { return scalar.init(storedValue: stored) }
        if let raw = type as? any RawRepresentable.Type, StorageKind(of: type) != .coded {
            return self.raw(stored, raw)
        }
        if let decodable = type as? any Decodable.Type { return coded(stored, decodable) }
        return nil
    }
    private static func raw<R: RawRepresentable>(_ stored: StoredValue, _ type: R.Type) -> Any? {
        guard let scalar = R.RawValue.self as? any PersistentScalar.Type else { return nil }
        return (scalar.init(storedValue: stored) as? R.RawValue).flatMap(R.init(rawValue:))
    }
    static func value<R: RawRepresentable>(_ stored: StoredValue, ofRaw type: R.Type) -> R? {
        stored.isNull ? nil : raw(stored, type) as? R
    }
    private static func coded<D: Decodable>(_ stored: StoredValue, _ type: D.Type) -> Any? {
        try? StoredValueDecoder().decode(type, from: stored)
    }

    static func stored<Value: Encodable>(_ value: Value) -> StoredValue { storedForm(of: value) ?? .null }

    /// Nil for a value that cannot be encoded.
    static func storedForm<Value: Encodable>(of value: Value) -> StoredValue? {
        if let kind = StorageKind(of: Value.self), kind != .coded, let stored = StoredValue(property: value, kind: kind)
        {
            return stored
        }
        return PropertyValue.coding(value)
    }
}

/// Turns stored values into property values. The conversions are total: what a fetch handed out has been checked, and a
/// property of a model that is not stored has a value from its initializer.
enum PropertyValue {
    static func coded<T: Decodable>(_ value: StoredValue) -> T? {
        if value.isNull, let none = (T.self as? any OptionalValue.Type)?.none as? T { return none }
        return try? StoredValueDecoder().decode(T.self, from: value)
    }

    /// The value of a required property without a stored value: its declared default, or an empty value of its type.
    static func empty<T: Decodable>(_ type: T.Type, default declared: StoredValue) -> T? {
        if !declared.isNull, let value = PropertyAccess.value(declared, as: type) { return value }
        if let scalar = type as? any PersistentScalar.Type { return scalar.placeholder as? T }
        for empty in [StoredValue.array([]), .object([:])] {
            if let value: T = coded(empty) { return value }
        }
        return nil
    }

    /// The first case of an enum that lists its cases.
    static func firstCase<T>(of type: T.Type) -> T? {
        func first<C: CaseIterable>(_ type: C.Type) -> Any? { type.allCases.first }
        return (type as? any CaseIterable.Type).flatMap { first($0) } as? T
    }

    /// The stored form of a coded value; nil if its type cannot encode it, or does not read what it has written.
    static func coding<T: Encodable>(_ value: T) -> StoredValue? {
        if let optional = value as? any OptionalValue, optional.unwrapped == nil { return .null }
        guard let coded = try? StoredValueEncoder().encode(value), readsBack(coded, as: T.self) else { return nil }
        return coded
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
