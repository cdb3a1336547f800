import Foundation

/// Collects the bytes of a payload.
struct ByteWriter {
    /// The bytes, but for those that the stream has taken.
    private(set) var bytes: [UInt8] = []
    /// What takes them between records where they get many.
    private let stream: (any PayloadStream)?
    private let pieceSize: Int
    private var streamed = 0
    private var budget = ValueBudget()
    private var recordStart = 0
    /// How many parts the values of a record may have, where that is less than the format allows.
    var mostParts = Int.max
    /// Whether any value names a file of data.
    var hasFiles = false

    init(capacity: Int = 256) {
        bytes.reserveCapacity(capacity)
        stream = nil
        pieceSize = .max
    }

    /// Hands over its bytes in pieces.
    init(to stream: any PayloadStream) {
        pieceSize = stream.pieceSize
        self.stream = stream
        bytes.reserveCapacity(pieceSize + pieceSize / 8)
    }

    /// How many bytes were written.
    var count: Int { streamed + bytes.count }

    /// Makes room for `count` bytes at once, unless the bytes go straight to a sink.
    mutating func reserve(_ count: Int) {
        if stream == nil { bytes.reserveCapacity(count) }
    }

    mutating func removeAll() {
        bytes.removeAll(keepingCapacity: true)
        beginRecord()
    }

    /// Begins another record, of whose values none has been written.
    /// - Parameter pending: bytes that are still to be written before it.
    @inline(__always)
    mutating func beginRecord(after pending: Int = 0) {
        if bytes.count >= pieceSize { handOver() }
        budget = ValueBudget()
        recordStart = count + pending
    }

    @inline(never)
    private mutating func handOver() {
        let before = bytes.count
        stream?.take(&bytes)
        streamed += before - bytes.count
    }

    /// Counts what reading will take.
    mutating func spend(_ cost: Int, parts: Int = 0) { budget.spend(cost, parts: parts) }

    /// Whether the record, as far as it is written, can be read again.
    var isWithinBudget: Bool { budget.parts <= mostParts && budget.isWithin(count - recordStart) }

    mutating func byte(_ value: UInt8) { bytes.append(value) }

    mutating func fixed<T: FixedWidthInteger>(_ value: T) {
        withUnsafeBytes(of: value.littleEndian) { bytes.append(contentsOf: $0) }
    }

    mutating func varint(_ value: UInt64) {
        var rest = value
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(truncatingIfNeeded: rest))
    }

    mutating func varint(_ value: Int) { varint(UInt64(value)) }

    mutating func zigzag(_ value: Int64) { varint(Self.zigzag(value)) }

    /// Small for numbers near zero, whatever their sign.
    @inline(__always)
    static func zigzag(_ value: Int64) -> UInt64 { UInt64(bitPattern: value << 1 ^ value >> 63) }

    mutating func raw(_ value: UnsafeRawBufferPointer) { bytes.append(contentsOf: value) }

    mutating func zeros(_ count: Int) { bytes.append(contentsOf: repeatElement(0, count: max(0, count))) }

    mutating func text(_ value: String) {
        var value = value
        value.withUTF8 { utf8 in
            varint(utf8.count)
            bytes.append(contentsOf: utf8)
        }
    }

    mutating func optionalText(_ value: String?) {
        byte(value == nil ? 0 : 1)
        if let value { text(value) }
    }

    mutating func uuid(_ value: UUID) {
        withUnsafeBytes(of: value.uuid) { bytes.append(contentsOf: $0) }
    }
}
