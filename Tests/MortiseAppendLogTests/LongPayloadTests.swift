import Foundation
import MortiseCore
import MortiseEngine
import Testing

@testable import MortiseAppendLog

/// What a long payload takes.
struct LongPayloadTests {
    /// How long the records of one entity are says nothing of another's.
    @Test func theRoomForRecordsIsThatOfTheirOwnEntity() throws {
        let disk = try makeDisk()
        try withLog(logConfiguration(disk)) { context in
            for number in 0..<300 { context.insert(Box("\(number) " + String(repeating: "x", count: 3_000))) }
            for _ in 0..<5_000 { context.insert(Item("i")) }
            try context.save()
        }
        let store = try openStore(logConfiguration(disk))
        defer { try? store.close() }
        let catalog = try #require(store.opened.sink).catalog
        let version = store.engine.version
        var inserted: [PersistentIdentifier] = []
        for name in catalog.names {
            let table = try #require(version.tables[name])
            inserted += (0..<table.endRow).map { table.identifier(ofRow: $0) }
        }
        var changes = ChangeSet()
        changes.inserted = ChangeSet.Insertions(records: inserted)
        var payload = ByteWriter()
        try payload.transaction(
            changes, from: EngineVersion.empty(Catalog(schema: catalog.schema, storeIdentifier: catalog.store)),
            to: version, catalog: catalog)
        #expect(payload.count > 900_000)
        #expect(payload.bytes.capacity < 3 * payload.count, "\(payload.bytes.capacity) for \(payload.count)")
    }
}
