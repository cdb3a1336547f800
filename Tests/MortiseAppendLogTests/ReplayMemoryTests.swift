import FaultWorkload
import Foundation
import Testing

/// What replaying a log takes, in a process of its own.
struct ReplayMemoryTests {
    @Test(.enabled(if: HelperProcess.canMeasure, "\(HelperProcess.noMeasure)"))
    func aReplayTakesAtMostFourTimesTheFileAndSixteenMegabytes() throws {
        try withTemporaryFolder { folder in
            let path = folder + "/large.log"
            let count = isFullSize ? 500_000 : 50_000
            let filled = try HelperProcess("fill", path, String(count))
            #expect(filled.lines == ["filled \(count)"])
            let size = try #require(try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int)
            #expect(!FileManager.default.fileExists(atPath: path + ".checkpoint"))
            let replayed = try HelperProcess("replay", path)
            #expect(replayed.lines.first == "found \(count)")
            let grown = try #require(replayed.lines.last?.split(separator: " ").last.flatMap { Int($0) })
            #expect(grown > count * 8, "nothing was measured")
            #expect(grown <= 4 * size + 16 << 20, "\(grown) bytes for a log of \(size)")
        }
    }

    /// The checks that read all of a store, of one that is sound and of one that is damaged in the middle.
    @Test(.enabled(if: HelperProcess.canMeasure, "\(HelperProcess.noMeasure)"))
    func verifyingAndSalvagingTakeAtMostFourTimesTheFilesAndSixteenMegabytes() throws {
        try withTemporaryFolder { folder in
            let path = folder + "/large.log"
            let count = isFullSize ? 500_000 : 50_000
            _ = try HelperProcess("fill", path, String(count))
            func size() throws -> Int {
                try [path, path + ".checkpoint"].reduce(0) { sum, path in
                    guard FileManager.default.fileExists(atPath: path) else { return sum }
                    return try sum + (FileManager.default.attributesOfItem(atPath: path)[.size] as? Int ?? 0)
                }
            }
            func measure(_ arguments: String...) throws -> (grown: Int, lines: [String]) {
                let helper =
                    try arguments.count == 2
                    ? HelperProcess(arguments[0], arguments[1])
                    : HelperProcess(arguments[0], arguments[1], arguments[2])
                let grown = try #require(helper.lines.last?.split(separator: " ").last.flatMap { Int($0) })
                #expect(grown > 1 << 20, "nothing was measured")
                print("memory: \(arguments[0]): \(grown) for \(try size()), \(helper.lines)")
                return (grown, helper.lines)
            }
            let alone = try measure("verify", path)
            #expect(alone.lines.first == "problems 0 records \(count)")
            #expect(alone.grown <= 4 * (try size()) + 16 << 20)
            #expect(try HelperProcess("checkpoint", path).lines == ["checkpoint"])
            let both = try measure("verify", path)
            #expect(both.lines.first == "problems 0 records \(count)")
            #expect(both.grown <= 4 * (try size()) + 16 << 20)
            let salvaged = try measure("salvage", path, folder + "/new.log")
            #expect(salvaged.lines.first == "lost 0 records \(count)")
            #expect(salvaged.grown <= 4 * (try size()) + 16 << 20)
        }
    }
}
