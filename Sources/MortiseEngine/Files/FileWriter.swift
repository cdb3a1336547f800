/// Appends to an open file through a buffer.
///
/// Bytes reach the file when the buffer is full and at ``flush()``; nothing is durable before ``sync(_:)``, or before the
/// file is synced by others.
///
/// The first error stays: every later call throws it again and writes nothing, so that bytes never follow a gap. The
/// writer belongs to one thread at a time.
public final class FileWriter {
    /// Where the next byte will go: how much the file holds once all appended bytes are written.
    public private(set) var offset: Int64
    private let file: any OpenFile
    private var buffer: [UInt8] = []
    private let capacity: Int
    private var failure: FileError?

    /// Creates a writer.
    ///
    /// - Parameters:
    ///   - file: Open for writing. The writer does not close it, and syncs it only when asked to.
    ///   - offset: Where the first byte goes, in bytes.
    ///   - bufferSize: How many bytes to collect; clamped to 4 KiB ... 16 MiB.
    public init(_ file: any OpenFile, at offset: Int64 = 0, bufferSize: Int = 256 << 10) {
        self.file = file
        self.offset = offset
        capacity = min(max(bufferSize, 4 << 10), 16 << 20)
        buffer.reserveCapacity(capacity)
    }

    /// Appends raw memory.
    public func append(_ bytes: UnsafeRawBufferPointer) throws(FileError) {
        if let failure { throw failure }
        if buffer.count + bytes.count > capacity { try flush() }
        if bytes.count >= capacity {
            try latching { () throws(FileError) in try file.writeAll(bytes, at: offset) }
        } else {
            buffer.append(contentsOf: bytes)
        }
        offset += Int64(bytes.count)
    }

    /// Appends an array.
    public func append(_ bytes: [UInt8]) throws(FileError) {
        try bytes.withUnsafeBytes { memory in
            Result { () throws(FileError) in try append(memory) }
        }.get()
    }

    /// Writes the buffered bytes to the file.
    public func flush() throws(FileError) {
        if let failure { throw failure }
        if buffer.isEmpty { return }
        try latching { () throws(FileError) in try file.writeAll(buffer, at: offset - Int64(buffer.count)) }
        buffer.removeAll(keepingCapacity: true)
    }

    /// Writes the buffered bytes to the file, then calls `body` with the file, to read what was written.
    /// - Throws: ``FileError``; what `body` throws.
    public func reading<R>(_ body: (any OpenFile) throws -> R) throws -> R {
        try flush()
        return try body(file)
    }

    /// Makes everything that was appended so far durable.
    public func sync(_ kind: SyncKind) throws(FileError) {
        try flush()
        try latching { () throws(FileError) in try file.sync(kind) }
    }

    private func latching(_ body: () throws(FileError) -> Void) throws(FileError) {
        do {
            try body()
        } catch {
            failure = error
            throw error
        }
    }
}
