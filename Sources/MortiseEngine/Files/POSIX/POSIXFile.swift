#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif
import Synchronization

/// An open file descriptor.
final class POSIXFile: OpenFile {
    let path: String
    private let descriptor: Int32
    /// How many calls are inside the kernel, plus ``closedMark`` once ``close()`` was called.
    private let users = Atomic<Int>(0)

    /// The process that took a lock, or 0.
    private let lockingProcess = Atomic<Int32>(0)

    private static let closedMark = 1 << 32
    private static let largestTransfer = 1 << 30

    init(descriptor: Int32, path: String) {
        self.descriptor = descriptor
        self.path = path
    }

    deinit {
        if users.load(ordering: .acquiring) < Self.closedMark { try? closeDescriptor() }
    }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(FileError) -> Int {
        if buffer.isEmpty { return 0 }
        return try using(.read) { descriptor -> Result<Int, FileError.Code> in
            guard let position = off_t(exactly: offset) else { return .failure(.fileTooLarge) }
            let count = pread(descriptor, buffer.baseAddress, min(buffer.count, Self.largestTransfer), position)
            return count >= 0 ? .success(count) : .failure(.lastError)
        }
    }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(FileError) -> Int {
        if bytes.isEmpty { return 0 }
        return try using(.write) { descriptor -> Result<Int, FileError.Code> in
            guard let position = off_t(exactly: offset), !Self.exceedsLimit(offset) else {
                return .failure(.fileTooLarge)
            }
            let count = pwrite(descriptor, bytes.baseAddress, min(bytes.count, Self.largestTransfer), position)
            return count >= 0 ? .success(count) : .failure(.lastError)
        }
    }

    func sync(_ kind: SyncKind) throws(FileError) {
        try using(.sync) { descriptor in
            syncDescriptor(descriptor, kind).map { .failure($0) } ?? .success(())
        }
    }

    func truncate(to size: Int64) throws(FileError) {
        try using(.truncate) { descriptor -> Result<Void, FileError.Code> in
            guard let length = off_t(exactly: size), size == 0 || !Self.exceedsLimit(size - 1) else {
                return .failure(.fileTooLarge)
            }
            return ftruncate(descriptor, length) == 0 ? .success(()) : .failure(.lastError)
        }
    }

    func info() throws(FileError) -> FileInfo {
        try using(.info) { descriptor -> Result<FileInfo, FileError.Code> in
            var status = stat()
            return fstat(descriptor, &status) == 0 ? .success(FileInfo(status)) : .failure(.lastError)
        }
    }

    func extent() throws(FileError) -> FileExtent {
        try using(.info) { descriptor in
            Result { () throws(FileError.Code) in try fileExtent(descriptor: descriptor) }
        }
    }

    func startWriting(_ range: Range<Int64>) throws(FileError) {
        try using(.startWriting) { descriptor in
            MortiseEngine.startWriting(descriptor, range).map { .failure($0) } ?? .success(())
        }
    }

    func setPermissions(_ permissions: UInt32) throws(FileError) {
        try using(.setPermissions) { descriptor in
            fchmod(descriptor, mode_t(truncatingIfNeeded: permissions)) == 0 ? .success(()) : .failure(.lastError)
        }
    }

    func setOwner(user: UInt32?, group: UInt32?) throws(FileError) {
        try using(.setOwner) { descriptor in
            fchown(descriptor, user ?? .max, group ?? .max) == 0 ? .success(()) : .failure(.lastError)
        }
    }

    func tryLock(_ kind: LockKind) throws(FileError) -> Bool {
        try using(.lock) { descriptor -> Result<Bool, FileError.Code> in
            if flock(descriptor, (kind == .exclusive ? LOCK_EX : LOCK_SH) | LOCK_NB) == 0 {
                lockingProcess.store(getpid(), ordering: .releasing)
                return .success(true)
            }
            return errno == EWOULDBLOCK ? .success(false) : .failure(.lastError)
        }
    }

    func close() throws(FileError) {
        var seen = users.load(ordering: .acquiring)
        while true {
            if seen >= Self.closedMark { return }
            let (done, now) = users.compareExchange(
                expected: seen, desired: seen + Self.closedMark, ordering: .acquiringAndReleasing)
            if done { break }
            seen = now
        }
        // With calls still inside the kernel the last of them closes.
        if seen == 0 { try closeDescriptor() }
    }

    /// Runs a system call on the descriptor.
    ///
    /// A descriptor that another thread closes in the middle of a call could already be another file when the call
    /// uses it, and a write would damage that file. So the descriptor is closed after the calls that began before.
    private func using<Value>(
        _ operation: FileError.Operation, _ body: (Int32) -> Result<Value, FileError.Code>
    ) throws(FileError) -> Value {
        if users.add(1, ordering: .acquiringAndReleasing).oldValue >= Self.closedMark {
            _ = users.subtract(1, ordering: .acquiringAndReleasing)
            throw FileError(.closed, operation: operation, path: path)
        }
        let result = body(descriptor)
        if users.subtract(1, ordering: .acquiringAndReleasing).newValue == Self.closedMark {
            try? closeDescriptor()
        }
        switch result {
        case .success(let value): return value
        case .failure(let code): throw FileError(code: code, operation: operation, path: path)
        }
    }

    private func closeDescriptor() throws(FileError) {
        // A child that is just being started holds the descriptor too, until it has got as far as closing what it does
        // not inherit, and so would hold the lock. A forked child, on the other hand, must not give up its parent's.
        if lockingProcess.load(ordering: .acquiring) == getpid() { _ = flock(descriptor, LOCK_UN) }
        if posixClose(descriptor) != 0 { throw FileError(code: .lastError, operation: .close, path: path) }
    }

    // Past the limit the kernel would not only refuse but also send SIGXFSZ, which ends the process.
    private static func exceedsLimit(_ offset: Int64) -> Bool {
        fileSizeLimit().map { offset >= $0 } ?? false
    }
}

extension FileError.Code: Error {}
