import FaultWorkload
import Foundation
import MortiseCore
import MortiseEngine
import Testing

@testable import MortiseAppendLog
import MortiseTestSupport

/// A store opens the files of a version, shows their history, and goes on.
struct LogGoldenCheck {
    /// The log alone; with a checkpoint; with a checkpoint and without the history before it. Those ending in 2 are of the
    /// second form of nodes.
    static let kinds = ["whole", "checkpointed", "compacted", "checkpointed-2", "compacted-2"]
    private static let folder = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().appending(path: "Golden")

    var version: UInt16
    var kind: String
    /// What becomes of the log before it is read, for a store whose format is not that of the file any more.
    var change: (inout [UInt8]) -> Void = { _ in }

    private func files() throws -> [String: [UInt8]] {
        var files: [String: [UInt8]] = [:]
        for suffix in ["", ".checkpoint"] {
            let url = Self.folder.appending(path: "format-\(version)-\(kind).log\(suffix)")
            if FileManager.default.fileExists(atPath: url.path) { files[suffix] = [UInt8](try Data(contentsOf: url)) }
        }
        return files
    }

    func run() throws -> Findings {
        var findings = Findings()
        var files = try files()
        findings.expect(files.keys.sorted() == (kind == "whole" ? [""] : ["", ".checkpoint"]), "\(files.keys)")
        if var log = files[""] {
            change(&log)
            files[""] = log
        }
        findings.inject()
        let error = thrown {
            let disk = SimulatedFileSystem(seed: 7)
            for (suffix, bytes) in files { try disk.install(bytes, at: LogDepot.path + suffix) }
            findings.expect(try AppendLogStore.verify(LogDepot.path, in: disk).isSound, "it is not sound")
            let container = try Workload.open(LogDepot.configuration(disk))
            let state = Workload.state(of: container)
            findings.expect(state == 5, "state \(String(describing: state))")
            let history = try ModelContext(container).fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>())
            let numbers = history.map(\.transactionIdentifier)
            findings.expect(numbers == (kind.hasPrefix("compacted") ? [5] : [1, 2, 3, 4, 5]), "history \(numbers)")
            try container.advance(to: 6)
            try container.logStore?.compact()
            try container.close()
            findings.expect(LogDepot.state(in: disk) == 6, "the next save is not there")
        }
        findings.expect(error == nil, "\(String(describing: error))")
        return findings
    }
}

/// Files of every version of the format, as they were written when that version was the newest. They are never changed.
@Suite struct LogGoldenTests {
    @Test(arguments: 1...FileHeader.version, LogGoldenCheck.kinds)
    func aStoreOpensOneOfEveryVersionAndSavesIt(version: UInt16, kind: String) throws {
        try LogGoldenCheck(version: version, kind: kind).run().verify("F35")
    }

    /// Makes the files of the newest version, where the environment names a folder for them.
    @Test(.enabled(if: ProcessInfo.processInfo.environment["MORTISE_GOLDEN"] != nil, "asked for by MORTISE_GOLDEN"))
    func theFilesOfTheNewestVersionAreWritten() throws {
        let folder = try #require(ProcessInfo.processInfo.environment["MORTISE_GOLDEN"])
        for kind in ["whole", "checkpointed-2", "compacted-2"] {
            let disk = SimulatedFileSystem(seed: 5)
            let container = try Workload.open(LogDepot.configuration(disk))
            for state in 1...5 {
                try container.advance(to: state)
                if state == 4, kind == "checkpointed-2" { try container.logStore?.checkpoint() }
                if state == 4, kind == "compacted-2" { try container.logStore?.compact() }
            }
            try container.close()
            for suffix in ["", ".checkpoint"] {
                guard let bytes = disk.contents(at: LogDepot.path + suffix) else { continue }
                try Data(bytes).write(
                    to: URL(fileURLWithPath: "\(folder)/format-\(FileHeader.version)-\(kind).log\(suffix)"))
            }
        }
    }
}
