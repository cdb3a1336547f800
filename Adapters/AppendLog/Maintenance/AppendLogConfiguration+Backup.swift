import Foundation
public import MortiseCore
import MortiseEngine

extension AppendLogConfiguration: BackupConfiguration {
    /// Copies the log as far as it is written, its checkpoint, and the files of data that its records name, without a lock and
    /// without disturbing who writes it.
    ///
    /// The copy is read whole before it gets its name. It has the identifier of the store, and its history.
    /// - Throws: `FileError`, `alreadyExists` among them; `AppendLogError` for a store that is damaged.
    public func backUpStore(to newPath: String) throws -> MaintenanceReport {
        for taken in [newPath, newPath + LogOpening.checkpointSuffix]
        where try fileSystem.infoIfPresent(taken, followingLinks: false) != nil {
            throw FileError(.alreadyExists, operation: .replace, path: taken)
        }
        let name = ".\(PathText.name(of: newPath)).\(fileSystem.uniqueNumber()).mortise-tmp"
        let temporary = PathText.join(PathText.directory(of: newPath), name)
        defer {
            for path in [temporary, temporary + LogOpening.checkpointSuffix] { try? fileSystem.unlink(path) }
        }
        let files = try externalFiles()
        let copies = ExternalFiles(
            beside: try fileSystem.resolvingLinks(newPath), permissions: newFilePermissions, in: fileSystem)
        // A compaction may exchange both files between the reading of one and of the other: then once more.
        var attempts = 0
        while true {
            let mark = try changeMark() + checkpointMark()
            let bytes = try copyFiles(to: temporary)
            var found = try AppendLogStore.verify(temporary, in: fileSystem) { try copies.copy($0, from: files) }
            if found.isSound {
                if !copies.present().isEmpty { try copies.makeDurable() }
                try publish(temporary, as: newPath)
                return MaintenanceReport(figures: [
                    .init("bytes", bytes + copies.byteCount()), .init("transactions", Int64(found.transactions)),
                    .init("records", Int64(found.records)),
                ])
            }
            attempts += 1
            guard attempts < 5, try changeMark() + checkpointMark() != mark else {
                throw found.problems.popLast().map {
                    $0.path.hasPrefix(temporary) ? AppendLogError(path: path, fault: $0.fault) : $0
                } ?? AppendLogError(path: path, fault: .unstable)
            }
            Thread.sleep(forTimeInterval: 0.05)
        }
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
    private func copyFiles(to temporary: String) throws -> Int64 {
        var bytes: Int64 = 0
        let checkpoint = path + LogOpening.checkpointSuffix
        try? fileSystem.unlink(temporary + LogOpening.checkpointSuffix)
        if try fileSystem.infoIfPresent(checkpoint, followingLinks: true) != nil {
            bytes += try copy(checkpoint, to: temporary + LogOpening.checkpointSuffix) { _, size in size }
        }
        return try bytes + copy(path, to: temporary, endOfLog)
    }

    /// Where the last whole frame of a log ends.
    private func endOfLog(_ file: any OpenFile, _ size: Int64) throws -> Int64 {
        try AppendLogError.naming(path) {
            let header = try FileHeader(
                try file.readAll(count: Int(min(size, Int64(FileHeader.size))), at: 0), expecting: .log)
            let reader = FrameReader(file, size: size, seed: header.seed)
            return try reader.scan(from: .first, allowingGapsTo: header.base) { _ in true }.position.end
        }
    }

    private func copy(
        _ source: String, to target: String, _ end: (any OpenFile, Int64) throws -> Int64
    ) throws -> Int64 {
        let file = try fileSystem.open(source, mode: .read)
        defer { try? file.close() }
        let info = try file.info()
        let end = try end(file, info.size)
        try DurableReplacement(of: target, newFilePermissions: info.permissions, in: fileSystem).replace { writer in
            var offset: Int64 = 0
            while offset < end {
                let piece = try file.readAll(count: Int(min(end - offset, 1 << 20)), at: offset)
                if piece.isEmpty {
                    throw FileError(.changed(.truncated(from: end, to: offset)), operation: .read, path: source)
                }
                try writer.append(piece)
                offset += Int64(piece.count)
            }
        }
        return end
    }

    /// Gives the copy its name; a crash in between leaves a checkpoint that says that its log is missing.
    private func publish(_ temporary: String, as newPath: String) throws {
        let suffix = LogOpening.checkpointSuffix
        if try fileSystem.infoIfPresent(temporary + suffix, followingLinks: false) != nil {
            try fileSystem.rename(temporary + suffix, to: newPath + suffix)
        }
        try fileSystem.rename(temporary, to: newPath)
        try fileSystem.syncDirectory(PathText.directory(of: newPath))
    }
}
