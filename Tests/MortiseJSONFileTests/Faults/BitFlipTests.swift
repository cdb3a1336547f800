import FaultWorkload
import Foundation
import MortiseCore
import MortiseEngine
import MortiseJSONFile
import PackageTestSupport
import Testing
import MortiseTestSupport

/// Bits of every byte of a small store are flipped, every length cut off, and the store opened.
struct BitFlipCheck {
    var integrity = JSONFileIntegrity.required
    /// All bits at full size; one of each byte, by a seed, where time counts.
    private let isFull = ProcessInfo.processInfo.environment["MORTISE_TEST_SIZE"] == "full"
    private let seed = testSeed("BitFlipCheck")

    init(integrity: JSONFileIntegrity = .required) { self.integrity = integrity }

    func run() throws -> Findings {
        var findings = Findings()
        let document = try Depot.document(of: 2)
        let depot = try Depot(state: 2)
        let expected = Workload.lines(of: 2)
        // One object for all openings, so that a leaked one would be noticed by the next.
        let configuration = JSONFileConfiguration(path: Depot.path, integrity: integrity, in: depot.disk)
        var generator = SeededGenerator(seed: seed)
        let chosen = document.map { _ in Int.random(in: 0..<8, using: &generator) }
        for bit in 0..<(document.count * 8) where isFull || chosen[bit / 8] == bit % 8 {
            var damaged = document
            damaged[bit / 8] ^= 1 << UInt8(bit % 8)
            try check(damaged, "bit \(bit % 8) of byte \(bit / 8)", configuration, depot, expected, &findings)
        }
        for length in 0..<document.count {
            try check(
                Array(document[..<length]), "cut to \(length) bytes", configuration, depot, expected, &findings)
        }
        return findings
    }

    private func check(
        _ damaged: [UInt8], _ damage: String, _ configuration: JSONFileConfiguration, _ depot: Depot,
        _ expected: [String], _ findings: inout Findings
    ) throws {
        try depot.disk.install(damaged, at: Depot.path)
        findings.inject()
        do {
            let store = try Workload.openStore(configuration)
            findings.expect(Workload.lines(of: store) == expected, "\(damage): opens with other data")
            try store.close()
        } catch let error as JSONFileError {
            findings.expect(error.path == Depot.path && !error.description.isEmpty, "\(damage): \(error)")
        } catch {
            findings.expect(error is EngineError && integrity == .acceptEdits, "\(damage): \(error)")
        }
        findings.expect(depot.disk.contents(at: Depot.path) == damaged, "\(damage): the file was touched")
    }
}

@Suite struct BitFlipTests {
    @Test func everyFlippedBitAndEveryCutIsATypedErrorAndTheFileStays() throws {
        try BitFlipCheck().run().verify("F02")
    }

    @Test func aDamagedFileIsNamedWithLineAndColumn() throws {
        let depot = try Depot(state: 2)
        var bytes = try Depot.document(of: 2)
        bytes.removeLast(30)
        try depot.disk.install(bytes, at: Depot.path)
        let error = thrown { _ = try depot.open() } as? JSONFileError
        #expect(error?.path == Depot.path)
        #expect((error?.fault.position.line ?? 0) > 20)
        #expect(depot.disk.contents(at: Depot.path) == bytes)
        // The lock of an opening that failed is free again.
        try depot.disk.install(try Depot.document(of: 2), at: Depot.path)
        let container = try depot.open()
        #expect(container.workloadState == 2)
    }

    @Test func aFileThatIsEmptyOrOfAnotherFormatIsNeverOverwritten() throws {
        let depot = try Depot()
        for text in ["", "{}", "hello", "{\"format\": \"other\"}", String(repeating: "\u{0}", count: 4_096)] {
            try depot.disk.install(Array(text.utf8), at: Depot.path)
            #expect(throws: JSONFileError.self) { _ = try depot.open() }
            #expect(depot.disk.contents(at: Depot.path) == Array(text.utf8))
        }
    }
}
