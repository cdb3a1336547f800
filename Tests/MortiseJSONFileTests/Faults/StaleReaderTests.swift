import FaultWorkload
import MortiseCore
import MortiseEngine
import MortiseJSONFile
import Synchronization
import Testing
import MortiseTestSupport

/// A reader opens the file while a writer replaces it.
struct StaleReaderCheck {
    var mistake: BrokenFileSystem.Mistake?

    func run() throws -> Findings {
        var findings = Findings()
        let trial = try Depot(state: 2)
        let container = try trial.open()
        let before = trial.disk.operationCount
        try container.advance(to: 3)
        let operations = trial.disk.operationCount - before
        for number in 1...operations {
            let depot = try Depot(state: 2, breaking: mistake)
            let container = try depot.open()
            let seen = Seen()
            let disk = depot.disk
            disk.interject(at: number) {
                seen.state.withLock { $0 = .some(Depot.state(in: disk)) }
            }
            findings.inject()
            let error = thrown { try container.advance(to: 3) }
            findings.expect(error == nil, "a reader before operation \(number) made a save fail: \(error as Any)")
            let state = seen.state.withLock { $0 }
            findings.expect(
                state == 2 || state == 3,
                "before operation \(number) of a save a reader saw \(String(describing: state))")
            try container.close()
        }
        return findings
    }

    /// A save in the middle of a reader's opening.
    func runWriterInReader() throws -> Findings {
        var findings = Findings()
        for number in 1...12 {
            let depot = try Depot(state: 2, breaking: mistake)
            let container = try depot.open()
            let failure = Seen()
            depot.disk.interject(at: number) { failure.error.withLock { $0 = thrown { try container.advance(to: 3) } } }
            findings.inject()
            let reader = depot.disk.process(300)
            let outcome = Result {
                try Workload.openStore(depot.configuration(allowsSave: false, in: reader))
            }
            switch outcome {
            case .success(let store):
                let state = Workload.state(of: store)
                findings.expect(
                    state == 2 || state == 3, "at \(number): a reader opened on \(String(describing: state))")
            case .failure(let error): findings.expect(false, "at \(number): \(error)")
            }
            depot.disk.removeFaults()
            findings.expect(failure.error.withLock { $0 } == nil, "at \(number): the writer failed")
            findings.expect([2, 3].contains(depot.state() ?? -1), "at \(number): the writer left no whole state")
            try container.close()
        }
        return findings
    }

    private final class Seen: Sendable {
        let state = Mutex<Int??>(nil)
        let error = Mutex<(any Error)?>(nil)
    }
}

@Suite struct StaleReaderTests {
    @Test func aReaderSeesTheOldOrTheNewStateAtEveryStepOfASave() throws {
        try StaleReaderCheck().run().verify("F20")
    }

    @Test func aSaveInTheMiddleOfAReadersOpeningIsSeenWholeOrNotAtAll() throws {
        try StaleReaderCheck().runWriterInReader().verify("F20")
    }

    @Test func aReaderFollowsTheWriterAndNeedsNoLock() throws {
        let depot = try Depot(state: 2)
        let writer = try depot.open()
        let reader = try Workload.open(depot.configuration(allowsSave: false, in: depot.disk.process(300)))
        try writer.advance(to: 3)
        _ = reader.jsonStore?.currentVersion
        #expect(reader.workloadState == 3)
        let error = thrown { try reader.advance(to: 3) }
        guard case ModelContextError.readOnly? = error else {
            return #expect(Bool(false), "\(String(describing: error))")
        }
        #expect(depot.state() == 3)
        #expect(throws: FileError.self) {
            _ = try Workload.open(JSONFileConfiguration(path: "/missing.json", allowsSave: false, in: depot.disk))
        }
        #expect(!depot.disk.paths.contains("/missing.json.lock"))
    }
}
