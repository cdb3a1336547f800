import Foundation

/// Decodes a `Decodable` value from the tree that `StoredValueEncoder` makes.
///
/// It also accepts the natural forms of the scalars (a `date` for a `Date`, an `integer` for a `Double`), so that trees
/// that passed through another format decode alike.
public struct StoredValueDecoder: Sendable {
    /// Makes a decoder. It has no options and can be used repeatedly.
    public init() {}

    /// Decodes a value.
    /// - Throws: `DecodingError` with the coding path at which the tree does not match the type, or whatever the type's
    ///   `init(from:)` throws.
    public func decode<T: Decodable>(_ type: T.Type = T.self, from value: StoredValue) throws -> T {
        try unbox(value, as: type, codingPath: [])
    }
}

private func mismatch(_ type: any Any.Type, _ value: StoredValue, _ codingPath: [any CodingKey]) -> DecodingError {
    .typeMismatch(type, .init(codingPath: codingPath, debugDescription: "Expected \(type), found \(value.kindName)."))
}

private func unbox<T: Decodable>(_ value: StoredValue, as type: T.Type, codingPath: [any CodingKey]) throws -> T {
    let scalar: (any Sendable)?
    if type == Date.self {
        scalar = value.asDate
    } else if type == Data.self {
        scalar = value.asData
    } else if type == UUID.self {
        scalar = value.asUUID
    } else if type == URL.self {
        scalar = value.asURL
    } else if type == Decimal.self {
        scalar = value.asDecimal
    } else if type == Int128.self {
        scalar = value.asInteger() as Int128?
    } else if type == UInt128.self {
        scalar = value.asInteger() as UInt128?
    } else if type == CodedTree.self {
        scalar = CodedTree(value)
    } else {
        return try T(from: TreeDecoder(value: value, codingPath: codingPath))
    }
    guard let scalar = scalar as? T else { throw mismatch(type, value, codingPath) }
    return scalar
}

extension Decimal {
    /// Reads what `description` writes, including "NaN", which Foundation does not read.
    init?(storedText text: String) {
        if text == "NaN" {
            self = .nan
        } else if let value = Decimal(string: text, locale: nil) {
            self = value
        } else {
            return nil
        }
    }
}

extension StoredValue {
    /// The name of this value's case, for messages.
    var kindName: String {
        switch self {
        case .null: "null"
        case .bool: "a boolean"
        case .integer, .unsigned: "an integer"
        case .float, .double: "a floating-point number"
        case .decimal: "a decimal"
        case .string: "a string"
        case .data: "data"
        case .date: "a date"
        case .uuid: "a UUID"
        case .url: "a URL"
        case .identifier: "an identifier"
        case .identifiers: "a list of identifiers"
        case .array: "an array"
        case .object: "an object"
        }
    }

    var asDouble: Double? {
        switch self {
        case .double(let value): value
        case .float(let value): Double(value)
        case .integer(let value): Double(exactly: value)
        case .unsigned(let value): Double(exactly: value)
        case .string(let text): CodedNumber.number(text)
        default: nil
        }
    }
    var asDate: Date? {
        if case .date(let date) = self { return date }
        return asDouble.map(Date.init(timeIntervalSinceReferenceDate:))
    }
    var asData: Data? {
        switch self {
        case .data(let data): data
        case .string(let text): Data(base64Encoded: text)
        default: nil
        }
    }
    var asUUID: UUID? {
        switch self {
        case .uuid(let uuid): uuid
        case .string(let text): UUID(uuidString: text)
        default: nil
        }
    }
    var asURL: URL? {
        switch self {
        case .url(let url): url
        case .string(let text): URL(string: text)
        // As a URL encodes itself that has a base.
        case .object(let members):
            if case .string(let relative)? = members["relative"], let base = members["base"]?.asURL {
                URL(string: relative, relativeTo: base)
            } else {
                nil
            }
        default: nil
        }
    }
    var asDecimal: Decimal? {
        switch self {
        case .decimal(let value): value
        case .integer(let value): Decimal(value)
        case .unsigned(let value): Decimal(value)
        case .double(let value): Decimal(value)
        case .string(let text): Decimal(storedText: text)
        default: nil
        }
    }

    func asInteger<T: FixedWidthInteger>() -> T? {
        switch self {
        case .integer(let value): T(exactly: value)
        case .unsigned(let value): T(exactly: value)
        case .double(let value): T(exactly: value)
        // As integers are written that no other number holds.
        case .string(let text) where T.bitWidth > 64: T(text)
        default: nil
        }
    }
}

private struct TreeDecoder: Decoder {
    let value: StoredValue
    let codingPath: [any CodingKey]
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        guard case .object(let members) = value else { throw mismatch([String: Any].self, value, codingPath) }
        return KeyedDecodingContainer(Keyed<Key>(members: members, codingPath: codingPath))
    }
    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        guard case .array(let elements) = value else { throw mismatch([Any].self, value, codingPath) }
        return Unkeyed(elements: elements, codingPath: codingPath)
    }
    func singleValueContainer() throws -> any SingleValueDecodingContainer { self }

    fileprivate func integer<T: FixedWidthInteger>(_ type: T.Type) throws -> T {
        guard let result: T = value.asInteger() else { throw mismatch(type, value, codingPath) }
        return result
    }
}

extension TreeDecoder: SingleValueDecodingContainer {
    func decodeNil() -> Bool { value.isNull }
    func decode(_ type: Bool.Type) throws -> Bool {
        guard case .bool(let result) = value else { throw mismatch(type, value, codingPath) }
        return result
    }
    func decode(_ type: String.Type) throws -> String {
        guard case .string(let result) = value else { throw mismatch(type, value, codingPath) }
        return result
    }
    func decode(_ type: Double.Type) throws -> Double {
        guard let result = value.asDouble else { throw mismatch(type, value, codingPath) }
        return result
    }
    func decode(_ type: Float.Type) throws -> Float { Float(try decode(Double.self)) }
    func decode(_ type: Int.Type) throws -> Int { try integer(type) }
    func decode(_ type: Int8.Type) throws -> Int8 { try integer(type) }
    func decode(_ type: Int16.Type) throws -> Int16 { try integer(type) }
    func decode(_ type: Int32.Type) throws -> Int32 { try integer(type) }
    func decode(_ type: Int64.Type) throws -> Int64 { try integer(type) }
    func decode(_ type: UInt.Type) throws -> UInt { try integer(type) }
    func decode(_ type: UInt8.Type) throws -> UInt8 { try integer(type) }
    func decode(_ type: UInt16.Type) throws -> UInt16 { try integer(type) }
    func decode(_ type: UInt32.Type) throws -> UInt32 { try integer(type) }
    func decode(_ type: UInt64.Type) throws -> UInt64 { try integer(type) }
    func decode(_ type: Int128.Type) throws -> Int128 { try integer(type) }
    func decode(_ type: UInt128.Type) throws -> UInt128 { try integer(type) }
    func decode<T: Decodable>(_ type: T.Type) throws -> T { try unbox(value, as: type, codingPath: codingPath) }
}

private struct Keyed<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let members: [String: StoredValue]
    let codingPath: [any CodingKey]
    var allKeys: [Key] { members.keys.compactMap(Key.init(stringValue:)) }

    func contains(_ key: Key) -> Bool { members[key.stringValue] != nil }

    private func member(_ key: Key) throws -> TreeDecoder {
        guard let value = members[key.stringValue] else {
            throw DecodingError.keyNotFound(
                key, .init(codingPath: codingPath, debugDescription: "There is no value for \"\(key.stringValue)\"."))
        }
        return TreeDecoder(value: value, codingPath: codingPath + [key])
    }

    func decodeNil(forKey key: Key) throws -> Bool { try member(key).decodeNil() }
    func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { try member(key).decode(type) }
    func decode(_ type: String.Type, forKey key: Key) throws -> String { try member(key).decode(type) }
    func decode(_ type: Double.Type, forKey key: Key) throws -> Double { try member(key).decode(type) }
    func decode(_ type: Float.Type, forKey key: Key) throws -> Float { try member(key).decode(type) }
    func decode(_ type: Int.Type, forKey key: Key) throws -> Int { try member(key).integer(type) }
    func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 { try member(key).integer(type) }
    func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 { try member(key).integer(type) }
    func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 { try member(key).integer(type) }
    func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 { try member(key).integer(type) }
    func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt { try member(key).integer(type) }
    func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 { try member(key).integer(type) }
    func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 { try member(key).integer(type) }
    func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 { try member(key).integer(type) }
    func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 { try member(key).integer(type) }
    func decode(_ type: Int128.Type, forKey key: Key) throws -> Int128 { try member(key).integer(type) }
    func decode(_ type: UInt128.Type, forKey key: Key) throws -> UInt128 { try member(key).integer(type) }
    func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T { try member(key).decode(type) }
    func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<NestedKey> { try member(key).container(keyedBy: type) }
    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try member(key).unkeyedContainer()
    }
    func superDecoder() throws -> any Decoder {
        TreeDecoder(value: members["super"] ?? .null, codingPath: codingPath)
    }
    func superDecoder(forKey key: Key) throws -> any Decoder { try member(key) }
}

private struct Unkeyed: UnkeyedDecodingContainer {
    let elements: [StoredValue]
    let codingPath: [any CodingKey]
    private(set) var currentIndex = 0
    var count: Int? { elements.count }
    var isAtEnd: Bool { currentIndex >= elements.count }

    init(elements: [StoredValue], codingPath: [any CodingKey]) {
        self.elements = elements
        self.codingPath = codingPath
    }

    private mutating func next<T>(_ type: any Any.Type, _ body: (TreeDecoder) throws -> T) throws -> T {
        guard !isAtEnd else {
            throw DecodingError.valueNotFound(
                type,
                .init(codingPath: codingPath, debugDescription: "The array ends after \(elements.count) elements."))
        }
        let result = try body(TreeDecoder(value: elements[currentIndex], codingPath: codingPath))
        currentIndex += 1
        return result
    }

    mutating func decodeNil() throws -> Bool {
        guard !isAtEnd, elements[currentIndex].isNull else { return false }
        currentIndex += 1
        return true
    }
    mutating func decode(_ type: Bool.Type) throws -> Bool { try next(type) { try $0.decode(type) } }
    mutating func decode(_ type: String.Type) throws -> String { try next(type) { try $0.decode(type) } }
    mutating func decode(_ type: Double.Type) throws -> Double { try next(type) { try $0.decode(type) } }
    mutating func decode(_ type: Float.Type) throws -> Float { try next(type) { try $0.decode(type) } }
    mutating func decode(_ type: Int.Type) throws -> Int { try next(type) { try $0.integer(type) } }
    mutating func decode(_ type: Int8.Type) throws -> Int8 { try next(type) { try $0.integer(type) } }
    mutating func decode(_ type: Int16.Type) throws -> Int16 { try next(type) { try $0.integer(type) } }
    mutating func decode(_ type: Int32.Type) throws -> Int32 { try next(type) { try $0.integer(type) } }
    mutating func decode(_ type: Int64.Type) throws -> Int64 { try next(type) { try $0.integer(type) } }
    mutating func decode(_ type: UInt.Type) throws -> UInt { try next(type) { try $0.integer(type) } }
    mutating func decode(_ type: UInt8.Type) throws -> UInt8 { try next(type) { try $0.integer(type) } }
    mutating func decode(_ type: UInt16.Type) throws -> UInt16 { try next(type) { try $0.integer(type) } }
    mutating func decode(_ type: UInt32.Type) throws -> UInt32 { try next(type) { try $0.integer(type) } }
    mutating func decode(_ type: UInt64.Type) throws -> UInt64 { try next(type) { try $0.integer(type) } }
    mutating func decode(_ type: Int128.Type) throws -> Int128 { try next(type) { try $0.integer(type) } }
    mutating func decode(_ type: UInt128.Type) throws -> UInt128 { try next(type) { try $0.integer(type) } }
    mutating func decode<T: Decodable>(_ type: T.Type) throws -> T { try next(type) { try $0.decode(type) } }
    mutating func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type
    ) throws -> KeyedDecodingContainer<NestedKey> { try next(type) { try $0.container(keyedBy: type) } }
    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        try next([Any].self) { try $0.unkeyedContainer() }
    }
    mutating func superDecoder() throws -> any Decoder { try next((any Decoder).self) { $0 } }
}
