import FaultWorkload
import Foundation
import MortiseCore
import MortiseEngine
import MortiseJSONFile
import Testing
import MortiseTestSupport

/// What saves open, rename and remove lies in the file's own folder.
struct TouchedPathsCheck {
    var mistake: BrokenFileSystem.Mistake?

    func run() throws -> Findings {
        var findings = Findings()
        let depot = try Depot(breaking: mistake)
        try depot.disk.install([1], at: "/elsewhere/kept")
        let path = "/elsewhere/de pot.json"
        let container = try Workload.open(JSONFileConfiguration(path: path, in: depot.fileSystem))
        for state in 1...3 { try container.advance(to: state) }
        try container.close()
        findings.inject(3)
        for operation in depot.disk.trace {
            findings.expect(operation.path.hasPrefix("/elsewhere"), "\(operation)")
        }
        let paths = depot.disk.paths
        let own = ["/elsewhere", path, path + ".history", path + ".lock", "/elsewhere/kept"]
        findings.expect(paths == own, "\(paths)")
        return findings
    }
}

/// The file says the same whenever it is written: identifiers are counted, records ordered by them, and the file's time
/// only tells whether somebody else wrote it.
struct ClockCheck {
    /// Makes the document of a few saves.
    var write: () throws -> [UInt8] = ClockCheck.saves

    static func saves() throws -> [UInt8] {
        let disk = SimulatedFileSystem(seed: 5)
        try disk.install(try Depot.document(of: 2), at: Depot.path)
        let container = try Workload.open(JSONFileConfiguration(path: Depot.path, in: disk))
        for state in 3...5 { try container.advance(to: state) }
        try container.close()
        return disk.contents(at: Depot.path) ?? []
    }

    func run() throws -> Findings {
        var findings = Findings()
        var texts: [[Substring]] = []
        for _ in 0..<2 {
            let text = String(decoding: try write(), as: UTF8.self)
            // The seal covers the store's identifier, which is random.
            let identifier = Self.storeIdentifier(in: text)
            findings.expect(identifier != nil, "no identifier")
            texts.append(text.split(separator: "\n").filter { !$0.contains("\"store\": ") }.dropLast())
        }
        findings.inject(2)
        findings.expect(texts[0] == texts[1], "two documents differ")
        return findings
    }

    private static func storeIdentifier(in text: String) -> String? {
        text.split(separator: "\n").first { $0.contains("\"store\": ") }
            .flatMap { $0.split(separator: "\"").dropFirst(3).first }.map(String.init)
    }
}

/// Names in the data never become names of files, and no time of day enters what is stored.
@Suite struct NameTests {
    static let names = [
        "../escape", "/etc/passwd", "a/b", "..", ".", "nul\u{0}", "Case", "case", "e\u{301}clair", "\u{202E}rtl",
        String(repeating: "n", count: 1_024), ".depot.json.1-0123456789abcdef.mortise-tmp", "depot.json.lock",
    ]

    @Test func namesOfEntitiesPropertiesAndRecordsNeverReachAPath() throws {
        let schema = StoredSchema(
            entities: Self.names.map {
                StoredEntity(name: $0, properties: [attribute("../" + $0.prefix(900), .string)])
            })
        let records = schema.entities.enumerated().map { index, entity in
            TestRecord(entity.name, UInt64(index + 1), [.string("../../" + entity.name)])
        }
        let document = try write(schema, records, store: "../../store\u{0}")
        let disk = SimulatedFileSystem(seed: 4)
        try disk.install(document, at: "/data/depot.json")
        try disk.install([1], at: "/etc/passwd")
        let before = disk.paths
        try JSONFileStore.reseal("/data/depot.json", in: disk)
        #expect(disk.contents(at: "/data/depot.json") == document)
        #expect(Set(disk.paths) == Set(before))
        #expect(disk.contents(at: "/etc/passwd") == [1])
        for operation in disk.trace {
            #expect(
                operation.path == "/data" || operation.path.hasPrefix("/data/depot.json")
                    || operation.path.hasPrefix("/data/.depot.json."), "\(operation)")
        }
        FaultLedger.add(["F24"], trials: Self.names.count)
    }

    @Test func everythingASaveTouchesLiesBesideTheFile() throws { try TouchedPathsCheck().run().verify("F24") }

    /// The longest name that the folder takes is too long once the temporary's is built from it: an error, and the same
    /// each time.
    @Test func aNameTooLongForItsTemporaryIsATypedErrorAndLeavesNothing() throws {
        try withTemporaryFolder { folder in
            let path = folder + "/" + String(repeating: "n", count: 250)
            let container = try Workload.open(JSONFileConfiguration(path: path))
            let error = thrown { try container.advance(to: 1) } as? FileError
            #expect(error?.reason == .invalidPath)
            try container.close()
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder).count <= 1)
        }
        FaultLedger.add(["F24"], trials: 1)
    }

    @Test func noClockEntersIdentifiersOrderOrBytes() throws { try ClockCheck().run().verify("F31") }

    /// A file from the future, by its time, is saved like any other.
    @Test(arguments: [-2_000_000_000.0, 0, 4_000_000_000])
    func aClockThatJumpedDisturbsNothing(time: Double) throws {
        try withTemporaryFolder { folder in
            let path = folder + "/depot.json"
            try Data(Depot.document(of: 2)).write(to: URL(fileURLWithPath: path))
            try FileManager.default.setAttributes(
                [.modificationDate: Date(timeIntervalSince1970: time)], ofItemAtPath: path)
            let container = try Workload.open(JSONFileConfiguration(path: path))
            try container.advance(to: 3)
            try container.advance(to: 4)
            #expect(container.workloadState == 4)
            try container.close()
            let store = try Workload.openStore(JSONFileConfiguration(path: path, allowsSave: false))
            #expect(Workload.state(of: store) == 4)
        }
        FaultLedger.add(["F31"], trials: 1)
    }
}
