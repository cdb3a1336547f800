import FaultWorkload
import Foundation
import MortiseCore
import MortiseEngine
import MortiseJSONFile
import Testing
import MortiseTestSupport

/// While one saves in bulk, others save as always: what they are told is saved is on the disk.
struct BulkSaveCheck {
    /// Runs what another thread does.
    var elsewhere: (@escaping @Sendable () -> Void) -> Void = BulkSaveCheck.thread

    static func thread(_ body: @escaping @Sendable () -> Void) {
        let isDone = DispatchSemaphore(value: 0)
        Thread {
            body()
            isDone.signal()
        }.start()
        isDone.wait()
    }

    private final class Outcome: @unchecked Sendable {
        // Written by one thread, and read after that one has ended.
        var error: (any Error)?
    }

    func run() throws -> Findings {
        var findings = Findings()
        let depot = try Depot(state: 2)
        let (bulk, other) = (try depot.open(), try depot.open())
        guard let store = bulk.jsonStore else { return findings }
        func onDisk() -> Int? { Depot.state(in: depot.disk.crashed(after: .max, losing: .unsynced)) }
        func save(_ state: Int) -> (any Error)? {
            let outcome = Outcome()
            elsewhere { outcome.error = thrown { try other.advance(to: state) } }
            return outcome.error
        }
        try store.saveInBulk { flush in
            try bulk.advance(to: 3)
            findings.expect(depot.state() == 2, "a save in bulk wrote the file")
            findings.inject()
            let error = save(4)
            findings.expect(error == nil, "another's save failed: \(String(describing: error))")
            findings.expect(onDisk() == 4, "another's save was acknowledged, and is not on the disk")
            try bulk.advance(to: 5)
            findings.expect(depot.state() == 4, "a later save in bulk wrote the file")

            findings.inject()
            depot.disk.limits.capacity = 0
            let refused = save(6) as? FileError
            depot.disk.limits.capacity = nil
            findings.expect(refused?.reason == .noSpace, "on a full disk: \(String(describing: refused))")
            findings.expect(other.workloadState == 5 && depot.state() == 4, "a failed save is visible")
            try flush()
            findings.expect(onDisk() == 5, "what was saved before another's failure is lost")
            try bulk.advance(to: 6)
        }
        findings.expect(onDisk() == 6, "what was saved in bulk is not on the disk at the end")
        let error = save(7)
        findings.expect(error == nil && onDisk() == 7, "afterwards: \(String(describing: error))")
        try bulk.close()
        try other.close()
        return findings
    }
}

@Suite struct BulkSaveTests {
    /// While anybody saved in bulk, nobody's save was written before it was acknowledged.
    @Test func savesOfOthersAreOnTheDiskWhileOneSavesInBulk() throws { try BulkSaveCheck().run().verify("F34") }

    @Test func aFileClosedInTheMiddleHasWhatWasSaved() throws {
        let depot = try Depot(state: 2)
        let container = try depot.open()
        let store = try #require(container.jsonStore)
        try store.saveInBulk { _ in
            try container.advance(to: 3)
            try container.close()
            #expect(depot.state() == 3)
        }
        #expect(depot.state() == 3)
        try depot.open().close()
    }
}
