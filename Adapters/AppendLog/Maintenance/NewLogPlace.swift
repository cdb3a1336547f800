import Foundation
import MortiseEngine

/// The path at which a backup or a salvage makes a log: locked, free, and cleared of what a process has left that was killed while it
/// made one there.
struct NewLogPlace {
    let files: StoreFiles
    let lock: FileLock
    private let fileSystem: any FileSystem

    /// - Throws: `FileError`: `alreadyExists` if there is a log, or a checkpoint that is not known to be left by such a
    ///   process. A lock file that was not there before is then removed.
    init(_ path: String, permissions: UInt32, in fileSystem: any FileSystem) throws {
        files = try StoreFiles.log(path, in: fileSystem)
        self.fileSystem = fileSystem
        // Before anything is made.
        if try fileSystem.infoIfPresent(files.main, followingLinks: false) != nil { throw Self.taken(files.main) }
        if try fileSystem.infoIfPresent(files.checkpoint, followingLinks: false) != nil,
            try Self.unfinishedLogs(of: files, in: fileSystem).isEmpty
        {
            throw Self.taken(files.checkpoint)
        }
        lock = try FileLock(forStoreAt: files.main, permissions: permissions, in: fileSystem)
        do {
            try clear()
            try checkFree()
        } catch {
            lock.abandon(in: fileSystem)
            throw error
        }
    }

    private static func taken(_ path: String) -> FileError {
        FileError(.alreadyExists, operation: .replace, path: path)
    }

    /// - Throws: `FileError`, `alreadyExists`.
    func checkFree() throws(FileError) {
        for path in [files.main, files.checkpoint]
        where try fileSystem.infoIfPresent(path, followingLinks: false) != nil {
            throw Self.taken(path)
        }
    }

    /// Removes a checkpoint that was named before its log was, and the temporaries.
    private func clear() throws {
        if try fileSystem.infoIfPresent(files.main, followingLinks: false) == nil,
            try fileSystem.infoIfPresent(files.checkpoint, followingLinks: false) != nil,
            try Self.unfinishedLogs(of: files, in: fileSystem).contains(where: belongsToCheckpoint)
        {
            try fileSystem.unlink(files.checkpoint)
        }
        try files.sweepOrphans(holding: lock, in: fileSystem)
    }

    /// The temporaries of logs that nobody has finished making at the path. One of a log that was being compacted says nothing:
    /// somebody may have moved that log and left its checkpoint.
    private static func unfinishedLogs(of files: StoreFiles, in fileSystem: any FileSystem) throws -> [String] {
        let folder = PathText.directory(of: files.main)
        let name = PathText.name(of: files.main)
        return try fileSystem.list(folder)
            .filter { TemporaryName.matches($0, of: name) && TemporaryName.isOfNewFile($0) }
            .map { PathText.join(folder, $0) }
    }

    /// Whether the checkpoint was made together with a log that has not got its name.
    private func belongsToCheckpoint(_ log: String) -> Bool {
        guard let file = try? fileSystem.open(log, mode: .read) else { return false }
        defer { try? file.close() }
        guard let bytes = try? file.readAll(count: FileHeader.size, at: 0),
            let header = try? FileHeader(bytes, expecting: .log)
        else { return false }
        return (try? CheckpointContent.schema(files.checkpoint, of: header, in: fileSystem)) != nil
    }
}
