import Foundation
import MortiseCore
import MortiseInMemory
import Synchronization
import Testing

/// What the framework asks of a history that a store provides: which changes it reads, and in which order it forgets.
@Suite struct HistoryReadingTests {
    private enum Fault: Error, Equatable { case busy }

    /// A history with times of its own, which counts the transactions whose changes are read.
    private final class Archive: HistoryArchive {
        struct State {
            var entries: [HistoryEntry] = []
            var holders: [HistoryHolder] = []
            var read: [Int64] = []
            /// Whether the next removal fails, before or after it has forgotten.
            var failure: (fault: Fault, isLate: Bool)?
        }
        let state = Mutex(State())
        let historyStore = "made-up"

        init(_ times: [Double], authors: [String?] = []) {
            state.withLock { state in
                state.entries = times.enumerated().map { place, time in
                    HistoryEntry(
                        number: Int64(place) + 1, mark: UInt64(place) + 100,
                        timestamp: Date(timeIntervalSinceReferenceDate: time),
                        author: authors.indices.contains(place) ? authors[place] : nil)
                }
            }
        }

        func historyBounds() throws -> HistoryBounds {
            HistoryBounds(horizon: 0, last: state.withLock { Int64($0.entries.count) })
        }

        func readHistory(
            _ numbers: ClosedRange<Int64>, from earliest: Date?,
            _ body: (_ entry: HistoryEntry, _ changes: () throws -> [HistoryChange]) throws -> Bool
        ) throws {
            for entry in state.withLock({ $0.entries }) where numbers.contains(entry.number) {
                let goesOn = try body(entry) {
                    state.withLock { $0.read.append(entry.number) }
                    return []
                }
                if !goesOn { return }
            }
        }

        func removeHistory(_ numbers: [Int64], secure isSecure: Bool) throws {
            let failure = state.withLock { state in
                let failure = state.failure
                if failure?.isLate != false {
                    for place in state.entries.indices where numbers.contains(state.entries[place].number) {
                        state.entries[place].kind = .stub
                    }
                }
                return failure
            }
            if let failure { throw failure.fault }
        }

        func historyStatus() throws -> HistoryStatus {
            HistoryStatus(
                store: historyStore, horizon: 0, last: 0, bytes: 0, transactions: 0, holes: 0, keepsOldValues: false,
                isRecorded: false)
        }

        func historyHolders() throws -> [HistoryHolder] { state.withLock { $0.holders } }

        func updateHistoryHolders(_ body: (inout [HistoryHolder]) throws -> Void) throws {
            var holders = try historyHolders()
            try body(&holders)
            state.withLock { [holders] in $0.holders = holders }
        }

        func numbers(_ descriptor: HistoryOf) throws -> [Int64] {
            try transactions(matching: descriptor).map(\.transactionIdentifier)
        }

        var read: [Int64] { state.withLock { $0.read } }
    }

    /// H17.
    @Test func aLimitReadsTheChangesOfWhatIsReturned() throws {
        let archive = Archive(Array(repeating: 0, count: 1_000))
        let seen = DefaultHistoryToken(500, mark: 599, store: "made-up")
        var descriptor = HistoryOf(predicate: #Predicate { $0.token > seen })
        descriptor.fetchLimit = 1
        #expect(try archive.numbers(descriptor) == [501])
        #expect(archive.read == [501])
        descriptor.sortBy = [SortDescriptor(\.transactionIdentifier, order: .reverse)]
        #expect(try archive.numbers(descriptor) == [1_000])
        #expect(archive.read == [501, 1_000])
    }

    /// H15.
    @Test func aClockThatWasSetBackHidesNothing() throws {
        // An hour back after the third one.
        let archive = Archive([100, 200, 3_900, 300, 400, 4_000])
        for (limit, wanted) in [(250.0, [3, 4, 5, 6]), (350, [3, 5, 6]), (3_950, [6]), (4_000, [])]
            as [(Double, [Int64])]
        {
            let time = Date(timeIntervalSinceReferenceDate: limit)
            #expect(try archive.numbers(HistoryOf(predicate: #Predicate { $0.timestamp > time })) == wanted)
        }
    }

    /// Defect: a deletion with an order and a limit read all values, and threw that a token had expired where a transaction after it was
    /// gone already.
    @Test func aDeletionReadsNoChangesAndMissesNothing() throws {
        let archive = Archive(Array(repeating: 0, count: 6), authors: ["app", "import", "app", "app", "app", "app"])
        let author = "import"
        #expect(try archive.deleteTransactions(matching: HistoryOf(predicate: #Predicate { $0.author == author })) == 1)
        let first = DefaultHistoryToken(1, mark: 100, store: "made-up")
        var descriptor = HistoryOf(predicate: #Predicate { $0.token > first })
        #expect(throws: SwiftDataError.historyTokenExpired) { try archive.numbers(descriptor) }
        let before = archive.read
        descriptor.fetchLimit = 2
        descriptor.sortBy = [SortDescriptor(\.transactionIdentifier, order: .reverse)]
        #expect(try archive.deleteTransactions(matching: descriptor) == 2)
        #expect(archive.read == before)
        #expect(try archive.numbers(HistoryOf()) == [1, 3, 4])
    }

    /// Defect: where the values could not leave the storage yet, the transactions were gone, and their holders held them still.
    @Test(arguments: [false, true]) func aForcedDeletionThatFailsLeavesHoldersAsWhatTheyHoldIs(isLate: Bool) throws {
        let archive = Archive([1, 2, 3])
        let token = DefaultHistoryToken(1, mark: 100, store: "made-up")
        let states: [HistoryHolder.State] = [.active, .lost]
        try archive.updateHistoryHolders { holders in
            holders = [HistoryHolder("sync", token: token), HistoryHolder("old", token: token, state: .lost)]
        }
        archive.state.withLock { $0.failure = (.busy, isLate) }
        #expect(throws: Fault.busy) {
            try archive.deleteTransactions(matching: HistoryOf(), forced: true, secure: true)
        }
        #expect(try archive.historyHolders().map(\.state) == (isLate ? [.lost, .lost] : states))
        #expect(try archive.numbers(HistoryOf()).count == (isLate ? 0 : 3))
    }
}
