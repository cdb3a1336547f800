import Foundation
import MortiseAppendLog
import MortiseCore
import MortiseEngine
import Testing
import MortiseTestSupport

/// A disk that does not give some of what is on it.
struct UnreadableSectorTests {
    /// Three thousand boxes in ten saves.
    private func makeLog(isCompacted: Bool) throws -> SimulatedFileSystem {
        let disk = try makeDisk()
        let container = try openLog(logConfiguration(disk, history: .keep(days: 0)))
        let context = ModelContext(container)
        for save in 0..<10 {
            for number in 0..<300 {
                context.insert(Box("<\(save) \(number)> " + String(repeating: "x", count: 100)))
            }
            try context.save()
        }
        if isCompacted { try container.store(AppendLogStore.self)?.compact() }
        try container.close()
        return disk
    }

    /// Makes the sector unreadable in which a text stands.
    private func breakSector(of text: String, in path: String, on disk: SimulatedFileSystem) throws {
        let bytes = try #require(disk.contents(at: path))
        let place = try #require(Data(bytes).range(of: Data(text.utf8))).lowerBound / 512 * 512
        disk.limits.unreadable[path, default: []].append(place..<(place + 512))
    }

    private func isUnreadable(_ problem: AppendLogError) -> Bool {
        if case .unreadable(_, let error) = problem.fault { error.code == .io } else { false }
    }

    @Test func ofALogTheTransactionsAroundItAreSalvaged() throws {
        let disk = try makeLog(isCompacted: false)
        try breakSector(of: "<3 7>", in: logPath, on: disk)
        try breakSector(of: "<6 7>", in: logPath, on: disk)
        #expect { try openStore(logConfiguration(disk)) } throws: { ($0 as? FileError)?.code == .io }
        let verified = try AppendLogStore.verify(logPath, in: disk)
        #expect(verified.transactions == 8)
        #expect(verified.problems.count { isUnreadable($0) } == 2, "\(verified.problems)")
        let salvaged = try AppendLogStore.salvage(logPath, to: "/data/new.log", in: disk)
        #expect(salvaged.records == 8 * 300)
        #expect(salvaged.lost == verified.problems)
        #expect(try contents(logConfiguration(disk, path: "/data/new.log")).count == 8 * 300)
    }

    @Test func ofACheckpointTheOtherChunksAreSalvaged() throws {
        let disk = try makeLog(isCompacted: true)
        let path = logPath + ".checkpoint"
        try breakSector(of: "<3 7>", in: path, on: disk)
        try breakSector(of: "<8 7>", in: path, on: disk)
        let verified = try AppendLogStore.verify(logPath, in: disk)
        #expect(verified.problems.count == 2, "\(verified.problems)")
        #expect(verified.problems.allSatisfy { $0.path == path && isUnreadable($0) }, "\(verified.problems)")
        let salvaged = try AppendLogStore.salvage(logPath, to: "/data/new.log", in: disk)
        #expect(salvaged.lost == verified.problems)
        #expect((2_000..<3_000).contains(salvaged.records), "\(salvaged.records)")
        #expect(try contents(logConfiguration(disk, path: "/data/new.log")).count == salvaged.records)
    }

    /// Nothing that a store could say about its records stands there.
    @Test func wherePartsOfACheckpointSayNothingTheLogIsSalvaged() throws {
        let disk = try makeDisk()
        let states = try makeSmallLog(on: disk)
        let store = try openStore(logConfiguration(disk))
        try store.checkpoint()
        try store.close()
        let path = logPath + ".checkpoint"
        let size = try #require(disk.contents(at: path)).count
        disk.limits.unreadable[path] = [(size - 64)..<size]
        let verified = try AppendLogStore.verify(logPath, in: disk)
        #expect(verified.problems.map(\.path) == [path] && verified.problems.allSatisfy(isUnreadable))
        _ = try AppendLogStore.salvage(logPath, to: "/data/new.log", in: disk)
        #expect(try contents(logConfiguration(disk, path: "/data/new.log")) == states.last)
    }
}
