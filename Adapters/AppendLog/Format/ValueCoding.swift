import Foundation
import MortiseCore
import MortiseEngine

/// The numbers of the entities under the schema in force, and the slots that are stored.
final class LogCatalog: Sendable {
    let schema: StoredSchema
    let store: String
    let names: [String]
    let numbers: [String: Int]
    let layouts: [RecordLayout]
    /// For each entity, the slots whose values are in the log.
    let storedSlots: [[Int]]
    /// For each entity, the slots whose last values stay in the history.
    let preservedSlots: [[Int]]
    /// For each entity, the slots of attributes that are data.
    let dataSlots: [SlotSet]
    /// For each entity, the family of its records' identifiers: names are compared only where none of them fits.
    private let families: [IdentifierNamespace]
    /// Where external files are; nil for a reader that does not read values.
    let external: ExternalFiles?

    init(_ schema: StoredSchema, store: String, external: ExternalFiles? = nil) {
        self.external = external
        self.schema = schema
        self.store = store
        names = schema.entities.map(\.name)
        numbers = Dictionary(
            names.enumerated().map { ($0.element, $0.offset) }, uniquingKeysWith: { first, _ in first })
        let all = schema.recordLayouts()
        let layouts = names.compactMap { all[$0] }
        self.layouts = layouts
        storedSlots = layouts.map { layout in
            layout.slots.indices.filter { slot in
                layout.slots[slot].role != .toManyDerived
                    && layout.slots[slot].property.attribute?.options.contains(.ephemeral) != true
            }
        }
        preservedSlots = zip(layouts, storedSlots).map { layout, stored in
            stored.filter { layout.slots[$0].property.attribute?.options.contains(.preserveValueOnDeletion) == true }
        }
        dataSlots = layouts.map { layout in
            SlotSet(layout.slots.indices.filter { layout.slots[$0].property.attribute?.kind == .data })
        }
        families = names.map { IdentifierNamespace(storeIdentifier: store, entityName: $0) }
    }

    /// The number of a record's entity, or nil if the schema has no entity of that name. Tries the entity `last` first.
    func entity(of record: PersistentIdentifier, near last: Int = 0) -> Int? {
        if last < families.count, families[last].namespace == record.namespace { return last }
        return families.firstIndex { $0.namespace == record.namespace } ?? numbers[record.entityName]
    }

    func unwritableValue(_ entity: Int, _ slot: Int) -> LogFault {
        .unwritableValue(entity: layouts[entity].entityName, property: layouts[entity].slots[slot].name)
    }

    func identifier(_ entity: Int, _ sequence: UInt64) -> PersistentIdentifier {
        .numbered(sequence, storeIdentifier: store, entityName: names[entity])
    }
}

enum ValueTag {
    static let null: UInt8 = 0
    static let no: UInt8 = 1
    static let yes: UInt8 = 2
    static let integer: UInt8 = 3
    static let unsigned: UInt8 = 4
    static let float: UInt8 = 5
    static let double: UInt8 = 6
    static let decimal: UInt8 = 7
    static let string: UInt8 = 8
    static let data: UInt8 = 9
    static let date: UInt8 = 10
    static let uuid: UInt8 = 11
    static let url: UInt8 = 12
    static let relativeURL: UInt8 = 13
    static let reference: UInt8 = 14
    static let references: UInt8 = 15
    static let array: UInt8 = 16
    static let object: UInt8 = 17
    /// Data in a file of their own; only where the slot is one of data.
    static let file: UInt8 = 18

    static let deepest = 512
}

/// A value that would not come back: not bit for bit, or not within the memory that reading may take.
struct UnwritableValue: Error {}

extension ByteWriter {
    mutating func value(_ value: StoredValue, _ catalog: LogCatalog, depth: Int = 0) throws(UnwritableValue) {
        switch value {
        case .null: byte(ValueTag.null)
        case .bool(let value): byte(value ? ValueTag.yes : ValueTag.no)
        case .integer(let value):
            byte(ValueTag.integer)
            zigzag(value)
        case .unsigned(let value):
            byte(ValueTag.unsigned)
            varint(value)
        case .float(let value):
            byte(ValueTag.float)
            fixed(value.bitPattern)
        case .double(let value):
            byte(ValueTag.double)
            fixed(value.bitPattern)
        case .decimal(let value):
            if plain(value) { return }
            let text = value.isNaN ? "NaN" : value.description
            guard Decimal(logText: text) == value else { throw UnwritableValue() }
            byte(ValueTag.decimal)
            self.text(text)
        case .string(let value):
            byte(ValueTag.string)
            if depth > 0 { spend(ValueBudget.string(length: value.utf8.count)) }
            text(value)
        case .data(let value):
            byte(ValueTag.data)
            varint(value.count)
            value.withUnsafeBytes { raw($0) }
        case .date(let value):
            byte(ValueTag.date)
            fixed(value.timeIntervalSinceReferenceDate.bitPattern)
        case .uuid(let value):
            byte(ValueTag.uuid)
            uuid(value)
        case .url(let value): try url(value)
        case .identifier(let value):
            byte(ValueTag.reference)
            try reference(value, catalog)
        case .identifiers(let values):
            byte(ValueTag.references)
            varint(values.count)
            var previous: UInt64?
            for value in Self.ascending(values) {
                guard let number = value.sequenceNumber, previous.map({ $0 < number }) ?? true else {
                    throw UnwritableValue()
                }
                previous = number
                try reference(value, catalog)
            }
        case .array(let values):
            guard depth < ValueTag.deepest else { throw UnwritableValue() }
            byte(ValueTag.array)
            varint(values.count)
            spend(ValueBudget.container + values.count * ValueBudget.element, parts: 1 + values.count)
            for value in values { try self.value(value, catalog, depth: depth + 1) }
        case .object(let values):
            guard depth < ValueTag.deepest else { throw UnwritableValue() }
            byte(ValueTag.object)
            varint(values.count)
            spend(ValueBudget.container + values.count * ValueBudget.member, parts: 1 + 2 * values.count)
            for (key, value) in values.sorted(by: { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }) {
                spend(ValueBudget.string(length: key.utf8.count))
                text(key)
                try self.value(value, catalog, depth: depth + 1)
            }
        }
        if depth == 0, !isWithinBudget { throw UnwritableValue() }
    }

    /// Writes most decimals, digit by digit: their description, without a string that is made of it and read back.
    /// - Returns: false, and nothing is written, for a number that is very long or very small.
    private mutating func plain(_ value: Decimal) -> Bool {
        guard let number = value.scaled, number.mantissa.magnitude < 1_000_000_000_000_000_000,
            (-18...18).contains(number.exponent)
        else { return false }
        var left = UInt64(number.mantissa.magnitude)
        var exponent = left == 0 ? 0 : number.exponent
        while exponent < 0, left % 10 == 0 {
            left /= 10
            exponent += 1
        }
        withUnsafeTemporaryAllocation(byteCount: 64, alignment: 1) { bytes in
            var start = bytes.count
            func put(_ byte: UInt8) {
                start -= 1
                bytes[start] = byte
            }
            for _ in 0..<max(exponent, 0) { put(UInt8(ascii: "0")) }
            var behind = max(-exponent, 0)
            repeat {
                put(UInt8(ascii: "0") + UInt8(left % 10))
                left /= 10
                if behind > 0 {
                    behind -= 1
                    if behind == 0 { put(UInt8(ascii: ".")) }
                }
            } while left > 0 || behind > 0 || bytes[start] == UInt8(ascii: ".")
            if number.mantissa < 0 { put(UInt8(ascii: "-")) }
            byte(ValueTag.decimal)
            varint(bytes.count - start)
            raw(UnsafeRawBufferPointer(rebasing: bytes[start...]))
        }
        return true
    }

    /// Records by ascending number, as they mostly come already.
    private static func ascending(_ records: [PersistentIdentifier]) -> [PersistentIdentifier] {
        let numbers = records.map { $0.sequenceNumber ?? 0 }
        if zip(numbers, numbers.dropFirst()).allSatisfy({ $0 < $1 }) { return records }
        return records.sorted { ($0.sequenceNumber ?? 0) < ($1.sequenceNumber ?? 0) }
    }

    private mutating func reference(
        _ identifier: PersistentIdentifier, _ catalog: LogCatalog
    ) throws(UnwritableValue) {
        guard let sequence = identifier.sequenceNumber, let entity = catalog.entity(of: identifier) else {
            throw UnwritableValue()
        }
        varint(entity)
        varint(sequence)
    }

    private mutating func url(_ value: URL) throws(UnwritableValue) {
        let relative = value.relativeString
        let base = value.baseURL?.absoluteString
        guard let back = URL(logText: relative, base: base),
            StoredValue.url(back).isIdentical(to: .url(value))
        else { throw UnwritableValue() }
        byte(base == nil ? ValueTag.url : ValueTag.relativeURL)
        text(relative)
        if let base { text(base) }
    }
}

extension ByteReader {
    mutating func value(_ catalog: LogCatalog, depth: Int = 0) throws(PayloadFault) -> StoredValue {
        switch try byte() {
        case ValueTag.null: return .null
        case ValueTag.no: return .bool(false)
        case ValueTag.yes: return .bool(true)
        case ValueTag.integer: return .integer(try zigzag())
        case ValueTag.unsigned: return .unsigned(try varint())
        case ValueTag.float: return .float(Float(bitPattern: try fixed(UInt32.self)))
        case ValueTag.double: return .double(Double(bitPattern: try fixed(UInt64.self)))
        case ValueTag.decimal:
            let start = fault("has an invalid decimal number")
            guard let value = Decimal(logText: try text()) else { throw start }
            return .decimal(value)
        case ValueTag.string:
            if depth > 0 { try spend(ValueBudget.string(length: min(try peekLength(), rest))) }
            return .string(try text())
        case ValueTag.data: return .data(Data(try raw()))
        case ValueTag.date:
            return .date(Date(timeIntervalSinceReferenceDate: Double(bitPattern: try fixed(UInt64.self))))
        case ValueTag.uuid: return .uuid(try uuid())
        case ValueTag.url:
            let start = fault("has an invalid URL")
            guard let value = URL(logText: try text(), base: nil) else { throw start }
            return .url(value)
        case ValueTag.relativeURL:
            let start = fault("has an invalid URL")
            guard let value = URL(logText: try text(), base: try text()) else { throw start }
            return .url(value)
        case ValueTag.reference: return .identifier(try reference(catalog))
        case ValueTag.references:
            return .identifiers(try references(catalog))
        case ValueTag.array: return .array(try array(catalog, depth))
        case ValueTag.object: return .object(try object(catalog, depth))
        case let tag: throw fault("has unknown value kind \(tag)")
        }
    }

    private mutating func reference(_ catalog: LogCatalog) throws(PayloadFault) -> PersistentIdentifier {
        catalog.identifier(try number(below: catalog.names.count, "entity"), try varint())
    }

    private mutating func references(_ catalog: LogCatalog) throws(PayloadFault) -> [PersistentIdentifier] {
        let count = try countOfReferences()
        var values: [PersistentIdentifier] = []
        values.reserveCapacity(count)
        var previous: UInt64?
        for _ in 0..<count {
            let start = fault("has references that do not ascend")
            let entity = try number(below: catalog.names.count, "entity")
            let number = try varint()
            guard previous.map({ $0 < number }) ?? true else { throw start }
            previous = number
            values.append(catalog.identifier(entity, number))
        }
        return values
    }

    /// The length of the text that comes next.
    private func peekLength() throws(PayloadFault) -> Int {
        var copy = self
        return Int(clamping: try copy.varint())
    }

    private mutating func array(_ catalog: LogCatalog, _ depth: Int) throws(PayloadFault) -> [StoredValue] {
        guard depth < ValueTag.deepest else { throw fault("nests more than \(ValueTag.deepest) levels deep") }
        let count = try count()
        try spend(ValueBudget.container + count * ValueBudget.element, parts: 1 + count)
        var values: [StoredValue] = []
        values.reserveCapacity(count)
        for _ in 0..<count { values.append(try value(catalog, depth: depth + 1)) }
        return values
    }

    private mutating func object(_ catalog: LogCatalog, _ depth: Int) throws(PayloadFault) -> [String: StoredValue] {
        guard depth < ValueTag.deepest else { throw fault("nests more than \(ValueTag.deepest) levels deep") }
        let count = try count(of: 2)
        try spend(ValueBudget.container + count * ValueBudget.member, parts: 1 + 2 * count)
        var values: [String: StoredValue] = [:]
        values.reserveCapacity(count)
        for _ in 0..<count {
            try spend(ValueBudget.string(length: min(try peekLength(), rest)))
            let key = try text()
            guard values.updateValue(try value(catalog, depth: depth + 1), forKey: key) == nil else {
                throw fault("has two members with the same name")
            }
        }
        return values
    }
}

extension Decimal {
    /// Parses a number; nil if the text is not a valid one: an optional minus, digits, optionally a point with digits; or `NaN`.
    fileprivate init?(logText text: String) {
        if text == "NaN" {
            self = .nan
            return
        }
        var digits = text.utf8[...]
        if digits.first == UInt8(ascii: "-") { digits.removeFirst() }
        let parts = digits.split(separator: UInt8(ascii: "."), maxSplits: 1, omittingEmptySubsequences: false)
        let isNumber = parts.allSatisfy { part in
            !part.isEmpty && part.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        }
        guard isNumber, let value = Decimal(string: text, locale: nil), !value.isNaN else { return nil }
        self = value
    }
}

extension URL {
    fileprivate init?(logText text: String, base: String?) {
        if let base {
            guard let base = URL(string: base) else { return nil }
            self.init(string: text, relativeTo: base)
        } else {
            self.init(string: text)
        }
    }
}
