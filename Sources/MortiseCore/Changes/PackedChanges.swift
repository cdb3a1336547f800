import Foundation

/// A change set with its values as bytes, for a history in memory.
///
/// Values by slot take an allocation for each record, between those of the models that were saved. Once the models are gone,
/// such a history keeps twice its size from being given back.
struct PackedChanges: Sendable {
    /// The records, and which slots have values.
    private var named: ChangeSet
    /// The layouts of the inserted records, each with the number of records in a row that have it.
    private var runs: [(layout: RecordLayout, count: Int)] = []
    private var bytes: ContiguousArray<UInt8> = []
    /// The values that have no form in bytes.
    private var boxed: [StoredValue] = []

    /// Nil where values are not by slot, as a change set's maker may have left them.
    /// - Parameters:
    ///   - changes: the changes.
    ///   - scratch: memory to write in, empty again when this returns.
    init?(_ changes: ChangeSet, scratch: inout ContiguousArray<UInt8>) {
        named = changes
        defer { scratch.removeAll(keepingCapacity: scratch.capacity <= Self.mostScratch) }
        if changes.inserted.hasValues {
            for snapshot in changes.inserted.requested {
                let values = snapshot.values
                guard values.count == snapshot.layout.slots.count else { return nil }
                if let last = runs.last, last.layout === snapshot.layout {
                    runs[runs.count - 1].count += 1
                } else {
                    runs.append((snapshot.layout, 1))
                }
                for value in values { write(changes.inserted.stored(value), &scratch) }
            }
            named.inserted = ChangeSet.Insertions(records: changes.inserted.records)
        }
        for (place, update) in changes.updated.enumerated() {
            let (old, new) = (update.oldValues, update.values)
            guard update.slots.fit(old, update.layout), update.slots.fit(new, update.layout) else { return nil }
            scratch.append((old.isEmpty ? 0 : 1) | (new.isEmpty ? 0 : 2))
            for slot in update.slots.slots {
                if !old.isEmpty { write(old[slot], &scratch) }
                if !new.isEmpty { write(new[slot], &scratch) }
            }
            (named.updated[place].oldValues, named.updated[place].values) = ([], [])
        }
        for (place, deletion) in changes.deleted.enumerated() where !deletion.preserved.isEmpty {
            guard !deletion.values.isEmpty, deletion.preserved.fit(deletion.values, deletion.layout) else { return nil }
            for slot in deletion.preserved.slots { write(deletion.values[slot], &scratch) }
            named.deleted[place].values = []
        }
        bytes = ContiguousArray(scratch[...])
    }

    private static let mostScratch = 1 << 20

    /// About how much memory it takes.
    var approximateBytes: Int {
        let records = 24 * named.inserted.count + 80 * named.updated.count + 64 * named.deleted.count
        return 200 + bytes.count + records + boxed.reduce(0) { $0 + $1.approximateBytes }
    }

    /// The changes, as they were given for everything that counts.
    var changes: ChangeSet {
        var reader = Reader(bytes: bytes, boxed: boxed)
        var changes = named
        if !runs.isEmpty {
            var snapshots: [DefaultSnapshot] = []
            snapshots.reserveCapacity(named.inserted.count)
            let records = named.inserted.records
            for (layout, count) in runs {
                for record in records[snapshots.count..<(snapshots.count + count)] {
                    var values = ContiguousArray<StoredValue>()
                    values.reserveCapacity(layout.slots.count)
                    for _ in layout.slots.indices { values.append(reader.value()) }
                    snapshots.append(DefaultSnapshot(persistentIdentifier: record, layout: layout, values: values))
                }
            }
            changes.inserted = ChangeSet.Insertions(snapshots)
        }
        for (place, update) in named.updated.enumerated() {
            let parts = reader.byte()
            let empty = ContiguousArray<StoredValue>(repeating: .null, count: update.layout.slots.count)
            var (old, new) = (parts & 1 == 0 ? [] : empty, parts & 2 == 0 ? [] : empty)
            for slot in update.slots.slots {
                if !old.isEmpty { old[slot] = reader.value() }
                if !new.isEmpty { new[slot] = reader.value() }
            }
            (changes.updated[place].oldValues, changes.updated[place].values) = (old, new)
        }
        for (place, deletion) in named.deleted.enumerated() where !deletion.preserved.isEmpty {
            var values = ContiguousArray<StoredValue>(repeating: .null, count: deletion.layout.slots.count)
            for slot in deletion.preserved.slots { values[slot] = reader.value() }
            changes.deleted[place].values = values
        }
        return changes
    }

    // MARK: - Values

    private enum Tag {
        static let null: UInt8 = 0, `false`: UInt8 = 1, `true`: UInt8 = 2, integer: UInt8 = 3, unsigned: UInt8 = 4
        static let float: UInt8 = 5, double: UInt8 = 6, date: UInt8 = 7, uuid: UInt8 = 8, string: UInt8 = 9
        static let identifier: UInt8 = 10, boxed: UInt8 = 11
    }

    /// Longer text is kept as it is, and shares its memory with who else has it.
    private static let mostText = 256

    private mutating func write(_ value: StoredValue, _ bytes: inout ContiguousArray<UInt8>) {
        switch value {
        case .null: bytes.append(Tag.null)
        case .bool(let value): bytes.append(value ? Tag.true : Tag.false)
        case .integer(let value):
            bytes.append(Tag.integer)
            bytes.append(varint: UInt64(bitPattern: value << 1 ^ value >> 63))
        case .unsigned(let value):
            bytes.append(Tag.unsigned)
            bytes.append(varint: value)
        case .float(let value):
            bytes.append(Tag.float)
            withUnsafeBytes(of: value.bitPattern) { bytes.append(contentsOf: $0) }
        case .double(let value):
            bytes.append(Tag.double)
            withUnsafeBytes(of: value.bitPattern) { bytes.append(contentsOf: $0) }
        case .date(let value):
            bytes.append(Tag.date)
            withUnsafeBytes(of: value.timeIntervalSinceReferenceDate.bitPattern) { bytes.append(contentsOf: $0) }
        case .uuid(let value):
            bytes.append(Tag.uuid)
            withUnsafeBytes(of: value.uuid) { bytes.append(contentsOf: $0) }
        case .string(var value) where value.utf8.count <= Self.mostText:
            bytes.append(Tag.string)
            value.withUTF8 { text in
                bytes.append(varint: UInt64(text.count))
                bytes.append(contentsOf: text)
            }
        case .identifier(let record):
            guard case .sequence(let number) = record.id.key else { return box(value, &bytes) }
            bytes.append(Tag.identifier)
            bytes.append(varint: UInt64(record.id.namespace))
            bytes.append(varint: number)
        case .decimal, .string, .data, .url, .identifiers, .array, .object: box(value, &bytes)
        }
    }

    private mutating func box(_ value: StoredValue, _ bytes: inout ContiguousArray<UInt8>) {
        bytes.append(Tag.boxed)
        bytes.append(varint: UInt64(boxed.count))
        boxed.append(value)
    }

    /// Reads what `write` has written in this process.
    private struct Reader {
        let bytes: ContiguousArray<UInt8>
        let boxed: [StoredValue]
        var offset = 0

        init(bytes: ContiguousArray<UInt8>, boxed: [StoredValue]) {
            self.bytes = bytes
            self.boxed = boxed
        }

        mutating func byte() -> UInt8 {
            defer { offset += 1 }
            return bytes[offset]
        }

        mutating func varint() -> UInt64 {
            var (value, shift): (UInt64, UInt64) = (0, 0)
            while true {
                let next = byte()
                value |= UInt64(next & 0x7F) << shift
                if next < 0x80 { return value }
                shift += 7
            }
        }

        mutating func bits<Bits: BitwiseCopyable>(_ type: Bits.Type) -> Bits {
            defer { offset += MemoryLayout<Bits>.size }
            precondition(offset + MemoryLayout<Bits>.size <= bytes.count)
            return bytes.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: offset, as: Bits.self) }
        }

        mutating func value() -> StoredValue {
            switch byte() {
            case Tag.null: return .null
            case Tag.false: return .bool(false)
            case Tag.true: return .bool(true)
            case Tag.integer:
                let value = varint()
                return .integer(Int64(bitPattern: value >> 1) ^ -Int64(bitPattern: value & 1))
            case Tag.unsigned: return .unsigned(varint())
            case Tag.float: return .float(Float(bitPattern: bits(UInt32.self)))
            case Tag.double: return .double(Double(bitPattern: bits(UInt64.self)))
            case Tag.date:
                return .date(Date(timeIntervalSinceReferenceDate: Double(bitPattern: bits(UInt64.self))))
            case Tag.uuid: return .uuid(UUID(uuid: bits(uuid_t.self)))
            case Tag.string:
                let count = Int(varint())
                defer { offset += count }
                return .string(String(decoding: bytes[offset..<(offset + count)], as: UTF8.self))
            case Tag.identifier:
                let namespace = UInt32(truncatingIfNeeded: varint())
                return .identifier(PersistentIdentifier(id: .init(namespace: namespace, key: .sequence(varint()))))
            default: return boxed[Int(varint())]
            }
        }
    }
}

extension SlotSet {
    /// Whether values by slot are unknown, or have all of these, which the layout has as well.
    fileprivate func fit(_ values: ContiguousArray<StoredValue>, _ layout: RecordLayout) -> Bool {
        values.isEmpty || slots.allSatisfy { $0 < min(values.count, layout.slots.count) }
    }
}

extension ContiguousArray where Element == UInt8 {
    fileprivate mutating func append(varint value: UInt64) {
        var rest = value
        while rest >= 0x80 {
            append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        append(UInt8(rest))
    }
}
