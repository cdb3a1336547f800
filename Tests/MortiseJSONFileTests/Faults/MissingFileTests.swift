import FaultWorkload
import Foundation
import MortiseCore
import MortiseEngine
import MortiseTestSupport
import Testing

@testable import MortiseJSONFile

/// A store whose file is missing, and whose history is there.
///
/// Bug: the store opened as a new, empty one, and its history went on.
@Suite struct MissingFileTests {
    private static let history = Depot.path + ".history"

    private static func filled(_ states: Int) throws -> Depot {
        let depot = try Depot()
        let container = try depot.open()
        for state in 1...states { try container.advance(to: state) }
        try container.close()
        return depot
    }

    private static func reason(_ disk: SimulatedFileSystem, _ history: HistoryRetention = .unlimited) -> FileError
        .Reason?
    {
        do {
            try Workload.openStore(JSONFileConfiguration(path: Depot.path, history: history, in: disk)).close()
            return nil
        } catch {
            return (error as? FileError)?.reason
        }
    }

    @Test(arguments: [HistoryRetention.unlimited, .none]) func aFileThatItsHistoryKnowsIsMissed(
        _ kept: HistoryRetention
    ) throws {
        let disk = try Self.filled(2).disk
        try disk.unlink(Depot.path)
        let (paths, frames) = (disk.paths, disk.contents(at: Self.history))
        let error = #expect(throws: FileError.self) {
            try Workload.openStore(JSONFileConfiguration(path: Depot.path, history: kept, in: disk)).close()
        }
        #expect(error?.reason == .historyWithoutStore(history: Self.history))
        #expect(error?.errorClass == .missing)
        #expect(
            error?.description
                == "cannot open '/depot.json': the file is missing, but its history '/depot.json.history' records saves; restore "
                + "the file, or move the history away to begin with an empty store")
        #expect(disk.paths == paths)
        #expect(disk.contents(at: Self.history) == frames)
        // The way out.
        try disk.rename(Self.history, to: "/aside")
        #expect(Self.reason(disk) == nil)
    }

    @Test func aBackupBringsTheFileBack() throws {
        let disk = try Self.filled(3).disk
        let configuration = JSONFileConfiguration(path: Depot.path, in: disk)
        _ = try configuration.backUpStore(to: "/backup.json")
        try disk.unlink(Depot.path)
        _ = try configuration.restoreStore(from: "/backup.json", replacing: false) {}
        let store = try Workload.openStore(configuration)
        #expect(Workload.state(of: store) == 3)
        #expect(try store.fetchHistory(HistoryDescriptor()).count == 3)
        try store.close()
    }

    /// A history that begins anew beside a file, or was written again without its oldest transactions, shows the file too.
    @Test func aHistoryThatBeganBesideAFileShowsIt() throws {
        let late = try Depot(state: 1)
        let container = try late.open()
        try container.advance(to: 2)
        try container.close()
        try late.disk.unlink(Depot.path)
        #expect(Self.reason(late.disk) == .historyWithoutStore(history: Self.history))

        let shortened = try Self.filled(1)
        let store = try Workload.openStore(shortened.configuration())
        try store.deleteHistory(HistoryDescriptor())
        try store.close()
        try shortened.disk.unlink(Depot.path)
        #expect(Self.reason(shortened.disk) == .historyWithoutStore(history: Self.history))
    }

    /// What does not show a save keeps no store from beginning: the first save of another one, cut off; or no history at all.
    @Test func whatShowsNoSaveIsNoHistory() throws {
        let one = try Self.filled(1).disk.contents(at: Self.history) ?? []
        let two = try Self.filled(2).disk.contents(at: Self.history) ?? []
        var shown = 0
        for count in 0...two.count {
            let disk = SimulatedFileSystem()
            try disk.install(Array(two.prefix(count)), at: Self.history)
            // The frames of the first save are as long in each history; behind them one of the second is whole, or not.
            let reason = Self.reason(disk)
            if count < one.count + HistoryFrame.size {
                #expect(reason == nil, "\(count) bytes")
            } else if reason != nil {
                shown += 1
            }
        }
        #expect(shown > 0)
        let disk = SimulatedFileSystem()
        try disk.install(
            Array("not a history, but as long as the header of one, and longer than that".utf8), at: Self.history)
        #expect(Self.reason(disk) == nil)
    }

    @Test func aHistoryThatCannotBeReadMayShowAFile() throws {
        let disk = try Self.filled(2).disk
        try disk.unlink(Depot.path)
        disk.inject(.fail(.io), of: .read)
        #expect(Self.reason(disk) == .io)
    }

    /// A process dies before a sync has made the name of its first file durable. The next one saves, and the power is cut: wherever that
    /// is, the store opens, and has what was acknowledged.
    @Test(arguments: [JSONFileHistoryDurability.withSave, .later], [1, 2])
    func aNameThatIsNotDurableIsNoLoss(_ durability: JSONFileHistoryDurability, saves: Int) throws {
        func configuration(_ fileSystem: any FileSystem) -> JSONFileConfiguration {
            JSONFileConfiguration(path: Depot.path, historyDurability: durability, in: fileSystem)
        }
        let disk = SimulatedFileSystem(seed: UInt64(saves))
        // What only a dying process leaves out.
        let dying = disk.process(2)
        let first = try Workload.open(configuration(BrokenFileSystem(dying, mistake: .skipsDirectorySync)))
        try first.advance(to: 1)
        dying.kill()
        let start = disk.operationCount
        let next = try Workload.open(configuration(disk.process(3)))
        #expect(next.workloadState == 1)
        var acknowledged: [(operation: Int, state: Int)] = []
        for state in 2...(saves + 1) {
            try next.advance(to: state)
            acknowledged.append((disk.operationCount, state))
        }
        var states: Set<Int> = []
        disk.forEachCrash(in: start...disk.operationCount, limit: 12) { image in
            let place = "after operation \(image.operation), \(image.loss)"
            do {
                let store = try Workload.openStore(configuration(image.fileSystem))
                let found = try #require(Workload.state(of: store), "\(place)")
                try store.close()
                states.insert(found)
                #expect(found >= acknowledged.last { $0.operation <= image.operation }?.state ?? 0, "\(place)")
            } catch {
                Issue.record("\(place): \(error)")
            }
        }
        // The cuts reached a folder without the file, too.
        #expect(states == Set(0...(saves + 1)))
        try next.close()
    }
}
