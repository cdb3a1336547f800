import Foundation
import MortiseCore
import MortiseEngine

/// The records of a checkpoint, and where its log goes on.
struct CheckpointContent {
    /// The records, most of which are still in the file, under the checkpoint's own schema.
    let version: EngineVersion
    let position: LogPosition
    /// What the log held before that position; nil if the checkpoint does not say.
    let tail: LogTail?
    /// The length of the file.
    let size: Int64

    /// Opens a checkpoint. Reads and checks its header and directory now, its records when they are needed.
    ///
    /// With `namesPlaces`, an error of the disk names the offset instead of being a `FileError`. `fallback` rebuilds
    /// regions that cannot be read later from a log that reaches back to its beginning.
    /// - Returns: nil if there is no checkpoint.
    /// - Throws: `LogFault`, also for one that belongs to another log; `FileError`.
    static func read(
        _ path: String, of log: FileHeader, external: ExternalFiles, namesPlaces: Bool = false,
        restoringFrom fallback: CheckpointFallback? = nil, in fileSystem: any FileSystem
    ) throws -> CheckpointContent? {
        guard try fileSystem.infoIfPresent(path, followingLinks: true) != nil else { return nil }
        let file = try fileSystem.open(path, mode: .read)
        do {
            return try read(file, path, of: log, external, namesPlaces: namesPlaces, fallback)
        } catch let fault as PackedFault {
            throw LogFault(fault)
        }
    }

    private static func read(
        _ file: any OpenFile, _ path: String, of log: FileHeader, _ external: ExternalFiles, namesPlaces: Bool,
        _ fallback: CheckpointFallback?
    ) throws -> CheckpointContent {
        let found = try Found(file, of: log)
        let packed = packedFile(file, path, found, namesPlaces: namesPlaces)
        let catalog = Catalog(
            schema: found.directory.schema, storeIdentifier: log.store.uuidString, external: external)
        let version = try EngineVersion.unpack(
            found.directory.tables, from: packed, number: found.directory.transaction,
            nextSequence: found.directory.nextSequence, catalog: catalog,
            restoringFrom: found.position.flatMap { fallback?.source(upTo: $0, found.directory.schema) })
        return CheckpointContent(version: version, position: try found.place(), tail: found.tail, size: found.size)
    }

    /// Reads a checkpoint that was just written, as a process that opens it will, and checks that it holds the version.
    /// `path` is for errors.
    /// - Throws: `AppendLogError`; `FileError`; `CancellationError`.
    static func check(
        _ file: any OpenFile, _ path: String, of log: FileHeader, holds version: EngineVersion,
        isCancelled: () -> Bool = { false }
    ) throws {
        try AppendLogError.naming(path) {
            do {
                let found = try Found(file, of: log)
                _ = try found.place()
                // Nothing of the store is lost where the new file cannot be read, so the error is the file's own.
                let packed = packedFile(file, path, found, namesPlaces: false, closes: false)
                // A catalog of its own, as the reader's will be.
                let read = try EngineVersion.unpack(
                    found.directory.tables, from: packed, number: found.directory.transaction,
                    nextSequence: found.directory.nextSequence,
                    catalog: Catalog(schema: found.directory.schema, storeIdentifier: log.store.uuidString))
                try read.checkReadable(as: version, isCancelled: isCancelled)
            } catch let fault as PackedFault {
                throw LogFault(fault)
            }
        }
    }

    private static func packedFile(
        _ file: any OpenFile, _ path: String, _ found: Found, namesPlaces: Bool, closes: Bool = true
    ) -> PackedFile {
        let explainUnread: @Sendable (FileError, UInt64) -> any Error = { error, offset in
            AppendLogError(path: path, fault: .unreadable(offset: Int64(clamping: offset), error: error))
        }
        return PackedFile(
            file, end: found.footer.offset, seed: found.header.seed, closes: closes,
            explainUnread: namesPlaces ? explainUnread : nil
        ) { fault in
            AppendLogError(path: path, fault: LogFault(fault))
        }
    }

    /// The header of a checkpoint.
    /// - Throws: `LogFault`; `FileError`.
    static func header(_ path: String, in fileSystem: any FileSystem) throws -> FileHeader {
        let file = try fileSystem.open(path, mode: .read)
        defer { try? file.close() }
        let size = try file.info().size
        return try FileHeader(
            try file.readAll(count: Int(min(size, Int64(FileHeader.size))), at: 0), expecting: .checkpoint)
    }

    /// What can be read of a checkpoint whose directory can be, also where it names another log of the store.
    static func salvage(
        _ path: String, of log: FileHeader, external: ExternalFiles, in fileSystem: any FileSystem
    ) throws -> CheckpointSalvage {
        let file = try fileSystem.open(path, mode: .read)
        let found = try Found(file, of: log)
        let packed = packedFile(file, path, found, namesPlaces: true)
        let (version, losses) = EngineVersion.salvage(
            found.directory.tables, from: packed, number: found.directory.transaction,
            nextSequence: found.directory.nextSequence,
            catalog: Catalog(
                schema: found.directory.schema, storeIdentifier: log.store.uuidString, external: external))
        return CheckpointSalvage(version, losses, sequence: found.position?.sequence)
    }

    /// The schema of a checkpoint's records, and where the log continues after it; nil if there is no readable
    /// checkpoint.
    static func schema(
        _ path: String, of log: FileHeader, in fileSystem: any FileSystem
    ) throws -> (schema: StoredSchema, position: LogPosition, tail: LogTail?)? {
        guard try fileSystem.infoIfPresent(path, followingLinks: true) != nil else { return nil }
        do {
            let file = try fileSystem.open(path, mode: .read)
            defer { try? file.close() }
            let found = try Found(file, of: log)
            return (found.directory.schema, try found.place(), found.tail)
        } catch is LogFault {
            return nil
        } catch  where log.base == 0 && LogContent.isOfCheckpointAlone(error) {
            return nil
        }
    }

    /// What a checkpoint says of itself.
    private struct Found {
        let size: Int64
        let header: FileHeader
        let footer: CheckpointFooter
        let directory: CheckpointDirectory
        /// Nil if it names other logs.
        let position: LogPosition?

        /// What the log held before its position; nil if the checkpoint does not say. It says so for the first position
        /// only: the second is in a log that a compaction has just made.
        var tail: LogTail? { directory.places.first?.position == position ? footer.tail : nil }

        /// - Throws: `LogFault.checkpointOfAnother`.
        func place() throws(LogFault) -> LogPosition {
            guard let position else { throw .checkpointOfAnother }
            return position
        }

        init(_ file: any OpenFile, of log: FileHeader) throws {
            size = try file.info().size
            let beginning = try file.readAll(count: Int(min(size, Int64(FileHeader.size))), at: 0)
            if beginning.isEmpty { throw LogFault.emptyCheckpoint(transaction: log.base) }
            header = try FileHeader(beginning, expecting: .checkpoint)
            guard header.store == log.store else { throw LogFault.checkpointOfAnother }
            let end = size - Int64(CheckpointFooter.size)
            guard end >= Int64(FileHeader.size) else { throw LogFault.tooShort(bytes: Int(size)) }
            let last = try file.readAll(count: CheckpointFooter.size, at: end)
            footer = try CheckpointFooter(last, at: UInt64(end), seed: header.seed)
            directory = try CheckpointContent.directory(footer, file, header)
            position = directory.places.first { $0.log == log.file }?.position
        }
    }

    private static func directory(
        _ footer: CheckpointFooter, _ file: any OpenFile, _ header: FileHeader
    ) throws -> CheckpointDirectory {
        let bytes = try file.readAll(count: Int(footer.length), at: Int64(footer.offset))
        var sum = CRC32C(resuming: header.seed)
        sum.update(bytes)
        guard bytes.count == Int(footer.length), sum.value == footer.checksum else {
            throw LogFault.damagedRegion(offset: Int64(footer.offset), what: "has a wrong checksum")
        }
        return try bytes.withUnsafeBytes { raw in
            var reader = ByteReader(raw)
            let directory: CheckpointDirectory
            do throws(PayloadFault) {
                directory = try reader.directory()
            } catch {
                throw LogFault.malformed(
                    part: .directory, offset: Int64(footer.offset) + Int64(error.offset), what: error.what)
            }
            guard PackedTable.readableKeyForms.contains(directory.keyForm) else {
                throw LogFault.unsupportedVersion(UInt16(truncatingIfNeeded: directory.keyForm))
            }
            return directory
        }
    }

    /// All records, read now.
    /// - Throws: `AppendLogError` of the checkpoint.
    func tables() throws -> ReplayTables { try ReplayTables(version) }
}

extension LogFault {
    init(_ fault: PackedFault) {
        let offset = Int64(clamping: fault.offset)
        self =
            fault.isDamage
            ? .damagedRegion(offset: offset, what: fault.what)
            : .malformed(part: .region, offset: offset, what: fault.what)
    }
}

extension ReplayTables {
    /// Copies the records of a version. If `isLenient`, it skips what cannot be read.
    /// - Throws: the error of a record that cannot be read.
    init(_ version: EngineVersion, leniently isLenient: Bool = false) throws {
        let catalog = LogCatalog(
            version.catalog.schema, store: version.catalog.storeIdentifier, external: version.catalog.external)
        self.init(catalog, nextSequence: version.nextSequence)
        for (entity, name) in catalog.names.enumerated() {
            guard let table = version.tables[name] else { continue }
            let width = catalog.layouts[entity].slots.count
            for row in 0..<table.endRow where table.contains(row: row) {
                var values = ContiguousArray<StoredValue>(repeating: .null, count: width)
                for slot in catalog.storedSlots[entity] { values[slot] = table.storedForm(row: row, slot: slot) }
                do {
                    try inserted(entity, table.sequence(ofRow: row), values)
                } catch {
                    if !isLenient { throw version.damage ?? error }
                }
            }
        }
        if !isLenient, let damage = version.damage { throw damage }
    }
}
