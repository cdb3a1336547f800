import Foundation
import MortiseCore

extension StoredValue {
    /// The value as a cell; each kind as a spreadsheet shows it, and so that it can be read back to the last bit.
    var cell: CSV.Cell {
        switch self {
        case .null: .init("", isQuoted: false)
        case .bool(let value): .init("\(value)", isQuoted: false)
        case .integer(let value): .init("\(value)", isQuoted: false)
        case .unsigned(let value): .init("\(value)", isQuoted: false)
        case .float(let value): .init("\(value)", isQuoted: false)
        case .double(let value): .init("\(value)", isQuoted: false)
        case .decimal(let value): .init("\(value)", isQuoted: false)
        case .date(let value): .init("\(value.timeIntervalSinceReferenceDate)", isQuoted: false)
        case .uuid(let value): .init(value.uuidString, isQuoted: false)
        case .string(let value): .init(value, isQuoted: true)
        case .data(let value): .init(value.base64EncodedString(), isQuoted: true)
        case .url(let value): .init(value.absoluteString, isQuoted: true)
        case .identifier(let value): .init(value.cellText, isQuoted: true)
        case .identifiers(let values): .init(values.map(\.cellText).joined(separator: " "), isQuoted: true)
        // A tree of values; what cannot be encoded has never been stored.
        case .array, .object:
            .init(String(decoding: (try? JSONEncoder().encode(self)) ?? Data(), as: UTF8.self), isQuoted: true)
        }
    }

    /// The records to which a relationship leads.
    var targets: [PersistentIdentifier] {
        switch self {
        case .identifier(let target): [target]
        case .identifiers(let targets): targets
        default: []
        }
    }
}

extension PersistentIdentifier {
    fileprivate var cellText: String { "\(entityName)/\(sequenceNumber ?? 0)" }

    fileprivate init?(cellText: Substring, store: String) {
        let parts = cellText.split(separator: "/")
        guard parts.count == 2, let number = UInt64(parts[1]) else { return nil }
        self = .numbered(number, storeIdentifier: store, entityName: String(parts[0]))
    }
}

extension CSV.Cell {
    /// The cell as a value of a property; nil where it cannot be one.
    func value(of slot: RecordLayout.Slot, store: String) -> StoredValue? {
        if text.isEmpty, !isQuoted { return slot.role.isToMany ? .identifiers([]) : .null }
        guard slot.role == .attribute, let kind = slot.property.attribute?.kind else {
            let parts = text.split(separator: " ")
            let targets = parts.compactMap { PersistentIdentifier(cellText: $0, store: store) }
            if targets.count < parts.count { return nil }
            return slot.role.isToMany ? .identifiers(targets) : targets.first.map(StoredValue.identifier)
        }
        switch kind {
        case .string: return isQuoted ? .string(text) : nil
        case .data: return isQuoted ? Data(base64Encoded: text).map(StoredValue.data) : nil
        case .url: return isQuoted ? URL(string: text).map(StoredValue.url) : nil
        case .coded: return isQuoted ? try? JSONDecoder().decode(StoredValue.self, from: Data(text.utf8)) : nil
        case _ where isQuoted: return nil
        case .bool: return Bool(text).map(StoredValue.bool)
        case .uint64: return UInt64(text).map(StoredValue.unsigned)
        case .float: return Float(text).map(StoredValue.float)
        case .double: return Double(text).map(StoredValue.double)
        case .decimal: return Decimal(string: text).map(StoredValue.decimal)
        case .date: return Double(text).map { .date(Date(timeIntervalSinceReferenceDate: $0)) }
        case .uuid: return UUID(uuidString: text).map(StoredValue.uuid)
        default: return Int64(text).map(StoredValue.integer)
        }
    }
}
