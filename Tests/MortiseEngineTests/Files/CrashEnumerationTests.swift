import MortiseEngine
import Testing
import MortiseTestSupport
import PackageTestSupport

/// What a simulated power cut keeps and takes.
@Suite struct CrashEnumerationTests {
    let fileSystem = SimulatedFileSystem(seed: 11)

    private func write(_ bytes: [UInt8], at path: String, sync: Bool) throws {
        let file = try fileSystem.open(path, mode: .create(permissions: 0o600))
        try file.writeAll(bytes, at: 0)
        if sync { try file.sync(.data) }
        try file.close()
    }

    private func contents(losing loss: CrashLoss, at path: String) -> [UInt8]? {
        fileSystem.crashed(after: .max, losing: loss).contents(at: path)
    }

    @Test func unsyncedBytesAreLostAndSyncedOnesKept() throws {
        try fileSystem.install([], at: "/a")
        try write([1, 1], at: "/a", sync: true)
        try write([2], at: "/a", sync: false)
        #expect(contents(losing: .nothing, at: "/a") == [2, 1])
        #expect(contents(losing: .unsynced, at: "/a") == [1, 1])
        #expect(contents(losing: .unsyncedEntries, at: "/a") == [2, 1])
    }

    @Test func aSyncedFileIsLostWithItsNameUntilTheDirectoryIsSynced() throws {
        try write([1], at: "/a", sync: true)
        #expect(contents(losing: .unsynced, at: "/a") == nil)
        #expect(contents(losing: .unsyncedContents, at: "/a") == [1])
        try fileSystem.syncDirectory("/")
        #expect(contents(losing: .unsynced, at: "/a") == [1])
    }

    @Test func aNameMayOutliveItsBytes() throws {
        try write(pattern(1, count: 700), at: "/a", sync: false)
        #expect(contents(losing: .unsyncedContents, at: "/a") == [])
        #expect(contents(losing: .unsyncedContentsZeroed, at: "/a") == [UInt8](repeating: 0, count: 700))
        #expect(contents(losing: .unsyncedEntries, at: "/a") == nil)
    }

    @Test func aRenamingIsLostWholeOrKeptWhole() throws {
        try fileSystem.install([1], at: "/a")
        try fileSystem.install([2], at: "/b")
        try fileSystem.rename("/a", to: "/b")
        #expect(fileSystem.crashed(after: .max, losing: .unsynced).paths == ["/a", "/b"])
        #expect(contents(losing: .unsynced, at: "/b") == [2])
        #expect(fileSystem.crashed(after: .max, losing: .unsyncedContents).paths == ["/b"])
        #expect(contents(losing: .unsyncedContents, at: "/b") == [1])
    }

    @Test func aRemovalWithoutASyncMayBeUndone() throws {
        try fileSystem.install([1], at: "/a")
        try fileSystem.unlink("/a")
        #expect(contents(losing: .unsynced, at: "/a") == [1])
        try fileSystem.syncDirectory("/")
        #expect(contents(losing: .unsynced, at: "/a") == nil)
    }

    @Test func writesAreTornAtSectorsOfTheFile() throws {
        try fileSystem.install(pattern(0, count: 2_000), at: "/a")
        let file = try fileSystem.open("/a", mode: .readWrite)
        try file.writeAll(pattern(1, count: 1_500), at: 100)
        let torn = try #require(contents(losing: .tornSuffix(keeping: 0, sectors: 2), at: "/a"))
        var expected = pattern(0, count: 2_000)
        expected.replaceSubrange(100..<1_024, with: pattern(1, count: 1_500)[..<924])
        #expect(torn == expected)
    }

    @Test func aPrefixOfTheUnsyncedChangesMaySurvive() throws {
        try fileSystem.install([0, 0, 0], at: "/a")
        let file = try fileSystem.open("/a", mode: .readWrite)
        for index in 0..<3 { try file.writeAll([1], at: Int64(index)) }
        #expect(contents(losing: .suffix(keeping: 0), at: "/a") == [0, 0, 0])
        #expect(contents(losing: .suffix(keeping: 2), at: "/a") == [1, 1, 0])
        #expect(contents(losing: .suffix(keeping: 9), at: "/a") == [1, 1, 1])
    }

    @Test func scatteredLossesReorderBetweenSyncs() throws {
        try fileSystem.install([0, 0, 0], at: "/a")
        let file = try fileSystem.open("/a", mode: .readWrite)
        for index in 0..<3 { try file.writeAll([1], at: Int64(index)) }
        let images = Set((0..<64 as Range<UInt64>).map { contents(losing: .scattered(seed: $0), at: "/a") })
        #expect(images.count == 8)
    }

    @Test func scatteredLossesTakeNamesIndependently() throws {
        try write([1], at: "/a", sync: true)
        try write([2], at: "/b", sync: true)
        let images = Set(
            (0..<64 as Range<UInt64>).map { fileSystem.crashed(after: .max, losing: .scattered(seed: $0)).paths })
        #expect(images == [[], ["/a"], ["/b"], ["/a", "/b"]])
    }

    @Test func whatWasUnsyncedStaysInDoubtAcrossARestart() throws {
        try fileSystem.install([0], at: "/a")
        try write([1], at: "/a", sync: false)
        let restarted = fileSystem.crashed(after: .max, losing: .nothing)
        #expect(try restarted.bytes(at: "/a") == [1])
        #expect(restarted.crashed(after: .max, losing: .unsynced).contents(at: "/a") == [0])
    }

    @Test func earlierCrashPointsDoNotSeeLaterOperations() throws {
        var counts: [Int] = []
        for version in 1...3 as ClosedRange<UInt8> {
            try DurableReplacement(of: "/a", in: fileSystem).replace(bytes: [version])
            counts.append(fileSystem.operationCount)
        }
        for (index, count) in counts.enumerated() {
            #expect(fileSystem.crashed(after: count, losing: .unsynced).contents(at: "/a") == [UInt8(index + 1)])
        }
        #expect(fileSystem.crashed(after: 0, losing: .nothing).paths == [])
    }

    @Test func anImageCostsAsMuchInALongRunAsInAShortOne() throws {
        /// Seconds for each image of a run with as many writes.
        func secondsPerImage(_ writes: Int) throws -> Double {
            let fileSystem = SimulatedFileSystem(seed: 11)
            let file = try fileSystem.open("/log", mode: .create(permissions: 0o600))
            try fileSystem.syncDirectory("/")
            for index in 0..<writes {
                try file.writeAll(pattern(UInt8(index % 256), count: 100), at: Int64(index % 100 * 100))
                try file.sync(.data)
            }
            let images = Counter()
            let duration = ThreadClock().measure {
                fileSystem.forEachCrash { _ in images.add(1) }
            }
            #expect(images.value > writes * 6)
            return duration / .seconds(1) / Double(images.value)
        }
        // The quickest of several in turn, since other tests may take the processor in any of them.
        var (short, long) = (Double.infinity, Double.infinity)
        for _ in 0..<5 {
            short = min(short, try secondsPerImage(150))
            long = min(long, try secondsPerImage(1_500))
            if long < short * 3 { break }
        }
        // Making each image from the beginning would cost ten times as much.
        #expect(long < short * 4, "\(short) s in the short run, \(long) s in the long one")
    }
}
