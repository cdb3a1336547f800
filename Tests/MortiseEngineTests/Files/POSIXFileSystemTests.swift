import Foundation
import MortiseEngine
import Testing

/// Makes a symbolic link on the real file system.
func link(_ path: String, to target: String) throws {
    try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: target)
}

/// Makes a FIFO on the real file system.
func makeFIFO(_ path: String) throws {
    try #require(mkfifo(path, 0o600) == 0)
}

@Suite struct POSIXFileSystemTests {
    let fileSystem = POSIXFileSystem()

    @Test(.timeLimit(.minutes(15)), arguments: [OpenMode.read, .readWrite, .create(permissions: 0o600)])
    func openingAnythingButARegularFileIsRefusedAtOnce(mode: OpenMode) throws {
        try withTemporaryDirectory { directory in
            try makeFIFO(directory + "/fifo")
            try link(directory + "/link", to: "fifo")
            try makeSocket(directory + "/socket")
            for (path, kind) in [
                (directory + "/fifo", FileKind.fifo), (directory + "/link", .fifo), (directory + "/socket", .socket),
                (directory, .directory), ("/dev/null", .characterDevice),
            ] {
                let error = fileError { _ = try fileSystem.open(path, mode: mode) }
                #expect(error?.reason == .notARegularFile(kind), "\(path)")
            }
        }
    }

    @Test func bytesComeBackAsWritten() throws {
        try withTemporaryDirectory { directory in
            let file = try fileSystem.open(directory + "/a", mode: .create(permissions: 0o600))
            try file.writeAll(pattern(1, count: 100_000), at: 10)
            try file.sync(.data)
            try file.sync(.full)
            try fileSystem.syncDirectory(directory)
            #expect(try file.readAll(count: 200_000, at: 10) == pattern(1, count: 100_000))
            #expect(try file.info().size == 100_010)
            try file.truncate(to: 12)
            #expect(try file.readAll(count: 100, at: 9) == [0] + pattern(1, count: 2))
        }
    }

    @Test func aClosedFileRefusesEverything() throws {
        try withTemporaryDirectory { directory in
            let file = try fileSystem.open(directory + "/a", mode: .create(permissions: 0o600))
            try file.close()
            try file.close()
            let calls: [() throws -> Void] = [
                { _ = try file.readAll(count: 1, at: 0) }, { try file.writeAll([1], at: 0) },
                { try file.sync(.full) }, { try file.truncate(to: 0) }, { _ = try file.info() },
                { try file.setPermissions(0o600) }, { try file.setOwner(user: nil, group: nil) },
                { _ = try file.tryLock(.exclusive) },
            ]
            for call in calls { #expect(fileError(call)?.reason == .closed) }
        }
    }

    @Test func aFileOpenForReadingRefusesWrites() throws {
        try withTemporaryDirectory { directory in
            try fileSystem.put([1], at: directory + "/a")
            let file = try fileSystem.open(directory + "/a", mode: .read)
            #expect(fileError { try file.writeAll([2], at: 0) } != nil)
            #expect(try fileSystem.bytes(at: directory + "/a") == [1])
        }
    }

    @Test func closingWhileOthersReadNeitherCrashesNorMixesFiles() async throws {
        let directory = FileManager.default.temporaryDirectory.path + "/mortise-close-\(UUID().uuidString)"
        try fileSystem.createDirectory(directory, permissions: 0o700)
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let content = pattern(1, count: 4_096)
        try fileSystem.put(content, at: directory + "/a")
        try fileSystem.put(pattern(2, count: 4_096), at: directory + "/b")
        for _ in 0..<100 {
            let file = try fileSystem.open(directory + "/a", mode: .read)
            await withTaskGroup(of: Void.self) { group in
                for _ in 0..<3 {
                    group.addTask {
                        for _ in 0..<20 {
                            guard let bytes = try? file.readAll(count: 4_096, at: 0) else { return }
                            #expect(bytes == content)
                        }
                    }
                }
                group.addTask { [fileSystem] in
                    try? file.close()
                    _ = try? fileSystem.open(directory + "/b", mode: .read)
                }
            }
        }
    }

    #if os(Linux)
    @Test func aProgramStartedMeanwhileInheritsNoFile() throws {
        try withTemporaryDirectory { directory in
            let file = try fileSystem.open(directory + "/a", mode: .create(permissions: 0o600))
            let listing = try #require(popen("ls -l /proc/self/fd", "r"))
            defer { pclose(listing) }
            var output = ""
            while let character = UInt8(exactly: fgetc(listing)) {
                output.unicodeScalars.append(Unicode.Scalar(character))
            }
            #expect(output.contains("/proc/"))
            #expect(!output.contains(directory))
            try file.close()
        }
    }
    #endif

    @Test func pastTheProcessLimitAWriteFailsInsteadOfEndingTheProcess() async {
        await #expect(processExitsWith: .success) {
            try withTemporaryDirectory { directory in
                let file = try POSIXFileSystem().open(directory + "/a", mode: .create(permissions: 0o600))
                // Worker threads block the signal, and a parent may have had it ignored: nothing would be proved.
                var signals = sigset_t()
                sigemptyset(&signals)
                sigaddset(&signals, SIGXFSZ)
                pthread_sigmask(SIG_UNBLOCK, &signals, nil)
                signal(SIGXFSZ, SIG_DFL)
                var limit = rlimit()
                precondition(getrlimit(fileSizeResource, &limit) == 0)
                limit.rlim_cur = 1_000
                precondition(setrlimit(fileSizeResource, &limit) == 0)
                let error = fileError { try file.writeAll(pattern(1, count: 5_000), at: 0) }
                precondition(error?.reason == .fileTooLarge)
                let size = try file.info().size
                precondition(size == 1_000)
                precondition(fileError { try file.truncate(to: 1_001) }?.reason == .fileTooLarge)
                try file.truncate(to: 1_000)
            }
        }
    }

    /// Needs the path of a writable directory on a file system of a few megabytes, a `tmpfs` for instance.
    @Test(.enabled(if: smallFileSystem != nil, "MORTISE_SMALL_FILE_SYSTEM names no directory"))
    func aFullDeviceGivesNoSpaceAndTheOldFileStays() throws {
        let directory = try #require(smallFileSystem)
        let path = directory + "/store"
        let replacement = DurableReplacement(of: path, in: fileSystem)
        try replacement.replace(bytes: [1])
        let error = fileError {
            try replacement.replace { writer in
                while true { try writer.append(pattern(1, count: 1 << 16)) }
            }
        }
        #expect(error?.reason == .noSpace)
        #expect(try fileSystem.bytes(at: path) == [1])
        #expect(try fileSystem.temporaries(in: directory) == [])
    }

    private func makeSocket(_ path: String) throws {
        #if canImport(Glibc)
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        #else
        let descriptor = socket(AF_UNIX, SOCK_STREAM, 0)
        #endif
        defer { close(descriptor) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8)
        try #require(bytes.count < MemoryLayout.size(ofValue: address.sun_path))
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        try #require(result == 0)
    }
}

private let smallFileSystem = ProcessInfo.processInfo.environment["MORTISE_SMALL_FILE_SYSTEM"]

#if canImport(Glibc)
private let fileSizeResource = __rlimit_resource_t(RLIMIT_FSIZE.rawValue)
#else
private let fileSizeResource = RLIMIT_FSIZE
#endif
