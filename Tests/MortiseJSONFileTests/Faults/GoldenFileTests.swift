import FaultWorkload
import Foundation
import MortiseCore
import MortiseEngine
import MortiseJSONFile
import Testing
import MortiseTestSupport

/// A store opens files of every version, saves them, and seals them anew.
struct GoldenCheck {
    /// What becomes of a file before it is read, for a store whose format is not that of the file any more.
    var change: (String) -> String = { $0 }

    func run() throws -> Findings {
        var findings = Findings()
        for version in 1...GoldenFileTests.newest {
            let url = GoldenFileTests.folder.appending(path: "format-\(version)-store.json")
            let bytes = Array(change(String(decoding: try Data(contentsOf: url), as: UTF8.self)).utf8)
            findings.inject()
            let disk = SimulatedFileSystem(seed: 7)
            let error = thrown {
                try disk.install(bytes, at: "/golden.json")
                let container = try Workload.open(JSONFileConfiguration(path: "/golden.json", in: disk))
                let state = container.workloadState
                findings.expect(state == 4, "version \(version): state \(String(describing: state))")
                try container.advance(to: 5)
                try container.close()
                findings.expect(Depot.state(in: disk, at: "/golden.json") == 5, "version \(version) was not saved")
                try disk.install(bytes, at: "/golden.json")
                try JSONFileStore.reseal("/golden.json", in: disk)
                findings.expect(
                    disk.contents(at: "/golden.json") == bytes || version < GoldenFileTests.newest,
                    "version \(version) is sealed as another text")
            }
            findings.expect(error == nil, "version \(version): \(String(describing: error))")
        }
        return findings
    }
}

/// A file of every version of the format, as it was written when that version was the newest. They are never changed.
@Suite struct GoldenFileTests {
    static let folder = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().appending(path: "Golden")
    /// The newest version in which a store is written that keeps all values in its records.
    static let newest = StoreDocument.versionOfReferences - 1

    private static func golden(_ version: UInt64) throws -> [UInt8] {
        [UInt8](try Data(contentsOf: folder.appending(path: "format-\(version).json")))
    }

    @Test(arguments: 1...GoldenFileTests.newest)
    func thereIsAFileOfEveryVersionAndItIsRead(version: UInt64) throws {
        let bytes = try Self.golden(version)
        let (header, records) = try read(bytes)
        #expect(header.isSealed)
        #expect(records.map(\.sequence) == [1, 2, 3, 5, 4, 7, 8, 9])
        let kinds = Set(header.schema.entities.flatMap(\.properties).compactMap { $0.attribute?.kind })
        #expect(kinds == Set(StorageKind.allCases))
        FaultLedger.add(["F35"], trials: 1)
    }

    @Test func theFileOfTheNewestVersionIsWrittenAgainByteForByte() throws {
        let bytes = try Self.golden(Self.newest)
        let (header, records) = try read(bytes)
        #expect(try write(header.schema, next: header.nextSequence, records, store: header.storeIdentifier) == bytes)
        let disk = SimulatedFileSystem(seed: 6)
        try disk.install(bytes, at: "/golden.json")
        try JSONFileStore.reseal("/golden.json", in: disk)
        #expect(disk.contents(at: "/golden.json") == bytes)
    }

    @Test func aStoreOpensOneOfEveryVersionAndSavesIt() throws { try GoldenCheck().run().verify("F35") }
}
