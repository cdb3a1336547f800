import MortiseCore
import MortiseEngine

/// Writes whole records from the columns that they are in.
///
/// Their bytes are gathered in room of their own, so that whether there is some left is asked for each value and not for
/// each byte.
struct RecordBytes: ~Copyable {
    private var rows: Visitor

    /// Begins writing records after the bytes that `writer` holds; `finish` returns the writer.
    init(_ writer: consuming ByteWriter, _ table: TableVersion, _ entity: Int, _ catalog: LogCatalog) {
        rows = Visitor(
            writer: writer, room: .allocate(byteCount: Visitor.capacity, alignment: 8), table: table, entity: entity,
            catalog: catalog)
    }

    deinit { rows.room.deallocate() }

    /// The numbers and stored values of records.
    /// - Parameter rows: rows of the table.
    /// - Throws: `LogFault.unwritableValue`.
    mutating func append(_ rows: Range<Int>) throws {
        if rows.isEmpty { return }
        let (table, slots) = (self.rows.table, self.rows.slots)
        try table.visit(rows: rows, slots, &self.rows)
    }

    /// Makes room for `count` records as long as those appended so far, and a little more, because growing copies
    /// everything. If the rest turn out shorter, this takes no more than growing a few times would.
    mutating func reserve(for count: Int, after appended: Int) { rows.reserve(for: count, after: appended) }

    consuming func finish() -> ByteWriter {
        rows.flush()
        return rows.writer
    }
}

extension RecordBytes {
    fileprivate struct Visitor: RowVisitor {
        static let capacity = 4_096
        /// What is reserved at most where it is more than doubling what there is, in bytes.
        private static let largestRoom = 64 << 20

        var writer: ByteWriter
        /// What the writer had before.
        private let start: Int
        let room: UnsafeMutableRawPointer
        private var count = 0
        let table: TableVersion
        let slots: [Int]
        private let entity: Int
        private let catalog: LogCatalog
        private var row = 0
        /// The entity of the last reference, which is mostly that of the next.
        private var target = 0

        init(
            writer: ByteWriter, room: UnsafeMutableRawPointer, table: TableVersion, entity: Int, catalog: LogCatalog
        ) {
            self.writer = writer
            start = writer.count
            self.room = room
            self.table = table
            self.entity = entity
            self.catalog = catalog
            slots = catalog.storedSlots[entity]
        }

        mutating func flush() {
            writer.raw(UnsafeRawBufferPointer(start: room, count: count))
            count = 0
        }

        mutating func reserve(for records: Int, after appended: Int) {
            let written = writer.count + count
            let (expected, isHuge) = ((written - start) / max(appended, 1)).multipliedReportingOverflow(by: records)
            writer.reserve(start + min(isHuge ? .max : expected / 15 * 16, max(written * 2, Self.largestRoom)))
        }

        // MARK: What is gathered

        private static var longestVarint: Int { 10 }

        @inline(__always)
        private mutating func makeRoom(for bytes: Int) {
            if count &+ bytes > Self.capacity { flush() }
        }

        @inline(__always)
        private mutating func store<T: BitwiseCopyable>(_ value: T) {
            room.storeBytes(of: value, toByteOffset: count, as: T.self)
            count &+= MemoryLayout<T>.size
        }

        @inline(__always)
        private mutating func varint(_ value: UInt64) {
            var rest = value
            while rest >= 0x80 {
                store(UInt8(truncatingIfNeeded: rest) | 0x80)
                rest >>= 7
            }
            store(UInt8(truncatingIfNeeded: rest))
        }

        @inline(__always)
        private mutating func number(_ tag: UInt8, _ bits: UInt64) {
            makeRoom(for: 9)
            store(tag)
            store(bits.littleEndian)
        }

        // MARK: RowVisitor
        // In line, since each is called through the protocol already.

        @inline(__always)
        mutating func begin(_ row: Int, sequence: UInt64) {
            self.row = row
            writer.beginRecord(after: count)
            makeRoom(for: Self.longestVarint)
            varint(sequence)
        }

        @inline(__always)
        mutating func null() {
            makeRoom(for: 1)
            store(ValueTag.null)
        }

        @inline(__always)
        mutating func bool(_ value: Bool) {
            makeRoom(for: 1)
            store(value ? ValueTag.yes : ValueTag.no)
        }

        @inline(__always)
        mutating func integer(_ value: Int64) {
            makeRoom(for: 1 + Self.longestVarint)
            store(ValueTag.integer)
            varint(ByteWriter.zigzag(value))
        }

        @inline(__always)
        mutating func double(_ value: Double) { number(ValueTag.double, value.bitPattern) }

        @inline(__always)
        mutating func date(_ value: Double) { number(ValueTag.date, value.bitPattern) }

        @inline(__always)
        mutating func uuid(_ value: UnsafeRawBufferPointer) {
            makeRoom(for: 1 + value.count)
            store(ValueTag.uuid)
            copy(value)
        }

        @inline(__always)
        mutating func text(_ utf8: UnsafeRawBufferPointer) {
            makeRoom(for: 1 + Self.longestVarint)
            store(ValueTag.string)
            varint(UInt64(utf8.count))
            makeRoom(for: utf8.count)
            if utf8.count <= Self.capacity { copy(utf8) } else { writer.raw(utf8) }
        }

        @inline(__always)
        private mutating func copy(_ bytes: UnsafeRawBufferPointer) {
            guard let start = bytes.baseAddress else { return }
            (room + count).copyMemory(from: start, byteCount: bytes.count)
            count &+= bytes.count
        }

        @inline(__always)
        mutating func reference(_ target: PersistentIdentifier, _ slot: Int) throws {
            guard let sequence = target.sequenceNumber, let entity = catalog.entity(of: target, near: self.target)
            else {
                throw catalog.unwritableValue(self.entity, slot)
            }
            self.target = entity
            makeRoom(for: 1 + 2 * Self.longestVarint)
            store(ValueTag.reference)
            varint(UInt64(entity))
            varint(sequence)
        }

        mutating func other(_ slot: Int) throws {
            flush()
            try writer.checked(table.storedForm(row: row, slot: slot), entity, slot, catalog)
        }
    }
}
