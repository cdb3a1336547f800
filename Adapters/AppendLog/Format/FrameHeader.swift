import MortiseEngine

/// What a frame is. Raw, because a file may hold kinds of a later time.
struct FrameKind: RawRepresentable, Hashable {
    let rawValue: UInt8
    static let schema = FrameKind(rawValue: 1)
    static let transaction = FrameKind(rawValue: 2)
    /// A transaction that names external files. It has a kind of its own so that readers that do not know of them stop
    /// before it.
    static let transactionWithFiles = FrameKind(rawValue: 3)
    /// The schemas that a migration leads through, and what its code changes under each: all of it or nothing, and one transaction.
    static let migration = FrameKind(rawValue: 4)
    /// What stays of a transaction that was deleted from the history. Readers that replay records skip it, as those do that do not know
    /// it.
    static let stub = FrameKind(rawValue: 5)

    /// Whether it holds a transaction, and its header that transaction's number.
    var isTransaction: Bool { self == .transaction || self == .transactionWithFiles || self == .migration }
    var isKnown: Bool { self == .schema || isTransaction }
    /// How many frame numbers it takes. A migration takes two, so that where frames are missing their numbers still tell
    /// whether all of them were transactions and no more.
    var width: UInt64 { self == .migration ? 2 : 1 }
}

/// The 48 bytes before a payload.
struct FrameHeader: Hashable {
    static let size = 48
    static let sector: Int64 = 512
    static let marker: UInt32 = 0x1A52_464D

    var kind: FrameKind
    /// Whether readers that do not know the kind may skip the frame.
    var isSkippable = false
    var sequence: UInt64
    var transaction: UInt64
    /// The last frame that was known to be on the disk.
    var synced: UInt64
    var length: UInt64
    var checksum: UInt32

    /// Where a frame goes whose predecessor ends at `end`: its header lies in one sector.
    static func place(after end: Int64) -> Int64 {
        let aligned = (end + 7) & ~7
        return aligned % sector > sector - Int64(size) ? (aligned / sector + 1) * sector : aligned
    }

    /// Appends the header; `seed` is the value that the checksums of the file's frames start from.
    func write(to writer: inout ByteWriter, seed: UInt32) {
        withUnsafeTemporaryAllocation(byteCount: Self.size, alignment: 8) { header in
            func put<T: FixedWidthInteger & BitwiseCopyable>(_ value: T, at offset: Int) {
                header.storeBytes(of: value.littleEndian, toByteOffset: offset, as: T.self)
            }
            put(Self.marker, at: 0)
            put(kind.rawValue, at: 4)
            put(UInt8(isSkippable ? 1 : 0), at: 5)
            put(UInt16(0), at: 6)
            put(sequence, at: 8)
            put(transaction, at: 16)
            put(synced, at: 24)
            put(length, at: 32)
            put(checksum, at: 40)
            var sum = CRC32C(resuming: seed)
            sum.update(UnsafeRawBufferPointer(rebasing: header[..<44]))
            put(sum.value, at: 44)
            writer.raw(UnsafeRawBufferPointer(header))
        }
    }

    /// Reads the header from 48 bytes; nil if they are not a header of this file, or have a number of 2^62 or more.
    init?(_ raw: UnsafeRawBufferPointer, seed: UInt32) {
        guard Self.isSealed(raw, seed: seed) else { return nil }
        func load<T: FixedWidthInteger>(_ offset: Int, _ type: T.Type) -> T {
            T(littleEndian: raw.loadUnaligned(fromByteOffset: offset, as: T.self))
        }
        guard raw[5] & ~1 == 0, load(6, UInt16.self) == 0, load(8, UInt64.self) < EngineVersion.numberLimit,
            load(16, UInt64.self) < EngineVersion.numberLimit
        else { return nil }
        self.init(
            kind: FrameKind(rawValue: raw[4]), isSkippable: raw[5] & 1 != 0, sequence: load(8, UInt64.self),
            transaction: load(16, UInt64.self), synced: load(24, UInt64.self), length: load(32, UInt64.self),
            checksum: load(40, UInt32.self))
    }

    /// Whether the bytes are what some program wrote as a header of this file.
    private static func isSealed(_ raw: UnsafeRawBufferPointer, seed: UInt32) -> Bool {
        guard raw.count >= size, raw.loadUnaligned(as: UInt32.self).littleEndian == marker else { return false }
        var sum = CRC32C(resuming: seed)
        sum.update(UnsafeRawBufferPointer(rebasing: raw[0..<44]))
        return sum.value == raw.loadUnaligned(fromByteOffset: 44, as: UInt32.self).littleEndian
    }

    /// Why 48 bytes with the right checksum are not a valid header; nil if the checksum is wrong or the header is
    /// valid.
    static func headerFault(of raw: UnsafeRawBufferPointer, seed: UInt32, at offset: Int64) -> LogFault? {
        guard isSealed(raw, seed: seed), FrameHeader(raw, seed: seed) == nil else { return nil }
        if raw[5] & ~1 != 0 { return .unknownFlags(offset: offset, flags: raw[5]) }
        if raw[6] | raw[7] != 0 {
            return .malformed(part: .frame, offset: offset + 6, what: "has a header with unknown bytes set")
        }
        return .malformed(part: .frame, offset: offset + 8, what: "has a header with a number that is not below 2^62")
    }

    init(
        kind: FrameKind, isSkippable: Bool = false, sequence: UInt64, transaction: UInt64, synced: UInt64,
        length: UInt64, checksum: UInt32
    ) {
        self.kind = kind
        self.isSkippable = isSkippable
        self.sequence = sequence
        self.transaction = transaction
        self.synced = synced
        self.length = length
        self.checksum = checksum
    }

    /// The header of a payload.
    init(kind: FrameKind, payload: [UInt8], sequence: UInt64, transaction: UInt64, synced: UInt64, seed: UInt32) {
        var sum = CRC32C(resuming: seed)
        sum.update(payload)
        self.init(
            kind: kind, sequence: sequence, transaction: transaction, synced: synced, length: UInt64(payload.count),
            checksum: sum.value)
    }
}
