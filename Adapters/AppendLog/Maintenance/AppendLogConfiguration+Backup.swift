import Foundation
public import MortiseCore
import MortiseEngine

extension AppendLogConfiguration {
    /// Copies the log as far as it is written, its checkpoint, and the external files that its records name, without a
    /// lock and without disturbing its writer.
    ///
    /// The copy is read whole before it gets its name. A checkpoint that cannot be read is left out where the log reaches
    /// back to its beginning. The copy has the identifier of the store, and its history. Records that contradict each other are
    /// copied as they are, and are among the report's problems. An error leaves nothing at the path, except perhaps an empty
    /// folder of data. Temporary files of an earlier backup to the path that was killed are removed.
    /// - Throws: `FileError`, `alreadyExists` among them; `AppendLogError` for a store that is damaged.
    public func backUpStore(to newPath: String) throws -> MaintenanceReport {
        let source = try StoreFiles.log(path, in: fileSystem)
        let place = try NewLogPlace(newPath, permissions: newFilePermissions, in: fileSystem)
        let log = TemporaryName(of: place.files.main, isNew: true, in: fileSystem).path
        let checkpoint = TemporaryName(of: place.files.checkpoint, isNew: true, in: fileSystem).path
        let copies = ExternalFiles(beside: place.files.main, permissions: newFilePermissions, in: fileSystem)
        copies.removeUnfinishedMarks()
        var made: [ExternalReference.Name] = []
        do {
            let report = try copy(source, to: log, checkpoint, copies, noting: &made, as: place)
            place.lock.release()
            return report
        } catch {
            for path in [log, checkpoint] { try? fileSystem.unlink(path) }
            if (error as? FileError)?.reason != .alreadyExists { copies.abandon(made) }
            place.lock.abandon(in: fileSystem)
            throw error
        }
    }

    private func copy(
        _ source: StoreFiles, to log: String, _ checkpoint: String, _ copies: ExternalFiles,
        noting made: inout [ExternalReference.Name], as place: NewLogPlace
    ) throws -> MaintenanceReport {
        // A compaction may exchange both files between the reading of one and of the other: then once more.
        var attempts = 0
        while true {
            let mark = try changeMark() + checkpointMark(source)
            do {
                var bytes = try copyFiles(of: source, to: log, checkpoint)
                let (found, fault) = try SoundReading.sparingCheckpoint(log, checkpoint: checkpoint, in: fileSystem)
                if fault != nil, try changeMark() + checkpointMark(source) != mark { throw LogFault.unstable }
                if fault != nil, let left = try fileSystem.infoIfPresent(checkpoint, followingLinks: false) {
                    try fileSystem.unlink(checkpoint)
                    bytes -= left.size
                }
                try copyExternal(of: found, from: source, to: copies, noting: &made)
                try publish(log, checkpoint, as: place)
                return MaintenanceReport(
                    figures: [
                        .init("bytes", bytes + copies.byteCount()), .init("transactions", Int64(found.transactions)),
                        .init("records", Int64(found.records)),
                    ],
                    problems: found.inconsistencies.map { "\($0). The copy has this too; salvage either to repair it" })
            } catch let fault where fault is LogFault || fault is AppendLogError || fault is PayloadFault {
                attempts += 1
                guard attempts < 5, try changeMark() + checkpointMark(source) != mark else {
                    guard let named = fault as? AppendLogError else {
                        throw AppendLogError(path: source.main, fault: Self.fault(of: fault))
                    }
                    // The copy has the faults of what was copied.
                    throw switch named.path {
                    case log: AppendLogError(path: source.main, fault: named.fault)
                    case checkpoint: AppendLogError(path: source.checkpoint, fault: named.fault)
                    default: named
                    }
                }
            }
            Thread.sleep(forTimeInterval: 0.05)
        }
    }

    private static func fault(of error: any Error) -> LogFault {
        switch error {
        case let error as AppendLogError: error.fault
        case let fault as LogFault: fault
        case let fault as PayloadFault: .malformed(part: .frame, offset: Int64(fault.offset), what: fault.what)
        default: .unstable
        }
    }

    private func copyExternal(
        of found: SoundReading, from source: StoreFiles, to copies: ExternalFiles,
        noting made: inout [ExternalReference.Name]
    ) throws {
        let files = ExternalFiles(beside: source.main, permissions: newFilePermissions, in: fileSystem)
        if let store = found.version?.catalog.storeIdentifier { copies.identify(store) }
        var hasCopies = false
        try found.version?.forEachReference { table, slot, row, reference in
            do {
                try copies.copy(reference, from: files, noting: &made)
                hasCopies = true
            } catch let fault as ExternalFileFault {
                try fault.throwIfDenied()
                throw AppendLogError(found.version?.error(fault, table, slot, row), fault)
            }
        }
        if hasCopies { try copies.makeDurable() }
    }

    /// The folder of external data.
    func externalFiles() throws -> ExternalFiles {
        let files = try StoreFiles.log(path, in: fileSystem)
        return ExternalFiles(beside: files.main, permissions: newFilePermissions, in: fileSystem)
    }

    private func checkpointMark(_ source: StoreFiles) throws -> String {
        try fileSystem.infoIfPresent(source.checkpoint, followingLinks: true)
            .map { "\($0.identity)" } ?? ""
    }

    /// The checkpoint first: it names a position in the log, which the log then has.
    private func copyFiles(of source: StoreFiles, to log: String, _ checkpoint: String) throws -> Int64 {
        var bytes: Int64 = 0
        for path in [log, checkpoint] where try fileSystem.infoIfPresent(path, followingLinks: false) != nil {
            try fileSystem.unlink(path)
        }
        if try fileSystem.infoIfPresent(source.checkpoint, followingLinks: true) != nil {
            do {
                bytes += try copy(source.checkpoint, to: checkpoint) { _, size in size }
            } catch  where LogContent.isOfCheckpointAlone(error) {
                // Without it, opening and this copy need a log that has everything.
                guard try base(of: source.main) == 0 else { throw error }
                if try fileSystem.infoIfPresent(checkpoint, followingLinks: false) != nil {
                    try fileSystem.unlink(checkpoint)
                }
            }
        }
        return try bytes + copy(source.main, to: log, endOfLog)
    }

    private func base(of log: String) throws -> UInt64 {
        let file = try fileSystem.open(log, mode: .read)
        defer { try? file.close() }
        return try FileHeader(try file.readAll(count: FileHeader.size, at: 0), expecting: .log).base
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
    private func publish(_ log: String, _ checkpoint: String, as place: NewLogPlace) throws {
        try place.checkFree()
        let target = place.files
        var begun: [String] = []
        do {
            if try fileSystem.infoIfPresent(checkpoint, followingLinks: false) != nil {
                begun.append(target.checkpoint)
                try fileSystem.rename(checkpoint, to: target.checkpoint)
                // A log without the checkpoint that it needs would look damaged.
                try fileSystem.syncDirectory(PathText.directory(of: target.main))
            }
            begun.append(target.main)
            try fileSystem.rename(log, to: target.main)
            try fileSystem.syncDirectory(PathText.directory(of: target.main))
        } catch {
            // Half a copy is of no use, and would be in the way of the next attempt.
            for path in begun { try? fileSystem.unlink(path) }
            throw error
        }
    }
}
