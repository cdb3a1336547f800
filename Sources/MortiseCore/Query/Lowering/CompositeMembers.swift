import Foundation

/// The names under which the members of a composite value are stored.
enum CompositeMembers {
    /// The coded member that a key path into a composite leads to; nil where that is not certain: the key path is not one
    /// stored property, or the type codes itself under other names.
    static func name(of keyPath: AnyKeyPath, in type: any Any.Type) -> String? {
        guard let decodable = type as? any Decodable.Type else { return nil }
        let text = String(reflecting: keyPath)
        guard let dot = text.lastIndex(of: ".") else { return nil }
        let name = String(text[text.index(after: dot)...])
        guard !name.isEmpty, name.allSatisfy({ $0.isLetter || $0.isNumber || $0 == "_" }) else { return nil }
        return keys(of: decodable).contains(name) ? name : nil
    }

    /// The keys that a type asks for when it is decoded, as far as it can be decoded from placeholders.
    private static func keys<T: Decodable>(of type: T.Type) -> Set<String> {
        let probe = KeyProbe()
        _ = try? T(from: probe)
        return probe.log.keys
    }
}

/// A decoder that has every key and remembers which were asked for.
private final class KeyProbe: Decoder {
    final class Log {
        var keys: Set<String> = []
    }
    let log = Log()
    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    private struct Stop: Error {}

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        KeyedDecodingContainer(Keyed<Key>(log: log))
    }
    func unkeyedContainer() throws -> any UnkeyedDecodingContainer { throw Stop() }
    func singleValueContainer() throws -> any SingleValueDecodingContainer { throw Stop() }

    private struct Keyed<Key: CodingKey>: KeyedDecodingContainerProtocol {
        let log: Log
        var codingPath: [any CodingKey] { [] }
        var allKeys: [Key] { [] }

        private func note<T>(_ key: Key, _ value: T) -> T {
            log.keys.insert(key.stringValue)
            return value
        }
        func contains(_ key: Key) -> Bool { note(key, false) }
        func decodeNil(forKey key: Key) throws -> Bool { note(key, true) }
        func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { note(key, false) }
        func decode(_ type: String.Type, forKey key: Key) throws -> String { note(key, "") }
        func decode(_ type: Double.Type, forKey key: Key) throws -> Double { note(key, 0) }
        func decode(_ type: Float.Type, forKey key: Key) throws -> Float { note(key, 0) }
        func decode(_ type: Int.Type, forKey key: Key) throws -> Int { note(key, 0) }
        func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 { note(key, 0) }
        func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 { note(key, 0) }
        func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 { note(key, 0) }
        func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 { note(key, 0) }
        func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt { note(key, 0) }
        func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 { note(key, 0) }
        func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 { note(key, 0) }
        func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 { note(key, 0) }
        func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 { note(key, 0) }
        func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
            log.keys.insert(key.stringValue)
            for value in [StoredValue.integer(0), .string(""), .array([]), .object([:]), .bool(false)] {
                if let decoded = try? StoredValueDecoder().decode(type, from: value) { return decoded }
            }
            throw Stop()
        }
        func nestedContainer<NestedKey: CodingKey>(
            keyedBy type: NestedKey.Type, forKey key: Key
        ) throws -> KeyedDecodingContainer<NestedKey> { throw Stop() }
        func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer { throw Stop() }
        func superDecoder() throws -> any Decoder { throw Stop() }
        func superDecoder(forKey key: Key) throws -> any Decoder { throw Stop() }
    }
}
