extension FileSystem {
    /// Reads a regular file as a whole, unchanged while it is read.
    ///
    /// - Parameters:
    ///   - path: The file.
    ///   - limit: The maximum number of bytes to accept; a longer file throws
    ///     ``FileError/Reason/exceedsLimit(size:limit:)`` before anything is allocated.
    /// - Returns: The content of the file, and the identity it had while it was read.
    /// - Throws: ``FileError``; with reason ``FileError/Reason/changed(_:)`` if the file changed meanwhile, so that a
    ///   mixture of old and new content is never returned. Reading again may succeed.
    public func readWhole(
        _ path: String, limit: Int64
    ) throws(FileError) -> (bytes: [UInt8], identity: FileIdentity) {
        let file = try retryingInterrupts { () throws(FileError) in try open(path, mode: .read) }
        // Nothing was written, so an error of closing tells nothing about the bytes.
        defer { try? file.close() }
        let before = try retryingInterrupts { () throws(FileError) in try file.info() }.identity
        guard before.size <= limit, let count = Int(exactly: before.size) else {
            throw FileError(.exceedsLimit(size: before.size, limit: limit), operation: .read, path: path)
        }
        let bytes = try file.readAll(count: count, at: 0)
        let after = try retryingInterrupts { () throws(FileError) in try file.info() }.identity
        if let change = before.change(to: after) {
            throw FileError(.changed(change), operation: .read, path: path)
        }
        guard bytes.count == count else {
            let change = FileChange.truncated(from: before.size, to: Int64(bytes.count))
            throw FileError(.changed(change), operation: .read, path: path)
        }
        return (bytes, before)
    }
}
