public import Foundation
import Synchronization

/// A history in memory, made of the change sets that a feed posts: that of a store in memory, and of one that keeps none, for as long as
/// the container is open.
///
/// It takes change sets in as they are posted, before anybody else learns of them, and drops the oldest that its retention does not
/// keep.
public final class HistoryRecorder: Sendable {
    /// How transactions are numbered.
    public enum Numbering: Sendable {
        /// As their commits are.
        case ofCommits
        /// From a number on that no earlier session has given, so that tokens of those expire.
        case ofSession
    }

    fileprivate struct Recorded: Sendable {
        var entry: HistoryEntry
        private var packed: PackedChanges?
        /// What cannot be packed, or is gone.
        private var whole = ChangeSet()
        private(set) var bytes: Int
        /// Whether the values before are known of all that was updated.
        let hasOldValues: Bool

        init(_ entry: HistoryEntry, _ changes: ChangeSet, scratch: inout ContiguousArray<UInt8>) {
            self.entry = entry
            hasOldValues = changes.updated.allSatisfy { !$0.oldValues.isEmpty }
            packed = PackedChanges(changes, scratch: &scratch)
            if packed == nil { whole = changes }
            bytes = packed?.approximateBytes ?? changes.approximateBytes
        }

        var changes: ChangeSet { packed?.changes ?? whole }

        /// Keeps the entry alone.
        mutating func empty(taking bytes: Int) {
            (packed, whole) = (nil, ChangeSet())
            self.bytes = bytes
        }
    }

    private struct State {
        /// The first ones are gone already.
        var kept: [Recorded] = []
        var first = 0
        var bytes: Int64 = 0
        var stubs = 0
        var bounds: HistoryBounds
        var holders: [HistoryHolder] = []
        /// The places of the latest commits, each at its number's remainder.
        var places: [(commit: UInt64, token: DefaultHistoryToken)?] = []
        /// How many of those kept lack values.
        var bare = 0
        /// Where changes are packed.
        var scratch: ContiguousArray<UInt8> = []

        var count: Int { kept.count - first }
    }

    /// The identifier of the store.
    public let store: String
    /// Whether a container records for a store that keeps no history.
    public let isOfSession: Bool
    private let retention: HistoryRetention
    private let reportLost: @Sendable (_ holder: String) -> Void
    private let now: @Sendable () -> Date
    private let state: Mutex<State>

    /// Makes an empty history.
    /// - Parameters:
    ///   - store: the identifier of the store.
    ///   - numbering: how transactions are numbered.
    ///   - retention: what is kept.
    ///   - last: the number of the last transaction that is not recorded; with numbers of a session it is made up.
    ///   - reportLost: called with the name of each holder that a limit lets go; it must not use the store.
    ///   - now: the time.
    public init(
        ofStore store: String, numbering: Numbering, keeping retention: HistoryRetention, after last: Int64 = 0,
        reportingLost reportLost: @escaping @Sendable (_ holder: String) -> Void = { _ in },
        now: @escaping @Sendable () -> Date = { Date() }
    ) {
        self.store = store
        isOfSession = numbering == .ofSession
        self.retention = retention
        self.reportLost = reportLost
        self.now = now
        // In milliseconds: no session gives more numbers than that.
        let start = isOfSession ? max(1, Int64(Date().timeIntervalSinceReferenceDate * 1_000)) : last
        state = Mutex(State(bounds: HistoryBounds(horizon: start, horizonMark: nil, last: start)))
    }

    /// Takes in changes that were committed, in the order of the commits. What is incomplete, or has no commit that names it, moves the
    /// horizon: what was before cannot be told from what comes after.
    public func record(_ sets: [ChangeSet]) {
        let lost = state.withLock { state in
            for changes in sets {
                guard var entry = HistoryEntry(of: changes), !changes.isIncomplete else {
                    forgetAll(&state, upTo: state.bounds.last + 1)
                    continue
                }
                if isOfSession { entry.number = state.bounds.last + 1 }
                if entry.mark == nil { entry.mark = HistoryMark.next() }
                // What is missing in between is not known.
                if entry.number > state.bounds.last + 1 { forgetAll(&state, upTo: entry.number - 1) }
                guard entry.number > state.bounds.last else { continue }
                let recorded = Recorded(entry, changes, scratch: &state.scratch)
                state.kept.append(recorded)
                if !recorded.hasOldValues { state.bare += 1 }
                if isOfSession { note(entry, ofCommit: changes.commit?.number ?? 0, &state) }
                state.bytes += Int64(recorded.bytes)
                state.bounds.last = entry.number
                if entry.kind == .erasure { state.bounds.erasure = entry.number }
            }
            return trim(&state)
        }
        tell(ofLost: lost)
    }

    private func tell(ofLost holders: [String]) {
        for holder in holders { reportLost(holder) }
    }

    private func forgetAll(_ state: inout State, upTo number: Int64) {
        state.kept = []
        (state.first, state.bytes, state.stubs, state.bare) = (0, 0, 0, 0)
        state.bounds = HistoryBounds(horizon: number, last: number)
    }

    /// Forgets what came after a transaction, because the store did: it gives those numbers again.
    package func takeBack(after number: Int64) {
        state.withLock { state in
            guard state.bounds.last > number else { return }
            if number < state.bounds.horizon { return forgetAll(&state, upTo: number) }
            while state.count > 0, let last = state.kept.last, last.entry.number > number {
                state.kept.removeLast()
                state.bytes -= Int64(last.bytes)
                if last.entry.kind == .stub { state.stubs -= 1 }
                if !last.hasOldValues { state.bare -= 1 }
            }
            state.bounds.last = number
            if state.bounds.erasure > number {
                state.bounds.erasure = state.kept[state.first...].last { $0.entry.kind == .erasure }?.entry.number ?? 0
            }
        }
    }

    /// Drops what is not kept.
    /// - Returns: the names of the holders that are lost by that.
    private func trim(_ state: inout State) -> [String] {
        if retention.isUnlimited || state.count == 0 { return [] }
        var lost: [String] = []
        let now = now()
        while state.count > 0 {
            let oldest = state.kept[state.first]
            guard
                retention.drops(
                    oldestOf: state.count, taking: state.bytes, saved: oldest.entry.timestamp, at: now)
            else { break }
            let needing = state.holders.indices.filter {
                state.holders[$0].needs(oldest.entry.number, of: store, at: now)
            }
            // As long as one holds it, nobody loses it.
            let bytes = state.bytes
            guard needing.allSatisfy({ state.holders[$0].maximumLag.map { bytes > $0 } ?? false }) else { break }
            for place in needing {
                state.holders[place].state = .lost
                lost.append(state.holders[place].name)
            }
            drop(&state)
        }
        return lost
    }

    /// Lets go of the oldest.
    private func drop(_ state: inout State) {
        let gone = state.kept[state.first]
        state.bounds.horizon = gone.entry.number
        state.bounds.horizonMark = gone.entry.mark
        state.bytes -= Int64(gone.bytes)
        if gone.entry.kind == .stub { state.stubs -= 1 }
        if !gone.hasOldValues { state.bare -= 1 }
        state.kept[state.first].empty(taking: 0)
        state.first += 1
        // Moved no more often than as many have come.
        if state.first > 64, state.first > state.kept.count / 2 {
            state.kept.removeFirst(state.first)
            state.first = 0
        }
    }

    /// The token of the last transaction.
    public var lastToken: DefaultHistoryToken {
        state.withLock { state in
            let last = state.count > 0 ? state.kept[state.kept.count - 1].entry.mark : state.bounds.horizonMark
            return DefaultHistoryToken(state.bounds.last, mark: last, store: store)
        }
    }

    private func note(_ entry: HistoryEntry, ofCommit commit: UInt64, _ state: inout State) {
        if state.places.isEmpty { state.places = Array(repeating: nil, count: Self.mostPlaces) }
        let token = DefaultHistoryToken(entry.number, mark: entry.mark, store: store)
        state.places[Int(commit % UInt64(Self.mostPlaces))] = (commit, token)
    }

    private static let mostPlaces = 64

    /// The token of the transaction that a store committed under a number; nil if that is not one of the latest.
    func token(ofCommit number: UInt64) -> DefaultHistoryToken? {
        state.withLock { state in
            guard number > 0, !state.places.isEmpty,
                let found = state.places[Int(number % UInt64(Self.mostPlaces))], found.commit == number
            else { return nil }
            return found.token
        }
    }

    /// How far the history reaches.
    public var bounds: HistoryBounds { state.withLock { $0.bounds } }

    /// The transactions with numbers in a range, oldest first.
    fileprivate func recorded(_ numbers: ClosedRange<Int64>) -> ArraySlice<Recorded> {
        state.withLock { state in
            let kept = state.kept[state.first...]
            // Numbers ascend, and mostly without gaps.
            var (low, high) = (kept.startIndex, kept.endIndex)
            while low < high {
                let middle = (low + high) / 2
                if kept[middle].entry.number < numbers.lowerBound { low = middle + 1 } else { high = middle }
            }
            return kept[low...].prefix { $0.entry.number <= numbers.upperBound }
        }
    }

    /// Hands over the change sets with numbers in a range, oldest first, until the body returns false.
    /// - Throws: what the body throws.
    public func readChangeSets(
        _ numbers: ClosedRange<Int64>,
        _ body: (_ entry: HistoryEntry, _ changes: () throws -> ChangeSet) throws -> Bool
    ) throws {
        for found in recorded(numbers) where try !body(found.entry, { found.changes }) { return }
    }

    /// How large the history is, and how far it reaches.
    public var status: HistoryStatus {
        state.withLock { state in
            HistoryStatus(
                store: store, horizon: state.bounds.horizon, last: state.bounds.last, bytes: state.bytes,
                transactions: state.count - state.stubs, holes: state.stubs, keepsOldValues: state.bare == 0,
                isRecorded: isOfSession)
        }
    }

    /// Forgets transactions, as `HistoryArchive.removeHistory` does.
    public func remove(_ numbers: [Int64]) {
        let doomed = Set(numbers)
        state.withLock { state in
            while state.count > 0, doomed.contains(state.kept[state.first].entry.number) || isStub(state) {
                drop(&state)
            }
            for place in state.kept.indices[state.first...] where doomed.contains(state.kept[place].entry.number) {
                state.kept[place].entry.kind = .stub
                state.bytes -= Int64(state.kept[place].bytes - Self.stubBytes)
                state.kept[place].empty(taking: Self.stubBytes)
                state.stubs += 1
            }
        }
    }

    private func isStub(_ state: State) -> Bool { state.kept[state.first].entry.kind == .stub }

    private static let stubBytes = 40

    /// Who still needs a part of it.
    public var holders: [HistoryHolder] { state.withLock { $0.holders } }

    /// Changes who needs a part of it, as one step.
    /// - Throws: what the body throws; nothing has changed then.
    public func updateHolders(_ body: (inout [HistoryHolder]) throws -> Void) throws {
        // Not under the lock, which the body may need.
        let before = holders
        var holders = before
        try body(&holders)
        let lost: [String]? = state.withLock { [holders] state in
            guard state.holders == before else { return nil }
            state.holders = holders.sorted { $0.name < $1.name }
            return trim(&state)
        }
        guard let lost else { return try updateHolders(body) }
        tell(ofLost: lost)
    }
}

extension HistoryArchive {
    /// Reads the history of a recorder, for a store that has one.
    /// - Throws: what the body throws.
    public func readHistory(
        of recorder: HistoryRecorder, under schema: Schema, _ numbers: ClosedRange<Int64>,
        _ body: (_ entry: HistoryEntry, _ changes: () throws -> [HistoryChange]) throws -> Bool
    ) throws {
        for found in recorder.recorded(numbers) {
            let number = found.entry.number
            if try !body(found.entry, { schema.historyChanges(of: found.changes, transaction: number) }) { return }
        }
    }
}

extension ChangeSet {
    /// How many bytes of memory the changes take, about: of many records a few are looked at.
    var approximateBytes: Int {
        func size(_ values: ContiguousArray<StoredValue>) -> Int { values.reduce(48) { $0 + $1.approximateBytes } }
        func estimate<C: RandomAccessCollection>(_ items: C, _ size: (C.Element) -> Int) -> Int {
            if items.isEmpty { return 0 }
            let sample = items.prefix(64)
            return Int(Double(sample.reduce(0) { $0 + size($1) }) / Double(sample.count) * Double(items.count))
        }
        return 200
            + (inserted.hasValues
                ? estimate(inserted.requested) { 40 + size($0.values) } : 24 * inserted.count)
            + estimate(updated) { 64 + size($0.values) + size($0.oldValues) }
            + estimate(deleted) { 48 + size($0.values) }
    }
}
