import Foundation
import MortiseCore
import MortiseEngine
import MortiseTestSupport
import Synchronization
import Testing

@testable import MortiseAppendLog

/// A history whose clock was set back.
@Suite struct ClockTests {
    /// Saves a box for each time, and returns the context with which it was done.
    private func context(savingAt times: [Double]) throws -> ModelContext {
        let time = Mutex(Date.distantPast)
        var configuration = logConfiguration(try makeDisk(), durability: .none)
        configuration.now = { time.withLock { $0 } }
        let context = ModelContext(try openLog(configuration))
        for (place, seconds) in times.enumerated() {
            time.withLock { $0 = Date(timeIntervalSinceReferenceDate: seconds) }
            context.insert(Box("\(place)"))
            try context.save()
        }
        return context
    }

    /// H15: where to begin is known to 256 transactions, by the largest time so far.
    @Test func aTimeFindsWhatCameAfterTheClockWasSetBack() throws {
        // An hour back after the 300th, which it is again after the 660th.
        let times = (0..<300).map { Double($0) * 10 + 3_600 } + (300..<900).map { Double($0) * 10 }
        let context = try context(savingAt: times)
        for limit in [0, 2_990, 3_595, 3_600, 5_000, 6_585, 6_590, 6_600, 8_985, 8_990] as [Double] {
            let date = Date(timeIntervalSinceReferenceDate: limit)
            let found = try context.fetchHistory(
                HistoryDescriptor<DefaultHistoryTransaction>(predicate: #Predicate { $0.timestamp > date }))
            let wanted = times.indices.filter { times[$0] > limit }.map { Int64($0) + 1 }
            #expect(found.map(\.transactionIdentifier) == wanted, "after \(limit)")
        }
    }

    /// H16: the last transaction counts that was saved by then, by its own time.
    @Test func aDateMeansTheLastTransactionOfThatTimeWhateverTheClockDid() throws {
        let times: [Double] = [100, 200, 4_000, 300, 250, 5_000]
        let context = try context(savingAt: times)
        for limit in [100, 199, 250, 299, 300, 3_999, 4_000, 5_000] as [Double] {
            let past = try ModelContext(
                context.container, asOf: .date(Date(timeIntervalSinceReferenceDate: limit)), allowsReplay: true)
            let last = try #require(times.lastIndex { $0 <= limit })
            #expect(try past.fetchCount(FetchDescriptor<Box>()) == last + 1, "at \(limit)")
        }
    }
}
