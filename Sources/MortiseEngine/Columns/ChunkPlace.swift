import Foundation
import Synchronization

/// Reads the bytes of one chunk. It does not retain them: its user must keep the chunk alive.
///
/// The fixed region, all numbers little-endian:
///
///   0   u32  rows that there is room for, a multiple of 64
///   4   u32  columns
///   8   u32  rows in use (the writer's; readers know how many rows their version has)
///   12  u32  zero
///   16  u64  bytes in use of the heap
///   24  u64  bytes of these that no row refers to any more
///   32  u64  for each column: u32 offset of its values, u8 form, 3 bytes zero
///   then     the rows' numbers, u64 each, ascending; a bitmap of the rows that were deleted;
///            for each column a bitmap of the rows that have no value, and the values, from a multiple of 8 on
///
/// A text or bytes value has sixteen bytes: u32 length, then up to twelve bytes, or the first four and the u64 offset in
/// the heap. A row without value has zeros. Data that are in a file of their own have the length 0xFFFFFFFF and, in the heap,
/// the 28 bytes of an `ExternalReference`. The heap follows the fixed region wherever both are written down.
struct ChunkPlace {
    let fixed: UnsafeRawPointer
    let heap: UnsafeRawPointer

    static let directory = 32
    static let inlineLimit = 12
    /// The length of an external value.
    static let externalMark = UInt32.max

    /// One column's part of the directory.
    struct Entry {
        let word: UInt64
        @inline(__always) var offset: Int { Int(word & 0xFFFF_FFFF) }
        @inline(__always) var form: ColumnForm { ColumnForm(rawValue: UInt8(truncatingIfNeeded: word >> 32)) }
    }

    /// Lies before the fixed region, and in no file.
    @inline(__always)
    var verification: RowVerification {
        RowVerification(word: (fixed - Chunk.prefix).assumingMemoryBound(to: Atomic<UInt64>.self))
    }

    @inline(__always) var capacity: Int { Int(UInt32(littleEndian: fixed.load(as: UInt32.self))) }
    var columnCount: Int { Int(UInt32(littleEndian: fixed.load(fromByteOffset: 4, as: UInt32.self))) }

    @inline(__always)
    func entry(_ slot: Int) -> Entry {
        Entry(word: UInt64(littleEndian: fixed.load(fromByteOffset: Self.directory &+ 8 &* slot, as: UInt64.self)))
    }

    @inline(__always) private var sequences: Int { Self.directory + 8 * columnCount }

    @inline(__always)
    func sequence(_ offset: Int) -> UInt64 {
        UInt64(littleEndian: fixed.load(fromByteOffset: sequences + 8 * offset, as: UInt64.self))
    }

    @inline(__always)
    func isDead(_ offset: Int) -> Bool {
        bit(sequences + 8 * capacity, offset)
    }

    /// Sixty-four rows' marks of deletion.
    func deadWord(_ index: Int) -> UInt64 { word(sequences + 8 * capacity + 8 * index) }

    @inline(__always)
    func isAbsent(_ entry: Entry, _ offset: Int) -> Bool {
        bit(entry.offset - capacity / 8, offset)
    }

    /// Sixty-four rows' marks of having no value in a column.
    func absentWord(_ entry: Entry, _ index: Int) -> UInt64 { word(entry.offset - capacity / 8 + 8 * index) }

    /// Asks the processor for what a test of a column reads of another chunk, while this one is gone through: chunks lie
    /// apart, and waiting for one takes longer than testing it. The other is taken to be laid out as this one; where it is
    /// not, nothing is lost.
    @inline(__always)
    func prefetch(_ other: ChunkPlace, _ slot: Int) {
        let capacity = capacity
        let entry = entry(slot)
        mortise_prefetch(other.fixed, Self.directory + 8 * (slot + 1))
        mortise_prefetch(other.fixed + sequences + 8 * capacity, capacity / 8)
        // The processor goes on by itself behind so much.
        mortise_prefetch(
            other.fixed + entry.offset - capacity / 8, capacity / 8 + min(entry.form.width * capacity, 1_024))
    }

    // A bitmap word may hold bits of rows that the writer is adding while this version is read.
    @inline(__always)
    private func word(_ position: Int) -> UInt64 {
        (fixed + position).assumingMemoryBound(to: Atomic<UInt64>.self).pointee.load(ordering: .relaxed).littleEndian
    }

    @inline(__always)
    private func bit(_ position: Int, _ offset: Int) -> Bool {
        word(position + offset / 64 * 8) & (1 << UInt64(offset % 64)) != 0
    }

    @inline(__always)
    func load<T: BitwiseCopyable>(_ entry: Entry, _ offset: Int, as type: T.Type) -> T {
        (fixed + entry.offset + MemoryLayout<T>.size * offset).loadUnaligned(as: type)
    }

    @inline(__always)
    func double(_ entry: Entry, _ offset: Int) -> Double {
        Double(bitPattern: UInt64(littleEndian: load(entry, offset, as: UInt64.self)))
    }

    /// An integer that fits 64 signed bits; nil for other columns.
    @inline(__always)
    func integer(_ entry: Entry, _ offset: Int) -> Int64? {
        switch entry.form {
        case .int64: Int64(littleEndian: load(entry, offset, as: Int64.self))
        case .int32: Int64(Int32(littleEndian: load(entry, offset, as: Int32.self)))
        case .int16: Int64(Int16(littleEndian: load(entry, offset, as: Int16.self)))
        case .int8: Int64(load(entry, offset, as: Int8.self))
        case .uint32: Int64(UInt32(littleEndian: load(entry, offset, as: UInt32.self)))
        case .uint16: Int64(UInt16(littleEndian: load(entry, offset, as: UInt16.self)))
        case .uint8: Int64(load(entry, offset, as: UInt8.self))
        default: nil
        }
    }

    @inline(__always)
    func uuid(_ entry: Entry, _ offset: Int) -> UUID { UUID(uuid: load(entry, offset, as: uuid_t.self)) }

    func decimal(_ entry: Entry, _ offset: Int) -> Decimal { storedDecimal(entry, offset).number }

    @inline(__always)
    func storedDecimal(_ entry: Entry, _ offset: Int) -> StoredDecimal {
        StoredDecimal(reading: fixed + entry.offset + StoredDecimal.width * offset)
    }

    /// The number of the target, and of its entity among those that the column's property may lead to.
    @inline(__always)
    func reference(_ entry: Entry, _ offset: Int) -> (sequence: UInt64, target: Int) {
        if entry.form == .reference { return (UInt64(littleEndian: load(entry, offset, as: UInt64.self)), 0) }
        let place = fixed + entry.offset + 10 * offset
        return (
            UInt64(littleEndian: place.loadUnaligned(as: UInt64.self)),
            Int(UInt16(littleEndian: place.loadUnaligned(fromByteOffset: 8, as: UInt16.self)))
        )
    }

    /// Whether a bytes value is external; `bytes` are then those of the reference.
    @inline(__always)
    func isExternal(_ entry: Entry, _ offset: Int) -> Bool {
        UInt32(littleEndian: (fixed + entry.offset + 16 * offset).load(as: UInt32.self)) == Self.externalMark
    }

    /// The bytes of a text or bytes value.
    @inline(__always)
    func bytes(_ entry: Entry, _ offset: Int) -> UnsafeRawBufferPointer {
        let place = fixed + entry.offset + 16 * offset
        let count = Int(UInt32(littleEndian: place.load(as: UInt32.self)))
        if count <= Self.inlineLimit { return UnsafeRawBufferPointer(start: place + 4, count: count) }
        let start = Int(UInt64(littleEndian: place.load(fromByteOffset: 8, as: UInt64.self)))
        return UnsafeRawBufferPointer(
            start: heap + start, count: count == Int(Self.externalMark) ? ExternalReference.size : count)
    }

    @inline(__always)
    func text(_ entry: Entry, _ offset: Int) -> String {
        String(decoding: bytes(entry, offset), as: UTF8.self)
    }

    @inline(__always)
    func code(_ entry: Entry, _ offset: Int) -> Int {
        Int(UInt16(littleEndian: load(entry, offset, as: UInt16.self)))
    }

    /// The value of a column whose form is a word, as that word.
    @inline(__always)
    func word(_ entry: Entry, _ offset: Int) -> UInt64 {
        switch entry.form {
        case .code: UInt64(code(entry, offset))
        case .bool: UInt64(load(entry, offset, as: UInt8.self))
        case .float: UInt64(UInt32(littleEndian: load(entry, offset, as: UInt32.self)))
        case .double, .date, .uint64, .reference: UInt64(littleEndian: load(entry, offset, as: UInt64.self))
        default: UInt64(bitPattern: integer(entry, offset) ?? 0)
        }
    }
}
