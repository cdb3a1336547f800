import FaultWorkload
import Testing

extension Findings {
    /// Fails the test for every violation, and for a check that tried nothing; counts the trials of the cases.
    func verify(_ cases: String..., sourceLocation: SourceLocation = #_sourceLocation) {
        #expect(trials > 0, sourceLocation: sourceLocation)
        for violation in violations.prefix(10) { Issue.record("\(violation)", sourceLocation: sourceLocation) }
        if violations.count > 10 { Issue.record("and \(violations.count - 10) more", sourceLocation: sourceLocation) }
        FaultLedger.add(cases, trials: trials, violations: violations.count)
    }
}
