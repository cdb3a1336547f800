import Foundation
import MortiseEngine

/// What is wrong with the bytes of a payload whose checksum is right, and where.
struct PayloadFault: Error, Hashable {
    /// From the beginning of the payload.
    let offset: Int
    let what: String
}

/// Reads a payload. Nothing is allocated for a length or count that what is left cannot hold.
struct ByteReader {
    private let base: UnsafeRawBufferPointer
    private(set) var offset = 0
    private var budget = ValueBudget()

    init(_ bytes: UnsafeRawBufferPointer) { base = bytes }

    var rest: Int { base.count - offset }

    /// The mark of the transaction whose payload this is: its last eight bytes but for the very last one. What earlier programs wrote
    /// has other bytes there, which are as good, since they stay the same wherever the payload is copied to.
    var mark: UInt64? {
        guard base.count >= 9 else { return nil }
        return UInt64(littleEndian: base.loadUnaligned(fromByteOffset: base.count - 9, as: UInt64.self))
    }

    func fault(_ what: String) -> PayloadFault { PayloadFault(offset: offset, what: what) }

    mutating func byte() throws(PayloadFault) -> UInt8 {
        guard offset < base.count else { throw fault("ends too early") }
        defer { offset += 1 }
        return base[offset]
    }

    /// The next byte, which is not taken.
    func peek() throws(PayloadFault) -> UInt8 {
        guard offset < base.count else { throw fault("ends too early") }
        return base[offset]
    }

    mutating func fixed<T: FixedWidthInteger>(_ type: T.Type) throws(PayloadFault) -> T {
        let size = MemoryLayout<T>.size
        guard rest >= size else { throw fault("ends too early") }
        defer { offset += size }
        return T(littleEndian: base.loadUnaligned(fromByteOffset: offset, as: T.self))
    }

    mutating func varint() throws(PayloadFault) -> UInt64 {
        let first = try byte()
        if first < 0x80 { return UInt64(first) }
        var value = UInt64(first & 0x7F)
        var shift: UInt64 = 7
        while true {
            let next = try byte()
            // The tenth byte has room for one bit only.
            if shift == 63, next > 1 { throw fault("has a number of more than 64 bits") }
            value |= UInt64(next & 0x7F) << shift
            if next < 0x80 {
                if next == 0 { throw fault("has a number with a redundant byte") }
                return value
            }
            shift += 7
        }
    }

    mutating func zigzag() throws(PayloadFault) -> Int64 {
        let value = try varint()
        return Int64(bitPattern: value >> 1) ^ -Int64(bitPattern: value & 1)
    }

    /// Reads a count of items that take at least `size` bytes each.
    mutating func count(of size: Int = 1) throws(PayloadFault) -> Int {
        let value = try varint()
        guard value <= UInt64(rest / size) else {
            throw fault("counts \(value) elements, more than fit in the bytes that are left")
        }
        return Int(value)
    }

    /// Begins another record, of whose values none has been read.
    mutating func beginRecord() { budget = ValueBudget() }

    /// Counts memory before it is allocated.
    mutating func spend(_ cost: Int, parts: Int = 0) throws(PayloadFault) {
        budget.spend(cost, parts: parts)
        guard budget.isWithin(base.count) else { throw fault("has a coded value that takes too much memory") }
    }

    /// A count of different records, by ascending number. Each is a byte and a number, of which few are short: a count
    /// for which there is room is that of references which are there, up to a small factor.
    mutating func countOfReferences() throws(PayloadFault) -> Int {
        let start = fault("counts more references than fit in the bytes that are left")
        let count = try count(of: 2)
        var (least, left, digits) = (count, count, 1)
        while left > 0 {
            let ofThatLength = digits < 9 ? min(left, 1 << (7 * digits)) : left
            least += ofThatLength * digits
            left -= ofThatLength
            digits += 1
        }
        guard least <= rest else { throw start }
        return count
    }

    mutating func number(below limit: Int, _ what: String) throws(PayloadFault) -> Int {
        let value = try varint()
        guard value < UInt64(limit) else { throw fault("names \(what) \(value); expected a number below \(limit)") }
        return Int(value)
    }

    /// A number of a record or a transaction.
    mutating func recordNumber() throws(PayloadFault) -> UInt64 {
        let start = fault("has a number that is not below 2^62")
        let value = try varint()
        guard value < EngineVersion.numberLimit else { throw start }
        return value
    }

    mutating func raw() throws(PayloadFault) -> UnsafeRawBufferPointer {
        let count = try count()
        defer { offset += count }
        return UnsafeRawBufferPointer(rebasing: base[offset..<(offset + count)])
    }

    mutating func bytes(_ count: Int) throws(PayloadFault) -> UnsafeRawBufferPointer {
        guard count >= 0, count <= rest else { throw fault("ends too early") }
        defer { offset += count }
        return UnsafeRawBufferPointer(rebasing: base[offset..<(offset + count)])
    }

    mutating func text() throws(PayloadFault) -> String {
        let start = fault("has text that is not UTF-8")
        guard let text = String(validating: try raw(), as: UTF8.self) else { throw start }
        return text
    }

    mutating func flag() throws(PayloadFault) -> Bool {
        let value = try byte()
        guard value < 2 else { throw fault("has the byte \(value); expected 0 or 1") }
        return value == 1
    }

    mutating func optionalText() throws(PayloadFault) -> String? { try flag() ? try text() : nil }

    mutating func uuid() throws(PayloadFault) -> UUID {
        guard rest >= 16 else { throw fault("ends too early") }
        defer { offset += 16 }
        return UUID(uuid: base.loadUnaligned(fromByteOffset: offset, as: uuid_t.self))
    }
}
