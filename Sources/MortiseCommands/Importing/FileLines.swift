#if Tool
import Foundation
import MortiseCore

/// The lines of a file or of the standard input, one after the other, whatever the size of the file.
struct FileLines {
    /// A line may have as many bytes.
    static let limit = 64 << 20

    static let tooLong = "longer than \(FigureText.bytes(Int64(limit)))"

    private let handle: FileHandle
    private let name: String
    private var buffer: [UInt8] = []
    private var place = 0
    private var isAtEnd = false
    /// The number of the line that was read last, counted from 1.
    private(set) var number = 0
    /// How many bytes were read.
    private(set) var consumed = 0
    /// The size of the file in bytes; 0 for the standard input.
    let size: Int64
    /// Ends waiting for more, which a pipe may never have.
    var interruption: Interruption?

    /// Opens a file; `-` is the standard input.
    /// - Throws: `ToolError.unreadableFile`.
    init(_ path: String) throws {
        name = path == "-" ? "the standard input" : path.shown(limit: 300)
        if path == "-" {
            handle = .standardInput
            size = 0
            return
        }
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else {
            throw ToolError.unreadableFile(path: name, reason: "it does not exist")
        }
        guard !isFolder.boolValue else { throw ToolError.unreadableFile(path: name, reason: "it is a folder") }
        do { handle = try FileHandle(forReadingFrom: URL(fileURLWithPath: path)) } catch {
            throw ToolError.unreadableFile(path: name, reason: error.localizedDescription)
        }
        let attributes = try? FileManager.default.attributesOfItem(atPath: path)
        size = (attributes?[.size] as? NSNumber)?.int64Value ?? 0
    }

    /// The next line without its end; nil after the last. A line that is too long is empty. A carriage return before the end is
    /// part of the end, unless it is kept.
    /// - Throws: `ToolError.unreadableFile`, `.interrupted`.
    mutating func next(keepingCarriageReturn: Bool = false) throws -> (bytes: ArraySlice<UInt8>, isTooLong: Bool)? {
        var isTooLong = false
        var searched = place
        while true {
            if let end = buffer[searched...].firstIndex(of: 0x0A) {
                defer { place = end + 1 }
                return line(to: end, isTooLong, keepingCarriageReturn)
            }
            if isAtEnd {
                if place == buffer.count, !isTooLong { return nil }
                defer { place = buffer.count }
                return line(to: buffer.count, isTooLong, keepingCarriageReturn)
            }
            if buffer.count - place > Self.limit {
                isTooLong = true
                place = buffer.count
            }
            buffer.removeFirst(place)
            place = 0
            searched = buffer.count
            try fill()
        }
    }

    /// Reads what is there, and waits until something is.
    private mutating func fill() throws {
        try wait()
        let (kept, room) = (buffer.count, 1 << 18)
        buffer.append(contentsOf: repeatElement(0, count: room))
        var count: Int
        repeat {
            count = buffer.withUnsafeMutableBytes { bytes in
                bytes.baseAddress.map { read(handle.fileDescriptor, $0 + kept, room) } ?? -1
            }
        } while count < 0 && errno == EINTR
        let code = errno
        buffer.removeLast(room - max(count, 0))
        if count < 0 {
            throw ToolError.unreadableFile(path: name, reason: String(cString: strerror(code)))
        }
        isAtEnd = count == 0
        consumed += count
    }

    /// Waits until there is something to read.
    private func wait() throws {
        guard let interruption else { return }
        var waiting = pollfd(fd: handle.fileDescriptor, events: Int16(POLLIN), revents: 0)
        repeat {
            if interruption.isRequested { throw ToolError.interrupted("interrupted") }
        } while poll(&waiting, 1, 200) == 0
    }

    private mutating func line(
        to end: Int, _ isTooLong: Bool, _ keepsCarriageReturn: Bool
    ) -> (bytes: ArraySlice<UInt8>, isTooLong: Bool) {
        number += 1
        if isTooLong { return ([], true) }
        var bytes = buffer[place..<end]
        if bytes.last == 0x0D, !keepsCarriageReturn { bytes.removeLast() }
        // The mark of byte order that some programs put at the beginning.
        if number == 1, bytes.starts(with: [0xEF, 0xBB, 0xBF]) { bytes.removeFirst(3) }
        return (bytes, false)
    }
}
#endif
