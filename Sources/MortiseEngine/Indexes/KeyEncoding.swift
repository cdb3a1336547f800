import Foundation
import MortiseCore

// How values become index keys. Keys of one index compare, byte for byte, as `ValueSemantics.sortOrder` compares the
// values: null first, then NaN, then the rest. Values that a query holds to be equal have the same key.
//
//   optional      00 for null, otherwise 01 and the value
//   bool          one byte, 0 or 1
//   integers      eight bytes, most significant first, the sign bit turned round; unsigned as they are
//   float, double eight bytes: as a double, all bits turned round below zero, the sign bit alone above; -0.0 as 0.0; NaN
//                 is 0, which is below minus infinity
//   date          as its interval since the reference date
//   decimal       00 for NaN; 01, the magnitude turned round, and FF below zero; 02 for zero; 03 and the magnitude. The
//                 magnitude is the power of ten of the first digit plus 512 in two bytes and the digits, two in a byte,
//                 each pair plus one
//   uuid          its sixteen bytes
//   string, url   UTF-8 of the canonically composed text, escaped
//   data          its bytes, escaped
//   coded         the bytes that the column has, escaped
//   to-one        the target's number in eight bytes, most significant first, then the entity's in two where it may vary
//
// Escaped: 00 is written 01 01, 01 is written 01 02, and a 00 ends it. No key is then the beginning of another's.

extension KeyBuffer {
    @inline(__always)
    func append(signed number: Int64) { append(bigEndian: UInt64(bitPattern: number) ^ (1 << 63)) }

    @inline(__always)
    func append(double number: Double) {
        append(bigEndian: Self.ordered(number))
    }

    /// The word that a number is in a key.
    @inline(__always)
    static func ordered(_ number: Double) -> UInt64 {
        if number.isNaN { return 0 }
        let bits = number == 0 ? 0 : number.bitPattern
        return bits >> 63 == 0 ? bits | (1 << 63) : ~bits
    }

    /// Whether a string's UTF-8 is already its key, apart from the terminator, which a key alone does not need: ASCII
    /// without characters that have to be escaped.
    static func isItsOwnKey(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var index = 0
        while index + 8 <= bytes.count {
            let word = bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self)
            let belowTwo = (word &- 0x0202_0202_0202_0202) & ~word
            if (word | belowTwo) & 0x8080_8080_8080_8080 != 0 { return false }
            index += 8
        }
        while index < bytes.count {
            if bytes[index] < 2 || bytes[index] >= 0x80 { return false }
            index += 1
        }
        return true
    }

    /// Bytes that sort before those that they begin, and after which another component can follow.
    func append(escaping bytes: UnsafeRawBufferPointer) {
        appendBytes(escaping: bytes)
        append(0)
    }

    func appendBytes(escaping bytes: UnsafeRawBufferPointer) {
        if !bytes.contains(where: { $0 < 2 }) {
            append(bytes)
            return
        }
        for byte in bytes {
            if byte < 2 {
                append(1)
                append(byte + 1)
            } else {
                append(byte)
            }
        }
    }

    func append(string: String) {
        appendPrefix(string)
        append(0)
    }

    /// A string's UTF-8 without its end, as `appendPrefix(_: String)` has it.
    func appendPrefix(_ bytes: UnsafeRawBufferPointer) {
        if CanonicalText.isComposed(bytes.bindMemory(to: UInt8.self)) {
            appendBytes(escaping: bytes)
        } else {
            appendPrefix(String(decoding: bytes, as: UTF8.self))
        }
    }

    /// A string without its end: what the keys of all strings begin with that begin with it, unit for unit.
    func appendPrefix(_ string: String) {
        var string = string
        string.withUTF8 { bytes in
            if CanonicalText.isComposed(bytes) {
                appendBytes(escaping: UnsafeRawBufferPointer(bytes))
            } else {
                var composed = CanonicalText.composed(String(decoding: bytes, as: UTF8.self))
                composed.withUTF8 { appendBytes(escaping: UnsafeRawBufferPointer($0)) }
            }
        }
    }

    func append(uuid: UUID) { withUnsafeBytes(of: uuid.uuid) { append($0) } }

    func append(decimal: Decimal) {
        if decimal.isNaN {
            append(0)
            return
        }
        if decimal.isZero {
            append(2)
            return
        }
        let digits = DecimalDigits(decimal)
        let first = count
        append(digits.isNegative ? 1 : 3)
        let power = UInt16(clamping: digits.exponent + digits.count + 511)
        append(UInt8(power >> 8))
        append(UInt8(power & 255))
        var index = 0
        while index < digits.count {
            append(digits[index] * 10 + (index + 1 < digits.count ? digits[index + 1] : 0) + 1)
            index += 2
        }
        if digits.isNegative {
            complement(from: first + 1)
            append(0xFF)
        } else {
            append(0)
        }
    }

    private func complement(from start: Int) {
        let copy = bytes
        truncate(to: start)
        for byte in copy[start...] { append(~byte) }
    }
}

/// The significant decimal digits of a number that is neither zero nor NaN, without zeros at either end.
private struct DecimalDigits {
    private let digits: [UInt8]
    /// The power of ten that the last digit counts.
    let exponent: Int
    let isNegative: Bool
    var count: Int { digits.count }
    subscript(index: Int) -> UInt8 { digits[index] }

    init(_ number: Decimal) {
        isNegative = number.sign == .minus
        var mantissa = StoredDecimal(number).mantissa
        var exponent = number.exponent
        var reversed: [UInt8] = []
        while mantissa != 0 {
            let (quotient, remainder) = mantissa.quotientAndRemainder(dividingBy: 10)
            mantissa = quotient
            if reversed.isEmpty, remainder == 0 { exponent += 1 } else { reversed.append(UInt8(remainder)) }
        }
        digits = reversed.reversed()
        self.exponent = exponent
    }
}

/// How one property's values go into keys.
struct KeyComponent: Sendable, Hashable {
    let slot: Int
    let kind: StorageKind?
    let isOptional: Bool

    init(_ slot: Int, of layout: RecordLayout) {
        self.slot = slot
        let property = layout.slots[slot].property
        kind = property.attribute?.kind
        isOptional = property.isOptional
    }

    /// Whether a key of this component alone has more than eight bytes.
    var isLong: Bool {
        if isOptional { return kind != .bool }
        switch kind {
        case .bool, .int8, .int16, .int32, .int64, .uint8, .uint16, .uint32, .uint64, .float, .double, .date:
            return false
        default: return true
        }
    }
}

extension KeyBuffer {
    /// Appends a value in the form of its component. Null in a required property counts as the least value. `reference`
    /// maps a to-one value to what the store keeps; it returns nil for an identifier that belongs to none of its
    /// records.
    /// - Returns: false if the value is not of the component's kind, so that no entry can equal it.
    @discardableResult
    func append(
        _ value: StoredValue, _ component: KeyComponent,
        reference: (PersistentIdentifier) -> (sequence: UInt64, entity: UInt16)? = { _ in nil }
    ) -> Bool {
        if component.isOptional {
            append(value.isNull ? 0 : 1)
            if value.isNull { return true }
        }
        switch value {
        case .null: append(bigEndian: 0)
        case .bool(let value): append(value ? 1 : 0)
        case .integer(let value): append(signed: value)
        case .unsigned(let value): append(bigEndian: value)
        case .float(let value): append(double: Double(value))
        case .double(let value): append(double: value)
        case .date(let value): append(double: value.timeIntervalSinceReferenceDate)
        case .decimal(let value): append(decimal: value)
        case .uuid(let value): append(uuid: value)
        case .string(let value): append(string: value)
        case .url(let value): append(string: value.absoluteString)
        case .data(let value): value.withUnsafeBytes { append(escaping: $0) }
        case .identifier(let identifier):
            guard let target = reference(identifier) else { return false }
            append(bigEndian: target.sequence)
            append(UInt8(target.entity >> 8))
            append(UInt8(target.entity & 255))
        case .identifiers: return false
        case .array, .object: CodedBytes.encode(value).withUnsafeBytes { append(escaping: $0) }
        }
        switch value {
        case .null, .identifier: return true
        // A number that the kind is too narrow for still has its place among those that it is not.
        case .integer where component.kind?.integerRange != nil: return true
        default: return component.kind.map { value.fits($0) } ?? false
        }
    }
}
