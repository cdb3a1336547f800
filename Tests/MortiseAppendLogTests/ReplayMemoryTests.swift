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
}
