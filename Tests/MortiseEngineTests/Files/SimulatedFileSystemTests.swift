import MortiseEngine
import Testing
import MortiseTestSupport

/// What the double promises about faults, limits and processes; its crashes have tests of their own.
@Suite struct SimulatedFileSystemTests {
    let fileSystem = SimulatedFileSystem(seed: 7)

    @Test func theChosenOperationFailsAndOnlyThat() throws {
        try fileSystem.install([], at: "/a")
        fileSystem.inject(.fail(.io), at: 2)
        for number in 1...4 {
            let error = fileError { _ = try fileSystem.info("/a", followingLinks: true) }
            #expect(error?.reason == (number == 2 ? .io : nil))
        }
    }

    @Test func aFaultOfOneKindWaitsForItsNumber() throws {
        fileSystem.inject(.fail(.io), at: 2, of: .open)
        try fileSystem.put([1], at: "/a")
        #expect(fileError { try fileSystem.put([1], at: "/b") }?.reason == .io)
        try fileSystem.put([1], at: "/b")
        #expect(fileSystem.contents(at: "/b") == [1])
    }

    @Test func anOperationMayReportAnErrorAfterItsWork() throws {
        try fileSystem.install([1], at: "/a")
        fileSystem.inject(.failAfterwards(.io), of: .rename)
        #expect(fileError { try fileSystem.rename("/a", to: "/b") }?.reason == .io)
        #expect(fileSystem.paths == ["/b"])
    }

    @Test func theSupplyOfNodesEndsInNoSpaceAndComesBack() throws {
        fileSystem.limits.nodes = 2
        try fileSystem.put([], at: "/a")
        #expect(fileError { try fileSystem.put([], at: "/b") }?.reason == .noSpace)
        try fileSystem.unlink("/a")
        try fileSystem.put([], at: "/b")
    }

    @Test func removedFilesGiveTheirSpaceBackWhenTheyAreClosed() throws {
        fileSystem.limits.capacity = 100
        let file = try fileSystem.open("/a", mode: .create(permissions: 0o600))
        try file.writeAll(pattern(1, count: 100), at: 0)
        try fileSystem.unlink("/a")
        #expect(try file.readAll(count: 100, at: 0) == pattern(1, count: 100))
        #expect(fileError { try fileSystem.put([1], at: "/b") }?.reason == .noSpace)
        try file.close()
        try fileSystem.put([1], at: "/b")
    }

    @Test func limitsOfLengthDescriptorsAndMediumHaveTheirErrors() throws {
        fileSystem.limits.fileSize = 10
        #expect(fileError { try fileSystem.put(pattern(1, count: 11), at: "/a") }?.reason == .fileTooLarge)
        #expect(fileSystem.contents(at: "/a")?.count == 10)
        fileSystem.limits.openFiles = 0
        #expect(fileError { _ = try fileSystem.open("/a", mode: .read) }?.reason == .tooManyOpenFiles)
        fileSystem.limits = SimulatedFileSystem.Limits()
        fileSystem.limits.isReadOnly = true
        #expect(fileError { try fileSystem.put([1], at: "/a") }?.reason == .readOnly)
        #expect(fileError { try fileSystem.unlink("/a") }?.reason == .readOnly)
        #expect(try fileSystem.bytes(at: "/a")?.count == 10)
    }

    /// A write behind the end of the file leaves a hole, which takes room like anything else.
    @Test(arguments: [100, 99, 50, 101, 103])
    func aWriteBehindTheEndMeetsTheEndOfTheRoom(room: Int) throws {
        let expected: FileError.Reason? = room <= 100 ? .noSpace : nil
        fileSystem.limits.capacity = room
        let file = try fileSystem.open("/a", mode: .create(permissions: 0o600))
        try file.writeAll(pattern(1, count: 10), at: 0)
        var taken = 0
        let error = fileError { taken = try pattern(2, count: 3).withUnsafeBytes { try file.write($0, at: 100) } }
        #expect(error?.reason == expected)
        #expect(taken == (expected == nil ? min(3, room - 100) : 0))
        #expect(fileSystem.contents(at: "/a")?.count == (expected == nil ? 100 + taken : 10))
    }

    @Test(arguments: [100, 50, 102]) func aWriteBehindTheEndMeetsTheLimitOfLength(limit: Int) throws {
        let expected: FileError.Reason? = limit <= 100 ? .fileTooLarge : nil
        fileSystem.limits.fileSize = limit
        let file = try fileSystem.open("/a", mode: .create(permissions: 0o600))
        try file.writeAll(pattern(1, count: 10), at: 0)
        let error = fileError { try file.writeAll(pattern(2, count: 2), at: 100) }
        #expect(error?.reason == expected)
        #expect(fileSystem.contents(at: "/a")?.count == (expected == nil ? 102 : 10))
    }

    @Test func theNearerOfTwoLimitsStopsAWrite() throws {
        fileSystem.limits.capacity = 60
        fileSystem.limits.fileSize = 50
        let file = try fileSystem.open("/a", mode: .create(permissions: 0o600))
        #expect(fileError { try file.writeAll([1], at: 70) }?.reason == .fileTooLarge)
        #expect(fileError { try file.truncate(to: 70) }?.reason == .fileTooLarge)
        fileSystem.limits.fileSize = 65
        #expect(fileError { try file.writeAll([1], at: 70) }?.reason == .noSpace)
        #expect(fileError { try file.truncate(to: 62) }?.reason == .noSpace)
        #expect(fileSystem.contents(at: "/a") == [])
    }

    /// What lies within the file needs no room, and is written also by a write that then needs some.
    @Test func onAFullDiskWhatIsThereCanBeWrittenOver() throws {
        try fileSystem.install(pattern(1, count: 10), at: "/a")
        fileSystem.limits.capacity = 10
        let file = try fileSystem.open("/a", mode: .readWrite)
        #expect(fileError { try file.writeAll([7, 7, 7, 7], at: 8) }?.reason == .noSpace)
        #expect(fileSystem.contents(at: "/a") == pattern(1, count: 8) + [7, 7])
    }

    @Test(arguments: [.max, .max - 1, 1 << 62, 1 << 33] as [Int64]) func noFileBecomesLongerThanAnyDisk(offset: Int64)
        throws
    {
        let file = try fileSystem.open("/a", mode: .create(permissions: 0o600))
        #expect(fileError { try file.writeAll([1, 2], at: offset) }?.reason == .fileTooLarge)
        #expect(fileError { try file.truncate(to: offset) }?.reason == .fileTooLarge)
        #expect(fileSystem.contents(at: "/a") == [])
    }

    @Test func afterAFailedSyncTheCacheShowsWhatTheDiskMayNotHave() throws {
        let old = pattern(1, count: 4_096)
        let new = pattern(2, count: 4_096)
        var kept = Set<Int>()
        for seed in 0..<8 as Range<UInt64> {
            let fileSystem = SimulatedFileSystem(seed: seed)
            try fileSystem.install(old, at: "/a")
            let file = try fileSystem.open("/a", mode: .readWrite)
            try file.writeAll(new, at: 0)
            fileSystem.inject(.fail(.io), of: .sync)
            #expect(fileError { try file.sync(.full) }?.reason == .io)
            try file.sync(.full)
            #expect(fileSystem.contents(at: "/a") == new)

            let crashed = fileSystem.crashed(after: .max, losing: .unsynced)
            let bytes = try #require(crashed.contents(at: "/a"))
            var sectors = 0
            for start in stride(from: 0, to: 4_096, by: 512) {
                let sector = bytes[start..<(start + 512)]
                #expect(sector == old[start..<(start + 512)] || sector == new[start..<(start + 512)])
                if sector == new[start..<(start + 512)] { sectors += 1 }
            }
            kept.insert(sectors)
        }
        #expect(kept.count > 2)
    }

    /// Trying once more proves nothing.
    @Test func afterAFailedSyncOfADirectoryItsNamesMayBeLost() throws {
        var kept = Set<Int>()
        for seed in 0..<8 as Range<UInt64> {
            let fileSystem = SimulatedFileSystem(seed: seed)
            try fileSystem.install([0], at: "/old")
            for name in 0..<8 { try fileSystem.put([1], at: "/\(name)") }
            try fileSystem.rename("/0", to: "/old")
            fileSystem.inject(.fail(.io), of: .syncDirectory)
            #expect(fileError { try fileSystem.syncDirectory("/") }?.reason == .io)
            try fileSystem.syncDirectory("/")
            #expect(fileSystem.paths.count == 8)
            let crashed = fileSystem.crashed(after: .max, losing: .unsynced)
            #expect(crashed.paths.contains("/old"))
            kept.insert(crashed.paths.count)
            // What comes later is synced as ever.
            try fileSystem.put([2], at: "/later")
            try fileSystem.syncDirectory("/")
            #expect(fileSystem.crashed(after: .max, losing: .unsynced).paths.contains("/later"))
        }
        #expect(kept.count > 2)
    }

    @Test func aKilledProcessLosesItsFilesAndLocksButNoData() throws {
        let other = fileSystem.process(2)
        let file = try other.open("/a", mode: .create(permissions: 0o600))
        try file.writeAll([1, 2, 3], at: 0)
        #expect(try file.tryLock(.exclusive))
        let mine = try fileSystem.open("/a", mode: .readWrite)
        #expect(try !mine.tryLock(.exclusive))
        other.kill()
        #expect(try mine.tryLock(.exclusive))
        #expect(fileError { _ = try file.info() }?.reason == .closed)
        #expect(fileSystem.contents(at: "/a") == [1, 2, 3])
    }

    @Test func sharedLocksExcludeOnlyExclusiveOnes() throws {
        let files = try (0..<3).map { _ in try fileSystem.open("/a", mode: .create(permissions: 0o600)) }
        // An optimized build would otherwise close each file after its last use, and with it give up its lock.
        defer { withExtendedLifetime(files) {} }
        #expect(try files[0].tryLock(.shared))
        #expect(try files[1].tryLock(.shared))
        #expect(try !files[2].tryLock(.exclusive))
        try files[0].close()
        #expect(try files[1].tryLock(.exclusive))
        #expect(try !files[2].tryLock(.shared))
    }

    @Test func interjectionsSeeTheStateBeforeTheOperation() throws {
        let clock = Counter()
        fileSystem.interject(of: .sync, times: .max) { clock.add(5) }
        fileSystem.interject(of: .syncDirectory, times: .max) { clock.add(100) }
        try DurableReplacement(of: "/a", in: fileSystem).replace(bytes: [1])
        #expect(clock.value == 105)
    }

    @Test func theSameSeedGivesTheSameRun() throws {
        func run(_ seed: UInt64) throws -> [String] {
            let fileSystem = SimulatedFileSystem(seed: seed)
            try DurableReplacement(of: "/store", in: fileSystem).replace(bytes: pattern(1, count: 2_000))
            var images: [String] = []
            fileSystem.forEachCrash { image in
                images.append("\(image.operation) \(image.loss) \(image.fileSystem.paths)")
                for path in image.fileSystem.paths {
                    images.append("\(image.fileSystem.contents(at: path) ?? [])")
                }
            }
            return images
        }
        #expect(try run(3) == run(3))
        #expect(try run(3) != run(4))
    }
}
