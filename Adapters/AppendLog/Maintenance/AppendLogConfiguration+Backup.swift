import Foundation
public import MortiseCore
import MortiseEngine

extension AppendLogConfiguration: BackupConfiguration {
    /// Copies the log as far as it is written, its checkpoint, and the files of data that its records name, without a lock and
    /// without disturbing who writes it.
    ///
    /// The copy is read whole before it gets its name. It has the identifier of the store, and its history. An error leaves
    /// nothing at the path.
    /// - Throws: `FileError`, `alreadyExists` among them; `AppendLogError` for a store that is damaged.
    public func backUpStore(to newPath: String) throws -> MaintenanceReport {
        let target = try fileSystem.resolvingLinks(newPath)
        try checkFree(target)
        let lock = try FileLock(forStoreAt: target, permissions: newFilePermissions, in: fileSystem)
        defer { lock.release() }
        let log = TemporaryName(of: target, in: fileSystem).path
        let checkpoint = TemporaryName(of: target + LogOpening.checkpointSuffix, in: fileSystem).path
        defer { for path in [log, checkpoint] { try? fileSystem.unlink(path) } }
        let copies = ExternalFiles(beside: target, permissions: newFilePermissions, in: fileSystem)
        // A compaction may exchange both files between the reading of one and of the other: then once more.
        var attempts = 0
        while true {
            let mark = try changeMark() + checkpointMark()
            do {
                let bytes = try copyFiles(to: log, checkpoint)
                let found = try SoundReading(log, checkpoint: checkpoint, in: fileSystem)
                try copyExternal(of: found, to: copies)
                try publish(log, checkpoint, as: target)
                return MaintenanceReport(figures: [
                    .init("bytes", bytes + copies.byteCount()), .init("transactions", Int64(found.transactions)),
                    .init("records", Int64(found.records)),
                ])
            } catch let fault where fault is LogFault || fault is AppendLogError || fault is PayloadFault {
                attempts += 1
                guard attempts < 5, try changeMark() + checkpointMark() != mark else {
                    throw (fault as? AppendLogError).flatMap { $0.path.hasPrefix(copies.folder) ? $0 : nil }
                        ?? AppendLogError(path: path, fault: Self.fault(of: fault))
                }
            }
            Thread.sleep(forTimeInterval: 0.05)
        }
    }

    private static func fault(of error: any Error) -> LogFault {
        switch error {
        case let error as AppendLogError: error.fault
        case let fault as LogFault: fault
        case let fault as PayloadFault: .malformed(offset: Int64(fault.offset), what: fault.what)
        default: .unstable
        }
    }

    /// - Throws: `FileError`, `alreadyExists`.
    private func checkFree(_ target: String) throws {
        for taken in [target, target + LogOpening.checkpointSuffix]
        where try fileSystem.infoIfPresent(taken, followingLinks: false) != nil {
            throw FileError(.alreadyExists, operation: .replace, path: taken)
        }
    }

    private func copyExternal(of found: SoundReading, to copies: ExternalFiles) throws {
        let files = try externalFiles()
        var made: [ExternalReference.Name] = []
        var hasCopies = false
        try found.version?.forEachReference { table, slot, row, reference in
            do {
                try copies.copy(reference, from: files, noting: &made)
                hasCopies = true
            } catch let fault as ExternalFileFault {
                throw AppendLogError(found.version?.error(fault, table, slot, row), fault)
            }
        }
        if hasCopies { try copies.makeDurable() }
    }

    /// The folder of data that are in files of their own.
    func externalFiles() throws -> ExternalFiles {
        ExternalFiles(
            beside: try fileSystem.resolvingLinks(path), permissions: newFilePermissions, in: fileSystem)
    }

    private func checkpointMark() throws -> String {
        try fileSystem.infoIfPresent(path + LogOpening.checkpointSuffix, followingLinks: true)
            .map { "\($0.identity)" } ?? ""
    }

    /// The checkpoint first: it names a place in the log, which the log then has.
    private func copyFiles(to log: String, _ checkpoint: String) throws -> Int64 {
        var bytes: Int64 = 0
        for path in [log, checkpoint] where try fileSystem.infoIfPresent(path, followingLinks: false) != nil {
            try fileSystem.unlink(path)
        }
        let source = path + LogOpening.checkpointSuffix
        if try fileSystem.infoIfPresent(source, followingLinks: true) != nil {
            bytes += try copy(source, to: checkpoint) { _, size in size }
        }
        return try bytes + copy(path, to: log, endOfLog)
    }

    /// Where the last whole frame of a log ends.
    private func endOfLog(_ file: any OpenFile, _ size: Int64) throws -> Int64 {
        let header = try FileHeader(
            try file.readAll(count: Int(min(size, Int64(FileHeader.size))), at: 0), expecting: .log)
        let reader = FrameReader(file, size: size, seed: header.seed)
        return try reader.scan(from: .first, allowingGapsTo: header.base) { _ in true }.position.end
    }

    private func copy(
        _ source: String, to target: String, _ end: (any OpenFile, Int64) throws -> Int64
    ) throws -> Int64 {
        let file = try fileSystem.open(source, mode: .read)
        defer { try? file.close() }
        let info = try file.info()
        let end = try end(file, info.size)
        let made = try fileSystem.open(target, mode: .createExclusive(permissions: 0o600))
        do {
            let writer = FileWriter(made)
            while writer.offset < end {
                let piece = try file.readAll(count: Int(min(end - writer.offset, 1 << 20)), at: writer.offset)
                if piece.isEmpty {
                    throw FileError(
                        .changed(.truncated(from: end, to: writer.offset)), operation: .read, path: source)
                }
                try writer.append(piece)
            }
            try writer.flush()
            try made.setPermissions(info.permissions)
            try made.sync(.full)
        } catch {
            try? made.close()
            throw error
        }
        // Some file systems report a failed write only here.
        try made.close()
        return end
    }

    /// Gives the copy its name; a crash in between leaves a checkpoint that says that its log is missing.
    private func publish(_ log: String, _ checkpoint: String, as target: String) throws {
        try checkFree(target)
        var begun: [String] = []
        do {
            if try fileSystem.infoIfPresent(checkpoint, followingLinks: false) != nil {
                begun.append(target + LogOpening.checkpointSuffix)
                try fileSystem.rename(checkpoint, to: target + LogOpening.checkpointSuffix)
                // A log without the checkpoint that it needs would look damaged.
                try fileSystem.syncDirectory(PathText.directory(of: target))
            }
            begun.append(target)
            try fileSystem.rename(log, to: target)
            try fileSystem.syncDirectory(PathText.directory(of: target))
        } catch {
            // Half a copy is of no use, and would be in the way of the next attempt.
            for path in begun { try? fileSystem.unlink(path) }
            throw error
        }
    }
}
