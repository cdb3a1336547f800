import Foundation
import MortiseEngine
import Testing
import MortiseTestSupport

@Suite struct FileLockTests {
    let simulated = SimulatedFileSystem(processID: 100)

    @Test func aSecondOpeningInTheSameProcessIsRefusedWithTheOwnIdentifier() throws {
        let fileSystem = POSIXFileSystem()
        try withTemporaryDirectory { directory in
            let lock = try FileLock(forStoreAt: directory + "/store", in: fileSystem)
            let error = fileError { _ = try FileLock(forStoreAt: directory + "/store", in: fileSystem) }
            #expect(error?.reason == .locked(holder: ProcessInfo.processInfo.processIdentifier))
            #expect(error?.path == directory + "/store.lock")
            #expect(try fileSystem.info(lock.path, followingLinks: false).permissions & 0o077 == 0)
            lock.release()
            #expect(!lock.isHeld)
            _ = try FileLock(forStoreAt: directory + "/store", in: fileSystem)
        }
    }

    @Test func anotherProcessIsKeptOutAndKeepsOut() throws {
        let fileSystem = POSIXFileSystem()
        try withTemporaryDirectory { directory in
            let path = directory + "/store.lock"
            do {
                let lock = try FileLock(forStoreAt: directory + "/store", in: fileSystem)
                #expect(try run("/usr/bin/flock", "--nonblock", path, "true") == 1)
                #expect(lock.isHeld)
            }
            #expect(try run("/usr/bin/flock", "--nonblock", path, "true") == 0)

            // The helper writes its identifier to the lock file, and a line to us once it has done so.
            let holder = Process()
            holder.executableURL = URL(fileURLWithPath: "/usr/bin/flock")
            holder.arguments = [path, "sh", "-c", "echo $$ > \"$0\"; echo; exec sleep 60", path]
            let output = Pipe()
            holder.standardOutput = output
            try holder.run()
            #expect(output.fileHandleForReading.availableData.count == 1)
            let error = fileError { _ = try FileLock(forStoreAt: directory + "/store", in: fileSystem) }
            guard case .locked(let identifier?) = error?.reason else {
                Issue.record("not refused: \(String(describing: error))")
                return
            }
            // `flock` and the shell it started share the lock; the last of them ends it.
            kill(identifier, SIGKILL)
            kill(holder.processIdentifier, SIGKILL)
            holder.waitUntilExit()
            let deadline = ContinuousClock.now + .seconds(10)
            var lock: FileLock?
            while lock == nil, ContinuousClock.now < deadline {
                lock = try? FileLock(forStoreAt: directory + "/store", in: fileSystem)
            }
            #expect(lock != nil)
            #expect(
                FileLock.lastHolder(ofStoreAt: directory + "/store", in: fileSystem)
                    == ProcessInfo.processInfo.processIdentifier)
        }
    }

    @Test func aProgramStartedMeanwhileDoesNotKeepTheLock() throws {
        let fileSystem = POSIXFileSystem()
        try withTemporaryDirectory { directory in
            let lock = try FileLock(forStoreAt: directory + "/store", in: fileSystem)
            var child: pid_t = 0
            var arguments = [strdup("sleep"), strdup("60"), nil]
            defer { arguments.forEach { free($0) } }
            try #require(posix_spawn(&child, "/bin/sleep", nil, nil, &arguments, environ) == 0)
            defer {
                kill(child, SIGKILL)
                waitpid(child, nil, 0)
            }
            lock.release()
            _ = try FileLock(forStoreAt: directory + "/store", in: fileSystem)
        }
    }

    @Test func aKilledHolderLeavesNoLock() throws {
        let other = simulated.process(200)
        let theirs = try FileLock(forStoreAt: "/store", in: other)
        #expect(
            fileError { _ = try FileLock(forStoreAt: "/store", in: simulated) }?.reason == .locked(holder: 200))
        other.kill()
        let mine = try FileLock(forStoreAt: "/store", in: simulated)
        #expect(FileLock.lastHolder(ofStoreAt: "/store", in: simulated) == 100)
        theirs.release()
        #expect(try mine.isIntact(in: simulated))
        #expect(FileLock.lastHolder(ofStoreAt: "/store", in: simulated) == 100)
    }

    @Test func aForgottenLockEndsWithItsLastReference() throws {
        do { _ = try FileLock(forStoreAt: "/store", in: simulated) }
        _ = try FileLock(forStoreAt: "/store", in: simulated)
        #expect(simulated.paths == ["/store.lock"])
    }

    @Test func twoLinksToOneStoreShareOneLock() throws {
        try simulated.install([1], at: "/data/store")
        try simulated.installLink(to: "data/store", at: "/link")
        let lock = try FileLock(forStoreAt: "/link", in: simulated)
        #expect(lock.storePath == "/data/store")
        #expect(
            fileError { _ = try FileLock(forStoreAt: "/data/store", in: simulated) }?.reason == .locked(holder: 100))
        #expect(simulated.paths == ["/data", "/data/store", "/data/store.lock", "/link"])
    }

    @Test func aLockFileRemovedBetweenOpeningAndLockingIsNotTrusted() throws {
        simulated.interject(of: .lock) { [simulated] in try? simulated.unlink("/store.lock") }
        let lock = try FileLock(forStoreAt: "/store", in: simulated)
        #expect(try lock.isIntact(in: simulated))
        #expect(fileError { _ = try FileLock(forStoreAt: "/store", in: simulated) }?.reason == .locked(holder: 100))
    }

    @Test func aLockFileRemovedWhileHeldIsNoticed() throws {
        let lock = try FileLock(forStoreAt: "/store", in: simulated)
        try simulated.unlink("/store.lock")
        #expect(try !lock.isIntact(in: simulated))
    }

    @Test func nonsenseInTheLockFileNamesNoHolder() throws {
        for text in ["", "12", "abc\n", "-5\n", "0\n", "99999999999\n", String(repeating: "1", count: 40) + "\n"] {
            try simulated.install(Array(text.utf8), at: "/store.lock")
            #expect(FileLock.lastHolder(ofStoreAt: "/store", in: simulated) == nil)
        }
    }

    @Test func aFullDiskDoesNotKeepAnyoneOut() throws {
        try simulated.install([], at: "/store.lock")
        simulated.limits.capacity = 0
        let lock = try FileLock(forStoreAt: "/store", in: simulated)
        #expect(lock.isHeld)
        #expect(fileError { _ = try FileLock(forStoreAt: "/store", in: simulated) }?.reason == .locked(holder: nil))
    }

    @Test func whereNoLockFileCanBeMadeTheReasonIsNamed() throws {
        simulated.limits.isReadOnly = true
        #expect(fileError { _ = try FileLock(forStoreAt: "/store", in: simulated) }?.reason == .readOnly)
        simulated.limits.isReadOnly = false
        simulated.inject(.fail(.access), of: .open)
        #expect(fileError { _ = try FileLock(forStoreAt: "/store", in: simulated) }?.reason == .permissionDenied)
        try simulated.install(.fifo, at: "/pipe.lock")
        #expect(fileError { _ = try FileLock(forStoreAt: "/pipe", in: simulated) }?.reason == .notARegularFile(.fifo))
    }

    /// The lock file was opened through a link, given other permissions, and emptied.
    @Test func aLinkInTheLockFilesPlaceIsRefusedAndWhatItLeadsToStays() throws {
        for target in ["precious", "missing", "store.lock"] {
            let disk = SimulatedFileSystem(processID: 100)
            try disk.install([7, 8, 9], at: "/precious", permissions: 0o644)
            try disk.installLink(to: target, at: "/store.lock")
            let error = fileError { _ = try FileLock(forStoreAt: "/store", in: disk) }
            #expect(error?.reason == .notARegularFile(.symbolicLink))
            #expect(error?.path == "/store.lock")
            #expect(disk.contents(at: "/precious") == [7, 8, 9])
            #expect(try disk.info("/precious", followingLinks: false).permissions == 0o644)
            #expect(disk.paths == ["/precious", "/store.lock"])
        }
        try withTemporaryDirectory { directory in
            let fileSystem = POSIXFileSystem()
            try fileSystem.put([7, 8, 9], at: directory + "/precious")
            try FileManager.default.createSymbolicLink(
                atPath: directory + "/store.lock", withDestinationPath: directory + "/precious")
            let error = fileError { _ = try FileLock(forStoreAt: directory + "/store", in: fileSystem) }
            #expect(error?.reason == .notARegularFile(.symbolicLink))
            #expect(try fileSystem.bytes(at: directory + "/precious") == [7, 8, 9])
        }
    }

    /// A link that comes in between looking and opening.
    @Test func aLinkThatAppearsMeanwhileIsNotFollowed() throws {
        for operation in [FileError.Operation.open, .lock] {
            for isThere in [false, true] {
                let disk = SimulatedFileSystem(processID: 100)
                if isThere { try disk.install([], at: "/store.lock") }
                try disk.install([7, 8, 9], at: "/precious", permissions: 0o644)
                disk.interject(of: operation) {
                    try? disk.unlink("/store.lock")
                    try? disk.installLink(to: "precious", at: "/store.lock")
                }
                let error = fileError { _ = try FileLock(forStoreAt: "/store", in: disk) }
                #expect(error?.reason == .notARegularFile(.symbolicLink), "\(operation)")
                #expect(disk.contents(at: "/precious") == [7, 8, 9])
                #expect(try disk.info("/precious", followingLinks: false).permissions == 0o644)
            }
        }
    }

    @Test func aFileThatIsNoLockFileIsLeftAlone() throws {
        for text in ["notes of mine\n", "12 34\n", "-12\n", String(repeating: "1", count: 33), "\u{1}"] {
            try simulated.install(Array(text.utf8), at: "/store.lock", permissions: 0o644)
            let error = fileError { _ = try FileLock(forStoreAt: "/store", in: simulated) }
            #expect(error?.reason == .notALockFile, "\(text)")
            #expect(error?.path == "/store.lock")
            #expect(simulated.contents(at: "/store.lock") == Array(text.utf8))
            #expect(try simulated.info("/store.lock", followingLinks: false).permissions == 0o644)
        }
        // What processes leave that were killed, and crashes.
        for text in ["", "1\n", "12", "2147483647\n", "\0\0\0\0", "1\0\n"] {
            try simulated.install(Array(text.utf8), at: "/store.lock")
            try FileLock(forStoreAt: "/store", in: simulated).release()
        }
    }

    @Test(arguments: [FileKind.directory, .fifo, .socket, .characterDevice, .blockDevice])
    func nothingIsMadeBesideWhatIsNoFile(kind: FileKind) throws {
        try simulated.install(kind, at: "/store")
        let error = fileError { _ = try FileLock(forStoreAt: "/store", in: simulated) }
        #expect(error?.reason == .notARegularFile(kind))
        #expect(simulated.paths == ["/store"])
    }

    private func run(_ program: String, _ arguments: String...) throws -> Int32 {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = arguments
        try process.run()
        process.waitUntilExit()
        return process.terminationStatus
    }
}
