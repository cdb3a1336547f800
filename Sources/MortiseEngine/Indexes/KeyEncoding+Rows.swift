import Foundation
import MortiseCore

extension KeyBuffer {
    /// Puts together the key that a row has in an index, straight from its columns.
    /// - Returns: whether a value is null or, as a number or a date, not a number, so that the row's uniqueness does not count.
    @discardableResult
    func setKey(
        _ place: ChunkPlace, _ offset: Int, _ definition: IndexDefinition, _ dictionaries: [StringDictionary?]
    ) -> Bool {
        removeAll()
        var isExempt = false
        for component in definition.components {
            let entry = place.entry(component.slot)
            let isNull = entry.form == .none || place.isAbsent(entry, offset)
            if isNull { isExempt = true }
            if component.isOptional {
                append(isNull ? 0 : 1)
                if isNull { continue }
            } else if isNull {
                append(bigEndian: 0)
                continue
            }
            if appendValue(place, entry, offset, component, dictionaries) { isExempt = true }
        }
        return isExempt
    }

    /// - Returns: whether it equals nothing.
    private func appendValue(
        _ place: ChunkPlace, _ entry: ChunkPlace.Entry, _ offset: Int, _ component: KeyComponent,
        _ dictionaries: [StringDictionary?]
    ) -> Bool {
        switch entry.form {
        case .bool: append(place.load(entry, offset, as: UInt8.self))
        case .uint64: append(bigEndian: UInt64(littleEndian: place.load(entry, offset, as: UInt64.self)))
        case .float:
            let number = Float(bitPattern: UInt32(littleEndian: place.load(entry, offset, as: UInt32.self)))
            append(double: Double(number))
            return number.isNaN
        case .double, .date:
            let number = place.double(entry, offset)
            append(double: number)
            return number.isNaN
        case .uuid: append(uuid: place.uuid(entry, offset))
        case .decimal: append(decimal: place.decimal(entry, offset))
        case .text: append(utf8: place.bytes(entry, offset))
        case .code:
            var text = dictionaries[component.slot]?[place.code(entry, offset)] ?? ""
            text.withUTF8 { append(utf8: UnsafeRawBufferPointer($0)) }
        case .bytes:
            let bytes = place.bytes(entry, offset)
            if component.kind == .url {
                append(string: StoredURL.decode(bytes)?.absoluteString ?? "")
            } else {
                append(escaping: bytes)
            }
        case .reference, .wideReference:
            let (sequence, target) = place.reference(entry, offset)
            append(bigEndian: sequence)
            append(UInt8(truncatingIfNeeded: target >> 8))
            append(UInt8(truncatingIfNeeded: target))
        default: append(signed: place.integer(entry, offset) ?? 0)
        }
        return false
    }

    private func append(utf8 bytes: UnsafeRawBufferPointer) {
        if CanonicalText.isComposed(bytes.bindMemory(to: UInt8.self)) {
            append(escaping: bytes)
        } else {
            append(string: String(decoding: bytes, as: UTF8.self))
        }
    }
}
