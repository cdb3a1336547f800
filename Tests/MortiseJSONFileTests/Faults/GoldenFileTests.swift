import FaultWorkload
import Foundation
import MortiseCore
import MortiseEngine
import MortiseJSONFile
import Testing

/// A file of every version of the format, as it was written when that version was the newest. They are never changed.
@Suite struct GoldenFileTests {
    private static let folder = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().appending(path: "Golden")

    private static func golden(_ version: UInt64) throws -> [UInt8] {
        [UInt8](try Data(contentsOf: folder.appending(path: "format-\(version).json")))
    }

    @Test(arguments: 1...StoreDocument.formatVersion)
    func thereIsAFileOfEveryVersionAndItIsRead(version: UInt64) throws {
        let bytes = try Self.golden(version)
        let (header, records) = try read(bytes)
        #expect(header.isSealed)
        #expect(records.map(\.sequence) == [1, 2, 3, 5, 4, 7, 8, 9])
        let kinds = Set(header.schema.entities.flatMap(\.properties).compactMap { $0.attribute?.kind })
        #expect(kinds == Set(StorageKind.allCases))
        FaultLedger.add(["F35"], injected: 1)
    }

    @Test func theFileOfTheNewestVersionIsWrittenAgainByteForByte() throws {
        let bytes = try Self.golden(StoreDocument.formatVersion)
        let (header, records) = try read(bytes)
        #expect(try write(header.schema, next: header.nextSequence, records, store: header.storeIdentifier) == bytes)
        let disk = SimulatedFileSystem(seed: 6)
        try disk.install(bytes, at: "/golden.json")
        try JSONFileStore.reseal("/golden.json", in: disk)
        #expect(disk.contents(at: "/golden.json") == bytes)
    }

    @Test(arguments: 1...StoreDocument.formatVersion)
    func aStoreOpensOneOfEveryVersionAndSavesIt(version: UInt64) throws {
        let bytes = [UInt8](try Data(contentsOf: Self.folder.appending(path: "format-\(version)-store.json")))
        let disk = SimulatedFileSystem(seed: 7)
        try disk.install(bytes, at: "/golden.json")
        let configuration = JSONFileConfiguration(path: "/golden.json", in: disk)
        let container = try Workload.open(configuration)
        #expect(container.workloadState == 4)
        try container.advance(to: 5)
        try container.close()
        #expect(Depot.state(in: disk, at: "/golden.json") == 5)
        try disk.install(bytes, at: "/golden.json")
        try JSONFileStore.reseal("/golden.json", in: disk)
        #expect(disk.contents(at: "/golden.json") == bytes || version < StoreDocument.formatVersion)
    }
}
