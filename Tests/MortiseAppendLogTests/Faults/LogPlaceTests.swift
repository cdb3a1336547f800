import FaultWorkload
import Foundation
import MortiseCore
import MortiseEngine
import Testing

@testable import MortiseAppendLog
import MortiseTestSupport

/// The path leads to something else than a file.
struct LogLinkCheck {
    var mistake: BrokenFileSystem.Mistake?

    func run() throws -> Findings {
        var findings = Findings()
        for isDangling in [false, true] {
            let depot = try LogDepot(breaking: mistake)
            try depot.disk.install(.directory, at: "/data")
            if !isDangling {
                let log = try LogDepot.files(of: 2, isCompacted: false)[LogDepot.path] ?? []
                try depot.disk.install(log, at: "/data/real.log", permissions: 0o640)
            }
            try depot.disk.installLink(to: "data/real.log", at: LogDepot.path)
            findings.inject()
            let first = isDangling ? 1 : 3
            let container = try depot.open()
            let error = thrown {
                try container.advance(to: first)
                try container.logStore?.compact()
            }
            findings.expect(error == nil, "\(String(describing: error))")
            try container.close()
            findings.expect((try? depot.disk.readLink(LogDepot.path)) == "data/real.log", "the link was replaced")
            findings.expect(LogDepot.state(in: depot.disk, at: "/data/real.log") == first, "the target was not used")
            let permissions = try? depot.disk.info("/data/real.log", followingLinks: false).permissions
            findings.expect(permissions == (isDangling ? 0o600 : 0o640), "the target's permissions changed")
        }
        return findings
    }
}

/// The permission bits of what a store writes.
struct LogPermissionCheck {
    var mistake: BrokenFileSystem.Mistake?

    func run() throws -> Findings {
        var findings = Findings()
        for wanted in [0o600, 0o640, 0o664, 0o666] as [UInt32] {
            for isOld in [false, true] {
                let depot = try LogDepot(breaking: mistake)
                if isOld {
                    let log = try LogDepot.files(of: 2, isCompacted: false)[LogDepot.path] ?? []
                    try depot.disk.install(log, at: LogDepot.path, permissions: wanted)
                }
                // The simulated umask is 022: what is asked for is set exactly, and what was there keeps its bits.
                let container = try Workload.open(
                    AppendLogConfiguration(
                        path: LogDepot.path, history: .keep(days: 0), newFilePermissions: isOld ? 0o600 : wanted,
                        in: depot.fileSystem))
                try container.advance(to: isOld ? 3 : 1)
                try container.logStore?.compact()
                try container.close()
                findings.inject()
                for path in [LogDepot.path, LogDepot.path + ".checkpoint", LogDepot.path + ".lock"] {
                    let found = try depot.disk.info(path, followingLinks: true).permissions
                    findings.expect(
                        found == wanted, "\(path): \(String(found, radix: 8)) instead of \(String(wanted, radix: 8))")
                }
            }
        }
        return findings
    }
}

/// Somebody changes the log of an open store.
struct LogBehindTheBackCheck {
    var mistake: BrokenFileSystem.Mistake?

    private static let changes: [(name: String, make: @Sendable (SimulatedFileSystem) throws -> Void)] = [
        ("deleted", { try $0.unlink(LogDepot.path) }),
        (
            "replaced",
            {
                try $0.install([1, 2, 3], at: "/new")
                try $0.rename("/new", to: LogDepot.path)
            }
        ),
        ("truncated", { try $0.open(LogDepot.path, mode: .readWrite).truncate(to: 100) }),
        (
            "extended",
            { disk in
                let size = Int64(disk.contents(at: LogDepot.path)?.count ?? 0)
                try disk.open(LogDepot.path, mode: .readWrite).writeAll([10], at: size)
            }
        ),
        ("unlocked", { try $0.unlink(LogDepot.path + ".lock") }),
    ]

    func run() throws -> Findings {
        var findings = Findings()
        for (name, make) in Self.changes {
            let depot = try LogDepot(state: 2, breaking: mistake)
            let container = try depot.open()
            try container.advance(to: 3)
            let context = ModelContext(container)
            try Workload.change(context, to: 4)
            let ours = depot.disk.contents(at: LogDepot.path)
            try make(depot.disk)
            findings.inject()
            let theirs = depot.disk.contents(at: LogDepot.path)
            for _ in 0..<2 {
                let error = thrown { try context.save() }
                guard case .changed? = (error as? FileError)?.reason else {
                    findings.expect(false, "\(name): \(String(describing: error))")
                    continue
                }
                findings.expect(context.hasChanges, "\(name): the context is not dirty")
                findings.expect(depot.disk.contents(at: LogDepot.path) == theirs, "\(name): it was overwritten")
            }
            if name != "unlocked" {
                findings.expect(
                    thrown { try container.logStore?.compact() } != nil, "\(name): a compaction took no notice")
                findings.expect(
                    depot.disk.contents(at: LogDepot.path) == theirs, "\(name): overwritten by a compaction")
            }
            try container.close()
            findings.expect(depot.disk.contents(at: LogDepot.path) == theirs, "\(name): overwritten on closing")
            // The cause is gone: the log is where and what it was.
            if let ours { try depot.disk.install(ours, at: LogDepot.path) }
            findings.expect(depot.state() == 3, "\(name): put back, it shows \(String(describing: depot.state()))")
            let error = thrown {
                let reopened = try depot.open()
                try reopened.advance(to: 4)
                try reopened.close()
            }
            findings.expect(
                error == nil && depot.state() == 4,
                "\(name): put back, it takes no saves: \(String(describing: error))")
        }
        return findings
    }
}

/// What a store opens, renames and removes lies in its log's own folder.
struct LogTouchedPathsCheck {
    var mistake: BrokenFileSystem.Mistake?

    func run() throws -> Findings {
        var findings = Findings()
        let depot = try LogDepot(breaking: mistake)
        try depot.disk.install([1], at: "/elsewhere/kept")
        let path = "/elsewhere/de pot.log"
        let container = try Workload.open(LogDepot.configuration(depot.fileSystem, path: path))
        for state in 1...3 { try container.advance(to: state) }
        try container.logStore?.compact()
        try container.close()
        findings.inject(4)
        for operation in depot.disk.trace {
            findings.expect(operation.path.hasPrefix("/elsewhere"), "\(operation)")
        }
        let wanted = ["/elsewhere", path, path + ".checkpoint", path + ".lock", "/elsewhere/kept"].sorted()
        findings.expect(depot.disk.paths == wanted, "\(depot.disk.paths)")
        return findings
    }
}

/// A medium that may only be read.
struct LogReadOnlyCheck {
    var mistake: BrokenFileSystem.Mistake?

    func run() throws -> Findings {
        var findings = Findings()
        let depot = try LogDepot(state: 2, isCompacted: true, breaking: mistake)
        let writer = try depot.open()
        depot.disk.limits.isReadOnly = true
        findings.inject(2)
        let error = thrown { try writer.advance(to: 3) } as? FileError
        findings.expect(error?.reason == .readOnly, "saving: \(String(describing: error))")
        findings.expect(depot.state() == 2 && depot.temporaries.isEmpty, "it is not as it was")
        try writer.close()
        let opening = thrown { _ = try depot.open() } as? FileError
        findings.expect(opening?.reason == .readOnly, "opening: \(String(describing: opening))")
        let reader = try Workload.open(depot.configuration(allowsSave: false))
        findings.expect(reader.workloadState == 2, "it cannot be read")
        try reader.close()
        depot.disk.limits.isReadOnly = false
        let again = thrown {
            let container = try depot.open()
            try container.advance(to: 3)
            try container.close()
        }
        findings.expect(again == nil && depot.state() == 3, "usable again: \(String(describing: again))")
        return findings
    }
}

/// Times stand in the history alone: order, identifiers and what is kept by number do not depend on them.
struct LogClockCheck {
    /// The order in which a history is shown; of a store without mistakes that in which it was saved.
    var order: ([DefaultHistoryTransaction]) -> [DefaultHistoryTransaction] = { $0 }

    func run() throws -> Findings {
        var findings = Findings()
        let depot = try LogDepot()
        nonisolated(unsafe) var times: [Double] = [1e9, -1e9, 0, .nan, 1e300, 5]
        findings.inject(times.count)
        var configuration = depot.configuration()
        configuration.now = { Date(timeIntervalSinceReferenceDate: times.isEmpty ? 0 : times.removeFirst()) }
        let container = try Workload.open(configuration)
        for state in 1...6 { try container.advance(to: state) }
        try container.close()
        findings.expect(depot.state() == 6, "state \(String(describing: depot.state()))")
        let history = try ModelContext(depot.open()).fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>())
        let numbers = order(history).map(\.transactionIdentifier)
        findings.expect(numbers == [1, 2, 3, 4, 5, 6], "the history is \(numbers)")
        return findings
    }
}

/// At the path of the log, or of its checkpoint, is something that is no file.
struct LogNoFileCheck {
    var kind: FileKind
    var mistake: BrokenFileSystem.Mistake?

    func run() throws -> Findings {
        var findings = Findings()
        for path in [LogDepot.path, LogDepot.path + ".checkpoint"] {
            let depot = try LogDepot(state: path == LogDepot.path ? 0 : 2, breaking: mistake)
            try depot.disk.install(kind, at: path)
            for allowsSave in [true, false] {
                findings.inject()
                let error = thrown { try Workload.open(depot.configuration(allowsSave: allowsSave)).close() }
                findings.expect(
                    (error as? FileError)?.reason == .notARegularFile(kind), "\(path): \(String(describing: error))")
            }
            let found = try depot.disk.info(path, followingLinks: false).kind
            findings.expect(found == kind, "\(path): \(kind) became \(found)")
            let isAlone = path != LogDepot.path || depot.disk.paths == [path]
            findings.expect(isAlone, "\(kind): made \(depot.disk.paths)")
        }
        return findings
    }
}

@Suite struct LogPlaceTests {
    @Test func aLinkStaysAndWhatItLeadsToIsUsedOrCreated() throws {
        try LogLinkCheck().run().verify("F22")
    }

    @Test func newFilesArePrivateUnlessAskedOtherwiseAndOldOnesKeepTheirBits() throws {
        try LogPermissionCheck().run().verify("F23")
    }

    @Test func aChangedLogIsNoticedBeforeTheNextSaveAndNotOverwritten() throws {
        try LogBehindTheBackCheck().run().verify("F32")
    }

    @Test(.timeLimit(.minutes(15)), arguments: [FileKind.directory, .fifo, .socket, .characterDevice, .blockDevice])
    func whateverIsNoRegularFileIsRefusedAtOnceAndStays(kind: FileKind) throws {
        try LogNoFileCheck(kind: kind).run().verify("F22")
    }

    @Test func aPathThatIsNoneIsRefusedBeforeAnythingIsMade() throws {
        for path in ["", "/", "/a/", "/a/..", ".", "/data\u{0}.log", "/\u{0}"] {
            let disk = SimulatedFileSystem(seed: 1)
            let error =
                thrown { _ = try Workload.open(AppendLogConfiguration("x", path: path, in: disk)) } as? FileError
            #expect(error?.reason == .invalidPath, "\(path.debugDescription)")
            #expect(disk.paths.isEmpty)
        }
        let error = thrown { _ = try Workload.open(AppendLogConfiguration(path: "/none/depot.log")) } as? FileError
        #expect(error?.reason == .notFound)
        FaultLedger.add(["F24"], trials: 8)
    }

    @Test func everythingAStoreTouchesLiesBesideItsLog() throws { try LogTouchedPathsCheck().run().verify("F24") }

    @Test func onAReadOnlyMediumTheLogCanBeReadAndASaveIsATypedError() throws {
        try LogReadOnlyCheck().run().verify("F21")
    }

    @Test func aClockThatJumpsDisturbsNothing() throws { try LogClockCheck().run().verify("F31") }
}
