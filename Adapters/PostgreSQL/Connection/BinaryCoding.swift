#if PostgreSQL
import CPostgreSQL
import Foundation
import MortiseSQL

/// The binary forms in which values go to a server and come from it.
enum BinaryCoding {
    /// The numbers that every server has for the types of columns.
    static let types: [String: UInt32] = [
        "bool": 16, "bytea": 17, "int8": 20, "int2": 21, "int4": 23, "text": 25, "float4": 700, "float8": 701,
        "numeric": 1_700, "uuid": 2_950,
    ]

    /// A value that a server refuses: text with U+0000, or a malformed number.
    struct Unfit: Error {}

    static func append<Number: FixedWidthInteger>(_ number: Number, to bytes: inout [UInt8]) {
        withUnsafeBytes(of: number.bigEndian) { bytes.append(contentsOf: $0) }
    }

    /// Appends the bytes of a value that is not null, without their length.
    static func append(_ value: SQLValue, to bytes: inout [UInt8]) throws(Unfit) {
        switch value {
        case .null: break
        case .integer(let number): append(number, to: &bytes)
        case .real(let number): append(number.bitPattern, to: &bytes)
        case .float(let number): append(number.bitPattern, to: &bytes)
        case .bool(let holds): bytes.append(holds ? 1 : 0)
        case .text(let text):
            if text.utf8.contains(0) { throw Unfit() }
            bytes.append(contentsOf: text.utf8)
        case .blob(let data): bytes.append(contentsOf: data)
        case .uuid(let uuid): withUnsafeBytes(of: uuid.uuid) { bytes.append(contentsOf: $0) }
        case .decimal(let digits):
            guard let found = NumericCoding.bytes(digits) else { throw Unfit() }
            bytes += found
        case .array(let values, let type):
            append(Int32(values.isEmpty ? 0 : 1), to: &bytes)
            append(Int32(values.contains(where: \.isNull) ? 1 : 0), to: &bytes)
            append(types[type] ?? 25, to: &bytes)
            if values.isEmpty { return }
            append(Int32(clamping: values.count), to: &bytes)
            append(Int32(1), to: &bytes)
            for value in values { try appendWithLength(value, as: type, to: &bytes) }
        }
    }

    /// Appends the length of a value, and its bytes: -1 for null.
    static func appendWithLength(_ value: SQLValue, as type: String, to bytes: inout [UInt8]) throws(Unfit) {
        if value.isNull { return append(Int32(-1), to: &bytes) }
        let place = bytes.count
        append(Int32(0), to: &bytes)
        switch (value, type) {
        case (.integer(let number), "int2"):
            guard let small = Int16(exactly: number) else { throw Unfit() }
            append(small, to: &bytes)
        case (.integer(let number), "int4"):
            guard let small = Int32(exactly: number) else { throw Unfit() }
            append(small, to: &bytes)
        default: try append(value, to: &bytes)
        }
        guard let count = Int32(exactly: bytes.count - place - 4) else { throw Unfit() }
        withUnsafeBytes(of: count.bigEndian) { length in
            for (offset, byte) in length.enumerated() { bytes[place + offset] = byte }
        }
    }

    /// The value of bytes of a type; nil for malformed bytes, and for types that no column of a store has.
    static func value(_ bytes: UnsafeRawBufferPointer, type: UInt32) -> SQLValue? {
        func number<Number: FixedWidthInteger>(_: Number.Type) -> Number? {
            guard bytes.count == MemoryLayout<Number>.size else { return nil }
            return Number(bigEndian: bytes.loadUnaligned(as: Number.self))
        }
        switch type {
        case 16: return bytes.count == 1 ? .bool(bytes[0] != 0) : nil
        case 17: return .blob(Data(bytes))
        case 20: return number(Int64.self).map(SQLValue.integer)
        case 21: return number(Int16.self).map { .integer(Int64($0)) }
        case 23: return number(Int32.self).map { .integer(Int64($0)) }
        case 19, 25, 1_043: return String(validating: bytes, as: UTF8.self).map(SQLValue.text)
        case 700: return number(UInt32.self).map { .float(Float(bitPattern: $0)) }
        case 701: return number(UInt64.self).map { .real(Double(bitPattern: $0)) }
        case 1_700: return NumericCoding.text(bytes).map(SQLValue.decimal)
        case 2_950:
            guard bytes.count == 16 else { return nil }
            return .uuid(UUID(uuid: bytes.loadUnaligned(as: uuid_t.self)))
        default: return nil
        }
    }
}
#endif
