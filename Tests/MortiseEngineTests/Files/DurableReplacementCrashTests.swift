import MortiseEngine
import PackageTestSupport
import Testing
import MortiseTestSupport

private let crashSeeds = (0..<5 as Range<UInt64>).map { [first = testSeed("DurableReplacementCrashTests")] in
    first &+ $0
}

/// A power cut after every operation of several replacements, with every kind of loss.
@Suite struct DurableReplacementCrashTests {
    /// What an enumeration found.
    private struct Findings {
        var images = 0
        var lost = 0
        var mixed = 0
        var exposed = 0
        var isClean: Bool { lost == 0 && mixed == 0 && exposed == 0 }
    }

    private static let contents = (0...5).map { pattern(UInt8($0), count: 1_500 + $0 * 700) }

    private func content(_ version: Int) -> [UInt8] { Self.contents[version] }

    /// Replaces a file five times and looks at it after every possible crash.
    private func explore(
        seed: UInt64, breaking mistake: BrokenFileSystem.Mistake? = nil, failingSync: Bool = false
    ) throws -> Findings {
        let disk = SimulatedFileSystem(seed: seed)
        try disk.install(content(0), at: "/store", permissions: 0o640)
        let fileSystem: any FileSystem = mistake.map { BrokenFileSystem(base: disk, mistake: $0) } ?? disk
        var acknowledged = [0: 0]
        for version in 1...5 {
            if failingSync, version == 3 { disk.inject(.fail(.io), of: .sync) }
            let replacement = DurableReplacement(of: "/store", bufferSize: 4_096, in: fileSystem)
            do {
                try replacement.replace(bytes: content(version))
                acknowledged[disk.operationCount] = version
            } catch let error as FileError {
                #expect(error.code == .io)
            }
        }
        var findings = Findings()
        try disk.forEachCrash(limit: 8) { image in
            findings.images += 1
            let promised = acknowledged.filter { $0.key <= image.operation }.values.max() ?? 0
            let found = image.fileSystem.contents(at: "/store")
            guard let version = (0...5).first(where: { content($0) == found }) else {
                findings.mixed += 1
                return
            }
            if version < promised { findings.lost += 1 }
            let permissions = try image.fileSystem.info("/store", followingLinks: true).permissions
            if permissions != 0o640 { findings.exposed += 1 }
        }
        return findings
    }

    @Test(arguments: crashSeeds)
    func everyImageHoldsAWholeContentAndNoAcknowledgedOneIsLost(seed: UInt64) throws {
        let findings = try explore(seed: seed)
        #expect(findings.isClean, "\(findings)")
        #expect(findings.images > 300)
    }

    @Test(arguments: crashSeeds)
    func aFailedSyncIsNeitherBelievedNorHarmful(seed: UInt64) throws {
        let findings = try explore(seed: seed, failingSync: true)
        #expect(findings.isClean, "\(findings)")
    }

    @Test func aMissingDirectorySyncIsCaught() throws {
        let findings = try explore(seed: 1, breaking: .skipsDirectorySync)
        #expect(findings.lost > 0)
    }

    @Test func aMissingFileSyncIsCaught() throws {
        let findings = try explore(seed: 1, breaking: .skipsFileSync)
        #expect(findings.mixed > 0)
    }

    @Test func aRetriedSyncIsCaught() throws {
        let findings = try explore(seed: 1, breaking: .retriesFailedSync, failingSync: true)
        #expect(findings.mixed > 0)
    }

    @Test func orphansOfEveryCrashAreSweptAtTheNextStart() throws {
        let disk = SimulatedFileSystem(seed: 2)
        try DurableReplacement(of: "/store", in: disk).replace(bytes: content(0))
        try DurableReplacement(of: "/store", in: disk).replace(bytes: content(1))
        var orphans = 0
        try disk.forEachCrash { image in
            let fileSystem = image.fileSystem
            let lock = try FileLock(forStoreAt: "/store", in: fileSystem)
            let replacement = DurableReplacement(of: "/store", in: fileSystem)
            orphans += try replacement.sweepOrphans(holding: lock).count
            try replacement.replace(bytes: content(2))
            #expect(fileSystem.paths == ["/store", "/store.lock"])
            #expect(fileSystem.contents(at: "/store") == content(2))
        }
        #expect(orphans > 20)
    }
}
