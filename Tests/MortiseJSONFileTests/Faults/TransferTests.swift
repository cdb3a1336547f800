import FaultWorkload
import MortiseCore
import MortiseEngine
import MortiseJSONFile
import Testing
import MortiseTestSupport

/// Transfers that are cut short or interrupted.
struct ShortTransferCheck {
    var mistake: BrokenFileSystem.Mistake?

    func run() throws -> Findings {
        var findings = Findings()
        let whole = try Depot.document(of: 3)
        for length in [1, 2, 3, 7, 64, 511, 512, 513, 1_000, whole.count - 1] {
            let depot = try Depot(state: 2, breaking: mistake)
            let container = try depot.open()
            depot.disk.inject(.shorten(to: length), of: .write, times: .max)
            findings.inject()
            let error = thrown { try container.advance(to: 3) }
            findings.expect(error == nil, "writing \(length) bytes at a time: \(String(describing: error))")
            depot.disk.removeFaults()
            findings.expect(depot.state() == 3, "writing \(length) bytes at a time left no whole state")
            try container.close()
            depot.disk.inject(.shorten(to: length), of: .read, times: .max)
            findings.inject()
            findings.expect(depot.state() == 3, "reading \(length) bytes at a time")
        }
        return findings
    }
}

/// A signal interrupts each operation of opening, saving and closing in turn.
struct InterruptionCheck {
    var mistake: BrokenFileSystem.Mistake?
    /// Whether the interrupted operation has done its work nevertheless.
    var afterwards = false

    func run() throws -> Findings {
        var findings = Findings()
        var number = 1
        while true {
            let depot = try Depot(state: 2, breaking: mistake)
            depot.disk.inject(afterwards ? .failAfterwards(.interrupted) : .fail(.interrupted), at: number)
            var isAcknowledged = false
            let error = thrown {
                let container = try depot.open()
                defer { try? container.close() }
                try container.advance(to: 3)
                isAcknowledged = true
            }
            if depot.disk.operationCount < number { return findings }
            let last = depot.disk.trace[number - 1]
            depot.disk.removeFaults()
            findings.inject()
            findings.expect(error == nil || error is FileError, "\(last): \(String(describing: error))")
            let state = depot.state()
            findings.expect(
                isAcknowledged ? state == 3 : state == 2 || state == 3, "\(last): state \(String(describing: state))")
            // Only syncs, locks lost on the way and renamings that nobody can vouch for may fail by a signal.
            if !afterwards, error != nil {
                findings.expect(
                    [.sync, .syncDirectory, .close].contains(last.operation), "\(last) was not repeated")
            }
            number += 1
        }
    }
}

@Suite struct TransferTests {
    @Test func shortWritesAndReadsAreCompleted() throws {
        try ShortTransferCheck().run().verify("F07")
    }

    @Test func anInterruptedOperationIsRepeatedOrATypedError() throws {
        try InterruptionCheck().run().verify("F08")
    }

    @Test func anInterruptedOperationThatDidItsWorkDoublesNothing() throws {
        try InterruptionCheck(afterwards: true).run().verify("F08")
    }
}
