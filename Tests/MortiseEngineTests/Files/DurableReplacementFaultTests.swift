import MortiseEngine
import Testing
import MortiseTestSupport

/// Every operation of a replacement fails once, in each way.
@Suite struct DurableReplacementFaultTests {
    static let old = pattern(1, count: 3_000)
    static let new = pattern(2, count: 9_000)
    static let codes: [FileError.Code] = [
        .io, .noSpace, .access, .processFiles, .readOnly, .fileTooLarge, .interrupted,
    ]

    private func prepared() throws -> SimulatedFileSystem {
        let fileSystem = SimulatedFileSystem(seed: 5)
        try fileSystem.install(Self.old, at: "/data/store", permissions: 0o640)
        try fileSystem.installLink(to: "data/store", at: "/link")
        return fileSystem
    }

    private func replace(in fileSystem: any FileSystem) -> FileError? {
        fileError {
            try DurableReplacement(of: "/link", bufferSize: 4_096, in: fileSystem).replace { writer in
                for start in stride(from: 0, to: Self.new.count, by: 1_000) {
                    try writer.append(Array(Self.new[start..<(start + 1_000)]))
                }
            }
        }
    }

    private func operations() throws -> Int {
        let fileSystem = try prepared()
        #expect(replace(in: fileSystem) == nil)
        return fileSystem.operationCount
    }

    private func check(_ fileSystem: SimulatedFileSystem, _ error: FileError?, _ comment: Comment) throws {
        let content = fileSystem.contents(at: "/data/store")
        if let error {
            let isInPlace = error.operation == .syncDirectory
            #expect(content == (isInPlace ? Self.new : Self.old), comment)
            #expect(error.outcomeIsUnknown || !isInPlace, comment)
        } else {
            #expect(content == Self.new, comment)
        }
        #expect(fileSystem.paths == ["/data", "/data/store", "/link"], comment)
        #expect(try fileSystem.info("/data/store", followingLinks: false).permissions == 0o640, comment)
        #expect(try fileSystem.readLink("/link") == "data/store", comment)
        #expect(fileSystem.trace.count { $0.operation == .sync } <= 1, comment)
        #expect(fileSystem.trace.count { $0.operation == .syncDirectory } <= 1, comment)
    }

    @Test(arguments: codes)
    func aFailureAtAnyOperationLeavesOldOrNewWholeAndNoTemporary(code: FileError.Code) throws {
        for number in 1...(try operations()) {
            let fileSystem = try prepared()
            fileSystem.inject(.fail(code), at: number)
            let error = replace(in: fileSystem)
            let operation = fileSystem.trace[number - 1].operation
            try check(fileSystem, error, "\(code.name) at \(number), \(operation)")
            let isRepeated = code == .interrupted && ![.sync, .syncDirectory, .close].contains(operation)
            #expect((error == nil) == isRepeated, "\(code.name) at \(number), \(operation)")
            #expect(error == nil || error?.code == code)
        }
    }

    @Test func aFailureThatTookEffectNeverMixesContents() throws {
        for number in 1...(try operations()) {
            let fileSystem = try prepared()
            fileSystem.inject(.failAfterwards(.io), at: number)
            let error = replace(in: fileSystem)
            let content = fileSystem.contents(at: "/data/store")
            #expect(content == Self.old || content == Self.new && error?.outcomeIsUnknown == true, "at \(number)")
        }
    }

    @Test func aPersistentFailureFromAnyOperationOnStillLeavesTheFileWhole() throws {
        for number in 1...(try operations()) {
            let fileSystem = try prepared()
            fileSystem.inject(.fail(.io), at: number, times: .max)
            let error = replace(in: fileSystem)
            #expect(error != nil)
            let content = fileSystem.contents(at: "/data/store")
            #expect(content == Self.old || content == Self.new && error?.operation == .syncDirectory, "at \(number)")
        }
    }

    @Test func shortWritesOfEveryLengthAreCompleted() throws {
        for length in [1, 100, 511, 4_095] {
            let fileSystem = try prepared()
            fileSystem.inject(.shorten(to: length), of: .write, times: .max)
            try check(fileSystem, replace(in: fileSystem), "\(length)")
        }
    }

    @Test func aDiskThatFillsUpAnywhereLeavesTheOldFileAndGivesTheSpaceBack() throws {
        for free in [0, 1, 511, 4_096, 8_999] {
            let fileSystem = try prepared()
            fileSystem.limits.capacity = Self.old.count + free
            let error = replace(in: fileSystem)
            #expect(error?.reason == .noSpace)
            try check(fileSystem, error, "\(free) bytes free")
            fileSystem.limits.capacity = nil
            #expect(replace(in: fileSystem) == nil)
        }
    }

    @Test func withoutInodesOrDescriptorsOrOnAReadOnlyMediumTheOldFileStays() throws {
        for (limit, reason) in [
            (\SimulatedFileSystem.Limits.nodes, FileError.Reason.noSpace), (\.openFiles, .tooManyOpenFiles),
        ] {
            let fileSystem = try prepared()
            fileSystem.limits[keyPath: limit] = 0
            let error = replace(in: fileSystem)
            #expect(error?.reason == reason)
            try check(fileSystem, error, "\(reason)")
        }
        let fileSystem = try prepared()
        fileSystem.limits.isReadOnly = true
        let error = replace(in: fileSystem)
        #expect(error?.reason == .readOnly)
        try check(fileSystem, error, "read-only")
    }

    @Test func ignoringShortWritesIsNoticed() throws {
        let fileSystem = try prepared()
        fileSystem.inject(.shorten(to: 100), of: .write)
        #expect(replace(in: BrokenFileSystem(base: fileSystem, mistake: .ignoresShortWrites)) == nil)
        // A hole in the middle: the length is right, the bytes are not.
        #expect(fileSystem.contents(at: "/data/store") != Self.new)
        let last = try prepared()
        last.inject(.shorten(to: 100), at: 3, of: .write)
        #expect(replace(in: BrokenFileSystem(base: last, mistake: .ignoresShortWrites)) != nil)
        #expect(last.contents(at: "/data/store") == Self.old)
    }
}
