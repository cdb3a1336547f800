import Foundation
import MortiseCore

/// Runs cases on a subject, each on a fresh storage, all of them whatever fails.
public struct ConformanceRun: Sendable {
    /// The store that is checked.
    public let subject: ConformanceSubject
    /// The level up to which cases run.
    public let level: ConformanceCase.Level
    /// The cases that are run, whatever their level.
    public let cases: [ConformanceCase]
    private let isPartial: Bool
    /// The kit's program, which runs the cases in processes of their own; nil runs them in this one.
    var program: URL?
    /// Whether the first failure ends the run. Cases that were not reached then are no findings.
    var endsAtFailure = false

    /// A run of every case up to a level.
    public init(_ subject: ConformanceSubject, level: ConformanceCase.Level = .full) {
        self.init(subject, level: level, cases: ConformanceCase.all(upTo: level))
    }

    /// A run of the cases given, which should be all up to the level: others are findings of the report.
    public init(_ subject: ConformanceSubject, level: ConformanceCase.Level, cases: [ConformanceCase]) {
        self.subject = subject
        self.level = level
        self.cases = cases
        self.isPartial = false
    }

    /// A run of a few cases by name, which makes no claim to be complete.
    public init(_ subject: ConformanceSubject, only cases: [ConformanceCase]) {
        self.subject = subject
        self.level = .full
        self.cases = cases
        self.isPartial = true
    }

    /// Runs the cases, one after the other.
    /// - Parameter progress: called with each result as soon as it is known.
    /// - Returns: the report.
    public func report(progress: (ConformanceReport.Result) -> Void = { _ in }) -> ConformanceReport {
        var results: [ConformanceReport.Result] = []
        func take(_ result: ConformanceReport.Result) {
            results.append(result)
            progress(result)
        }
        if let program {
            CaseChildren(subject: subject, program: program, cases: cases, endsAtFailure: endsAtFailure).run(take)
        } else {
            for conformanceCase in cases {
                if hasEnded(results) { break }
                take(result(of: CaseAttempt(conformanceCase, on: subject, shrinks: true), conformanceCase))
            }
        }
        return ConformanceReport(
            subject: subject.name, capabilities: subject.capabilities.all.sorted(), level: level.description,
            isPartial: isPartial, results: results, findings: findings(results), kills: nil)
    }

    /// The first lines of the report's text.
    var heading: String {
        ConformanceReport(
            subject: subject.name, capabilities: subject.capabilities.all.sorted(), level: level.description,
            isPartial: isPartial, results: [], findings: [], kills: nil
        ).heading
    }

    /// Runs a case and tells what came of it.
    func result(of attempt: CaseAttempt, _ conformanceCase: ConformanceCase) -> ConformanceReport.Result {
        let clock = ContinuousClock()
        let start = clock.now
        let outcome = attempt.outcome()
        let duration = clock.now - start
        return ConformanceReport.Result(
            conformanceCase, on: subject, outcome,
            seconds: Double(duration.components.seconds) + Double(duration.components.attoseconds) / 1e18)
    }

    private func hasEnded(_ results: [ConformanceReport.Result]) -> Bool {
        endsAtFailure && results.contains { $0.status == .failed }
    }

    private func findings(_ results: [ConformanceReport.Result]) -> [ConformanceReport.Finding] {
        var findings = ExclusionCheck.findings(subject.exclusions, cases: cases)
        var seen: Set<String> = []
        for conformanceCase in cases where !seen.insert(conformanceCase.id).inserted {
            findings.append(.repeatedCase(caseID: conformanceCase.id))
        }
        for result in results where result.status == .passed && result.exclusion != nil {
            findings.append(.needlessExclusion(caseID: result.caseID))
        }
        if !isPartial, !hasEnded(results) {
            findings += ConformanceRun.unaccounted(ran: seen, subject, upTo: level).map { .notRun(caseID: $0) }
        }
        return findings
    }

    /// The ids of the cases up to a level that are neither among those that ran nor excluded.
    public static func unaccounted(
        ran: Set<String>, _ subject: ConformanceSubject, upTo level: ConformanceCase.Level = .full
    ) -> [String] {
        let excluded = Set(subject.exclusions.map(\.caseID))
        return ConformanceCase.all(upTo: level).map(\.id).filter { !ran.contains($0) && !excluded.contains($0) }
    }
}

extension ConformanceReport.Result {
    init(
        _ conformanceCase: ConformanceCase, on subject: ConformanceSubject, _ outcome: ConformanceCase.Outcome,
        seconds: Double
    ) {
        let exclusion = subject.exclusion(of: conformanceCase)
        let status: ConformanceReport.Status
        var failure: ConformanceFailure?
        var untried: String?
        switch outcome {
        case .passed: status = .passed
        case .failed(let found):
            failure = found
            status = exclusion == nil ? .failed : .excluded
        case .untried(let reason):
            untried = reason
            status = exclusion == nil ? .untried : .excluded
        }
        self.init(
            caseID: conformanceCase.id, level: conformanceCase.level.description,
            requirement: conformanceCase.requirement, status: status,
            testedRefusal: conformanceCase.testsRefusal(by: subject), failure: failure, untried: untried,
            exclusion: exclusion, seconds: seconds)
    }
}

/// What is wrong with a list of exclusions, before anything is run.
enum ExclusionCheck {
    static func findings(
        _ exclusions: [ConformanceExclusion], cases: [ConformanceCase]
    ) -> [ConformanceReport.Finding] {
        let known = Set(ConformanceCase.all.map(\.id)).union(cases.map(\.id))
        var seen: Set<String> = []
        var findings: [ConformanceReport.Finding] = []
        for exclusion in exclusions {
            if !known.contains(exclusion.caseID) { findings.append(.unknownExclusion(caseID: exclusion.caseID)) }
            if exclusion.reason.allSatisfy(\.isWhitespace) {
                findings.append(.exclusionWithoutReason(caseID: exclusion.caseID))
            }
            if !seen.insert(exclusion.caseID).inserted { findings.append(.repeatedExclusion(caseID: exclusion.caseID)) }
        }
        return findings
    }
}
