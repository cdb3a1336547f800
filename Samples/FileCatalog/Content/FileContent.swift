import Foundation

/// A file that is open for reading from its start to its end. Closed when released.
final class FileContent {
    /// The status of the file at the moment it was opened.
    let status: FileStatus
    private let descriptor: Int32

    /// A multiple of the 16 bytes that ``ContentHash`` asks for.
    private static let pieceSize = 1 << 20

    /// Opens the regular file with the catalog's path `path` below `folder`.
    ///
    /// - Throws: ``SystemError`` if it cannot be opened or is not a regular file.
    init(path: ExactPath, below folder: String) throws {
        let name = FileName.bytes(of: path, below: folder)
        let descriptor = open(name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { throw SystemError.current }
        var status = stat()
        let result = fstat(descriptor, &status)
        let error = result == 0 ? SystemError(code: EINVAL) : SystemError.current
        guard result == 0, FileStatus(status).kind == .file else {
            close(descriptor)
            throw error
        }
        self.descriptor = descriptor
        self.status = FileStatus(status)
    }

    deinit {
        close(descriptor)
    }

    /// The hash of the whole file, as 32 hexadecimal digits.
    ///
    /// - Throws: ``SystemError`` if the file cannot be read to its end.
    func hash() throws -> String {
        var hash = ContentHash()
        let piece = Self.makePiece()
        defer { piece.deallocate() }
        var offset = 0
        repeat {
            let count = try read(into: piece, at: offset)
            hash.update(with: UnsafeRawBufferPointer(rebasing: piece[..<count]))
            offset += count
            if count < piece.count { return hash.hexadecimal }
        } while true
    }

    /// Whether the two files hold the same bytes.
    ///
    /// - Throws: ``SystemError`` if one of them cannot be read to its end.
    func equals(_ other: FileContent) throws -> Bool {
        let (left, right) = (Self.makePiece(), Self.makePiece())
        defer {
            left.deallocate()
            right.deallocate()
        }
        var offset = 0
        repeat {
            let count = try read(into: left, at: offset)
            guard try other.read(into: right, at: offset) == count else { return false }
            if count > 0, memcmp(left.baseAddress!, right.baseAddress!, count) != 0 { return false }
            offset += count
            if count < left.count { return true }
        } while true
    }

    private static func makePiece() -> UnsafeMutableRawBufferPointer {
        .allocate(byteCount: pieceSize, alignment: 16)
    }

    /// Fills `piece` from `offset` on and returns how much of it; less than all of it at the end of the file only.
    private func read(into piece: UnsafeMutableRawBufferPointer, at offset: Int) throws -> Int {
        var filled = 0
        while filled < piece.count {
            let rest = UnsafeMutableRawBufferPointer(rebasing: piece[filled...])
            let count = pread(descriptor, rest.baseAddress, rest.count, off_t(offset + filled))
            if count < 0 {
                if errno == EINTR { continue }
                throw SystemError.current
            }
            if count == 0 { break }
            filled += count
        }
        return filled
    }
}
