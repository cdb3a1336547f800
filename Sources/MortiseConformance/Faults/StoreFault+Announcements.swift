import Dispatch
import MortiseCore

extension StoreFault {
    private static func announcing(
        _ id: String, _ summary: String, _ change: @escaping @Sendable (inout ReferenceSteps) -> Void
    ) -> StoreFault {
        StoreFault(id, summary, in: .planning, change: change)
    }

    /// Stores that have a feed of their own and post to it wrongly.
    static let announcementFaults: [StoreFault] = [
        announcing("announces-nothing", "has a feed to which it posts nothing") { $0.announce = { _, _ in } },
        announcing("another-feed-each-time", "makes a feed whenever it is asked for one") { $0.makesFeeds = true },
        announcing("announces-no-insertions", "posts what has changed and what is gone, but nothing new") { steps in
            steps.announce = { changes, feed in
                var told = changes
                told.inserted = .init()
                feed.post([told])
            }
        },
        announcing("announces-no-deletions", "posts nothing of what is gone") { steps in
            steps.announce = { changes, feed in
                var told = changes
                told.deleted = []
                feed.post([told])
            }
        },
        announcing("announces-no-owners", "does not name owners of which only the lists have changed") { steps in
            steps.announce = { changes, feed in
                var told = changes
                told.updated.removeAll { update in
                    update.slots.slots.allSatisfy { update.layout.slots[$0].role == .toManyDerived }
                }
                feed.post([told])
            }
        },
        announcing("announces-saves-alone", "posts saves and no batches") { $0.announcesBatches = false },
        announcing("announces-no-erasure", "posts nothing when it is erased") { steps in
            steps.announce = { changes, feed in if !changes.isErasure { feed.post([changes]) } }
        },
        announcing("announces-later", "posts a save some time after it has returned") { steps in
            steps.announce = { changes, feed in
                DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(200)) { feed.post([changes]) }
            }
        },
        announcing("announces-what-it-refuses", "posts a save before it has looked whether it can be done") {
            $0.announcesRequests = true
        },
        announcing("announces-one-number", "gives all commits the same number") { steps in
            steps.announce = { changes, feed in
                var told = changes
                told.commit?.number = 1
                feed.post([told])
            }
        },
    ]
}
