import FaultWorkload
import MortiseCore
import MortiseEngine
import Synchronization
import Testing

@testable import MortiseAppendLog
import MortiseTestSupport

/// One who shares a log takes over what another has written, and something fails on the way. Whatever is acknowledged
/// afterwards is there, and the log can be opened.
struct LogTakeOverCheck {
    var operation = FileError.Operation.write
    var code = FileError.Code.io
    /// Whether the other's last sync failed, so that it depends on the taking over whether what it wrote is on the disk.
    var othersSyncFails = false
    var numbers = 1...12
    var mistake: BrokenFileSystem.Mistake?

    private func configuration(_ fileSystem: any FileSystem) -> AppendLogConfiguration {
        var configuration = AppendLogConfiguration(path: logPath, sharing: .shared, in: fileSystem)
        configuration.allocationStep = 4_096
        return configuration
    }

    func run() throws -> Findings {
        var findings = Findings()
        for number in numbers {
            let disk = try makeDisk(seed: UInt64(number))
            let mine = disk.process(100)
            let fileSystem: any FileSystem = mistake.map { BrokenFileSystem(mine, mistake: $0) } ?? mine
            let one = ModelContext(try openLog(configuration(fileSystem)))
            let other = ModelContext(try openLog(configuration(disk.process(101))))
            var acknowledged: Set<String> = []
            func save(_ label: String, _ context: ModelContext) -> (any Error)? {
                context.insert(Box(label))
                let error = thrown { try context.save() }
                if error == nil { acknowledged.insert(label) }
                return error
            }
            if let error = save("first", one) { throw error }
            // The other saves when this one has looked for saves of others and has not got its turn yet: what came before
            // would be published by the looking.
            let others = Mutex<[(label: String, error: (any Error)?)]>([])
            nonisolated(unsafe) let unsafeOther = other
            disk.interject(of: .open) {
                var labels = ["second", "third"]
                if othersSyncFails { labels.append(String(repeating: "x", count: 2_000)) }
                for label in labels {
                    if label.count > 10 { disk.inject(.fail(.io), of: .sync) }
                    unsafeOther.insert(Box(label))
                    let error = thrown { try unsafeOther.save() }
                    others.withLock { $0.append((label, error)) }
                }
                disk.inject(.fail(code), at: number, of: operation)
            }
            findings.inject()
            _ = save("fourth", one)
            for (label, error) in others.withLock({ $0 }) {
                if error == nil { acknowledged.insert(label) }
                findings.expect(
                    (error == nil) == (label.count < 10), "\(label.prefix(9)): \(String(describing: error))")
            }
            findings.expect(acknowledged.count >= 3, "the other did not save in between")
            disk.removeFaults()
            if one.hasChanges, thrown({ try one.save() }) == nil { acknowledged.insert("fourth") }
            try one.container.close()
            try other.container.close()
            let what = "\(operation) \(number)"
            let lost = disk.crashed(after: .max, losing: .unsynced)
            for (name, image) in [("reopened", disk), ("after a power cut", lost)] {
                do {
                    let labels = try withLog(logConfiguration(image.process(102))) {
                        try $0.fetch(FetchDescriptor<Box>()).map(\.label)
                    }
                    findings.expect(acknowledged.isSubset(of: labels), "\(what) \(name): \(labels) of \(acknowledged)")
                    findings.expect(Set(labels).count == labels.count, "\(what) \(name): duplicates in \(labels)")
                    findings.expect(
                        try AppendLogStore.verify(logPath, in: image).isSound, "\(what) \(name): not sound")
                } catch {
                    findings.expect(false, "\(what) \(name): \(error)")
                }
            }
        }
        return findings
    }
}

/// A process that wants a shared lock alone loses it to another.
struct LogLostLockCheck {
    var mistake: BrokenFileSystem.Mistake?

    func run() throws -> Findings {
        var findings = Findings()
        let disk = try makeDisk()
        let mine = disk.process(100)
        let fileSystem: any FileSystem = mistake.map { BrokenFileSystem(mine, mistake: $0) } ?? mine
        func configuration(_ fileSystem: any FileSystem) -> AppendLogConfiguration {
            AppendLogConfiguration(
                path: logPath, sharing: .shared, history: .keep(days: 0), in: fileSystem)
        }
        let one = try openLog(configuration(fileSystem))
        let context = ModelContext(one)
        context.insert(Box("before"))
        try context.save()
        let other = try openLog(configuration(disk.process(101)))
        let taken = Mutex<FileLock?>(nil)
        // The first try is refused, for the other has it open; before the second somebody else has taken it alone.
        disk.interject(at: 2, of: .lock) {
            disk.process(101).kill()
            let lock = try? FileLock(forStoreAt: logPath, kind: .exclusive, in: disk.process(102))
            taken.withLock { $0 = lock }
        }
        findings.inject()
        let error = thrown { try one.logStore?.compact() }
        disk.removeFaults()
        findings.expect(error is FileError, "the compaction: \(String(describing: error))")
        let isTaken = taken.withLock { $0 != nil }
        findings.expect(isTaken || mistake != nil, "nobody took the lock")
        context.insert(Box("without a lock"))
        let save = thrown { try context.save() }
        findings.expect(isLatched(save), "saved without a lock: \(String(describing: save))")
        taken.withLock { $0.take()?.release() }
        try? other.close()
        try one.close()
        return findings
    }
}

@Suite struct LogTakeOverTests {
    @Test(arguments: [FileError.Operation.write, .read, .info], [false, true])
    func whatFailsInTakingOverAnothersFramesPoisonsNothing(
        operation: FileError.Operation, othersSyncFails: Bool
    ) throws {
        try LogTakeOverCheck(operation: operation, othersSyncFails: othersSyncFails).run().verify("F05")
    }

    @Test func aFullDiskInTakingOverAnothersFramesPoisonsNothing() throws {
        try LogTakeOverCheck(code: .noSpace).run().verify("F09")
    }

    @Test func aLockThatIsLostStopsTheSaves() throws {
        try LogLostLockCheck().run().verify("F19")
    }
}
