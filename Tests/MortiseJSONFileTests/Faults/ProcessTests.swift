import FaultWorkload
import Foundation
import MortiseCore
import MortiseEngine
import MortiseJSONFile
import Testing

/// Real processes on real files.
@Suite(.serialized) struct ProcessTests {
    /// A process that has the file open for writing until it is killed or its input ends.
    private func withHolder<Value>(of path: String, _ body: (Process) throws -> Value) throws -> Value {
        let process = try HelperProcess.process(["hold", path])
        let (input, output) = (Pipe(), Pipe())
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        defer {
            kill(process.processIdentifier, SIGKILL)
            process.waitUntilExit()
        }
        try #require(String(decoding: output.fileHandleForReading.availableData, as: UTF8.self) == "opened\n")
        return try body(process)
    }

    @Test func aFileOpenInAnotherProcessIsLockedByItAndFreeOnceItIsKilled() throws {
        try withTemporaryFolder { folder in
            let path = folder + "/depot.json"
            try Data(Depot.document(of: 2)).write(to: URL(fileURLWithPath: path))
            try withHolder(of: path) { holder in
                let error = thrown { _ = try Workload.open(JSONFileConfiguration(path: path)) } as? FileError
                #expect(error?.reason == .locked(holder: holder.processIdentifier))
                #expect(error.map { "\($0)" }?.contains("\(holder.processIdentifier)") == true)
                let reader = try Workload.open(JSONFileConfiguration(path: path, allowsSave: false))
                #expect(reader.workloadState == 2)
                try reader.close()
                kill(holder.processIdentifier, SIGKILL)
                holder.waitUntilExit()
                #expect(FileLock.lastHolder(ofStoreAt: path, in: POSIXFileSystem()) == holder.processIdentifier)
                let container = try Workload.open(JSONFileConfiguration(path: path))
                try container.advance(to: 3)
                try container.close()
            }
        }
        FaultLedger.add(["F19"], trials: 2)
    }

    @Test func readersInOtherProcessesSeeAWholeStateWhileAWriterSaves() throws {
        try withTemporaryFolder { folder in
            let path = folder + "/depot.json"
            try Data(Depot.document(of: 1)).write(to: URL(fileURLWithPath: path))
            let writer = try HelperProcess.process(["save", path, isFullSize ? "600" : "60"])
            writer.standardOutput = FileHandle.nullDevice
            try writer.run()
            var (reads, last) = (0, 0)
            while writer.isRunning || reads == 0 {
                let store = try Workload.openStore(JSONFileConfiguration(path: path, allowsSave: false))
                let state = Workload.state(of: store, upTo: 600) ?? -1
                #expect(state >= last)
                last = state
                reads += 1
                try store.close()
            }
            #expect(writer.terminationStatus == 0)
            FaultLedger.add(["F20"], trials: reads)
        }
    }

    /// Beyond the limit of length the kernel sends SIGXFSZ, which would end the process.
    @Test func pastTheLimitOfLengthASaveFailsAndTheProcessLives() throws {
        try withTemporaryFolder { folder in
            let path = folder + "/depot.json"
            try Data(Depot.document(of: 2)).write(to: URL(fileURLWithPath: path))
            let limited = try HelperProcess(
                "save", path, "4", before: ["/bin/bash", "-c", "ulimit -f 1; exec \"$@\"", "bash"])
            #expect(!limited.wasKilled)
            #expect(
                limited.lines.contains {
                    $0.hasPrefix("refused 3 dirty:true") && ($0.contains("EFBIG") || $0.contains("exceed"))
                })
            #expect(limited.acknowledged == nil)
            let store = try Workload.openStore(JSONFileConfiguration(path: path, allowsSave: false))
            #expect(Workload.state(of: store) == 2)
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder).count == 2)
        }
        FaultLedger.add(["F11"], trials: 2)
    }

    @Test(.enabled(if: getuid() == 0, "only root can become another user who may not write here"))
    func inAFolderWithoutWritePermissionReadingWorksAndWritingIsATypedError() throws {
        try withTemporaryFolder { folder in
            let path = folder + "/depot.json"
            try Data(Depot.document(of: 2)).write(to: URL(fileURLWithPath: path))
            try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path)
            try FileManager.default.setAttributes([.posixPermissions: 0o555], ofItemAtPath: folder)
            let other = ["/usr/bin/setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
            #expect(try HelperProcess("state", path, before: other).lines == ["state 2"])
            let writer = try HelperProcess("save", path, "3", before: other)
            #expect(writer.status == 1)
            #expect(writer.lines.first?.contains("EACCES") == true)
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["depot.json"])
        }
        FaultLedger.add(["F21"], trials: 1)
    }

    @Test(arguments: [0o000, 0o022, 0o077] as [UInt32])
    func theUmaskDoesNotDecideWhoReadsTheFile(umask: UInt32) throws {
        try withTemporaryFolder { folder in
            let path = folder + "/depot.json"
            let mask = String(umask, radix: 8)
            let helper = try HelperProcess(
                "save", path, "1", before: ["/bin/bash", "-c", "umask \(mask); exec \"$@\"", "bash"])
            #expect(helper.isClosed)
            let info = try POSIXFileSystem().info(path, followingLinks: false)
            #expect(info.permissions == 0o600)
            #expect(try POSIXFileSystem().info(path + ".lock", followingLinks: false).permissions == 0o600)
        }
        FaultLedger.add(["F23"], trials: 1)
    }

    @Test(
        .enabled(
            if: FileManager.default.isExecutableFile(atPath: "/usr/bin/faketime"), "faketime is not installed"),
        .enabled(
            if: ProcessInfo.processInfo.environment["MORTISE_SANITIZER"] == nil,
            "faketime and a sanitizer wait for each other for ever"))
    func aProcessWhoseClockIsWrongSavesLikeAnyOther() throws {
        try withTemporaryFolder { folder in
            let path = folder + "/depot.json"
            for (state, time) in [(1, "2038-01-20 00:00:00"), (2, "1999-01-01 00:00:00"), (3, "2026-06-01 00:00:00")] {
                let helper = try HelperProcess("save", path, "\(state)", before: ["/usr/bin/faketime", time])
                #expect(helper.acknowledged == state)
            }
        }
        FaultLedger.add(["F31"], trials: 3)
    }
}
