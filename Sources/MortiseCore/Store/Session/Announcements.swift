import Foundation
import Synchronization

/// Posts what contexts commit in place of a store that does not do so itself, in the order of the commits.
///
/// Deferred saves are done in any order, and each is told when its context knows of it. What was committed after one that is not
/// told yet waits.
final class Announcements: Sendable {
    /// The place of a commit in the order. A commit of which nothing is told when its place is released is passed over.
    final class Turn: Sendable {
        private let announcements: Announcements
        fileprivate let place: UInt64
        /// The number of the version that the commit has made; 0 as long as it is not known.
        let version = Atomic<UInt64>(0)

        fileprivate init(_ announcements: Announcements, _ place: UInt64) {
            self.announcements = announcements
            self.place = place
        }

        deinit { announcements.tell(nil, at: place) }
    }

    private struct Told {
        var changes: ChangeSet
        let own: ChangedRecords?
    }

    private struct State {
        var next: UInt64 = 0
        /// The first place of which nothing is known yet.
        var first: UInt64 = 0
        /// What is known of those after it; nil within for those to be passed over.
        var waiting: [UInt64: Told?] = [:]
        /// The number of the last commit that was told.
        var number: UInt64 = 0
    }

    private let feed: ChangeFeed
    /// Takes in what is posted; nil for a store that keeps a history.
    private let recorder: HistoryRecorder?
    private let state = Mutex(State())

    init(_ feed: ChangeFeed, recorder: HistoryRecorder?) {
        self.feed = feed
        self.recorder = recorder
    }

    /// Takes a place. Called in the order of the commits.
    func begin() -> Turn {
        state.withLock { state in
            defer { state.next += 1 }
            return Turn(self, state.next)
        }
    }

    /// Tells what a commit has changed. Nil for `number` counts the commits.
    /// - Returns: the place of the commit in what is recorded; nil if it has none yet, because it waits for an earlier one.
    @discardableResult
    func tell(
        _ changes: ChangeSet, number: UInt64?, at turn: Turn, except own: ChangedRecords?
    ) -> DefaultHistoryToken? {
        var changes = changes
        if changes.commit == nil {
            changes.commit = .init(number: number ?? 0, timestamp: Date(), process: Self.process)
        }
        return tell(Told(changes: changes, own: own), at: turn.place)
    }

    @discardableResult
    private func tell(_ told: Told?, at place: UInt64) -> DefaultHistoryToken? {
        state.withLock { state in
            guard place >= state.first, state.waiting[place] == nil else { return nil }
            state.waiting[place] = .some(told)
            var token: DefaultHistoryToken?
            while let next = state.waiting.removeValue(forKey: state.first) {
                state.first += 1
                guard var next else { continue }
                // Numbers grow, also where the store cannot tell which version was made by which commit.
                let number = max(next.changes.commit?.number ?? 0, state.number + 1)
                next.changes.commit?.number = number
                state.number = number
                // Within the lock, for the order. Handlers run elsewhere.
                if next.changes.isEmpty { continue }
                feed.post([next.changes], except: next.own)
                if state.first == place + 1 { token = recorder?.lastToken }
            }
            return token
        }
    }

    private static let process = ProcessInfo.processInfo.processName
}
