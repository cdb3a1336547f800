import Foundation
import MortiseCore

/// The bytes of a coded value in a column: a tag for each node, numbers little-endian, members of objects in the order of
/// their names' code units.
///
///   0 null · 1 false · 2 true · 3 integer (8 bytes) · 4 unsigned (8) · 5 double (8) · 6 string (length in 4, UTF-8)
///   7 array (count in 4, elements) · 8 object (count in 4; each a name as a string without tag, then the value)
enum CodedBytes {
    static func encode(_ value: StoredValue) -> [UInt8] {
        var bytes: [UInt8] = []
        append(value, to: &bytes)
        return bytes
    }

    /// Whether a value nests deeper than is read, so that it must not be written.
    static func isTooDeep(_ value: StoredValue, depth: Int = 0) -> Bool {
        if depth >= deepest { return true }
        switch value {
        case .array(let elements): return elements.contains { isTooDeep($0, depth: depth + 1) }
        case .object(let members): return members.values.contains { isTooDeep($0, depth: depth + 1) }
        default: return false
        }
    }

    private static func append(_ value: StoredValue, to bytes: inout [UInt8]) {
        switch value {
        case .bool(let value): bytes.append(value ? 2 : 1)
        case .integer(let value): append(3, UInt64(bitPattern: value), to: &bytes)
        case .unsigned(let value): append(4, value, to: &bytes)
        case .double(let value): append(5, value.bitPattern, to: &bytes)
        case .string(let value):
            bytes.append(6)
            append(value, to: &bytes)
        case .array(let elements):
            bytes.append(7)
            append(elements.count, to: &bytes)
            for element in elements { append(element, to: &bytes) }
        case .object(let members):
            bytes.append(8)
            append(members.count, to: &bytes)
            for (name, member) in members.sorted(by: { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }) {
                append(name, to: &bytes)
                append(member, to: &bytes)
            }
        default: bytes.append(0)
        }
    }

    private static func append(_ tag: UInt8, _ number: UInt64, to bytes: inout [UInt8]) {
        bytes.append(tag)
        withUnsafeBytes(of: number.littleEndian) { bytes.append(contentsOf: $0) }
    }
    private static func append(_ count: Int, to bytes: inout [UInt8]) {
        withUnsafeBytes(of: UInt32(clamping: count).littleEndian) { bytes.append(contentsOf: $0) }
    }
    private static func append(_ string: String, to bytes: inout [UInt8]) {
        append(string.utf8.count, to: &bytes)
        bytes.append(contentsOf: string.utf8)
    }

    /// How deep values are written and read, since each level takes some of the stack: twice as deep as files have them.
    static let deepest = 1_024

    /// The value; null for bytes that `encode` did not write.
    static func decode(_ bytes: UnsafeRawBufferPointer) -> StoredValue {
        var reader = Reader(bytes: bytes)
        return reader.value() ?? .null
    }

    private struct Reader {
        let bytes: UnsafeRawBufferPointer
        var position = 0

        mutating func value(depth: Int = 0) -> StoredValue? {
            guard position < bytes.count, depth < CodedBytes.deepest else { return nil }
            let tag = bytes[position]
            position += 1
            switch tag {
            case 0: return .null
            case 1, 2: return .bool(tag == 2)
            case 3: return number().map { .integer(Int64(bitPattern: $0)) }
            case 4: return number().map { .unsigned($0) }
            case 5: return number().map { .double(Double(bitPattern: $0)) }
            case 6: return string().map { .string($0) }
            case 7:
                guard let count = length() else { return nil }
                var elements: [StoredValue] = []
                elements.reserveCapacity(min(count, depth == 0 ? bytes.count - position : 64))
                for _ in 0..<count {
                    guard let element = value(depth: depth + 1) else { return nil }
                    elements.append(element)
                }
                return .array(elements)
            case 8:
                guard let count = length() else { return nil }
                var members: [String: StoredValue] = [:]
                for _ in 0..<count {
                    guard let name = string(), let member = value(depth: depth + 1) else { return nil }
                    members[name] = member
                }
                return .object(members)
            default: return nil
            }
        }

        private mutating func number() -> UInt64? {
            guard position + 8 <= bytes.count else { return nil }
            defer { position += 8 }
            return UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: position, as: UInt64.self))
        }
        private mutating func length() -> Int? {
            guard position + 4 <= bytes.count else { return nil }
            defer { position += 4 }
            return Int(UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: position, as: UInt32.self)))
        }
        private mutating func string() -> String? {
            guard let count = length(), position + count <= bytes.count else { return nil }
            defer { position += count }
            return String(
                decoding: UnsafeRawBufferPointer(rebasing: bytes[position..<(position + count)]), as: UTF8.self)
        }
    }
}
