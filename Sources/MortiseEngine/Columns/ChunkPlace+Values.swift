import Foundation
import MortiseCore

extension ChunkPlace {
    /// The value of a column that is no to-many relationship; for data in a file of their own the stored form of the
    /// reference.
    func value(
        _ column: Column, _ offset: Int, _ dictionary: StringDictionary?, _ targets: [IdentifierNamespace]
    ) -> StoredValue {
        let entry = entry(column.slot)
        if entry.form == .none || isAbsent(entry, offset) { return .null }
        switch entry.form {
        case .bool: return .bool(load(entry, offset, as: UInt8.self) != 0)
        case .uint64: return .unsigned(UInt64(littleEndian: load(entry, offset, as: UInt64.self)))
        case .float: return .float(Float(bitPattern: UInt32(littleEndian: load(entry, offset, as: UInt32.self))))
        case .double: return .double(double(entry, offset))
        case .date: return .date(Date(timeIntervalSinceReferenceDate: double(entry, offset)))
        case .uuid: return .uuid(uuid(entry, offset))
        case .decimal: return .decimal(decimal(entry, offset))
        case .text: return .string(text(entry, offset))
        case .code: return dictionary.map { .string($0[code(entry, offset)]) } ?? .null
        case .bytes:
            let bytes = bytes(entry, offset)
            switch column.kind {
            case .data:
                if isExternal(entry, offset) { return ExternalReference(bytes: bytes)?.storedForm ?? .null }
                return .data(Data(bytes))
            case .url: return StoredURL.decode(bytes).map { .url($0) } ?? .null
            default: return CodedBytes.decode(bytes)
            }
        case .reference, .wideReference:
            let (sequence, target) = reference(entry, offset)
            return target < targets.count ? .identifier(targets[target][sequence]) : .null
        default: return integer(entry, offset).map { .integer($0) } ?? .null
        }
    }
}

/// A URL as a column has it: its text, and for a relative one that of its base, each with its length in four bytes.
enum StoredURL {
    static func encode(_ url: URL) -> [UInt8] {
        var bytes: [UInt8] = []
        for text in [url.relativeString, url.baseURL?.absoluteString ?? ""] {
            withUnsafeBytes(of: UInt32(clamping: text.utf8.count).littleEndian) { bytes.append(contentsOf: $0) }
            bytes.append(contentsOf: text.utf8)
        }
        return bytes
    }

    static func decode(_ bytes: UnsafeRawBufferPointer) -> URL? {
        var texts: [String] = []
        var position = 0
        while position + 4 <= bytes.count, texts.count < 2 {
            let count = Int(UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: position, as: UInt32.self)))
            position += 4
            guard position + count <= bytes.count else { return nil }
            texts.append(
                String(decoding: UnsafeRawBufferPointer(rebasing: bytes[position..<(position + count)]), as: UTF8.self))
            position += count
        }
        guard texts.count == 2 else { return nil }
        return texts[1].isEmpty ? URL(string: texts[0]) : URL(string: texts[0], relativeTo: URL(string: texts[1]))
    }
}
