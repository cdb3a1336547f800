import Foundation
import MortiseCore
import MortiseEngine
import Testing

@testable import MortiseAppendLog
import MortiseTestSupport

/// A log whose schema is another than its records were written under, its checksum right: the checkpoint still has the
/// schema, and opening goes by that.
struct OtherSchemaTests {
    /// The log with its first schema changed, all frames in their order.
    private func forging(_ log: [UInt8], _ change: (StoredSchema) -> StoredSchema) throws -> [UInt8] {
        let header = try FileHeader(Array(log.prefix(FileHeader.size)), expecting: .log)
        let reader = FrameReader(
            try makeDisk(with: log).open(logPath, mode: .read), size: Int64(log.count), seed: header.seed)
        var bytes = header.bytes
        var position = LogPosition.first
        _ = try reader.scan(from: .first, allowingGapsTo: header.base) { frame in
            var payload = Array(frame.payload)
            if frame.header.kind == .schema {
                let schema = change(try frame.reading { try $0.schema() })
                payload = try LogCatalog(schema, store: header.store.uuidString).schemaPayload()
            }
            bytes += [UInt8](repeating: 0, count: Int(position.offset) - bytes.count)
            var writer = ByteWriter(capacity: 4_096)
            position = writer.frames(
                [(frame.header.kind, payload)], from: position, transaction: frame.header.transaction,
                synced: position.sequence - 1, seed: header.seed)
            bytes += writer.bytes
            return true
        }
        return bytes
    }

    /// Another name of as many bytes, so that every frame stays in its place.
    private func renaming(_ schema: StoredSchema) -> StoredSchema {
        StoredSchema(
            version: schema.version,
            entities: schema.entities.map { entity in
                StoredEntity(
                    name: entity.name, superentity: entity.superentity,
                    properties: entity.properties.map { property in
                        StoredProperty(
                            name: property.name == "count" ? "tnuoc" : property.name, isOptional: property.isOptional,
                            content: property.content)
                    }, uniquenessConstraints: entity.uniquenessConstraints, indices: entity.indices)
            })
    }

    @Test(arguments: [false, true]) func theCheckpointsSchemaCountsWhereTheLogHasAnother(isBehind: Bool) throws {
        let disk = try makeDisk()
        _ = try makeSmallLog(on: disk)
        // So that the schema is not among the bytes by which the checkpoint knows its log.
        try withLog(logConfiguration(disk)) { context in
            context.insert(Item(String(repeating: "long ", count: LogTail.longest / 4), count: 1))
            try context.save()
        }
        let store = try openStore(logConfiguration(disk))
        try store.checkpoint()
        try store.close()
        if isBehind {
            try withLog(logConfiguration(disk)) { context in
                context.insert(Item("behind", count: 7))
                try context.save()
            }
        }
        let expected = try contents(logConfiguration(disk))
        let log = try forging(try #require(disk.contents(at: logPath)), renaming)
        let forged = try makeDisk(with: log, checkpoint: disk.contents(at: logPath + ".checkpoint"))
        let problems = try AppendLogStore.verify(logPath, in: forged).problems
        #expect("\(problems)".contains("has a different schema from the log's"), "\(problems)")
        let salvaged = try AppendLogStore.salvage(logPath, to: "/data/new.log", in: forged)
        #expect("\(salvaged.lost)".contains("has a different schema from the log's"), "\(salvaged.lost)")
        #expect(try contents(logConfiguration(forged, path: "/data/new.log")) == expected)
        #expect(try AppendLogStore.verify("/data/new.log", in: forged).problems == [])
    }

    /// Without a checkpoint nothing says that it is another. Then the new store is the old one's equal.
    @Test func withoutACheckpointTheNewStoreOpensUnderTheSchemaThatItHas() throws {
        let disk = try makeDisk()
        _ = try makeSmallLog(on: disk)
        let forged = try makeDisk(with: try forging(try #require(disk.contents(at: logPath)), renaming))
        #expect(try AppendLogStore.salvage(logPath, to: "/data/new.log", in: forged).lost == [])
        var configuration = logConfiguration(forged, path: "/data/new.log")
        let schema = try #require(try configuration.storedSchema())
        #expect(try schema == logConfiguration(forged).storedSchema())
        configuration.schema = Schema(stored: schema)
        let store = try AppendLogStore(configuration, migrationPlan: nil)
        #expect(store.engine.version.tables["Item"]?.count == 3)
        try store.close()
    }
}
