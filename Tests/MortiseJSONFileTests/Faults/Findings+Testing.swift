import FaultWorkload
import Testing

extension Findings {
    /// Fails the test for every violation, and for a check that injected nothing; counts the faults of the cases.
    func verify(_ cases: String..., sourceLocation: SourceLocation = #_sourceLocation) {
        #expect(injected > 0, sourceLocation: sourceLocation)
        for violation in violations.prefix(10) { Issue.record("\(violation)", sourceLocation: sourceLocation) }
        if violations.count > 10 { Issue.record("and \(violations.count - 10) more", sourceLocation: sourceLocation) }
        FaultLedger.add(cases, injected: injected, violations: violations.count)
    }
}
