import Foundation
import MortiseCore

extension StoreFault {
    private static func batching(
        _ id: String, _ summary: String, _ change: @escaping @Sendable (inout ReferenceSteps) -> Void
    ) -> StoreFault {
        StoreFault(id, summary, in: .batching, change: change)
    }

    /// Stores that keep states for contexts, and drop them too early.
    static let scopeFaults: [StoreFault] = [
        batching("keeps-eight-states", "keeps the states of the last eight contexts") { $0.statesKept = 8 },
        shared("keeps-sixteen-states", "keeps the states of the last sixteen contexts") { $0.statesKept = 16 },
        batching("batch-ends-states", "drops the states of all contexts when it carries out a batch") {
            $0.batchEndsStates = true
        },
        batching("erasure-ends-states", "drops the states of all contexts when it is erased") {
            $0.erasureEndsStates = true
        },
        shared("ends-every-state", "drops the states of all contexts when one of them ends") {
            $0.endsEveryState = true
        },
    ]

    /// Stores that carry out batches, and do not post all that these do.
    static let batchAnnouncementFaults: [StoreFault] = [
        batching("announces-no-batch-updates", "posts no batch that deletes nothing") {
            $0.announcesBatchUpdates = false
        },
        batching("announces-no-batches-at-all", "posts no batch") { $0.announcesBatches = false },
        batching("announces-one-update", "posts the first record of several that it has updated") { steps in
            steps.announce = { changes, feed in
                var told = changes
                told.updated = Array(told.updated.prefix(1))
                feed.post([told])
            }
        },
        batching("announces-ten-insertions", "posts the first ten of the records that it has inserted") { steps in
            steps.announce = { changes, feed in
                var told = changes
                told.inserted = .init(records: Array(told.inserted.records.prefix(10)))
                feed.post([told])
            }
        },
    ]
}
