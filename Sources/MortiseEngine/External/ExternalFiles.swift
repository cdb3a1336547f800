package import Foundation
import MortiseCore
import Synchronization

/// The folder in which a store keeps the data of `.externalStorage` attributes, each value in a separate file.
///
/// A file is written once, whole, under a name that none had before, and never changed; a record names it only when file and
/// name are on the disk. Nothing that was read is kept. All members may be called from any thread.
package final class ExternalFiles: Sendable {
    /// Data of fewer bytes stay in their records: a file of their own would cost more than it saves.
    package static let threshold = 4096
    package let folder: String
    /// Where a sweep moves what it takes away.
    let asideFolder: String
    let fileSystem: any FileSystem
    let permissions: UInt32
    let state: Mutex<State>

    struct State {
        /// Whether the folder is there and its name is on the disk.
        var isReady = false
        /// Whether the folder was there at opening, so that there may be data also of attributes that have lost the option.
        let wasThere: Bool
        /// Files that were written here and that no published version has named yet, or perhaps never will.
        var unsettled: Set<ExternalReference.Name> = []
        /// Published tables, as long as they are retained.
        var tables: [WeakTable] = []
        /// The identifier of the store.
        var owner: String?
        /// Makes the store's main file where it is missing.
        var makeStore: (@Sendable () throws -> Void)?
        /// Whether the mark in the folder was written here.
        var hasMarked = false
        /// Files that were written here.
        var written: Set<ExternalReference.Name> = []
        /// Errors of reads that could not throw, by thread.
        var noted: [ObjectIdentifier: any Error] = [:]
    }

    struct WeakTable { weak var table: TableVersion? }

    /// Names the folder beside a store; creates nothing. `path` is the store's file with links at its end resolved;
    /// `permissions` are those of a new store's file, and new files here get them too.
    package init(beside path: String, permissions: UInt32 = 0o600, in fileSystem: any FileSystem) {
        folder = StoreFiles(resolved: path).external
        asideFolder = PathText.join(folder, "aside")
        self.fileSystem = fileSystem
        self.permissions = permissions
        let isThere = (try? fileSystem.infoIfPresent(folder, followingLinks: false)) != .some(nil)
        state = Mutex(State(wasThere: isThere))
    }

    package func path(of name: ExternalReference.Name) -> String { PathText.join(folder, name.text) }

    func asidePath(of name: ExternalReference.Name) -> String { PathText.join(asideFolder, name.text) }

    // MARK: Writing

    /// Writes data to a new file and makes its bytes durable; its name is when `makeDurable()` has returned.
    /// - Throws: `FileError`; nothing is left then, as far as the disk lets it be removed.
    package func write(_ data: Data) throws -> ExternalReference {
        try makeReady()
        while true {
            let name = ExternalReference.Name(high: fileSystem.uniqueNumber(), low: fileSystem.uniqueNumber())
            // Before the file is there: a sweep takes away what it finds in the folder and not here.
            guard state.withLock({ $0.unsettled.insert(name).inserted }) else { continue }
            let file: any OpenFile
            do {
                file = try retryingInterrupts { () throws(FileError) in
                    try fileSystem.open(path(of: name), mode: .createExclusive(permissions: permissions))
                }
            } catch {
                settle([name])
                if error.reason == .alreadyExists { continue }
                throw error
            }
            // Only now: a file of another copy of the store that has the name was not written here.
            state.withLock { _ = $0.written.insert(name) }
            do {
                try retryingInterrupts { () throws(FileError) in try file.setPermissions(permissions) }
                var sum = CRC32C()
                try data.withUnsafeBytes { bytes in
                    sum.update(bytes)
                    try file.writeAll(bytes, at: 0)
                }
                try file.sync(.full)
                // Some file systems report a failed write only here.
                try file.close()
                return ExternalReference(name: name, length: UInt64(data.count), checksum: sum.value)
            } catch {
                try? file.close()
                discard([name])
                throw error
            }
        }
    }

    /// Makes the folder where it is missing.
    /// - Throws: `FileError`, `folderOfAnotherStore` where it holds data of another store.
    func makeReady() throws {
        if state.withLock({ $0.isReady }) { return }
        // A crash must leave no folder of data without its store, which the next opening would refuse.
        try state.withLock(\.makeStore)?()
        if let info = try fileSystem.infoIfPresent(folder, followingLinks: false) {
            try fileSystem.refuseLink(at: folder)
            if info.kind != .directory { throw FileError(.notADirectory, operation: .createDirectory, path: folder) }
        } else {
            do {
                // Who may read a file may look into its folder.
                try retryingInterrupts { () throws(FileError) in
                    try fileSystem.createDirectory(folder, permissions: permissions | (permissions & 0o444) >> 2)
                }
            } catch {
                // Another process that shares the store was faster.
                if error.reason != .alreadyExists { throw error }
            }
        }
        if let owner = state.withLock({ $0.owner }) { try takeOwnership(of: owner) }
        // An earlier process may have died between making the folder and making its name durable.
        try fileSystem.syncDirectory(PathText.directory(of: folder))
        state.withLock { $0.isReady = true }
    }

    /// Makes the names of all files that were written durable.
    package func makeDurable() throws(FileError) { try fileSystem.syncDirectory(folder) }

    /// The files are named by a version that was published, or by none that ever will be.
    func settle(_ names: [ExternalReference.Name]) {
        state.withLock { $0.unsettled.subtract(names) }
    }

    /// Removes files that no record names nor ever will.
    func discard(_ names: [ExternalReference.Name]) {
        for name in names { try? fileSystem.unlink(path(of: name)) }
        settle(names)
    }

    /// The names of the files that were written here.
    var writtenNames: Set<ExternalReference.Name> { state.withLock { $0.written } }

    /// Takes a copy back that was begun in the folder and failed: the files, and the mark where nothing else is left.
    package func abandon(_ names: [ExternalReference.Name]) {
        discard(names)
        if state.withLock({ $0.hasMarked }), (try? isEmpty()) == true { try? fileSystem.unlink(markPath) }
    }

    /// Removes all files of data and the mark, of a store that was never completed.
    func clear() {
        discard(present())
        removeUnfinishedMarks()
        if (try? isEmpty()) == true { try? fileSystem.unlink(markPath) }
    }

    // MARK: Reading

    /// Reads the data behind a reference. The content of the file is checked against the reference before it is
    /// returned, and the file's length before anything is allocated.
    /// - Throws: `ExternalFileFault`.
    package func read(_ reference: ExternalReference) throws(ExternalFileFault) -> Data {
        let file = try open(reference)
        defer { try? file.close() }
        guard let count = Int(exactly: reference.length) else {
            throw fault(reference, .wrongLength(expected: reference.length, found: 0))
        }
        var data = Data(count: count)
        let outcome = data.withUnsafeMutableBytes { buffer in
            Result { () throws(FileError) in try file.readAll(into: buffer, at: 0) }
        }
        guard try self.outcome(of: reference, outcome) == count else {
            throw fault(reference, .wrongLength(expected: reference.length, found: 0))
        }
        let sum = data.withUnsafeBytes { CRC32C.checksum(of: $0) }
        guard sum == reference.checksum else { throw fault(reference, .wrongChecksum) }
        return data
    }

    /// Reads a file in pieces and checks it, as `read` does.
    /// - Throws: `ExternalFileFault`.
    package func check(_ reference: ExternalReference) throws(ExternalFileFault) {
        do {
            try readPieces(of: reference) { _ in }
        } catch let fault as ExternalFileFault {
            throw fault
        } catch {
            throw fault(reference, .missing)
        }
    }

    /// Hands a file's bytes on in pieces; that they are those of the reference is known when it returns.
    /// - Throws: `ExternalFileFault`; what the body throws.
    func readPieces(of reference: ExternalReference, _ body: ([UInt8]) throws -> Void) throws {
        let file = try open(reference)
        defer { try? file.close() }
        var sum = CRC32C()
        var done: UInt64 = 0
        while done < reference.length {
            let count = Int(min(reference.length - done, 1 << 20))
            let offset = Int64(clamping: done)
            let piece = try outcome(
                of: reference, Result { () throws(FileError) in try file.readAll(count: count, at: offset) })
            if piece.isEmpty { throw fault(reference, .wrongLength(expected: reference.length, found: done)) }
            sum.update(piece)
            try body(piece)
            done += UInt64(piece.count)
        }
        guard sum.value == reference.checksum else { throw fault(reference, .wrongChecksum) }
    }

    private func open(_ reference: ExternalReference) throws(ExternalFileFault) -> any OpenFile {
        let file = try outcome(
            of: reference,
            Result { () throws(FileError) in
                do throws(FileError) {
                    return try openForReading(path(of: reference.name))
                } catch {
                    guard error.reason == .notFound else { throw error }
                }
                // A sweep for an older copy of the store may have moved it.
                do throws(FileError) {
                    try fileSystem.refuseLink(at: asideFolder)
                    return try openForReading(asidePath(of: reference.name))
                } catch {
                    guard error.reason == .notFound else { throw error }
                }
                // And another one may have moved it back between the two.
                return try openForReading(path(of: reference.name))
            })
        let size = try outcome(of: reference, Result { () throws(FileError) in try file.info().size })
        guard size >= 0, UInt64(size) == reference.length else {
            try? file.close()
            throw fault(reference, .wrongLength(expected: reference.length, found: UInt64(max(size, 0))))
        }
        return file
    }

    private func openForReading(_ path: String) throws(FileError) -> any OpenFile {
        try fileSystem.refuseLink(at: path)
        return try retryingInterrupts { () throws(FileError) in try fileSystem.open(path, mode: .read) }
    }

    private func outcome<R>(
        of reference: ExternalReference, _ result: Result<R, FileError>
    ) throws(ExternalFileFault) -> R {
        switch result {
        case .success(let value): return value
        case .failure(let error): throw fault(reference, error.reason == .notFound ? .missing : .unreadable(error))
        }
    }

    private func fault(_ reference: ExternalReference, _ reason: ExternalValueError.Reason) -> ExternalFileFault {
        ExternalFileFault(path: path(of: reference.name), reason: reason)
    }

    // MARK: Errors that nobody waits for

    private static var thread: ObjectIdentifier { ObjectIdentifier(Thread.current) }

    /// Remembers what a read that cannot throw ran into, for the thread that it was for.
    func note(_ error: any Error) {
        state.withLock { if $0.noted[Self.thread] == nil { $0.noted[Self.thread] = error } }
    }

    /// - Throws: the first error that the current thread has met since the last time, once.
    func throwNoted() throws {
        let error = state.withLock { $0.noted.isEmpty ? nil : $0.noted.removeValue(forKey: Self.thread) }
        if let error { throw error }
    }
}
