import MortiseEngine

/// Takes the bytes of a payload piece by piece while it is made.
protocol PayloadStream: AnyObject {
    /// How many bytes are gathered before they are handed over.
    var pieceSize: Int { get }
    /// Takes bytes, and leaves those that are to come with the next. What goes wrong is thrown at the end.
    func take(_ bytes: inout [UInt8])
}

/// Payloads that have to wait: short ones in memory, the rest of longer ones in a temporary file.
final class WaitingPayloads: PayloadStream {
    /// Where a payload is.
    struct Payload {
        fileprivate let offset: Int64
        fileprivate let streamed: Int
        fileprivate let rest: [UInt8]
        /// The bytes that it has.
        var count: Int { streamed + rest.count }
    }

    let pieceSize: Int
    private let path: String
    private let open: () throws -> any OpenFile
    private var file: (any OpenFile)?
    private var start: Int64 = 0
    private var end: Int64 = 0
    private var failure: (any Error)?

    /// - Parameters:
    ///   - pieceSize: how long a payload is that stays in memory.
    ///   - path: the path of the log, for errors.
    ///   - open: makes the file, when it is first needed.
    init(pieceSize: Int, path: String, _ open: @escaping () throws -> any OpenFile) {
        (self.pieceSize, self.path, self.open) = (max(1, pieceSize), path, open)
    }

    deinit { try? file?.close() }

    func take(_ bytes: inout [UInt8]) {
        defer { bytes.removeAll(keepingCapacity: true) }
        if failure != nil { return }
        do {
            let file = try self.file ?? open()
            self.file = file
            try bytes.withUnsafeBytes { try file.writeAll($0, at: end) }
            end += Int64(bytes.count)
        } catch {
            failure = error
        }
    }

    /// What a writer whose bytes this took has made.
    /// - Throws: why the file could not be written.
    func finish(_ rest: [UInt8]) throws -> Payload {
        if let failure { throw failure }
        defer { start = end }
        return Payload(offset: start, streamed: Int(end - start), rest: rest)
    }

    /// Writes a payload.
    /// - Throws: why the file cannot be read.
    func copy(_ payload: Payload, to writer: inout ByteWriter) throws {
        var offset = payload.offset
        let end = payload.offset + Int64(payload.streamed)
        let piece = UnsafeMutableRawBufferPointer.allocate(byteCount: min(payload.streamed, 1 << 20), alignment: 16)
        defer { piece.deallocate() }
        while let file, offset < end {
            let part = UnsafeMutableRawBufferPointer(rebasing: piece[..<min(piece.count, Int(end - offset))])
            guard try file.readAll(into: part, at: offset) == part.count else {
                throw FileError(.io, operation: .read, path: path)
            }
            writer.beginRecord()
            writer.raw(UnsafeRawBufferPointer(part))
            offset += Int64(part.count)
        }
        payload.rest.withUnsafeBytes { writer.raw($0) }
    }
}
