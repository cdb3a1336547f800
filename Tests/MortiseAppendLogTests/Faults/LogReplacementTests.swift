import FaultWorkload
import Foundation
import MortiseCore
import MortiseEngine
import Testing

@testable import MortiseAppendLog
import MortiseTestSupport

/// What goes wrong when the new log of a compaction has taken the old one's name already.
@Suite struct LogReplacementTests {
    enum Failure: CaseIterable {
        case directory, opening, examining

        func inject(into disk: SimulatedFileSystem) {
            // The first renaming is the checkpoint's.
            switch self {
            case .directory: disk.inject(.fail(.io), at: 2, of: .syncDirectory)
            case .opening: disk.interject(at: 2, of: .rename) { disk.inject(.fail(.processFiles), of: .open) }
            case .examining: disk.interject(at: 2, of: .rename) { disk.inject(.fail(.io), of: .info) }
            }
        }
    }

    @Test(arguments: Failure.allCases)
    func afterACompactionThatFailedBehindItsRenamingNothingIsWritten(failure: Failure) throws {
        var findings = Findings()
        let disk = try makeDisk()
        let states = try makeSmallLog(on: disk)
        let configuration = logConfiguration(disk, history: .keep(days: 0))
        let store = try openStore(configuration)
        let context = ModelContext(try openLog(configuration))
        failure.inject(into: disk)
        findings.inject()
        let error = thrown { try store.compact() }
        disk.removeFaults()
        findings.expect(error is FileError, "the compaction: \(String(describing: error))")
        let checkpoint = disk.contents(at: logPath + ".checkpoint")
        for work in [{ try store.checkpoint() }, { _ = try store.compact() }, { try store.backup(to: "/data/copy") }] {
            let error = thrown(work)
            findings.expect(isLatched(error), "not latched: \(String(describing: error))")
        }
        context.insert(Box("after"))
        findings.expect(isLatched(thrown { try context.save() }), "a save was taken")
        findings.expect(disk.contents(at: logPath + ".checkpoint") == checkpoint, "the checkpoint was replaced")
        try context.container.close()
        try store.close()
        let found = Result { try contents(configuration) }
        findings.expect((try? found.get()) == states.last, "reopened: \(found)")
        findings.expect(try AppendLogStore.verify(logPath, in: disk).isSound, "not sound")
        findings.verify("F06")
    }

    /// Somebody put another log in the place of the one that is open: a checkpoint of the latter would not fit it.
    @Test func noCheckpointIsWrittenForALogThatHasLostItsName() throws {
        var findings = Findings()
        let disk = try makeDisk()
        _ = try makeSmallLog(on: disk)
        let store = try openStore(logConfiguration(disk))
        let log = try #require(disk.contents(at: logPath))
        try disk.install(log, at: "/data/other")
        try disk.rename("/data/other", to: logPath)
        findings.inject()
        let error = thrown { try store.checkpoint() } as? FileError
        findings.expect(error?.reason == .changed(.replaced), "\(String(describing: error))")
        findings.expect(disk.contents(at: logPath + ".checkpoint") == nil, "there is a checkpoint")
        try store.close()
        findings.verify("F32")
    }
}
