import Foundation
import MortiseCore
import MortiseEngine

/// The records of a checkpoint, and where its log goes on.
struct CheckpointContent {
    /// The records, most of which are still in the file, under the checkpoint's own schema.
    let version: EngineVersion
    let position: LogPosition
    /// The length of the file.
    let size: Int64

    /// Opens a checkpoint. Its header and directory are read and checked, its records when they are asked for.
    /// - Parameter namesPlaces: whether what the disk does not give is told with its offset, instead of as a `FileError`.
    /// - Returns: nil where there is none.
    /// - Throws: `LogFault`, also for one that belongs to another log; `FileError`.
    static func read(
        _ path: String, of log: FileHeader, external: ExternalFiles, namesPlaces: Bool = false,
        in fileSystem: any FileSystem
    ) throws -> CheckpointContent? {
        guard try fileSystem.infoIfPresent(path, followingLinks: true) != nil else { return nil }
        let file = try fileSystem.open(path, mode: .read)
        do {
            return try read(file, path, of: log, external, namesPlaces: namesPlaces)
        } catch let fault as PackedFault {
            throw LogFault(fault)
        }
    }

    private static func read(
        _ file: any OpenFile, _ path: String, of log: FileHeader, _ external: ExternalFiles, namesPlaces: Bool
    ) throws -> CheckpointContent {
        let found = try Found(file, of: log)
        let packed = packedFile(file, path, found, namesPlaces: namesPlaces)
        let catalog = Catalog(
            schema: found.directory.schema, storeIdentifier: log.store.uuidString, external: external)
        let version = try EngineVersion.unpack(
            found.directory.tables, from: packed, number: found.directory.transaction,
            nextSequence: found.directory.nextSequence, catalog: catalog)
        return CheckpointContent(version: version, position: try found.place(), size: found.size)
    }

    private static func packedFile(
        _ file: any OpenFile, _ path: String, _ found: Found, namesPlaces: Bool
    ) -> PackedFile {
        let explainUnread: @Sendable (FileError, UInt64) -> any Error = { error, offset in
            AppendLogError(path: path, fault: .unreadable(offset: Int64(clamping: offset), error: error))
        }
        return PackedFile(
            file, end: found.footer.offset, seed: found.header.seed, explainUnread: namesPlaces ? explainUnread : nil
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

    /// The schema of a checkpoint's records, and where its log goes on; nil where there is none that can be read.
    static func schema(
        _ path: String, of log: FileHeader, in fileSystem: any FileSystem
    ) throws -> (schema: StoredSchema, position: LogPosition)? {
        guard try fileSystem.infoIfPresent(path, followingLinks: true) != nil else { return nil }
        let file = try fileSystem.open(path, mode: .read)
        defer { try? file.close() }
        do {
            let found = try Found(file, of: log)
            return (found.directory.schema, try found.place())
        } catch is LogFault {
            return nil
        }
    }

    /// What a checkpoint says of itself.
    private struct Found {
        let size: Int64
        let header: FileHeader
        let footer: CheckpointFooter
        let directory: CheckpointDirectory
        /// Nil where it names other logs.
        let position: LogPosition?

        /// - Throws: `LogFault.checkpointOfAnother`.
        func place() throws(LogFault) -> LogPosition {
            guard let position else { throw .checkpointOfAnother }
            return position
        }

        init(_ file: any OpenFile, of log: FileHeader) throws {
            size = try file.info().size
            let beginning = try file.readAll(count: Int(min(size, Int64(FileHeader.size))), at: 0)
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
                throw LogFault.malformed(offset: Int64(footer.offset) + Int64(error.offset), what: error.what)
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
            : .malformed(offset: offset, what: "of the region \(fault.what)")
    }
}

extension ReplayTables {
    /// The records of a version.
    /// - Parameter isLenient: whether what cannot be read is passed over.
    /// - Throws: the error of what the version should have and cannot be read.
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
