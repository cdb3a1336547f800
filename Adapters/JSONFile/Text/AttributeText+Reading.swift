import Foundation
import MortiseCore

/// The text of an attribute's value, both ways: what is written for a kind, and what is read for it.
enum AttributeText {}

extension AttributeText {
    /// Reads a value other than null.
    /// - Throws: `JSONFault` for malformed text, `DocumentFault` for a value that is not of the kind.
    @inline(__always) static func read(
        _ kind: StorageKind, from reader: inout JSONReader, budget: inout TreeBudget
    ) throws -> StoredValue {
        switch kind {
        case .string: return .string(try string(from: &reader))
        case .bool:
            try expect(.bool, of: kind, in: &reader)
            return .bool(try reader.readBool())
        case .int8, .int16, .int32, .int64, .uint8, .uint16, .uint32: return try integer(kind, from: &reader)
        case .uint64:
            try expect(.number, of: kind, in: &reader)
            let number = try reader.readNumber()
            guard let value = reader.unsigned(number) else { throw misfit(number, kind) }
            return .unsigned(value)
        case .double: return .double(try double(kind, from: &reader))
        case .float: return .float(try float(from: &reader))
        case .date: return .date(try date(from: &reader))
        case .uuid: return .uuid(try text(kind, from: &reader) { UUIDText.uuid(from: $0) })
        case .data: return .data(try text(kind, from: &reader) { Base64Text.data(from: $0) })
        case .decimal:
            return .decimal(
                try text(kind, from: &reader) { DecimalText.decimal(from: String(decoding: $0, as: UTF8.self)) })
        case .url: return .url(try url(from: &reader))
        case .coded:
            budget.beginTree()
            return try reader.readTree(budget: &budget)
        }
    }

    private static func expect(_ wanted: JSONReader.Kind, of kind: StorageKind, in reader: inout JSONReader) throws {
        let found = try reader.peek()
        guard found == wanted else {
            throw DocumentFault(
                .wrongType(expected: "\(wanted.rawValue) (\(kind.rawValue))", found: found.rawValue),
                at: reader.position)
        }
    }

    private static func misfit(_ number: JSONNumber, _ kind: StorageKind) -> DocumentFault {
        DocumentFault(.numberOutOfRange(kind), at: number.range.lowerBound)
    }

    @inline(__always) private static func string(from reader: inout JSONReader) throws -> String {
        try expect(.string, of: .string, in: &reader)
        return try reader.readString()
    }

    @inline(__always) private static func integer(
        _ kind: StorageKind, from reader: inout JSONReader
    ) throws -> StoredValue {
        try expect(.number, of: kind, in: &reader)
        let number = try reader.readNumber()
        guard let value = reader.integer(number), kind.integerRange?.contains(value) == true else {
            throw misfit(number, kind)
        }
        return .integer(value)
    }

    /// Reads a value written as a string; the bytes given to `parse` are unescaped.
    @inline(__always) private static func text<Value>(
        _ kind: StorageKind, from reader: inout JSONReader, parse: (UnsafeRawBufferPointer) -> Value?
    ) throws -> Value {
        try expect(.string, of: kind, in: &reader)
        let start = reader.position
        let body = try reader.readStringBody()
        let value: Value?
        if body.hasEscapes {
            reader.position = start
            var unescaped = try reader.readString()
            value = unescaped.withUTF8 { parse(UnsafeRawBufferPointer($0)) }
        } else {
            value = parse(UnsafeRawBufferPointer(rebasing: reader.bytes[body.range]))
        }
        guard let value else { throw DocumentFault(.invalidText(kind), at: start) }
        return value
    }
}

// MARK: - Numbers with a fraction

extension AttributeText {
    private static func double(_ kind: StorageKind, from reader: inout JSONReader) throws -> Double {
        guard try reader.peek() == .number else {
            return try text(kind, from: &reader) { text in
                nonFinite(text).map { $0.map { Double(bitPattern: $0) } ?? .nan } ?? infinity(text)
            }
        }
        let number = try reader.readNumber()
        guard let value = reader.double(number) else { throw misfit(number, kind) }
        return value
    }

    private static func float(from reader: inout JSONReader) throws -> Float {
        guard try reader.peek() == .number else {
            return try text(.float, from: &reader) { text in
                guard let bits = nonFinite(text, digits: 8) else { return infinity(text).map { Float($0) } }
                return bits.map { Float(bitPattern: UInt32(truncatingIfNeeded: $0)) } ?? .nan
            }
        }
        let number = try reader.readNumber()
        guard let value = reader.float(number) else { throw misfit(number, .float) }
        return value
    }

    private static func infinity(_ text: UnsafeRawBufferPointer) -> Double? {
        text.elementsEqual("inf".utf8) ? .infinity : text.elementsEqual("-inf".utf8) ? -.infinity : nil
    }

    /// The bits of a NaN, nil for those of the type's own `nan`; nil altogether for a text that is no NaN.
    private static func nonFinite(_ text: UnsafeRawBufferPointer, digits: Int = 16) -> UInt64?? {
        if text.elementsEqual("nan".utf8) { return .some(nil) }
        let prefix = "nan:0x"
        guard text.count == prefix.utf8.count + digits, text.starts(with: prefix.utf8),
            let bits = UInt64(String(decoding: text.dropFirst(prefix.utf8.count), as: UTF8.self), radix: 16)
        else { return nil }
        let isNaN =
            digits == 16 ? Double(bitPattern: bits).isNaN : Float(bitPattern: UInt32(truncatingIfNeeded: bits)).isNaN
        return isNaN ? .some(bits) : nil
    }

    private static func date(from reader: inout JSONReader) throws -> Date {
        let found = try reader.peek()
        guard found == .string else {
            guard found == .number else {
                throw DocumentFault(.wrongType(expected: "a string (date)", found: found.rawValue), at: reader.position)
            }
            return Date(timeIntervalSinceReferenceDate: try double(.date, from: &reader))
        }
        return try text(.date, from: &reader) { text in
            if text.count >= 20 || text.isEmpty, let date = DateText.date(from: text) { return date }
            let seconds = nonFinite(text).map { $0.map { Double(bitPattern: $0) } ?? .nan } ?? infinity(text)
            return seconds.map { Date(timeIntervalSinceReferenceDate: $0) }
        }
    }
}

// MARK: - URLs

extension AttributeText {
    /// The keys of a URL that is kept relative to a base.
    static let relativeKey = "relative"
    static let baseKey = "base"

    private static func url(from reader: inout JSONReader) throws -> URL {
        guard try reader.peek() == .object else {
            return try text(.url, from: &reader) { url(String(decoding: $0, as: UTF8.self), base: nil) }
        }
        let start = reader.position
        try reader.beginObject()
        var parts: [String: String] = [:]
        while let key = try reader.nextKey() {
            guard key == relativeKey || key == baseKey else {
                throw DocumentFault(.unknownMember(key), at: reader.keyOffset)
            }
            guard parts[key] == nil else { throw JSONFault(reason: .duplicateKey(key), offset: reader.keyOffset) }
            parts[key] = try text(.url, from: &reader) { String(decoding: $0, as: UTF8.self) }
        }
        for key in [relativeKey, baseKey] where parts[key] == nil {
            throw DocumentFault(.missingMember(key), at: start)
        }
        guard let base = url(parts[baseKey] ?? "", base: nil), let value = url(parts[relativeKey] ?? "", base: base)
        else { throw DocumentFault(.invalidText(.url), at: start) }
        return value
    }

    /// The URL with exactly this text; nil if `URL` would change it.
    static func url(_ text: String, base: URL?) -> URL? {
        guard let url = URL(string: text, relativeTo: base), Array(url.relativeString.utf8) == Array(text.utf8) else {
            return nil
        }
        return url
    }
}
