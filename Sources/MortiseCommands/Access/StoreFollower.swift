#if Tool
import Foundation
import MortiseCore

/// Follows a store that other processes change: by its feed if the store tells what others commit, and otherwise by comparing
/// its content whenever its files have changed.
final class StoreFollower {
    private let argument: StoreArgument
    private let source: any Source

    var name: String { argument.name }

    /// - Parameters:
    ///   - argument: the store.
    ///   - interval: how long to wait before looking again at a store that tells nothing, in seconds.
    /// - Throws: what opening the store throws.
    init(_ argument: StoreArgument, interval: TimeInterval) throws {
        self.argument = argument
        source = try FedSource(argument) ?? PolledSource(argument, interval)
    }

    /// Waits for changes of others, for a fraction of a second or the interval.
    /// - Returns: what was changed since the last call, oldest first; empty if nothing was.
    /// - Throws: what reading the store throws.
    func next() throws -> [ChangeSet] { try source.next() }

    private protocol Source {
        func next() throws -> [ChangeSet]
    }

    /// A store that stays open and tells of others.
    ///
    /// @unchecked Sendable: what the feed's thread touches is behind the condition; the rest belongs to the caller of `next()`.
    private final class FedSource: Source, @unchecked Sendable {
        private let argument: StoreArgument
        private let changed = NSCondition()
        private var waiting: [ChangeSet] = []
        private var isLeftBehind = false
        private var store: OpenStore
        private var follower: ChangeFeed.Follower?
        /// The number of the last transaction that was handed out or was there at the beginning.
        private var last: UInt64 = 0

        init?(_ argument: StoreArgument) throws {
            self.argument = argument
            store = try OpenStore.reading(argument, following: true)
            guard store.store.announcesOtherProcesses else {
                try store.close()
                return nil
            }
            follow()
            last = (store.store as? any VersionedDataStore)?.currentVersion.number ?? 0
        }

        private func follow() {
            follower = store.store.changeFeed?.follow { [weak self] delivery in
                self?.take(delivery.changes)
            }
            store.store.reportEvents { [weak self] event in
                if case .readerLeftBehind = event { self?.noteLeftBehind() }
            }
        }

        private func take(_ changes: [ChangeSet]) {
            changed.withLock {
                waiting += changes
                changed.signal()
            }
        }

        private func noteLeftBehind() {
            changed.withLock {
                isLeftBehind = true
                changed.signal()
            }
        }

        func next() throws -> [ChangeSet] {
            let (found, isLeftBehind) = changed.withLock {
                if waiting.isEmpty, !self.isLeftBehind { _ = changed.wait(until: Date(timeIntervalSinceNow: 0.25)) }
                defer {
                    waiting = []
                    self.isLeftBehind = false
                }
                return (waiting, self.isLeftBehind)
            }
            var new = take(new: found)
            if isLeftBehind {
                // What was read before the reader stopped is on its way through the feed.
                store.store.changeFeed?.settle()
                new += take(
                    new: changed.withLock {
                        defer { waiting = [] }
                        return waiting
                    })
                new += take(new: try reopen())
            }
            return new
        }

        /// Those that were not handed out yet.
        private func take(new changes: [ChangeSet]) -> [ChangeSet] {
            let new = changes.filter { ($0.commit?.number ?? 0) > last }
            last = new.last?.commit?.number ?? last
            return new
        }

        /// Opens the store again, under the schema that it has now.
        /// - Returns: what has come meanwhile, without values, as far as the history has it.
        private func reopen() throws -> [ChangeSet] {
            follower = nil
            try store.close()
            store = try OpenStore.reading(argument, following: true)
            follow()
            return try store.store.storedTransactions(after: last, last: nil) ?? []
        }
    }

    /// A store that is looked at again and again.
    private final class PolledSource: Source {
        private let argument: StoreArgument
        private let interval: TimeInterval
        private let configuration: any SelfDescribingConfiguration
        private var state: StoreState
        private var mark: String
        /// A file's time does not tell two changes apart that follow each other at once: it is looked at twice.
        private var looksAgain = false

        init(_ argument: StoreArgument, _ interval: TimeInterval) throws {
            self.argument = argument
            self.interval = interval
            configuration = try argument.selfDescribing()
            mark = try configuration.changeMark()
            state = try Self.state(of: argument)
        }

        func next() throws -> [ChangeSet] {
            Thread.sleep(forTimeInterval: interval)
            let current = try configuration.changeMark()
            guard current != mark || looksAgain else { return [] }
            looksAgain = current != mark
            mark = current
            let older = state
            state = try steadily { try Self.state(of: argument) }
            let changes = try ChangeSet(from: older, to: state)
            return changes.isEmpty ? [] : [changes]
        }

        private static func state(of argument: StoreArgument) throws -> StoreState {
            // Closed again at once: a file that is open in this process would be given as it was then.
            let store = try OpenStore.reading(argument)
            let state = try StoreState(store)
            try store.close()
            return state
        }

        /// Beside a writer, a reader may see a half-written file for a moment.
        private func steadily<R>(_ body: () throws -> R) throws -> R {
            var attempts = 0
            while true {
                do {
                    return try body()
                } catch let error as any ClassifiedStoreError where error.errorClass == .damaged && attempts < 5 {
                    attempts += 1
                    Thread.sleep(forTimeInterval: 0.05)
                }
            }
        }
    }
}
#endif
