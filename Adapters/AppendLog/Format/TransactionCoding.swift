import Foundation
import MortiseCore
import MortiseEngine

/// The author and the process of a save, and its time.
struct TransactionOrigin: Hashable, Sendable {
    var timestamp: Date
    var author: String?
    var process: String
    var bundle: String
}

/// Takes a transaction's content in the order in which it is applied.
protocol TransactionVisitor {
    mutating func begin(_ origin: TransactionOrigin, isErasure: Bool, nextSequence: UInt64) throws
    /// A record was deleted; `preserved` are the slots with the values that stay in the history.
    mutating func deleted(_ entity: Int, _ sequence: UInt64, preserved: [(slot: Int, value: StoredValue)]) throws
    mutating func updated(_ entity: Int, _ sequence: UInt64, _ changes: [(slot: Int, value: StoredValue)]) throws
    /// A record was inserted. There is one value for each slot of the layout; null for a slot that is not stored.
    mutating func inserted(_ entity: Int, _ sequence: UInt64, _ values: ContiguousArray<StoredValue>) throws
    /// The next `count` records of the reader were inserted. The default implementation passes them on one by one.
    mutating func inserted(_ entity: Int, _ count: Int, from reader: inout ByteReader, _ catalog: LogCatalog) throws
}

extension TransactionVisitor {
    mutating func inserted(_ entity: Int, _ count: Int, from reader: inout ByteReader, _ catalog: LogCatalog) throws {
        try reader.records(entity, count, catalog) { try inserted(entity, $0, $1) }
    }
}

/// The last byte of every payload: a frame that ends in zero was never written to its end.
let payloadEnd: UInt8 = 0xFF

// MARK: - Writing

extension ByteWriter {
    /// Writes the payload of a transaction from the version `before`, where deleted records are read, to the version
    /// `after`.
    /// - Throws: `LogFault.unwritableValue`; `EngineError.noSuchRecord` for a new record that `after` does not have.
    mutating func transaction(
        _ changes: ChangeSet, from before: EngineVersion, to after: EngineVersion, catalog: LogCatalog
    ) throws {
        fixed((changes.commit?.timestamp ?? Date()).timeIntervalSinceReferenceDate.bitPattern)
        byte((changes.author == nil ? 0 : 1) | (changes.isErasure ? 2 : 0))
        if let author = changes.author { text(author) }
        text(changes.commit?.process ?? "")
        text(changes.commit?.bundle ?? "")
        varint(after.nextSequence)
        try groups(ContiguousArray(changes.deleted.map(\.record)), catalog) { writer, entity, records in
            let rows = before.tables[catalog.names[entity]]
            for record in records { try writer.deletion(of: record, rows, rows?.row(of: record), entity, catalog) }
        }
        var slots: [PersistentIdentifier: SlotSet] = [:]
        var updated: ContiguousArray<PersistentIdentifier> = []
        for update in changes.updated {
            // One record may come several times: changed by the save, and by what followed from it.
            if slots[update.record] == nil { updated.append(update.record) }
            slots[update.record, default: SlotSet()].formUnion(update.slots)
        }
        try groups(updated, catalog) { writer, entity, records in
            let rows = after.tables[catalog.names[entity]]
            let stored = SlotSet(catalog.storedSlots[entity])
            for record in records {
                writer.beginRecord()
                writer.varint(record.sequenceNumber ?? 0)
                let changed = (slots[record] ?? SlotSet()).slots.filter(stored.contains)
                guard let rows, let row = rows.row(of: record) else {
                    writer.varint(0)
                    continue
                }
                writer.varint(changed.count)
                for slot in changed {
                    writer.varint(slot)
                    try writer.checked(rows.storedForm(row: row, slot: slot), entity, slot, catalog)
                }
            }
        }
        try groups(changes.inserted.records, catalog) { (writer, entity, records) throws in
            guard let first = records.first else { return }
            guard let rows = after.tables[catalog.names[entity]] else { throw EngineError.noSuchRecord(first) }
            var bytes = RecordBytes(writer, rows, entity, catalog)
            // A second reference to the bytes would have them copied.
            writer = ByteWriter(capacity: 0)
            // New records lie one after the other.
            var run = 0..<0
            for number in records.indices {
                guard let row = rows.row(of: records[number], expectedAt: run.upperBound) else {
                    throw EngineError.noSuchRecord(records[number])
                }
                if row == run.upperBound, number != Self.sample {
                    run = run.lowerBound..<(row + 1)
                    continue
                }
                try bytes.append(run)
                if number == Self.sample { bytes.reserve(for: records.count, after: number) }
                run = row..<(row + 1)
            }
            try bytes.append(run)
            writer = bytes.finish()
        }
        fixed(changes.commit?.mark ?? HistoryMark.next())
        byte(payloadEnd)
    }

    /// Writes the payload of a transaction that makes the changes between two versions, which are not kept in memory for that.
    /// - Throws: as `transaction(_:from:to:catalog:)`.
    mutating func transaction(_ changes: NetChanges, catalog: LogCatalog) throws {
        let after = changes.after
        fixed((changes.commit?.timestamp ?? Date()).timeIntervalSinceReferenceDate.bitPattern)
        byte(changes.author == nil ? 0 : 1)
        if let author = changes.author { text(author) }
        text(changes.commit?.process ?? "")
        text(changes.commit?.bundle ?? "")
        varint(after.nextSequence)
        try groups({ changes.deletions(of: $0) }, catalog) { writer, entity, name in
            try changes.forEachDeletion(of: name) { rows, row in
                try writer.deletion(of: rows.identifier(ofRow: row), rows, row, entity, catalog)
            }
        }
        try groups({ changes.updates(of: $0) }, catalog) { writer, entity, name in
            let stored = SlotSet(catalog.storedSlots[entity])
            try changes.forEachUpdate(of: name) { rows, row, slots in
                writer.beginRecord()
                writer.varint(rows.identifier(ofRow: row).sequenceNumber ?? 0)
                let changed = slots.slots.filter(stored.contains)
                writer.varint(changed.count)
                for slot in changed {
                    writer.varint(slot)
                    try writer.checked(rows.storedForm(row: row, slot: slot), entity, slot, catalog)
                }
            }
        }
        try groups({ changes.insertions(of: $0) }, catalog) { writer, entity, name in
            try changes.forEachInsertion(of: name) { rows, row in
                writer.beginRecord()
                writer.varint(rows.identifier(ofRow: row).sequenceNumber ?? 0)
                for slot in catalog.storedSlots[entity] {
                    try writer.checked(rows.storedForm(row: row, slot: slot), entity, slot, catalog)
                }
            }
        }
        fixed(changes.commit?.mark ?? HistoryMark.next())
        byte(payloadEnd)
    }

    private mutating func deletion(
        of record: PersistentIdentifier, _ rows: TableVersion?, _ row: Int?, _ entity: Int, _ catalog: LogCatalog
    ) throws {
        beginRecord()
        varint(record.sequenceNumber ?? 0)
        let slots = row == nil ? [] : catalog.preservedSlots[entity]
        varint(slots.count)
        for slot in slots {
            varint(slot)
            // The data themselves: their file goes with the record.
            try checked(try rows?.readValue(row: row ?? 0, slot: slot) ?? .null, entity, slot, catalog)
        }
    }

    /// Writes groups of changes of one kind, for the entities that have some.
    private mutating func groups(
        _ count: (_ entity: String) -> Int, _ catalog: LogCatalog,
        _ write: (inout ByteWriter, Int, String) throws -> Void
    ) throws {
        varint(catalog.names.count { count($0) > 0 })
        for (entity, name) in catalog.names.enumerated() where count(name) > 0 {
            varint(entity)
            varint(count(name))
            try write(&self, entity, name)
        }
    }

    /// Writes what stays of a transaction that was deleted from the history.
    mutating func stub(_ entry: HistoryEntry) {
        fixed(entry.timestamp.timeIntervalSinceReferenceDate.bitPattern)
        byte(entry.author == nil ? 0 : 1)
        if let author = entry.author { text(author) }
        text(entry.process)
        text(entry.bundle)
        fixed(entry.mark ?? 0)
        byte(payloadEnd)
    }

    mutating func checked(
        _ value: StoredValue, _ entity: Int, _ slot: Int, _ catalog: LogCatalog
    ) throws {
        if catalog.dataSlots[entity].contains(slot), let file = ExternalReference(storedForm: value) {
            byte(ValueTag.file)
            file.bytes.withUnsafeBytes { raw($0) }
            hasFiles = true
            return
        }
        do throws(UnwritableValue) {
            try self.value(value, catalog)
        } catch {
            throw catalog.unwritableValue(entity, slot)
        }
    }

    /// The number of records from which the length of all can be estimated.
    private static var sample: Int { 256 }

    private mutating func groups(
        _ records: ContiguousArray<PersistentIdentifier>, _ catalog: LogCatalog,
        _ write: (inout ByteWriter, Int, ContiguousArray<PersistentIdentifier>) throws -> Void
    ) throws {
        if records.isEmpty { return varint(0) }
        if let first = records.first.flatMap({ catalog.entity(of: $0) }),
            records.allSatisfy({ catalog.entity(of: $0, near: first) == first })
        {
            varint(1)
            varint(first)
            varint(records.count)
            return try write(&self, first, records)
        }
        var members: [ContiguousArray<PersistentIdentifier>] = Array(repeating: [], count: catalog.names.count)
        var entity = 0
        for record in records {
            guard let found = catalog.entity(of: record, near: entity) else { continue }
            entity = found
            members[entity].append(record)
        }
        varint(members.count { !$0.isEmpty })
        for (entity, members) in members.enumerated() where !members.isEmpty {
            varint(entity)
            varint(members.count)
            try write(&self, entity, members)
        }
    }
}

// MARK: - Reading

extension ByteReader {
    /// Reads only the author, the process and the time.
    mutating func origin() throws(PayloadFault) -> (origin: TransactionOrigin, isErasure: Bool, nextSequence: UInt64) {
        let timestamp = Date(timeIntervalSinceReferenceDate: Double(bitPattern: try fixed(UInt64.self)))
        let bits = try byte()
        guard bits < 4 else { throw fault("is a transaction with unknown bits") }
        let author = bits & 1 == 0 ? nil : try text()
        let origin = TransactionOrigin(timestamp: timestamp, author: author, process: try text(), bundle: try text())
        return (origin, bits & 2 != 0, try recordNumber())
    }

    /// Reads what stays of a transaction that was deleted from the history.
    mutating func stub(_ number: UInt64) throws(PayloadFault) -> HistoryEntry {
        let timestamp = Date(timeIntervalSinceReferenceDate: Double(bitPattern: try fixed(UInt64.self)))
        let bits = try byte()
        guard bits < 2 else { throw fault("is a stub with unknown bits") }
        return HistoryEntry(
            number: Int64(clamping: number), mark: mark, timestamp: timestamp,
            author: bits & 1 == 0 ? nil : try text(), process: try text(), bundle: try text(), kind: .stub)
    }

    /// Hands a transaction's content to the visitor.
    mutating func transaction<V: TransactionVisitor>(_ catalog: LogCatalog, to visitor: inout V) throws {
        let (origin, isErasure, nextSequence) = try origin()
        try visitor.begin(origin, isErasure: isErasure, nextSequence: nextSequence)
        for _ in 0..<(try count(of: 2)) {
            let (entity, count) = try group(catalog)
            for _ in 0..<count {
                let sequence = try varint()
                try visitor.deleted(entity, sequence, preserved: try pairs(entity, catalog))
            }
        }
        for _ in 0..<(try count(of: 2)) {
            let (entity, count) = try group(catalog)
            for _ in 0..<count {
                let sequence = try varint()
                try visitor.updated(entity, sequence, try pairs(entity, catalog))
            }
        }
        for _ in 0..<(try count(of: 2)) {
            let (entity, count) = try group(catalog)
            try visitor.inserted(entity, count, from: &self, catalog)
        }
        guard rest > 0 else { throw fault("ends too early") }
    }

    /// Where a transaction names a record: what happened to it, and where in the payload that is said.
    mutating func places(
        ofRecord wanted: UInt64, _ catalog: LogCatalog
    ) throws -> [(what: String, range: Range<Int>)] {
        _ = try origin()
        var places: [(what: String, range: Range<Int>)] = []
        for what in ["deleted", "updated"] {
            for _ in 0..<(try count(of: 2)) {
                let (entity, count) = try group(catalog)
                for _ in 0..<count {
                    let start = offset
                    let sequence = try varint()
                    _ = try pairs(entity, catalog)
                    if sequence == wanted { places.append((what, start..<offset)) }
                }
            }
        }
        for _ in 0..<(try count(of: 2)) {
            let (entity, count) = try group(catalog)
            for _ in 0..<count {
                let start = offset
                var sequence: UInt64 = 0
                try records(entity, 1, catalog) { number, _ in sequence = number }
                if sequence == wanted { places.append(("inserted", start..<offset)) }
            }
        }
        return places
    }

    private mutating func file() throws(PayloadFault) -> ExternalReference {
        let name = ExternalReference.Name(
            high: try fixed(UInt64.self).byteSwapped, low: try fixed(UInt64.self).byteSwapped)
        return ExternalReference(name: name, length: try fixed(UInt64.self), checksum: try fixed(UInt32.self))
    }

    mutating func group(_ catalog: LogCatalog) throws(PayloadFault) -> (entity: Int, count: Int) {
        let entity = try number(below: catalog.names.count, "entity")
        return (entity, try count())
    }

    /// Writes records with all their stored values.
    mutating func records(
        _ entity: Int, _ count: Int, _ catalog: LogCatalog,
        _ body: (UInt64, ContiguousArray<StoredValue>) throws -> Void
    ) throws {
        let width = catalog.layouts[entity].slots.count
        let stored = catalog.storedSlots[entity]
        for _ in 0..<count {
            beginRecord()
            let sequence = try varint()
            var values = ContiguousArray<StoredValue>(repeating: .null, count: width)
            for slot in stored { values[slot] = try fitting(entity, slot, catalog) }
            try body(sequence, values)
        }
    }

    private mutating func pairs(
        _ entity: Int, _ catalog: LogCatalog
    ) throws(PayloadFault) -> [(slot: Int, value: StoredValue)] {
        beginRecord()
        var pairs: [(slot: Int, value: StoredValue)] = []
        let count = try count(of: 2)
        guard count <= catalog.layouts[entity].slots.count else { throw fault("names more slots than the entity has") }
        for _ in 0..<count {
            let slot = try number(below: catalog.layouts[entity].slots.count, "slot")
            pairs.append((slot, try fitting(entity, slot, catalog)))
        }
        return pairs
    }

    /// A value that may stand in a slot.
    mutating func fitting(
        _ entity: Int, _ slot: Int, _ catalog: LogCatalog
    ) throws(PayloadFault) -> StoredValue {
        let description = catalog.layouts[entity].slots[slot]
        if try peek() == ValueTag.file, description.property.attribute?.kind == .data {
            _ = try byte()
            return try file().storedForm
        }
        let value = try value(catalog)
        let fits =
            switch (description.role, value) {
            case (.attribute, _): description.property.attribute.map { value.fits($0.kind) } ?? false
            case (.toOne, .identifier), (.toOne, .null): true
            case (.toManyStored, .identifiers), (.toManyStored, .null): true
            case (.toManyDerived, _): true
            default: false
            }
        guard fits else { throw fault("has a value for \(description.name) of the wrong kind") }
        return value
    }
}
