import Foundation
import MortiseCore

/// Collects the bytes of a change set, in the form that `Adapters/JSONFile/HISTORY.md` describes.
package struct ChangeBytes {
    package private(set) var bytes: [UInt8] = []
    /// The places of the entities in the schema.
    private let entities: [String: Int]

    package init(_ schema: StoredSchema) {
        entities = Dictionary(
            schema.entities.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first })
        bytes.reserveCapacity(256)
    }

    package mutating func byte(_ value: UInt8) { bytes.append(value) }

    package mutating func varint(_ value: some FixedWidthInteger) {
        var rest = UInt64(truncatingIfNeeded: value)
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(rest))
    }

    package mutating func fixed<T: FixedWidthInteger>(_ value: T) {
        withUnsafeBytes(of: value.littleEndian) { bytes += $0 }
    }

    package mutating func text(_ value: String) {
        var value = value
        value.withUTF8 { text in
            varint(text.count)
            bytes += text
        }
    }

    private mutating func reference(_ record: PersistentIdentifier) {
        varint(entities[record.entityName] ?? 0)
        varint(record.sequenceNumber ?? 0)
    }

    mutating func value(_ value: StoredValue) {
        switch value {
        case .null: byte(0)
        case .bool(let value): byte(value ? 2 : 1)
        case .integer(let value):
            byte(3)
            varint(UInt64(bitPattern: value << 1 ^ value >> 63))
        case .unsigned(let value):
            byte(4)
            varint(value)
        case .float(let value):
            byte(5)
            fixed(value.bitPattern)
        case .double(let value):
            byte(6)
            fixed(value.bitPattern)
        case .decimal(let value):
            byte(7)
            text(DecimalText.text(of: value))
        case .string(let value):
            byte(8)
            text(value)
        case .data(let value):
            byte(9)
            varint(value.count)
            bytes += value
        case .date(let value):
            byte(10)
            fixed(value.timeIntervalSinceReferenceDate.bitPattern)
        case .uuid(let value):
            byte(11)
            withUnsafeBytes(of: value.uuid) { bytes += $0 }
        case .url(let value):
            byte(value.baseURL == nil ? 12 : 13)
            text(value.relativeString)
            if let base = value.baseURL { text(base.absoluteString) }
        case .identifier(let record):
            byte(14)
            reference(record)
        case .identifiers(let records):
            byte(15)
            varint(records.count)
            for record in records { reference(record) }
        case .array(let values):
            byte(16)
            varint(values.count)
            for element in values { self.value(element) }
        case .object(let members):
            byte(17)
            varint(members.count)
            for (name, member) in members.sorted(by: { $0.key < $1.key }) {
                text(name)
                self.value(member)
            }
        }
    }

    /// Writes the changes that led from one version to the next, with the values before and after.
    /// - Throws: `ExternalValueError` for data that a deletion preserves and that cannot be read.
    package mutating func changes(_ changes: ChangeSet, from before: EngineVersion, to after: EngineVersion) throws {
        groups(changes.inserted.records) { writer, records, entity in
            let table = after.tables[entity]
            for record in records {
                writer.varint(record.sequenceNumber ?? 0)
                guard let table, let row = table.row(of: record) else {
                    writer.varint(0)
                    continue
                }
                let values = table.layout.keptSlots.map { ($0, table.storedForm(row: row, slot: $0)) }
                    .filter { !$0.1.isNull }
                writer.varint(values.count)
                for (slot, value) in values {
                    writer.varint(slot)
                    writer.value(value)
                }
            }
        }
        var slots: [PersistentIdentifier: SlotSet] = [:]
        // Of the same record several may come.
        for update in changes.updated { slots[update.record, default: SlotSet()].formUnion(update.slots) }
        groups(ContiguousArray(slots.keys)) { writer, records, entity in
            let (old, new) = (before.tables[entity], after.tables[entity])
            for record in records {
                writer.varint(record.sequenceNumber ?? 0)
                let changed = (slots[record] ?? SlotSet()).slots
                let (oldRow, newRow) = (old?.row(of: record), new?.row(of: record))
                writer.varint(changed.count)
                for slot in changed {
                    writer.varint(slot)
                    writer.value(oldRow.flatMap { old?.storedForm(row: $0, slot: slot) } ?? .null)
                    writer.value(newRow.flatMap { new?.storedForm(row: $0, slot: slot) } ?? .null)
                }
            }
        }
        var failure: (any Error)?
        groups(ContiguousArray(changes.deleted.map(\.record))) { writer, records, entity in
            let table = before.tables[entity]
            for record in records {
                writer.varint(record.sequenceNumber ?? 0)
                guard let table, let row = table.row(of: record) else {
                    writer.varint(0)
                    continue
                }
                let values = table.layout.keptSlots.map { slot -> (Int, StoredValue) in
                    guard table.layout.preserves(slot) else { return (slot, table.storedForm(row: row, slot: slot)) }
                    do {
                        return (slot, try table.readValue(row: row, slot: slot))
                    } catch {
                        failure = failure ?? error
                        return (slot, .null)
                    }
                }
                writer.varint(values.count)
                for (slot, value) in values {
                    writer.varint(slot)
                    writer.value(value)
                }
            }
        }
        if let failure { throw failure }
    }

    private mutating func groups(
        _ records: ContiguousArray<PersistentIdentifier>,
        _ write: (inout ChangeBytes, [PersistentIdentifier], String) -> Void
    ) {
        let members = Dictionary(grouping: records, by: \.entityName).filter { entities[$0.key] != nil }
        varint(members.count)
        for (name, records) in members.sorted(by: { $0.key < $1.key }) {
            varint(entities[name] ?? 0)
            varint(records.count)
            write(&self, records.sorted(), name)
        }
    }
}

extension RecordLayout {
    /// The slots whose values a history keeps: all that a record itself has.
    var keptSlots: [Int] {
        slots.indices.filter { slots[$0].role != .toManyDerived && !isEphemeral($0) }
    }

    private func isEphemeral(_ slot: Int) -> Bool {
        slots[slot].property.attribute?.options.contains(.ephemeral) == true
    }

    fileprivate func preserves(_ slot: Int) -> Bool {
        slots[slot].property.attribute?.options.contains(.preserveValueOnDeletion) == true
    }
}
