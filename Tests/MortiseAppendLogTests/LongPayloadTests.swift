import Foundation
import MortiseCore
import MortiseEngine
import Synchronization
import Testing

@testable import MortiseAppendLog

/// Saves whose payload is too long to be copied into one piece with its header.
struct LongPayloadTests {
    /// Else a power cut between the writes could leave a header with the zeros that stood behind it, and the rest of its
    /// payload on the disk: damage, where one write leaves a torn tail.
    @Test func noSectorOfTheHeaderHasBytesOfTwoWrites() throws {
        let disk = try makeDisk()
        let container = try openLog(logConfiguration(disk))
        let context = ModelContext(container)
        let pictures = Mutex<[[UInt8]]>([])
        @Sendable func takePicture() {
            do {
                let file = try disk.open(logPath, mode: .read)
                let bytes = try file.readAll(count: Int(file.info().size), at: 0)
                try file.close()
                pictures.withLock { $0.append(bytes) }
            } catch {
                Issue.record(error)
            }
        }
        // Frames of many lengths, so that headers come to stand anywhere in their sectors.
        for length in stride(from: 5_000, to: 9_000, by: 97) {
            pictures.withLock { $0 = [] }
            disk.interject(of: .write, times: .max, takePicture)
            context.insert(Item(String(repeating: "x", count: length)))
            try context.save()
            disk.removeFaults()
            takePicture()
            let taken = pictures.withLock { $0 }
            #expect(taken.count >= 3, "before the head, before the rest, and after it")
            guard taken.count >= 3 else { break }
            let head = changedSectors(taken[0], taken[1])
            #expect(!head.isEmpty && head.isDisjoint(with: changedSectors(taken[1], taken[2])), "\(length)")
        }
        try container.close()
        #expect(try contents(logConfiguration(disk)).count == 42)
    }

    private func changedSectors(_ old: [UInt8], _ new: [UInt8]) -> Set<Int> {
        let changed = new.indices.filter { new[$0] != ($0 < old.count ? old[$0] : 0) }
        return Set(changed.map { $0 / 512 })
    }

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
        var changes = CommittedChanges()
        for name in catalog.names {
            let table = try #require(version.tables[name])
            changes.inserted += (0..<table.endRow).map { table.identifier(ofRow: $0) }
        }
        let origin = TransactionOrigin(timestamp: Date(), author: nil, process: "", bundle: "")
        var payload = ByteWriter()
        try payload.transaction(
            changes, from: EngineVersion.empty(Catalog(schema: catalog.schema, storeIdentifier: catalog.store)),
            to: version, origin: origin, catalog: catalog)
        #expect(payload.count > 900_000)
        #expect(payload.bytes.capacity < 3 * payload.count, "\(payload.bytes.capacity) for \(payload.count)")
    }
}
