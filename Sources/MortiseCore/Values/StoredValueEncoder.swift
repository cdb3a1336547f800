import Foundation

/// Encodes any `Encodable` value as a `coded` stored value: a tree of nulls, Booleans, numbers, strings, arrays and
/// objects that is the same on every store.
///
/// Inside the tree dates are doubles (seconds since 2001-01-01 00:00:00 UTC), `Data` is base64 text, `UUID`, `URL` and
/// `Decimal` are text, and a URL with a base is an object of `relative`, its text, and `base`. Infinities are the strings
/// `inf` and `-inf`, NaN is `nan`, and one with another sign or payload `nan:` with its bits in hexadecimal digits.
/// `StoredValueDecoder` restores all of it to the last bit.
public struct StoredValueEncoder: Sendable {
    /// Makes an encoder. It has no options and can be used repeatedly.
    public init() {}

    /// Encodes a value.
    /// - Throws: whatever the value's `encode(to:)` throws.
    public func encode<T: Encodable>(_ value: T) throws -> StoredValue {
        try box(value, codingPath: [])
    }
}

private func box<T: Encodable>(_ value: T, codingPath: [any CodingKey]) throws -> StoredValue {
    switch value {
    case let value as Date: return StoredValue(coded: value.timeIntervalSinceReferenceDate)
    case let value as Data: return .string(value.base64EncodedString())
    case let value as UUID: return .string(value.uuidString)
    case let value as URL where value.baseURL == nil: return .string(value.absoluteString)
    case let value as Decimal: return .string(value.description)
    case let value as Int128: return StoredValue(coded: value)
    case let value as UInt128: return StoredValue(coded: value)
    case let value as CodedTree: return value.value
    default:
        let encoder = TreeEncoder(codingPath: codingPath)
        try value.encode(to: encoder)
        return encoder.root?.value ?? .object([:])
    }
}

extension StoredValue {
    fileprivate init(coded number: Double) {
        self = number.isFinite ? .double(number) : .string(CodedNumber.text(of: number))
    }

    fileprivate init(coded number: some FixedWidthInteger) {
        if let small = Int64(exactly: number) {
            self = .integer(small)
        } else if let unsigned = UInt64(exactly: number) {
            self = .unsigned(unsigned)
        } else {
            self = .string(String(number))
        }
    }
}

/// Numbers that are not finite as text inside coded values.
enum CodedNumber {
    private static let bits = "nan:"

    static func text(of number: Double) -> String {
        if !number.isNaN { return number < 0 ? "-inf" : "inf" }
        return number.bitPattern == Double.nan.bitPattern ? "nan" : bits + String(number.bitPattern, radix: 16)
    }

    static func number(_ text: String) -> Double? {
        switch text {
        case "nan": return .nan
        case "inf": return .infinity
        case "-inf": return -.infinity
        default:
            guard text.hasPrefix(bits), let pattern = UInt64(text.dropFirst(bits.count), radix: 16) else { return nil }
            let number = Double(bitPattern: pattern)
            return number.isNaN ? number : nil
        }
    }
}

/// A tree under construction; containers share nodes, so that nested containers fill in after they are handed out.
private final class Node {
    enum Content {
        case leaf(StoredValue)
        case array([Node])
        case object([String: Node])
    }
    var content: Content
    init(_ content: Content) { self.content = content }

    var value: StoredValue {
        switch content {
        case .leaf(let value): value
        case .array(let nodes): .array(nodes.map(\.value))
        case .object(let nodes): .object(nodes.mapValues(\.value))
        }
    }
}

private final class TreeEncoder: Encoder {
    let codingPath: [any CodingKey]
    var userInfo: [CodingUserInfoKey: Any] { [:] }
    var root: Node?

    init(codingPath: [any CodingKey]) { self.codingPath = codingPath }

    private func open(_ content: Node.Content) -> Node {
        if let root { return root }
        let node = Node(content)
        root = node
        return node
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        KeyedEncodingContainer(Keyed<Key>(node: open(.object([:])), codingPath: codingPath))
    }
    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        Unkeyed(node: open(.array([])), codingPath: codingPath)
    }
    func singleValueContainer() -> any SingleValueEncodingContainer {
        Single(encoder: self, codingPath: codingPath)
    }
}

private struct Keyed<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let node: Node
    let codingPath: [any CodingKey]

    private func set(_ child: Node, _ key: Key) {
        guard case .object(var members) = node.content else { return }
        node.content = .leaf(.null)
        members[key.stringValue] = child
        node.content = .object(members)
    }
    private func set(_ value: StoredValue, _ key: Key) { set(Node(.leaf(value)), key) }

    mutating func encodeNil(forKey key: Key) { set(.null, key) }
    mutating func encode(_ value: Bool, forKey key: Key) { set(.bool(value), key) }
    mutating func encode(_ value: String, forKey key: Key) { set(.string(value), key) }
    mutating func encode(_ value: Double, forKey key: Key) { set(StoredValue(coded: value), key) }
    mutating func encode(_ value: Float, forKey key: Key) { set(StoredValue(coded: Double(value)), key) }
    mutating func encode(_ value: Int, forKey key: Key) { set(StoredValue(coded: value), key) }
    mutating func encode(_ value: Int8, forKey key: Key) { set(StoredValue(coded: value), key) }
    mutating func encode(_ value: Int16, forKey key: Key) { set(StoredValue(coded: value), key) }
    mutating func encode(_ value: Int32, forKey key: Key) { set(StoredValue(coded: value), key) }
    mutating func encode(_ value: Int64, forKey key: Key) { set(StoredValue(coded: value), key) }
    mutating func encode(_ value: UInt, forKey key: Key) { set(StoredValue(coded: value), key) }
    mutating func encode(_ value: UInt8, forKey key: Key) { set(StoredValue(coded: value), key) }
    mutating func encode(_ value: UInt16, forKey key: Key) { set(StoredValue(coded: value), key) }
    mutating func encode(_ value: UInt32, forKey key: Key) { set(StoredValue(coded: value), key) }
    mutating func encode(_ value: UInt64, forKey key: Key) { set(StoredValue(coded: value), key) }
    mutating func encode(_ value: Int128, forKey key: Key) { set(StoredValue(coded: value), key) }
    mutating func encode(_ value: UInt128, forKey key: Key) { set(StoredValue(coded: value), key) }
    mutating func encode<T: Encodable>(_ value: T, forKey key: Key) throws {
        set(try box(value, codingPath: codingPath + [key]), key)
    }
    mutating func nestedContainer<NestedKey: CodingKey>(
        keyedBy keyType: NestedKey.Type, forKey key: Key
    ) -> KeyedEncodingContainer<NestedKey> {
        let child = Node(.object([:]))
        set(child, key)
        return KeyedEncodingContainer(Keyed<NestedKey>(node: child, codingPath: codingPath + [key]))
    }
    mutating func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        let child = Node(.array([]))
        set(child, key)
        return Unkeyed(node: child, codingPath: codingPath + [key])
    }
    mutating func superEncoder() -> any Encoder { makeSuper("super") }
    mutating func superEncoder(forKey key: Key) -> any Encoder { makeSuper(key.stringValue) }

    private func makeSuper(_ name: String) -> any Encoder {
        let child = Node(.object([:]))
        if case .object(var members) = node.content {
            members[name] = child
            node.content = .object(members)
        }
        let encoder = TreeEncoder(codingPath: codingPath)
        encoder.root = child
        return encoder
    }
}

private struct Unkeyed: UnkeyedEncodingContainer {
    let node: Node
    let codingPath: [any CodingKey]
    var count: Int {
        if case .array(let nodes) = node.content { nodes.count } else { 0 }
    }

    private func append(_ child: Node) {
        guard case .array(var nodes) = node.content else { return }
        node.content = .leaf(.null)
        nodes.append(child)
        node.content = .array(nodes)
    }
    private func append(_ value: StoredValue) { append(Node(.leaf(value))) }

    mutating func encodeNil() { append(.null) }
    mutating func encode(_ value: Bool) { append(.bool(value)) }
    mutating func encode(_ value: String) { append(.string(value)) }
    mutating func encode(_ value: Double) { append(StoredValue(coded: value)) }
    mutating func encode(_ value: Float) { append(StoredValue(coded: Double(value))) }
    mutating func encode(_ value: Int) { append(StoredValue(coded: value)) }
    mutating func encode(_ value: Int8) { append(StoredValue(coded: value)) }
    mutating func encode(_ value: Int16) { append(StoredValue(coded: value)) }
    mutating func encode(_ value: Int32) { append(StoredValue(coded: value)) }
    mutating func encode(_ value: Int64) { append(StoredValue(coded: value)) }
    mutating func encode(_ value: UInt) { append(StoredValue(coded: value)) }
    mutating func encode(_ value: UInt8) { append(StoredValue(coded: value)) }
    mutating func encode(_ value: UInt16) { append(StoredValue(coded: value)) }
    mutating func encode(_ value: UInt32) { append(StoredValue(coded: value)) }
    mutating func encode(_ value: UInt64) { append(StoredValue(coded: value)) }
    mutating func encode(_ value: Int128) { append(StoredValue(coded: value)) }
    mutating func encode(_ value: UInt128) { append(StoredValue(coded: value)) }
    mutating func encode<T: Encodable>(_ value: T) throws { append(try box(value, codingPath: codingPath)) }
    mutating func nestedContainer<NestedKey: CodingKey>(
        keyedBy keyType: NestedKey.Type
    ) -> KeyedEncodingContainer<NestedKey> {
        let child = Node(.object([:]))
        append(child)
        return KeyedEncodingContainer(Keyed<NestedKey>(node: child, codingPath: codingPath))
    }
    mutating func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
        let child = Node(.array([]))
        append(child)
        return Unkeyed(node: child, codingPath: codingPath)
    }
    mutating func superEncoder() -> any Encoder {
        let child = Node(.object([:]))
        append(child)
        let encoder = TreeEncoder(codingPath: codingPath)
        encoder.root = child
        return encoder
    }
}

private struct Single: SingleValueEncodingContainer {
    let encoder: TreeEncoder
    let codingPath: [any CodingKey]

    private func set(_ value: StoredValue) {
        if let root = encoder.root { root.content = .leaf(value) } else { encoder.root = Node(.leaf(value)) }
    }

    mutating func encodeNil() { set(.null) }
    mutating func encode(_ value: Bool) { set(.bool(value)) }
    mutating func encode(_ value: String) { set(.string(value)) }
    mutating func encode(_ value: Double) { set(StoredValue(coded: value)) }
    mutating func encode(_ value: Float) { set(StoredValue(coded: Double(value))) }
    mutating func encode(_ value: Int) { set(StoredValue(coded: value)) }
    mutating func encode(_ value: Int8) { set(StoredValue(coded: value)) }
    mutating func encode(_ value: Int16) { set(StoredValue(coded: value)) }
    mutating func encode(_ value: Int32) { set(StoredValue(coded: value)) }
    mutating func encode(_ value: Int64) { set(StoredValue(coded: value)) }
    mutating func encode(_ value: UInt) { set(StoredValue(coded: value)) }
    mutating func encode(_ value: UInt8) { set(StoredValue(coded: value)) }
    mutating func encode(_ value: UInt16) { set(StoredValue(coded: value)) }
    mutating func encode(_ value: UInt32) { set(StoredValue(coded: value)) }
    mutating func encode(_ value: UInt64) { set(StoredValue(coded: value)) }
    mutating func encode(_ value: Int128) { set(StoredValue(coded: value)) }
    mutating func encode(_ value: UInt128) { set(StoredValue(coded: value)) }
    mutating func encode<T: Encodable>(_ value: T) throws { set(try box(value, codingPath: codingPath)) }
}
