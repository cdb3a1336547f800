import MortiseEngine
import Testing
import MortiseTestSupport

@Suite struct OrphanTests {
    let fileSystem = SimulatedFileSystem()

    @Test func onlyTemporariesOfThisVeryFileAreSwept() throws {
        let ours = [
            ".store.12+0123456789abcdef.mortise-tmp", ".store.12-0123456789abcdef.mortise-tmp",
            ".store.2147483647-ffffffffffffffff.mortise-tmp",
        ]
        let others = [
            "store", ".store.mortise-tmp", ".store.12-0123456789abcde.mortise-tmp",
            ".store.12-0123456789abcdef.mortise-tmp.bak", ".store.12-0123456789abcdeg.mortise-tmp",
            ".store.-0123456789abcdef.mortise-tmp", ".store.1x-0123456789abcdef.mortise-tmp",
            ".store.json.12-0123456789abcdef.mortise-tmp", ".other.12-0123456789abcdef.mortise-tmp",
            "store.12-0123456789abcdef.mortise-tmp", ".store.12-0123456789ABCDEF.mortise-tmp",
        ]
        for name in ours + others { try fileSystem.install([1], at: "/d/" + name) }
        try fileSystem.install(.directory, at: "/d/.store.13-0123456789abcdef.mortise-tmp")
        let lock = try FileLock(forStoreAt: "/d/store", in: fileSystem)
        let swept = try DurableReplacement(of: "/d/store", in: fileSystem).sweepOrphans(holding: lock)
        #expect(swept == ours)
        let left = try fileSystem.list("/d")
        #expect(others.allSatisfy(left.contains))
        #expect(left.contains(".store.13-0123456789abcdef.mortise-tmp"))
    }

    @Test func aTemporaryOfARunningReplacementMatchesItsPattern() throws {
        fileSystem.inject(.fail(.io), of: .rename)
        fileSystem.inject(.fail(.io), of: .unlink)
        #expect(fileError { try DurableReplacement(of: "/store", in: fileSystem).replace(bytes: [1]) } != nil)
        let lock = try FileLock(forStoreAt: "/store", in: fileSystem)
        #expect(try DurableReplacement(of: "/store", in: fileSystem).sweepOrphans(holding: lock).count == 1)
        #expect(fileSystem.paths == ["/store.lock"])
    }

    @Test func namesThatDifferInNormalisationAreDifferentFiles() throws {
        let orphan = ".\u{E9}.12-0123456789abcdef.mortise-tmp"
        try fileSystem.install([1], at: "/" + orphan)
        let lock = try FileLock(forStoreAt: "/e\u{301}", in: fileSystem)
        #expect(try DurableReplacement(of: "/e\u{301}", in: fileSystem).sweepOrphans(holding: lock) == [])
    }

    @Test func withoutTheLockOfThisStoreNothingIsSwept() throws {
        try fileSystem.install([1], at: "/.a.12-0123456789abcdef.mortise-tmp")
        let replacement = DurableReplacement(of: "/a", in: fileSystem)
        let other = try FileLock(forStoreAt: "/b", in: fileSystem)
        #expect(fileError { try replacement.sweepOrphans(holding: other) }?.reason == .invalidPath)
        let released = try FileLock(forStoreAt: "/a", in: fileSystem)
        released.release()
        #expect(fileError { try replacement.sweepOrphans(holding: released) }?.reason == .closed)
        #expect(fileSystem.paths.contains("/.a.12-0123456789abcdef.mortise-tmp"))
    }
}
