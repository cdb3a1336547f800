#if Tool
import Foundation
import MortiseCore

/// Follows a store that other processes change, by its feed. The store stays open.
///
/// @unchecked Sendable: what the feed's thread touches is behind the condition; the rest belongs to the caller of `next()`.
final class StoreFollower: @unchecked Sendable {
    private let argument: StoreArgument
    private let changed = NSCondition()
    private var waiting: [ChangeSet] = []
    private var isLeftBehind = false
    private var store: OpenStore
    private var follower: ChangeFeed.Follower?
    /// The number of the last transaction that was handed out or was there at the beginning.
    private var last: UInt64 = 0

    var name: String { argument.name }

    /// - Throws: what opening the store throws; `ToolError.unsupported` for a store that does not tell what other processes
    ///   commit.
    init(_ argument: StoreArgument) throws {
        self.argument = argument
        store = try OpenStore.reading(argument, following: true)
        guard store.store.announcesOtherProcesses, store.store.changeFeed != nil else {
            try store.close()
            throw ToolError.unsupported(store: argument.name, what: "tell what other processes save to it")
        }
        follow()
        last = number
    }

    private var number: UInt64 { store.versioned?.currentVersion.number ?? 0 }

    /// Whether the store's history goes by the numbers of its versions.
    private var countsAsHistory: Bool {
        guard store.versioned != nil else { return true }
        let token = store.store.historyToken(ofVersion: number) as? DefaultHistoryToken
        return token?.tokenValue?[store.store.identifier] == Int64(clamping: number)
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

    /// Waits for changes of others, for a fraction of a second.
    /// - Returns: what was changed since the last call, oldest first; empty if nothing was.
    /// - Throws: what opening the store again throws, if it could not follow its writer any longer.
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
            new += try reopen()
        }
        return new
    }

    /// Those that were not handed out yet.
    private func take(new changes: [ChangeSet]) -> [ChangeSet] {
        let new = changes.filter { ($0.commit?.number ?? .max) > last }
        last = new.last?.commit?.number ?? last
        return new
    }

    /// Opens the store again, under the schema that it has now.
    /// - Returns: what has come meanwhile, without values, as far as the history has it; without a history, that something may
    ///   have.
    private func reopen() throws -> [ChangeSet] {
        follower = nil
        try store.close()
        store = try OpenStore.reading(argument, following: true)
        follow()
        if countsAsHistory, let missed = try store.store.storedTransactions(after: last, last: nil) {
            return take(new: missed)
        }
        last = number
        var unknown = ChangeSet()
        unknown.isIncomplete = true
        return [unknown]
    }
}
#endif
