import FaultWorkload
import Foundation
import MortiseAppendLog
import MortiseCore
import MortiseTestSupport
import Synchronization
import Testing

/// `ModelContainer.verify()` while the store is in use.
struct VerifyingBesideSavesTests {
    enum Work: CaseIterable { case save, checkpoint, compaction }

    /// Defect: a checkpoint or a compaction that came in the middle was reported as damage: the checkpoint was that of another log,
    /// and files of data were missing.
    @Test(arguments: Work.allCases) func whatComesInTheMiddleIsNoDamage(_ work: Work) throws {
        var number = 1
        while true {
            let disk = SimulatedFileSystem(seed: 5)
            let container = try PictureStore.log.open(disk)
            for state in 1...3 { try container.advancePictures(to: state) }
            let store = try #require(container.store(AppendLogStore.self))
            try store.checkpoint()
            try container.advancePictures(to: 4)
            let hasCome = Mutex(false)
            disk.interject(at: number) {
                hasCome.withLock { $0 = true }
                do {
                    for state in 5...6 { try container.advancePictures(to: state) }
                    switch work {
                    case .save: break
                    case .checkpoint: try store.checkpoint()
                    case .compaction: try store.compact()
                    }
                } catch {
                    Issue.record("\(error)")
                }
            }
            let problems = try container.verify().flatMap(\.report.problems)
            #expect(problems == [], "operation \(number)")
            disk.removeFaults()
            try container.close()
            if !hasCome.withLock({ $0 }) { break }
            number += isFullSize ? 1 : 5
        }
        #expect(number > 10)
    }
}
