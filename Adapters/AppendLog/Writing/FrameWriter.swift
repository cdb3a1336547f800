import MortiseEngine

/// Writes a file of frames from its header on, into what will take its place.
struct FrameWriter {
    let header: FileHeader
    private let writer: FileWriter
    private let seed: UInt32
    private(set) var position = LogPosition.first

    init(_ header: FileHeader, to writer: FileWriter) throws {
        self.header = header
        self.writer = writer
        seed = header.seed
        try writer.append(header.bytes)
    }

    /// Appends a frame. `transaction` is the number of the transaction in it, or of the last one before it; nil if that
    /// is the last frame's. `isSkippable` says that readers that do not know the kind may skip it.
    mutating func append(
        _ kind: FrameKind, _ payload: UnsafeRawBufferPointer, transaction: UInt64? = nil, isSkippable: Bool = false
    ) throws {
        var gap = ByteWriter(capacity: 512)
        gap.zeros(Int(position.offset - position.end))
        var sum = CRC32C(resuming: seed)
        sum.update(payload)
        // The whole file is synced before it gets its name, so every frame before this one counts as synced.
        let frame = FrameHeader(
            kind: kind, isSkippable: isSkippable, sequence: position.sequence,
            transaction: transaction ?? position.transaction,
            synced: position.sequence - 1, length: UInt64(payload.count), checksum: sum.value)
        frame.write(to: &gap, seed: seed)
        try writer.append(gap.bytes)
        try writer.append(payload)
        position = position.following(frame)
    }

    mutating func append(_ kind: FrameKind, _ payload: [UInt8], transaction: UInt64? = nil) throws {
        try payload.withUnsafeBytes { try append(kind, $0, transaction: transaction) }
    }

    /// Says which transaction the next frame follows, where those in between are left out.
    mutating func skip(to transaction: UInt64) { position.transaction = transaction }
}
