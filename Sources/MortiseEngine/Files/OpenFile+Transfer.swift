/// Repeats `body` as long as a signal interrupts it before it did anything.
///
/// Not for syncing and closing: after an interrupted sync nothing is known about the data, and an interrupted close has
/// closed. A storm of signals ends in ``FileError/Reason/interrupted`` after 1,000 attempts instead of a hang.
package func retryingInterrupts<Value>(_ body: () throws(FileError) -> Value) throws(FileError) -> Value {
    var attemptsLeft = 1_000
    while true {
        do {
            return try body()
        } catch {
            attemptsLeft -= 1
            if error.reason != .interrupted || attemptsLeft == 0 { throw error }
        }
    }
}

extension OpenFile {
    /// Writes all of `bytes` at `offset`, however many attempts it takes.
    ///
    /// On an error some of the bytes may be in the file; the file may be longer than before. Nothing is durable before
    /// ``sync(_:)``.
    public func writeAll(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(FileError) {
        var done = 0
        while done < bytes.count {
            let rest = UnsafeRawBufferPointer(rebasing: bytes[done...])
            let position = offset + Int64(done)
            let count = try retryingInterrupts { () throws(FileError) in try write(rest, at: position) }
            // Nothing taken and no error would loop for ever.
            guard count > 0 else { throw FileError(code: .io, operation: .write, path: path) }
            done += min(count, rest.count)
        }
    }

    /// Writes all of `bytes` at `offset`, as ``writeAll(_:at:)`` for raw memory does.
    public func writeAll(_ bytes: [UInt8], at offset: Int64) throws(FileError) {
        try bytes.withUnsafeBytes { memory in
            Result { () throws(FileError) in try writeAll(memory, at: offset) }
        }.get()
    }

    /// Fills `buffer` from `offset` on, however many attempts it takes, and returns how many bytes there were.
    ///
    /// Fewer than `buffer.count` means that the file ends there.
    public func readAll(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(FileError) -> Int {
        var done = 0
        while done < buffer.count {
            let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[done...])
            let position = offset + Int64(done)
            let count = try retryingInterrupts { () throws(FileError) in try read(into: rest, at: position) }
            if count <= 0 { break }
            done += min(count, rest.count)
        }
        return done
    }

    /// Up to `count` bytes from `offset` on; fewer if the file ends before.
    ///
    /// `count` is allocated before reading: check it against the file's size first if it comes from outside.
    public func readAll(count: Int, at offset: Int64) throws(FileError) -> [UInt8] {
        guard count > 0 else { return [] }
        var failure: FileError?
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
            do throws(FileError) {
                initialized = try readAll(into: UnsafeMutableRawBufferPointer(buffer), at: offset)
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
        return bytes
    }
}
