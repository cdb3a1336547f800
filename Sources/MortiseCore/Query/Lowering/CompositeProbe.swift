import Foundation

/// Makes up values of composite types by decoding them from values of every kind.
enum CompositeProbe {
    /// What the values of one sample are like.
    enum Round: Equatable {
        /// Different values for each member, so that swapped members are noticed: members of types with few values
        /// differ in at least one of these rounds, as the digits of their numbers do.
        case different(Int)
        /// Values that transformations are most likely to change: empty ones, and the ends of the ranges.
        case nothing, least, greatest
        /// Optional members missing: as null, or absent, which types may read as a default.
        case null, absent

        static let all: [Round] = (0..<6).map { .different($0) } + [.nothing, .least, .greatest, .null, .absent]
    }

    struct Sample<T> {
        let value: T
        /// The members in which the coded form that was read and the one that is written are the same.
        let members: [String: StoredValue]
    }

    /// Nil for a type that does not accept constructed values.
    static func sample<T: Codable>(of type: T.Type, _ round: Round) -> Sample<T>? {
        let probe = ProbeDecoder(round, depth: 0)
        guard let value = try? T(from: probe), case .object(let written)? = coded(value) else { return nil }
        return Sample(
            value: value,
            members: probe.handed.members.filter { name, read in (written[name] ?? .null).isIdentical(to: read) })
    }

    /// A value's coded form, null for nil; nil if it has none.
    static func coded(_ value: Any) -> StoredValue? {
        if let optional = value as? any OptionalValue {
            guard let unwrapped = optional.unwrapped else { return .null }
            return coded(unwrapped)
        }
        return (value as? any Encodable).flatMap { try? StoredValueEncoder().encode($0) }
    }
}

/// A decoder that has a value for every key, and remembers which it has handed out.
private final class ProbeDecoder: Decoder {
    struct Stop: Error {}
    final class Handed {
        var members: [String: StoredValue] = [:]
        private var numbers: [String: Int] = [:]

        /// The number of a member, in order of first request.
        func number(of name: String) -> Int {
            let number = numbers[name] ?? numbers.count
            numbers[name] = number
            return number
        }
    }
    let round: CompositeProbe.Round
    /// How many composites this is inside of; a type may hold itself.
    let depth: Int
    let handed = Handed()
    /// What tells the only value of a container without keys from others.
    private let number: Int
    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    init(_ round: CompositeProbe.Round, depth: Int, number: Int = 0) {
        self.round = round
        self.depth = depth
        self.number = number
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        KeyedDecodingContainer(Keyed<Key>(probe: self))
    }
    func unkeyedContainer() throws -> any UnkeyedDecodingContainer { throw Stop() }
    func singleValueContainer() throws -> any SingleValueDecodingContainer { Single(probe: self, number: number) }

    var hasNulls: Bool { round == .null || round == .absent }

    /// Constructs a value of any type.
    func make<T: Decodable>(_ type: T.Type, _ number: Int) throws -> T {
        if let scalar = type as? any PersistentScalar.Type {
            guard let value = scalar.init(storedValue: ProbeValues.scalar(scalar.storageKind, number, round)) as? T
            else { throw Stop() }
            return value
        }
        guard depth < 4 else { throw Stop() }
        if let optional = type as? any OptionalValue.Type {
            if hasNulls || round == .nothing, let none = optional.none as? T { return none }
            guard let wrapped = optional.wrappedType as? any Decodable.Type,
                let value = try make(wrapped, number) as? T
            else { throw Stop() }
            return value
        }
        if let collection = type as? any ProbedCollection.Type {
            guard let value = try makeCollection(collection, number) as? T else { throw Stop() }
            return value
        }
        if let cases = type as? any CaseIterable.Type {
            guard let value = ProbeValues.one(of: cases, number, round) as? T else { throw Stop() }
            return value
        }
        if let value = try? T(from: ProbeDecoder(round, depth: depth + 1, number: number)) { return value }
        // The cases of an enum need not be known: the first one is all zeroes, and the only one here, so that two members
        // of the type are not told apart and left to code.
        guard type is any RawRepresentable.Type, MemoryLayout<T>.size == 1, _isPOD(type) else { throw Stop() }
        return withUnsafeBytes(of: UInt8(0)) { $0.load(as: type) }
    }

    private func makeCollection<C: ProbedCollection>(_ type: C.Type, _ number: Int) throws -> C {
        if round == .nothing || hasNulls { return C(probed: []) }
        return C(probed: [try make(C.Probed.self, number)])
    }

    private struct Keyed<Key: CodingKey>: KeyedDecodingContainerProtocol {
        let probe: ProbeDecoder
        var codingPath: [any CodingKey] { [] }
        var allKeys: [Key] { [] }

        func contains(_ key: Key) -> Bool {
            _ = probe.handed.number(of: key.stringValue)
            if probe.round == .absent { probe.handed.members[key.stringValue] = .null }
            return probe.round != .absent
        }
        func decodeNil(forKey key: Key) throws -> Bool {
            if probe.hasNulls { probe.handed.members[key.stringValue] = .null }
            return probe.hasNulls
        }
        private func hand<T: Decodable>(_ type: T.Type, _ key: Key) throws -> T {
            let value = try probe.make(type, probe.handed.number(of: key.stringValue))
            probe.handed.members[key.stringValue] = CompositeProbe.coded(value)
            return value
        }
        func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { try hand(type, key) }
        func decode(_ type: String.Type, forKey key: Key) throws -> String { try hand(type, key) }
        func decode(_ type: Double.Type, forKey key: Key) throws -> Double { try hand(type, key) }
        func decode(_ type: Float.Type, forKey key: Key) throws -> Float { try hand(type, key) }
        func decode(_ type: Int.Type, forKey key: Key) throws -> Int { try hand(type, key) }
        func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 { try hand(type, key) }
        func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 { try hand(type, key) }
        func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 { try hand(type, key) }
        func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 { try hand(type, key) }
        func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt { try hand(type, key) }
        func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 { try hand(type, key) }
        func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 { try hand(type, key) }
        func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 { try hand(type, key) }
        func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 { try hand(type, key) }
        func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T { try hand(type, key) }
        func nestedContainer<NestedKey: CodingKey>(
            keyedBy type: NestedKey.Type, forKey key: Key
        ) throws -> KeyedDecodingContainer<NestedKey> { throw Stop() }
        func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer { throw Stop() }
        func superDecoder() throws -> any Decoder { throw Stop() }
        func superDecoder(forKey key: Key) throws -> any Decoder { throw Stop() }
    }

    private struct Single: SingleValueDecodingContainer {
        let probe: ProbeDecoder
        let number: Int
        var codingPath: [any CodingKey] { [] }

        func decodeNil() -> Bool { probe.hasNulls }
        func decode(_ type: Bool.Type) throws -> Bool { try probe.make(type, number) }
        func decode(_ type: String.Type) throws -> String { try probe.make(type, number) }
        func decode(_ type: Double.Type) throws -> Double { try probe.make(type, number) }
        func decode(_ type: Float.Type) throws -> Float { try probe.make(type, number) }
        func decode(_ type: Int.Type) throws -> Int { try probe.make(type, number) }
        func decode(_ type: Int8.Type) throws -> Int8 { try probe.make(type, number) }
        func decode(_ type: Int16.Type) throws -> Int16 { try probe.make(type, number) }
        func decode(_ type: Int32.Type) throws -> Int32 { try probe.make(type, number) }
        func decode(_ type: Int64.Type) throws -> Int64 { try probe.make(type, number) }
        func decode(_ type: UInt.Type) throws -> UInt { try probe.make(type, number) }
        func decode(_ type: UInt8.Type) throws -> UInt8 { try probe.make(type, number) }
        func decode(_ type: UInt16.Type) throws -> UInt16 { try probe.make(type, number) }
        func decode(_ type: UInt32.Type) throws -> UInt32 { try probe.make(type, number) }
        func decode(_ type: UInt64.Type) throws -> UInt64 { try probe.make(type, number) }
        func decode<T: Decodable>(_ type: T.Type) throws -> T { try probe.make(type, number) }
    }
}

/// A collection that is made up of its elements.
private protocol ProbedCollection {
    associatedtype Probed: Decodable
    init(probed elements: [Probed])
}
extension Array: ProbedCollection where Element: Decodable {
    init(probed elements: [Element]) { self = elements }
}
extension Set: ProbedCollection where Element: Decodable {
    init(probed elements: [Element]) { self = Set(elements) }
}
extension Dictionary: ProbedCollection where Key == String, Value: Decodable {
    init(probed elements: [Value]) {
        self = Dictionary(uniqueKeysWithValues: elements.enumerated().map { ("\($0.offset)", $0.element) })
    }
}

private enum ProbeValues {
    static func scalar(_ kind: StorageKind, _ number: Int, _ round: CompositeProbe.Round) -> StoredValue {
        let turn = if case .different(let turn) = round { turn } else { 0 }
        switch kind {
        case .bool:
            return .bool(round == .greatest || (round != .nothing && round != .least && (number >> turn) & 1 == 1))
        case .string, .coded:
            switch round {
            case .nothing: return .string("")
            case .least: return .string(" \u{65}\u{301}\n")
            case .greatest: return .string(String(repeating: "Ｗß", count: 200))
            default: return .string(" Part \(number).\(turn) É ")
            }
        case .float: return .float(Float(real(number, turn, round, greatest: 3e38)))
        case .double: return .double(real(number, turn, round, greatest: 1.5e308))
        case .date: return .date(Date(timeIntervalSinceReferenceDate: real(number, turn, round, greatest: 6e10)))
        case .decimal:
            switch round {
            case .least: return .decimal(Decimal(-123_456_789_012_345) / 1_000)
            case .greatest: return .decimal(Decimal(987_654_321_098_765) / 1_000)
            default: return .decimal(round == .nothing ? 0 : Decimal(number * 100 + turn) / 10)
            }
        case .uuid:
            let last = UInt8(round == .greatest ? 255 : round == .nothing ? 0 : turn + 1)
            let rest = UInt8(truncatingIfNeeded: number)
            return .uuid(UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, rest, last)))
        case .url:
            let text = round == .nothing ? "a" : "HTTPS://example.org/Part/../\(number)?turn=\(turn)#\(round)"
            return URL(string: text.replacing(" ", with: "")).map { .url($0) } ?? .null
        case .data:
            return .data(round == .nothing ? Data() : Data([0, UInt8(truncatingIfNeeded: number), UInt8(turn)]))
        case .uint64:
            return .unsigned(
                round == .greatest ? .max : round == .nothing || round == .least ? 0 : UInt64(small(number, turn)))
        default:
            let range = kind.integerRange ?? 0...0
            switch round {
            case .nothing: return .integer(0)
            case .least: return .integer(range.lowerBound)
            case .greatest: return .integer(range.upperBound)
            default: return .integer(small(number, turn))
            }
        }
    }

    private static func small(_ number: Int, _ turn: Int) -> Int64 { Int64((number + turn * 11) % 120 + 1) }

    private static func real(
        _ number: Int, _ turn: Int, _ round: CompositeProbe.Round, greatest: Double
    ) -> Double {
        switch round {
        case .nothing: 0
        case .least: -greatest
        case .greatest: greatest
        default: Double(number) * 8 + Double(turn) + 0.375
        }
    }

    /// One of a type's cases; nil for a type without cases.
    static func one<C: CaseIterable>(of type: C.Type, _ number: Int, _ round: CompositeProbe.Round) -> C? {
        let cases = Array(C.allCases)
        guard let first = cases.first else { return nil }
        guard case .different(let turn) = round else { return round == .greatest ? cases.last : first }
        return cases[(number >> turn) % cases.count]
    }
}
