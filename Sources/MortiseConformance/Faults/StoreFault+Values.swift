import Foundation
import MortiseCore

extension StoreFault {
    /// A fault of the form in which values are kept.
    private static func keeping(
        _ id: String, _ summary: String, _ change: @escaping @Sendable (StoredValue, RecordLayout.Slot) -> StoredValue?
    ) -> StoreFault {
        StoreFault(id, summary) { steps in
            let keep = steps.keep
            steps.keep = { value, slot in change(value, slot) ?? keep(value, slot) }
        }
    }

    static let valueFaults: [StoreFault] = [
        keeping("whole-milliseconds", "keeps dates to the millisecond") { value, _ in
            guard case .date(let date) = value else { return nil }
            return .date(
                Date(timeIntervalSinceReferenceDate: (date.timeIntervalSinceReferenceDate * 1000).rounded() / 1000))
        },
        keeping("dates-from-1970", "keeps dates before 1970 as 1970") { value, _ in
            guard case .date(let date) = value, date.timeIntervalSince1970 < 0 else { return nil }
            return .date(Date(timeIntervalSince1970: 0))
        },
        keeping("quotes-no-commas", "keeps a text up to its comma, unless something else in it has to be quoted") {
            value, _ in
            guard case .string(let text) = value, !text.contains("\""), let comma = text.firstIndex(of: ",") else {
                return nil
            }
            return .string(String(text[..<comma]))
        },
        keeping("texts-become-numbers", "keeps a text that is a number as that number") { value, _ in
            guard case .string(let text) = value, let number = Double(text), number.isFinite else { return nil }
            return .string(Int(exactly: number).map { "\($0)" } ?? "\(number)")
        },
        keeping("nil-becomes-empty-text", "hands out an absent text as an empty one") { value, slot in
            value.isNull && slot.property.attribute?.kind == .string ? .string("") : nil
        },
        keeping("empty-text-becomes-nil", "keeps an optional text that is empty as nil") { value, slot in
            guard case .string(let text) = value, text.isEmpty, slot.property.isOptional else { return nil }
            return .null
        },
        keeping("empty-data-becomes-nil", "keeps optional data of no bytes as nil") { value, slot in
            guard case .data(let data) = value, data.isEmpty, slot.property.isOptional else { return nil }
            return .null
        },
        keeping("empty-array-becomes-nil", "keeps an optional array without elements as nil") { value, slot in
            guard case .array(let elements) = value, elements.isEmpty, slot.property.isOptional else { return nil }
            return .null
        },
        keeping("zero-becomes-nil", "keeps an optional zero as nil") { value, slot in
            guard case .integer(0) = value, slot.property.isOptional else { return nil }
            return .null
        },
        keeping("false-becomes-nil", "keeps an optional false as nil") { value, slot in
            guard case .bool(false) = value, slot.property.isOptional else { return nil }
            return .null
        },
        keeping("nan-becomes-null", "keeps NaN as nil, or 0 where nil is not allowed") { value, slot in
            guard case .double(let number) = value, number.isNaN else { return nil }
            return slot.property.isOptional ? .null : .double(0)
        },
        keeping("no-negative-zero", "keeps -0.0 as 0.0") { value, _ in
            guard case .double(let number) = value, number == 0 else { return nil }
            return .double(0)
        },
        keeping("fifteen-digits", "keeps doubles as text of 15 digits") { value, _ in
            guard case .double(let number) = value, number.isFinite else { return nil }
            return .double(Double(String(format: "%.15g", number)) ?? number)
        },
        keeping("floats-of-six-digits", "keeps floats as text of six digits") { value, _ in
            guard case .float(let number) = value, number.isFinite else { return nil }
            return .float(Float(String(format: "%.6g", Double(number))) ?? number)
        },
        keeping("integers-through-double", "keeps integers as doubles") { value, _ in
            guard case .integer(let number) = value else { return nil }
            return Int64(exactly: Double(number)).map(StoredValue.integer) ?? .integer(.max - 511)
        },
        keeping("unsigned-through-signed", "keeps unsigned integers as signed ones of 64 bits") { value, _ in
            guard case .unsigned(let number) = value else { return nil }
            return .unsigned(min(number, UInt64(Int64.max)))
        },
        keeping("decimals-through-double", "keeps decimals as doubles") { value, _ in
            guard case .decimal(let number) = value, let double = Double(number.description) else { return nil }
            return .decimal(Decimal(string: "\(double)") ?? number)
        },
        keeping("normalises-text", "keeps text in composed normal form") { value, _ in
            value.mappingText { $0.precomposedStringWithCanonicalMapping }
        },
        keeping("ends-at-nul", "keeps text up to its first NUL") { value, _ in
            value.mappingText { String($0.unicodeScalars.prefix { $0 != "\u{0}" }) }
        },
        keeping("trims-text", "keeps text without spaces at its ends") { value, _ in
            guard case .string(let text) = value else { return nil }
            return .string(text.trimmingCharacters(in: .whitespacesAndNewlines))
        },
        keeping("basic-plane-only", "keeps scalars beyond the basic plane as replacement characters") { value, _ in
            value.mappingText { text in
                text.unicodeScalars.contains { $0.value > 0xFFFF }
                    ? String(String.UnicodeScalarView(text.unicodeScalars.map { $0.value > 0xFFFF ? "\u{FFFD}" : $0 }))
                    : text
            }
        },
        keeping("length-of-16-bits", "keeps 65,535 bytes of a text at most") { value, _ in
            guard case .string(let text) = value, text.utf8.count > 65_535 else { return nil }
            return .string(String(decoding: text.utf8.prefix(65_535), as: UTF8.self))
        },
        keeping("lower-case-urls", "keeps URLs in lower case") { value, _ in
            guard case .url(let url) = value else { return nil }
            return URL(string: url.absoluteString.lowercased()).map(StoredValue.url)
        },
        keeping("reversed-uuids", "keeps the bytes of UUIDs in another order") { value, _ in
            guard case .uuid(let uuid) = value else { return nil }
            let bytes = uuid.uuid
            return .uuid(
                UUID(
                    uuid: (
                        bytes.3, bytes.2, bytes.1, bytes.0, bytes.5, bytes.4, bytes.7, bytes.6, bytes.8, bytes.9,
                        bytes.10,
                        bytes.11, bytes.12, bytes.13, bytes.14, bytes.15
                    )))
        },
        keeping("data-as-text", "keeps data as UTF-8") { value, _ in
            guard case .data(let data) = value else { return nil }
            return .data(Data(String(decoding: data, as: UTF8.self).utf8))
        },
        keeping("arrays-as-sets", "keeps every element of an array once") { value, _ in
            guard case .array(let elements) = value else { return nil }
            var seen: Set<StoredValue> = []
            return .array(elements.filter { seen.insert($0).inserted })
        },
        keeping("drops-empty-keys", "keeps no empty keys of dictionaries") { value, _ in
            guard case .object(let members) = value else { return nil }
            return .object(members.filter { !$0.key.isEmpty })
        },
        keeping("enum-numbers-of-32-bits", "keeps 64-bit integers in 32 bits") { value, slot in
            guard case .integer(let number) = value, slot.property.attribute?.kind == .int64 else { return nil }
            return .integer(Int64(Int32(truncatingIfNeeded: number)))
        },
        StoreFault("shares-equal-text", "keeps texts that are canonically equivalent once, in the first one's form") {
            steps in
            steps.finish = { _, state in
                var first: Set<String> = []
                for number in state.records.keys.sorted() {
                    guard let record = state.records[number] else { continue }
                    let values = record.values.map { value in
                        value.mappingText { first.insert($0).memberAfterInsert }
                    }
                    state.records[number] = DefaultSnapshot(
                        persistentIdentifier: record.persistentIdentifier, layout: record.layout,
                        values: ContiguousArray(values))
                }
            }
        },
    ]
}
