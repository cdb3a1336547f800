import Foundation
import MortiseEngine
import Testing

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

    private func run(_ program: String, _ arguments: String...) throws -> Int32 {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = arguments
        try process.run()
        process.waitUntilExit()
        return process.terminationStatus
    }
}
