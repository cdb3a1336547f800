import Foundation
import MortiseCore
import MortiseEngine

/// Which state of a store's file a frame of its history belongs to.
struct DocumentKey: Hashable {
    var length: Int64
    var checksum: UInt32

    init(length: Int64 = 0, checksum: UInt32 = 0) {
        self.length = length
        self.checksum = checksum
    }

    init(of bytes: [UInt8]) {
        length = Int64(bytes.count)
        checksum = CRC32C.checksum(of: bytes)
    }

    /// The mark of a beginning in that state, the same for all who find it so.
    var mark: UInt64 { (UInt64(checksum) << 32 ^ UInt64(truncatingIfNeeded: length)) &* 0x9E37_79B9_7F4A_7C15 }

    mutating func update(_ bytes: UnsafeRawBufferPointer) {
        var sum = CRC32C(resuming: checksum)
        sum.update(bytes)
        checksum = sum.value
        length += Int64(bytes.count)
    }
}

/// The 64 bytes before the payload of a frame in a history.
struct HistoryFrame {
    enum Kind: UInt8 {
        case beginning = 1
        case transaction, erasure, migration, stub, schema, rewritten

        init(_ kind: HistoryEntry.Kind) {
            self =
                switch kind {
                case .changes: .transaction
                case .erasure: .erasure
                case .migration: .migration
                case .stub: .stub
                }
        }

        var entryKind: HistoryEntry.Kind? {
            switch self {
            case .transaction: .changes
            case .erasure: .erasure
            case .migration: .migration
            case .stub: .stub
            case .beginning, .schema, .rewritten: nil
            }
        }
    }

    static let size = 64
    private static let marker: UInt32 = 0x1A46_484D

    var kind: Kind
    var number: Int64
    var mark: UInt64
    var time: Double
    var key = DocumentKey()
    var length: Int64 = 0
    var checksum: UInt32 = 0

    init(_ kind: Kind, number: Int64, mark: UInt64, time: Double) {
        self.kind = kind
        self.number = number
        self.mark = mark
        self.time = time
    }

    /// Nil if the bytes are no header of this file.
    init?(_ bytes: [UInt8], seed: UInt32) {
        guard bytes.count >= Self.size else { return nil }
        let header = bytes[..<60].withUnsafeBytes { raw -> (HistoryFrame, UInt32)? in
            func load<T: FixedWidthInteger>(_ offset: Int, _ type: T.Type) -> T {
                T(littleEndian: raw.loadUnaligned(fromByteOffset: offset, as: T.self))
            }
            guard load(0, UInt32.self) == Self.marker, let kind = Kind(rawValue: raw[4]) else { return nil }
            var frame = HistoryFrame(
                kind, number: Int64(truncatingIfNeeded: load(8, UInt64.self)), mark: load(16, UInt64.self),
                time: Double(bitPattern: load(24, UInt64.self)))
            frame.length = Int64(truncatingIfNeeded: load(32, UInt64.self))
            frame.key.length = Int64(truncatingIfNeeded: load(40, UInt64.self))
            frame.key.checksum = load(48, UInt32.self)
            frame.checksum = load(52, UInt32.self)
            var sum = CRC32C(resuming: seed)
            sum.update(raw)
            return (frame, sum.value)
        }
        let stored = bytes.withUnsafeBytes {
            UInt32(littleEndian: $0.loadUnaligned(fromByteOffset: 60, as: UInt32.self))
        }
        guard let (frame, sum) = header, sum == stored, frame.number >= 0, frame.length >= 0, frame.key.length >= 0
        else { return nil }
        self = frame
    }

    /// The frame with its payload.
    func bytes(_ payload: [UInt8], seed: UInt32) -> [UInt8] {
        var sum = CRC32C(resuming: seed)
        sum.update(payload)
        var bytes: [UInt8] = []
        bytes.reserveCapacity(Self.size + payload.count)
        func put<T: FixedWidthInteger>(_ value: T) { withUnsafeBytes(of: value.littleEndian) { bytes += $0 } }
        put(Self.marker)
        put(UInt32(kind.rawValue))
        put(UInt64(bitPattern: number))
        put(mark)
        put(time.bitPattern)
        put(UInt64(payload.count))
        put(UInt64(bitPattern: key.length))
        put(key.checksum)
        put(sum.value)
        put(UInt32(0))
        var header = CRC32C(resuming: seed)
        header.update(bytes)
        put(header.value)
        return bytes + payload
    }

    /// The entry of a transaction or stub, of whose payload its origin is known.
    func entry(_ origin: (author: String?, process: String, bundle: String)) -> HistoryEntry? {
        kind.entryKind.map {
            HistoryEntry(
                number: number, mark: mark, timestamp: Date(timeIntervalSinceReferenceDate: time),
                author: origin.author, process: origin.process, bundle: origin.bundle, kind: $0)
        }
    }
}

/// The first 64 bytes of a history.
struct HistoryHeader {
    private static let magic: [UInt8] = [0x89, 0x4D, 0x48, 0x53, 0x54, 0x0D, 0x0A, 0x1A]
    static let size = 64

    let identifier: [UInt8]
    var seed: UInt32 { CRC32C.checksum(of: identifier) }

    init() { identifier = withUnsafeBytes(of: UUID().uuid) { Array($0) } }

    /// - Throws: `ChangeBytesFault` that says what else the bytes are.
    init(_ bytes: [UInt8]) throws(ChangeBytesFault) {
        guard bytes.count == Self.size, Array(bytes[..<8]) == Self.magic else {
            throw ChangeBytesFault(reason: "it does not begin as a history")
        }
        let sum = bytes.withUnsafeBytes { UInt32(littleEndian: $0.loadUnaligned(fromByteOffset: 60, as: UInt32.self)) }
        guard CRC32C.checksum(of: Array(bytes[..<60])) == sum else {
            throw ChangeBytesFault(reason: "its header has a wrong checksum")
        }
        let version = Int(bytes[8]) | Int(bytes[9]) << 8
        guard version == 1 else {
            throw ChangeBytesFault(reason: "it has format version \(version), and this program knows version 1")
        }
        identifier = Array(bytes[16..<32])
    }

    /// Nil if a file does not begin as a history.
    init?(of file: any OpenFile) {
        guard let bytes = try? file.readAll(count: Self.size, at: 0), let header = try? HistoryHeader(bytes) else {
            return nil
        }
        self = header
    }

    var bytes: [UInt8] {
        var bytes = Self.magic + [1, 0, 0, 0, 0, 0, 0, 0] + identifier + [UInt8](repeating: 0, count: 28)
        withUnsafeBytes(of: CRC32C.checksum(of: bytes).littleEndian) { bytes += $0 }
        return bytes
    }
}
