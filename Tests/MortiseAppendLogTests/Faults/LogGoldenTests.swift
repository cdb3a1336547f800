import FaultWorkload
import Foundation
import MortiseCore
import MortiseEngine
import Testing

@testable import MortiseAppendLog

/// Files of every version of the format, as they were written when that version was the newest. They are never changed.
@Suite struct LogGoldenTests {
    private static let folder = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().appending(path: "Golden")

    private func files(_ version: UInt16, _ kind: String) throws -> [String: [UInt8]] {
        var files: [String: [UInt8]] = [:]
        for suffix in ["", ".checkpoint"] {
            let url = Self.folder.appending(path: "format-\(version)-\(kind).log\(suffix)")
            if FileManager.default.fileExists(atPath: url.path) { files[suffix] = [UInt8](try Data(contentsOf: url)) }
        }
        return files
    }

    /// The log alone; with a checkpoint; with a checkpoint and without the history before it. Those ending in 2 are of the
    /// second form of nodes.
    @Test(
        arguments: 1...FileHeader.version,
        ["whole", "checkpointed", "compacted", "checkpointed-2", "compacted-2"])
    func aStoreOpensOneOfEveryVersionAndSavesIt(version: UInt16, kind: String) throws {
        let files = try files(version, kind)
        #expect(files.keys.sorted() == (kind == "whole" ? [""] : ["", ".checkpoint"]))
        let disk = SimulatedFileSystem(seed: 7)
        for (suffix, bytes) in files { try disk.install(bytes, at: LogDepot.path + suffix) }
        #expect(try AppendLogStore.verify(LogDepot.path, in: disk).isSound)
        let container = try Workload.open(LogDepot.configuration(disk))
        #expect(Workload.state(of: container) == 5)
        let history = try ModelContext(container).fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>())
        #expect(history.map(\.transactionIdentifier) == (kind.hasPrefix("compacted") ? [5] : [1, 2, 3, 4, 5]))
        try container.advance(to: 6)
        try container.logStore?.compact()
        try container.close()
        #expect(LogDepot.state(in: disk) == 6)
        FaultLedger.add(["F35"], injected: 1)
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
