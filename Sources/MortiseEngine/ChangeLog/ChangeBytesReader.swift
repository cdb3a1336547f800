import Foundation
import MortiseCore

/// What is wrong with the bytes of a change set whose checksum is right.
package struct ChangeBytesFault: Error, Hashable {
    package let reason: String

    package init(reason: String) { self.reason = reason }
}

/// Reads what `ChangeBytes` has written. Nothing is allocated for a count that what is left cannot hold.
package struct ChangeBytesReader {
    private let bytes: [UInt8]
    private var offset = 0
    private let layouts: [RecordLayout?]
    private let namespaces: [IdentifierNamespace]

    private static let deepest = 512

    /// - Parameters:
    ///   - bytes: the bytes.
    ///   - schema: the schema that they were written under.
    ///   - store: the identifier of the store.
    package init(_ bytes: [UInt8], under schema: StoredSchema, ofStore store: String) {
        self.bytes = bytes
        let known = schema.recordLayouts()
        layouts = schema.entities.map { known[$0.name] }
        namespaces = schema.entities.map { IdentifierNamespace(storeIdentifier: store, entityName: $0.name) }
    }

    private func fault(_ reason: String) -> ChangeBytesFault { ChangeBytesFault(reason: reason) }

    package mutating func byte() throws(ChangeBytesFault) -> UInt8 {
        guard offset < bytes.count else { throw fault("it ends too early") }
        defer { offset += 1 }
        return bytes[offset]
    }

    package mutating func varint() throws(ChangeBytesFault) -> UInt64 {
        var value: UInt64 = 0
        var shift: UInt64 = 0
        while true {
            let next = try byte()
            guard shift < 63 || next < 2 else { throw fault("it has a number of more than 64 bits") }
            value |= UInt64(next & 0x7F) << shift
            if next < 0x80 { return value }
            shift += 7
        }
    }

    private mutating func count() throws(ChangeBytesFault) -> Int {
        let value = try varint()
        guard value <= UInt64(bytes.count - offset) else { throw fault("it counts more than it has") }
        return Int(value)
    }

    private mutating func number(below limit: Int) throws(ChangeBytesFault) -> Int {
        let value = try varint()
        guard value < UInt64(limit) else { throw fault("it names an entity or a property that its schema lacks") }
        return Int(value)
    }

    package mutating func fixed<T: FixedWidthInteger>(_ type: T.Type) throws(ChangeBytesFault) -> T {
        let size = MemoryLayout<T>.size
        guard bytes.count - offset >= size else { throw fault("it ends too early") }
        defer { offset += size }
        return bytes.withUnsafeBytes { T(littleEndian: $0.loadUnaligned(fromByteOffset: offset, as: T.self)) }
    }

    private mutating func raw(_ count: Int) throws(ChangeBytesFault) -> ArraySlice<UInt8> {
        guard bytes.count - offset >= count else { throw fault("it ends too early") }
        defer { offset += count }
        return bytes[offset..<(offset + count)]
    }

    package mutating func text() throws(ChangeBytesFault) -> String {
        let length = try count()
        guard let text = String(validating: try raw(length), as: UTF8.self) else {
            throw fault("it has text that is not UTF-8")
        }
        return text
    }

    private mutating func reference() throws(ChangeBytesFault) -> PersistentIdentifier {
        let entity = try number(below: namespaces.count)
        let sequence = try varint()
        guard sequence < EngineVersion.numberLimit else { throw fault("it names a record that no store has") }
        return namespaces[entity][sequence]
    }

    private mutating func value(_ depth: Int = 0) throws(ChangeBytesFault) -> StoredValue {
        guard depth < Self.deepest else { throw fault("it has a value that is nested too deep") }
        switch try byte() {
        case 0: return .null
        case 1: return .bool(false)
        case 2: return .bool(true)
        case 3:
            let value = try varint()
            return .integer(Int64(bitPattern: value >> 1) ^ -Int64(bitPattern: value & 1))
        case 4: return .unsigned(try varint())
        case 5: return .float(Float(bitPattern: try fixed(UInt32.self)))
        case 6: return .double(Double(bitPattern: try fixed(UInt64.self)))
        case 7:
            guard let value = DecimalText.decimal(from: try text()) else {
                throw fault("it has text that is no decimal")
            }
            return .decimal(value)
        case 8: return .string(try text())
        case 9:
            let length = try count()
            return .data(Data(try raw(length)))
        case 10: return .date(Date(timeIntervalSinceReferenceDate: Double(bitPattern: try fixed(UInt64.self))))
        case 11:
            let digits = try raw(16)
            return .uuid(digits.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) })
        case 12:
            guard let url = URL(string: try text()) else { throw fault("it has text that is no URL") }
            return .url(url)
        case 13:
            let relative = try text()
            guard let base = URL(string: try text()), let url = URL(string: relative, relativeTo: base) else {
                throw fault("it has text that is no URL")
            }
            return .url(url)
        case 14: return .identifier(try reference())
        case 15:
            var members: [PersistentIdentifier] = []
            for _ in 0..<(try count()) { members.append(try reference()) }
            return .identifiers(members)
        case 16:
            var values: [StoredValue] = []
            for _ in 0..<(try count()) { values.append(try value(depth + 1)) }
            return .array(values)
        case 17:
            var members: [String: StoredValue] = [:]
            for _ in 0..<(try count()) {
                let name = try text()
                members[name] = try value(depth + 1)
            }
            return .object(members)
        case let tag: throw fault("it has a value of the unknown kind \(tag)")
        }
    }

    /// Reads changes into a set.
    package mutating func changes(into changes: inout ChangeSet) throws(ChangeBytesFault) {
        var inserted: [DefaultSnapshot] = []
        for _ in 0..<(try count()) {
            let (layout, records, total) = try group()
            for _ in 0..<total {
                let record = records[try sequence()]
                let values = try pairs(layout).values
                inserted.append(DefaultSnapshot(persistentIdentifier: record, layout: layout, values: values))
            }
        }
        changes.inserted = ChangeSet.Insertions(inserted.sorted { $0.persistentIdentifier < $1.persistentIdentifier })
        for _ in 0..<(try count()) {
            let (layout, records, total) = try group()
            for _ in 0..<total {
                let record = records[try sequence()]
                var slots = SlotSet()
                var old = ContiguousArray<StoredValue>(repeating: .null, count: layout.slots.count)
                var new = old
                for _ in 0..<(try count()) {
                    let slot = try number(below: layout.slots.count)
                    slots.insert(slot)
                    old[slot] = try value()
                    new[slot] = try value()
                }
                changes.updated.append(
                    .init(record: record, layout: layout, slots: slots, values: new, oldValues: old))
            }
        }
        for _ in 0..<(try count()) {
            let (layout, records, total) = try group()
            for _ in 0..<total {
                let record = records[try sequence()]
                let (values, slots) = try pairs(layout)
                changes.deleted.append(.init(record: record, layout: layout, values: values, preserved: slots))
            }
        }
        guard try byte() == 0xFF, offset == bytes.count else { throw fault("it does not end with its changes") }
    }

    private mutating func sequence() throws(ChangeBytesFault) -> UInt64 {
        let number = try varint()
        guard number < EngineVersion.numberLimit else { throw fault("it names a record that no store has") }
        return number
    }

    private mutating func group() throws(ChangeBytesFault) -> (RecordLayout, IdentifierNamespace, Int) {
        let entity = try number(below: layouts.count)
        guard let layout = layouts[entity] else { throw fault("it names an entity that its schema lacks") }
        return (layout, namespaces[entity], try count())
    }

    private mutating func pairs(
        _ layout: RecordLayout
    ) throws(ChangeBytesFault) -> (values: ContiguousArray<StoredValue>, slots: SlotSet) {
        var values = ContiguousArray<StoredValue>(repeating: .null, count: layout.slots.count)
        var slots = SlotSet()
        for _ in 0..<(try count()) {
            let slot = try number(below: layout.slots.count)
            slots.insert(slot)
            values[slot] = try value()
        }
        return (values, slots)
    }
}
