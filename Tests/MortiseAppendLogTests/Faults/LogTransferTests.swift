import FaultWorkload
import MortiseCore
import MortiseEngine
import Testing

@testable import MortiseAppendLog
import MortiseTestSupport

/// Transfers that are cut short.
struct LogShortTransferCheck {
    var mistake: BrokenFileSystem.Mistake?
    var pieceSize = FrameStream.pieceSize

    func run() throws -> Findings {
        var findings = Findings()
        for length in [1, 7, 64, 511, 512, 513, 1_000] {
            let depot = try LogDepot(state: 2, breaking: mistake, pieceSize: pieceSize)
            let container = try depot.open()
            depot.disk.inject(.shorten(to: length), of: .write, times: .max)
            findings.inject()
            var error = thrown { try container.advance(to: 3) }
            findings.expect(error == nil, "writing \(length) bytes at a time: \(String(describing: error))")
            error = thrown { try container.logStore?.compact() }
            findings.expect(error == nil, "compacting, \(length) bytes at a time: \(String(describing: error))")
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

/// Each operation of opening, saving, maintaining and closing fails once with a code, in each of two ways.
struct LogFailingOperationCheck {
    var code: FileError.Code
    var work: Maintenance
    var mistake: BrokenFileSystem.Mistake?
    var pieceSize = FrameStream.pieceSize
    /// How many operations there are to one that fails; 1 for each. Above 1 they are chosen at random.
    var sample = 1

    func run() throws -> Findings { try run(afterwards: false) + run(afterwards: true) }

    private func run(afterwards: Bool) throws -> Findings {
        var findings = Findings()
        var number = 1
        while true {
            let depot = try LogDepot(state: 2, isCompacted: true, breaking: mistake, pieceSize: pieceSize)
            depot.disk.inject(afterwards ? .failAfterwards(code) : .fail(code), at: number)
            var acknowledged = 2
            var tried = 2
            let error = thrown {
                let container = try depot.open()
                defer { try? container.close() }
                for state in 3...4 {
                    tried = state
                    try container.advance(to: state)
                    acknowledged = state
                    if state == 3, let store = container.logStore { try work.run(on: store) }
                }
            }
            if depot.disk.operationCount < number { return findings }
            let last = depot.disk.trace[number - 1]
            let place = "\(work), \(last.operation) \(number) of \(last.path) with \(code)"
            depot.disk.removeFaults()
            findings.inject()
            findings.expect(error == nil || error is FileError, "\(place): \(String(describing: error))")
            if code == .interrupted, !afterwards, error != nil {
                findings.expect(
                    [.sync, .startWriting, .syncDirectory, .close].contains(last.operation),
                    "\(place) was not repeated")
            }
            let state = depot.state()
            findings.expect(
                state == acknowledged || state == tried,
                "\(place): state \(String(describing: state)), acknowledged \(acknowledged)")
            reopen(depot, state ?? tried, place, &findings)
            number += sample == 1 ? 1 : .random(in: 1..<(2 * sample))
        }
    }

    private func reopen(_ depot: LogDepot, _ state: Int, _ place: String, _ findings: inout Findings) {
        do {
            let container = try depot.open()
            findings.expect(container.workloadState == state, "\(place): reopened it shows another state")
            try container.advance(to: state + 1)
            try container.close()
            findings.expect(depot.state() == state + 1, "\(place): the save after reopening is not there")
            findings.expect(
                depot.temporaries.allSatisfy { $0.hasPrefix("/.copy.log.") }, "\(place): left \(depot.temporaries)")
        } catch {
            findings.expect(false, "\(place): not usable afterwards: \(error)")
        }
    }
}

@Suite struct LogTransferTests {
    @Test func shortWritesAndReadsAreCompleted() throws {
        try LogShortTransferCheck().run().verify("F07")
        try LogShortTransferCheck(pieceSize: 64).run().verify("F07")
    }

    @Test(arguments: Maintenance.allCases)
    func anInterruptedOperationIsRepeatedOrATypedErrorAndDoublesNothing(work: Maintenance) throws {
        try LogFailingOperationCheck(code: .interrupted, work: work, sample: isFullSize ? 1 : 3).run().verify("F08")
    }

    static let codes: [FileError.Code] =
        isFullSize
        ? [.io, .noSpace, .quota, .fileTooLarge, .processFiles, .systemFiles, .access, .readOnly]
        : [.noSpace]

    @Test(arguments: codes, Maintenance.allCases)
    func noFailureOfASingleOperationHarmsTheLog(code: FileError.Code, work: Maintenance) throws {
        try LogFailingOperationCheck(code: code, work: work, sample: isFullSize ? 1 : 3).run().verify(
            "F09", "F10", "F11", "F12")
    }

    @Test(arguments: isFullSize ? codes : [.io], Maintenance.allCases)
    func noFailureHarmsALogWhoseHeadersComeLast(code: FileError.Code, work: Maintenance) throws {
        let check = LogFailingOperationCheck(code: code, work: work, pieceSize: 64, sample: isFullSize ? 1 : 3)
        try check.run().verify("F09", "F10", "F11", "F12")
    }
}
