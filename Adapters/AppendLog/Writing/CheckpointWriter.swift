import Foundation
import MortiseCore
import MortiseEngine

/// Writes the records of a version as a checkpoint.
struct CheckpointWriter {
    /// How large a frame of records gets, about.
    private static let frameSize = 512 << 10

    let catalog: LogCatalog
    let version: EngineVersion
    let store: UUID

    /// Replaces the checkpoint at the path, whole and durably.
    func write(
        to path: String, places: [CheckpointContent.Place], permissions: UInt32, in fileSystem: any FileSystem
    ) throws {
        let replacement = DurableReplacement(of: path, newFilePermissions: permissions, in: fileSystem)
        try replacement.replace { file in
            var frames = try FrameWriter(FileHeader(kind: .checkpoint, store: store), to: file)
            try frames.append(.schema, try catalog.schemaPayload())
            var count: UInt64 = 0
            for entity in catalog.names.indices { count += try append(entity, to: &frames) }
            var end = ByteWriter()
            end.checkpointEnd(
                transaction: version.number, nextSequence: version.nextSequence, count: count, places: places)
            try frames.append(.checkpointEnd, end.bytes)
        }
    }

    private func append(_ entity: Int, to frames: inout FrameWriter) throws -> UInt64 {
        guard let table = version.tables[catalog.names[entity]] else { return 0 }
        var records = ByteWriter(capacity: Self.frameSize + 4096)
        var count = 0
        var total: UInt64 = 0
        func flush() throws {
            guard count > 0 else { return }
            var payload = ByteWriter(capacity: records.count + 24)
            payload.varint(entity)
            payload.varint(count)
            records.bytes.withUnsafeBytes { payload.raw($0) }
            payload.byte(payloadEnd)
            try frames.append(.records, payload.bytes)
            total += UInt64(count)
            count = 0
            records.removeAll()
        }
        for row in 0..<table.endRow where table.contains(row: row) {
            try records.record(table.sequence(ofRow: row), table, row, entity, catalog)
            count += 1
            if records.count >= Self.frameSize { try flush() }
        }
        try flush()
        return total
    }
}
