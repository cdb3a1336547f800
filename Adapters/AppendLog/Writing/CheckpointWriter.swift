import Foundation
import MortiseCore
import MortiseEngine

/// Writes the records of a version as a checkpoint.
struct CheckpointWriter {
    let catalog: LogCatalog
    let version: EngineVersion
    let store: UUID
    var isCancelled: @Sendable () -> Bool = { false }

    /// Replaces the checkpoint at the path, whole and durably, once the new one was read back as a whole.
    ///
    /// The places say where the log continues: in two logs only while one replaces the other. The tail is what comes before
    /// the first of them.
    /// - Throws: `CancellationError`; `FileError`; the error of what the version should have and cannot be read;
    ///   `AppendLogError` where the new one cannot be read. The old checkpoint is as it was, unless the outcome of the error
    ///   is unknown.
    func write(
        to path: String, places: [CheckpointDirectory.Place], tail: LogTail? = nil, permissions: UInt32,
        in fileSystem: any FileSystem
    ) throws {
        // Rows of deleted records are left out once they are many: nothing else ever takes them away.
        let version = version.isSparse ? try version.withoutGaps(isCancelled: isCancelled) : version
        let replacement = DurableReplacement(of: path, newFilePermissions: permissions, in: fileSystem)
        do {
            try write(version, to: path, places: places, tail: tail, replacement)
        } catch is VersionPacker.PackedTwoStates {
            try write(version, to: path, places: places, tail: tail, replacement)
        }
    }

    /// Writes the checkpoint whole and durably to a path where nothing exists, such as that of a temporary, and reads it back.
    /// - Throws: as `write(to:places:tail:permissions:in:)`; nothing is at the path then.
    func make(
        at path: String, places: [CheckpointDirectory.Place], permissions: UInt32, in fileSystem: any FileSystem
    ) throws {
        let version = version.isSparse ? try version.withoutGaps(isCancelled: isCancelled) : version
        func attempt() throws {
            let file = try fileSystem.open(path, mode: .createExclusive(permissions: 0o600))
            do {
                let writer = FileWriter(file)
                try fill(writer, with: version, path, places: places, tail: nil)
                try writer.flush()
                try file.setPermissions(permissions)
                try file.sync(.full)
                try file.close()
            } catch {
                try? file.close()
                try? fileSystem.unlink(path)
                throw error
            }
        }
        do { try attempt() } catch is VersionPacker.PackedTwoStates { try attempt() }
        try fileSystem.syncDirectory(PathText.directory(of: path))
    }

    private func write(
        _ version: EngineVersion, to path: String, places: [CheckpointDirectory.Place], tail: LogTail?,
        _ replacement: DurableReplacement
    ) throws {
        try replacement.replace { try fill($0, with: version, path, places: places, tail: tail) }
    }

    private func fill(
        _ file: FileWriter, with version: EngineVersion, _ path: String, places: [CheckpointDirectory.Place],
        tail: LogTail?
    ) throws {
        let header = FileHeader(kind: .checkpoint, store: store)
        try file.append(header.bytes)
        let seed = header.seed
        var packer = VersionPacker(isCancelled: isCancelled) { bytes in try Self.append(bytes, to: file, seed) }
        let tables = try packer.pack(version)
        let directory = CheckpointDirectory(
            schema: catalog.schema, transaction: version.number, nextSequence: version.nextSequence,
            places: places,
            keyForm: packer.hasReferences ? PackedTable.keyFormOfReferences : PackedTable.keyForm, tables: tables)
        var payload = ByteWriter(capacity: 1 << 16)
        try payload.directory(directory, store: catalog.store)
        let region = try payload.bytes.withUnsafeBytes { try Self.append($0, to: file, seed) }
        try Self.pad(file)
        let footer = CheckpointFooter(
            offset: region.offset, length: UInt64(region.length), checksum: region.checksum, tail: tail)
        try file.append(footer.bytes(seed: seed))
        // Otherwise the fault would show at the first fetch, when the log may have been cut to what follows the
        // checkpoint.
        let log = FileHeader(kind: .log, store: store, file: places.first?.log ?? store)
        try file.reading {
            try CheckpointContent.check($0, path, of: log, holds: version, isCancelled: isCancelled)
        }
    }

    private static func append(
        _ bytes: UnsafeRawBufferPointer, to file: FileWriter, _ seed: UInt32
    ) throws -> PackedRegion {
        guard let length = UInt32(exactly: bytes.count) else {
            throw LogFault.regionTooLarge(bytes: bytes.count)
        }
        try pad(file)
        let offset = UInt64(file.offset)
        var sum = CRC32C(resuming: seed)
        sum.update(bytes)
        try file.append(bytes)
        return PackedRegion(offset: offset, length: length, checksum: sum.value)
    }

    private static func pad(_ file: FileWriter) throws {
        let rest = Int(file.offset & 7)
        if rest > 0 { try file.append([UInt8](repeating: 0, count: 8 - rest)) }
    }
}
