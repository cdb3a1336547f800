import Foundation
import Synchronization

/// The identity of a model: which store, which entity, and which record there.
///
/// A model that has not been saved has a temporary identifier, unique in this process; saving gives it a permanent one.
/// Permanent identifiers can be encoded, sent elsewhere and decoded again, and are then equal to the original.
///
/// Order: permanent identifiers before temporary ones, then by store, then by number for records that a store numbers
/// (which is the order of insertion, across entities), then by key text, then by entity.
public struct PersistentIdentifier: Hashable, Identifiable, Comparable, Codable, Sendable {
    /// The opaque identity of the record.
    public struct ID: Hashable, Sendable {
        let namespace: UInt32
        let key: Key

        /// Consistent with `==`.
        public func hash(into hasher: inout Hasher) {
            // One word for the keys that are met by the million.
            switch key {
            case .temporary(let number): hasher.combine(number ^ UInt64(namespace) << 40 ^ 1 << 63)
            case .sequence(let number): hasher.combine(number ^ UInt64(namespace) << 40)
            case .other(let box):
                hasher.combine(namespace)
                hasher.combine(box)
            }
        }
    }

    enum Key: Hashable, Sendable {
        case temporary(UInt64)
        case sequence(UInt64)
        case other(KeyBox)
    }

    /// Identifies the record among all records of all stores in this process.
    public let id: ID

    /// The name of the model's entity.
    public var entityName: String { NamespaceNames.table.names(of: id.namespace).entityName }

    /// The identifier of the store that holds the record; nil while the identifier is temporary.
    public var storeIdentifier: String? { NamespaceNames.table.names(of: id.namespace).storeIdentifier }

    /// Whether the model has not been saved yet.
    public var isTemporary: Bool {
        if case .temporary = id.key { true } else { false }
    }

    /// Makes a permanent identifier from a store's key for the record.
    ///
    /// Equal arguments give equal identifiers. Non-negative integers of any width that fits 64 bits are kept as numbers
    /// and order as such; other keys order by their text.
    /// - Throws: `DataStoreError.unsupportedFeature` when the key cannot be encoded.
    public static func identifier<T>(
        for storeIdentifier: String, entityName: String, primaryKey: T
    ) throws -> PersistentIdentifier
    where T: Comparable, T: CustomStringConvertible, T: Decodable, T: Encodable, T: Hashable {
        let namespace = NamespaceNames.table.index(storeIdentifier: storeIdentifier, entityName: entityName)
        let value: StoredValue
        do {
            value = try StoredValueEncoder().encode(primaryKey)
        } catch {
            throw DataStoreError.unsupportedFeature
        }
        return PersistentIdentifier(id: ID(namespace: namespace, key: Key(storedKey: value)))
    }

    /// The identifier of the record with this number, for a store that numbers its records.
    public static func numbered(
        _ sequence: UInt64, storeIdentifier: String, entityName: String
    ) -> PersistentIdentifier {
        let namespace = NamespaceNames.table.index(storeIdentifier: storeIdentifier, entityName: entityName)
        return PersistentIdentifier(id: ID(namespace: namespace, key: .sequence(sequence)))
    }

    /// The number that the store gave the record; nil for other keys and for temporary identifiers.
    public var sequenceNumber: UInt64? {
        if case .sequence(let number) = id.key { number } else { nil }
    }

    /// The store's key for the record, as the type from which the identifier was made (or one that encodes alike).
    /// - Throws: `DecodingError` if the key is not of that type, or the identifier is temporary.
    public func primaryKey<Key: Decodable>(as type: Key.Type = Key.self) throws -> Key {
        switch id.key {
        case .temporary:
            throw DecodingError.valueNotFound(
                type, .init(codingPath: [], debugDescription: "A temporary identifier has no primary key: save first."))
        case .sequence(let number):
            let value = Int64(exactly: number).map(StoredValue.integer) ?? .unsigned(number)
            return try StoredValueDecoder().decode(type, from: value)
        case .other(let box):
            return try StoredValueDecoder().decode(type, from: box.value)
        }
    }

    private static let temporaryCounter = Atomic<UInt64>(0)

    package static func temporary(entityName: String) -> PersistentIdentifier {
        temporary(namespace: NamespaceNames.table.index(storeIdentifier: nil, entityName: entityName))
    }

    static func temporary(namespace: UInt32) -> PersistentIdentifier {
        let number = temporaryCounter.add(1, ordering: .relaxed).newValue
        return PersistentIdentifier(id: ID(namespace: namespace, key: .temporary(number)))
    }

    init(id: ID) { self.id = id }

    /// Orders by store, then by the order of insertion; temporary identifiers come last, in the order of their
    /// creation.
    public static func < (lhs: PersistentIdentifier, rhs: PersistentIdentifier) -> Bool {
        switch (lhs.id.key, rhs.id.key) {
        case (.temporary(let a), .temporary(let b)): return a < b
        case (.temporary, _): return false
        case (_, .temporary): return true
        default: break
        }
        if lhs.id.namespace == rhs.id.namespace, case .sequence(let a) = lhs.id.key, case .sequence(let b) = rhs.id.key
        {
            return a < b
        }
        let left = NamespaceNames.table.names(of: lhs.id.namespace)
        let right = NamespaceNames.table.names(of: rhs.id.namespace)
        if left.storeIdentifier != right.storeIdentifier {
            return (left.storeIdentifier ?? "") < (right.storeIdentifier ?? "")
        }
        switch (lhs.id.key, rhs.id.key) {
        case (.sequence(let a), .sequence(let b)) where a != b: return a < b
        case (.sequence, .other): return true
        case (.other, .sequence): return false
        case (.other(let a), .other(let b)) where a.text != b.text: return a.text < b.text
        default: return left.entityName < right.entityName
        }
    }

    private enum CodingKeys: String, CodingKey {
        case storeIdentifier, entityName, primaryKey, isTemporary
    }

    /// Decodes an identifier. The names of its store and entity are kept for the life of the process: for what comes from anywhere, take
    /// its text and `init(string:)`.
    /// - Throws: `DecodingError` for anything that `encode(to:)` did not write. A temporary identifier decodes to
    ///   itself in the process that made it and has no meaning in another.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let store = try container.decodeIfPresent(String.self, forKey: .storeIdentifier)
        let entity = try container.decode(String.self, forKey: .entityName)
        let namespace = NamespaceNames.table.index(storeIdentifier: store, entityName: entity)
        if try container.decodeIfPresent(Bool.self, forKey: .isTemporary) ?? false {
            id = ID(namespace: namespace, key: .temporary(try container.decode(UInt64.self, forKey: .primaryKey)))
        } else {
            id = ID(
                namespace: namespace,
                key: Key(storedKey: try container.decode(CodedForm.self, forKey: .primaryKey).value))
        }
    }

    /// Encodes store, entity and key.
    /// - Throws: `EncodingError` for a temporary identifier, which has no key.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encodeIfPresent(storeIdentifier, forKey: .storeIdentifier)
        try container.encode(entityName, forKey: .entityName)
        try container.encode(isTemporary, forKey: .isTemporary)
        switch id.key {
        case .temporary(let number), .sequence(let number): try container.encode(number, forKey: .primaryKey)
        case .other(let box): try container.encode(CodedForm(value: box.value), forKey: .primaryKey)
        }
    }
}

extension PersistentIdentifier: CustomStringConvertible {
    /// Entity and key, as in `Trip/17`.
    public var description: String {
        switch id.key {
        case .temporary(let number): "\(entityName)/new-\(number)"
        case .sequence(let number): "\(entityName)/\(number)"
        case .other(let box): "\(entityName)/\(box.text)"
        }
    }
}

extension PersistentIdentifier.Key {
    init(storedKey value: StoredValue) {
        switch value {
        case .integer(let number) where number >= 0: self = .sequence(UInt64(number))
        case .unsigned(let number): self = .sequence(number)
        default: self = .other(KeyBox(value))
        }
    }
}

/// A primary key that is not a number, kept out of line so that identifiers stay small.
final class KeyBox: Hashable, Sendable {
    let value: StoredValue
    let text: String

    init(_ value: StoredValue) {
        self.value = value
        if case .string(let string) = value { text = string } else { text = CodedForm(value: value).description }
    }

    static func == (lhs: KeyBox, rhs: KeyBox) -> Bool { lhs === rhs || lhs.value == rhs.value }
    func hash(into hasher: inout Hasher) { hasher.combine(value) }
}

/// The pair of names that many identifiers share, interned for the life of the process: an identifier carries a number.
final class NamespaceNames: Sendable {
    struct Names: Hashable, Sendable {
        var storeIdentifier: String?
        var entityName: String
    }
    private struct State {
        var names: [Names] = []
        var indices: [Names: UInt32] = [:]
    }

    static let table = NamespaceNames()
    private let state = Mutex(State())

    func index(storeIdentifier: String?, entityName: String) -> UInt32 {
        let names = Names(storeIdentifier: storeIdentifier, entityName: entityName)
        return state.withLock { state in
            if let index = state.indices[names] { return index }
            let index = UInt32(state.names.count)
            state.names.append(names)
            state.indices[names] = index
            return index
        }
    }

    /// The number of names that were met before; nil for others, which are not kept.
    func known(storeIdentifier: String, entityName: String) -> UInt32? {
        state.withLock { $0.indices[Names(storeIdentifier: storeIdentifier, entityName: entityName)] }
    }

    /// The names for a number; empty for a number that was never assigned.
    func names(of index: UInt32) -> Names {
        state.withLock { state in
            Int(index) < state.names.count ? state.names[Int(index)] : Names(storeIdentifier: nil, entityName: "")
        }
    }
}
