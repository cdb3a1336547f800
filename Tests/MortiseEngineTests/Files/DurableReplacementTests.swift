import MortiseEngine
import Testing
import MortiseTestSupport

@Suite struct DurableReplacementTests {
    let fileSystem = POSIXFileSystem()

    @Test func aNewFileIsPrivateToItsOwner() throws {
        try withTemporaryDirectory { directory in
            try DurableReplacement(of: directory + "/a", in: fileSystem).replace(bytes: [1])
            #expect(try fileSystem.info(directory + "/a", followingLinks: false).permissions == 0o600)
            try DurableReplacement(of: directory + "/b", newFilePermissions: 0o666, in: fileSystem).replace(bytes: [1])
            #expect(try fileSystem.info(directory + "/b", followingLinks: false).permissions == 0o666)
        }
    }

    @Test(arguments: [0o600, 0o640, 0o664, 0o444, 0o777] as [UInt32])
    func anExistingFileKeepsItsPermissions(permissions: UInt32) throws {
        try withTemporaryDirectory { directory in
            try fileSystem.put([1], at: directory + "/a", permissions: permissions)
            let identity = try DurableReplacement(of: directory + "/a", in: fileSystem).replace(bytes: [2, 3])
            #expect(try fileSystem.info(directory + "/a", followingLinks: false).permissions == permissions)
            #expect(try identity.change(at: directory + "/a", in: fileSystem) == nil)
            #expect(try fileSystem.bytes(at: directory + "/a") == [2, 3])
            #expect(try fileSystem.list(directory) == ["a"])
        }
    }

    @Test func anExistingFileKeepsItsOwnerOrGivesTheNewGroupNothing() throws {
        let simulated = SimulatedFileSystem()
        try simulated.install([1], at: "/a", permissions: 0o664)
        try simulated.installOwner(user: 5, group: 6, at: "/a")
        let replacement = DurableReplacement(of: "/a", in: simulated)
        try replacement.replace(bytes: [2])
        var info = try simulated.info("/a", followingLinks: true)
        #expect(info.user == 5 && info.group == 6 && info.permissions == 0o664)

        simulated.inject(.fail(.notPermitted), of: .setOwner, times: 2)
        try replacement.replace(bytes: [3])
        info = try simulated.info("/a", followingLinks: true)
        #expect(info.user == 1_000 && info.group == 1_000 && info.permissions == 0o644)
    }

    @Test func aSymbolicLinkStaysAndItsTargetIsReplaced() throws {
        try withTemporaryDirectory { directory in
            try fileSystem.createDirectory(directory + "/real", permissions: 0o700)
            try fileSystem.put([1], at: directory + "/real/store")
            try link(directory + "/middle", to: "real/store")
            try link(directory + "/link", to: directory + "/middle")
            try DurableReplacement(of: directory + "/link", in: fileSystem).replace(bytes: [2])
            #expect(try fileSystem.readLink(directory + "/link") == directory + "/middle")
            #expect(try fileSystem.readLink(directory + "/middle") == "real/store")
            #expect(try fileSystem.bytes(at: directory + "/real/store") == [2])
            #expect(try fileSystem.list(directory + "/real") == ["store"])
        }
    }

    @Test func aDanglingLinkGetsTheFileItPointsTo() throws {
        try withTemporaryDirectory { directory in
            try link(directory + "/link", to: "store")
            try DurableReplacement(of: directory + "/link", in: fileSystem).replace(bytes: [2])
            #expect(try fileSystem.readLink(directory + "/link") == "store")
            #expect(try fileSystem.bytes(at: directory + "/store") == [2])
        }
    }

    @Test func aCircleOfLinksIsRefused() throws {
        try withTemporaryDirectory { directory in
            try link(directory + "/a", to: "b")
            try link(directory + "/b", to: "a")
            let error = fileError { try DurableReplacement(of: directory + "/a", in: fileSystem).replace(bytes: [2]) }
            #expect(error?.reason == .linkLoop)
            #expect(try Set(fileSystem.list(directory)) == ["a", "b"])
        }
    }

    @Test func whateverIsNoRegularFileIsRefusedAndStays() throws {
        try withTemporaryDirectory { directory in
            try fileSystem.createDirectory(directory + "/directory", permissions: 0o700)
            try makeFIFO(directory + "/fifo")
            for (path, kind) in [
                (directory + "/directory", FileKind.directory), (directory + "/fifo", .fifo),
            ] {
                let error = fileError { try DurableReplacement(of: path, in: fileSystem).replace(bytes: [2]) }
                #expect(error?.reason == .notARegularFile(kind))
            }
            #expect(try Set(fileSystem.list(directory)) == ["directory", "fifo"])
        }
    }

    /// On the double only: a mistake, run by the superuser, would replace the machine's own device.
    @Test(arguments: [FileKind.characterDevice, .blockDevice, .socket])
    func aDeviceIsRefusedAndStays(kind: FileKind) throws {
        let simulated = SimulatedFileSystem()
        try simulated.install(kind, at: "/dev/thing")
        let error = fileError { try DurableReplacement(of: "/dev/thing", in: simulated).replace(bytes: [2]) }
        #expect(error?.reason == .notARegularFile(kind))
        #expect(simulated.paths == ["/dev", "/dev/thing"])
        #expect(try simulated.info("/dev/thing", followingLinks: false).kind == kind)
    }

    @Test(arguments: ["", "/", "a/", ".", "..", "x/.."])
    func aPathWithoutANameIsRefused(path: String) {
        #expect(
            fileError { try DurableReplacement(of: path, in: fileSystem).replace(bytes: [2]) }?.reason == .invalidPath)
    }

    @Test func aNULCharacterInAPathIsRefusedInsteadOfCuttingItOff() throws {
        try withTemporaryDirectory { directory in
            let replacement = DurableReplacement(of: directory + "/a\0b", in: fileSystem)
            #expect(fileError { try replacement.replace(bytes: [2]) }?.reason == .invalidPath)
            let names = try fileSystem.list(directory)
            #expect(names.isEmpty)
        }
    }

    @Test func aMissingDirectoryIsNotFound() {
        let error = fileError {
            try DurableReplacement(of: "/no/such/directory/store", in: fileSystem).replace(bytes: [2])
        }
        #expect(error?.reason == .notFound)
    }

    @Test func anErrorOfTheBodyIsRethrownAndTheOldFileStays() throws {
        struct Refusal: Error {}
        try withTemporaryDirectory { directory in
            try fileSystem.put([1], at: directory + "/a")
            #expect(throws: Refusal.self) {
                try DurableReplacement(of: directory + "/a", in: fileSystem).replace { writer in
                    try writer.append(pattern(1, count: 1 << 20))
                    throw Refusal()
                }
            }
            #expect(try fileSystem.bytes(at: directory + "/a") == [1])
            #expect(try fileSystem.list(directory) == ["a"])
        }
    }

    @Test func aSwallowedWriteErrorIsThrownNevertheless() throws {
        let simulated = SimulatedFileSystem()
        try simulated.install([1], at: "/a")
        simulated.inject(.fail(.noSpace), of: .write)
        let error = fileError {
            try DurableReplacement(of: "/a", in: simulated).replace { writer in
                try? writer.append(pattern(1, count: 1 << 20))
                try? writer.append([1])
            }
        }
        #expect(error?.reason == .noSpace)
        #expect(simulated.contents(at: "/a") == [1])
        #expect(simulated.paths == ["/a"])
    }

    @Test func aStrangersFileIsLeftAlone() throws {
        let simulated = SimulatedFileSystem()
        let replacement = DurableReplacement(of: "/a", in: simulated)
        let identity = try replacement.replace(bytes: [1, 2])
        try simulated.install([1, 2, 3], at: "/a")
        let error = fileError { try replacement.replace(expecting: identity, bytes: [9]) }
        #expect(error?.reason == .changed(.extended(from: 2, to: 3)))
        #expect(simulated.contents(at: "/a") == [1, 2, 3])
        #expect(simulated.paths == ["/a"])
    }

    @Test func aLargeFileIsStreamedInBufferfuls() throws {
        let simulated = SimulatedFileSystem()
        try DurableReplacement(of: "/a", bufferSize: 1 << 16, in: simulated).replace { writer in
            for index in 0..<10_000 { try writer.append(pattern(UInt8(index % 256), count: 100)) }
        }
        #expect(simulated.contents(at: "/a")?.count == 1_000_000)
        #expect(simulated.trace.count { $0.operation == .write } == 16)
    }
}
