public import MortiseCore

/// The result of a run: one result for each case, and findings about the run itself.
public struct ConformanceReport: Sendable, Codable {
    /// The outcome of a case.
    public enum Status: String, Codable, Sendable {
        /// The store did, or did not do, what the case requires.
        case passed, failed
        /// The case is excluded, and fails as it should then.
        case excluded
        /// The case needs something of the subject or of the process that is not there, such as a folder.
        case untried
    }

    /// The result of one case.
    public struct Result: Sendable, Codable {
        /// The case.
        public let caseID: String
        /// The name of the level that requires it.
        public let level: String
        /// What the case requires, in one sentence.
        public let requirement: String
        /// The outcome of the case.
        public let status: Status
        /// Whether the clean refusal of a capability was tested, since the subject does not claim it.
        public let testedRefusal: Bool
        /// What went wrong; nil unless the case failed.
        public let failure: ConformanceFailure?
        /// Why the case was not tried; nil unless it was not.
        public let untried: String?
        /// Why the case was left out; nil unless it was.
        public let exclusion: ConformanceExclusion?
        /// How long the case took, in seconds.
        public let seconds: Double
    }

    /// A fault of the run: something was not accounted for.
    public enum Finding: Hashable, Codable, Sendable, CustomStringConvertible {
        /// A case of the level was neither run nor excluded.
        case notRun(caseID: String)
        /// An exclusion names a case that does not exist.
        case unknownExclusion(caseID: String)
        /// An excluded case passes.
        case needlessExclusion(caseID: String)
        /// An exclusion gives no reason.
        case exclusionWithoutReason(caseID: String)
        /// A case is excluded twice.
        case repeatedExclusion(caseID: String)
        /// Two cases have the same id.
        case repeatedCase(caseID: String)

        /// What is wrong with the account of the run, and the way out.
        public var description: String {
            switch self {
            case .notRun(let id): "\(id) was neither run nor excluded. Run it, or exclude it with a reason."
            case .unknownExclusion(let id): "\(id) is excluded, but there is no such case. Remove the exclusion."
            case .needlessExclusion(let id): "\(id) is excluded, but passes. Remove the exclusion."
            case .exclusionWithoutReason(let id): "\(id) is excluded without a reason. Give one."
            case .repeatedExclusion(let id): "\(id) is excluded twice. Keep one exclusion."
            case .repeatedCase(let id): "Two cases are called \(id). Rename one."
            }
        }
    }

    /// The name of the store that was checked.
    public let subject: String
    /// The capabilities that the store claimed.
    public let capabilities: [StoreCapability]
    /// The name of the level that was asked for.
    public let level: String
    /// Whether only some cases of the level were asked for, by name.
    public let isPartial: Bool
    /// The results, one for each case.
    public let results: [Result]
    /// Faults in the account of the run, such as a case that was neither run nor excluded.
    public let findings: [Finding]
    /// The result of killing processes that save; nil if none were killed.
    public private(set) var kills: KillRun.Result?
    /// Why no processes were killed that should have been; nil if they were, or were not asked for.
    public private(set) var untriedKills: String?

    /// The number of cases in which the store did what they require. Excludes `refused`.
    public var passed: Int { results.count { $0.status == .passed && !$0.testedRefusal } }
    /// The number of cases for a capability that the store does not claim, and that it refused with the documented error.
    public var refused: Int { results.count { $0.status == .passed && $0.testedRefusal } }
    /// The number of cases that failed.
    public var failed: Int { results.count { $0.status == .failed } }
    /// The number of cases that were excluded with a reason.
    public var skipped: Int { results.count { $0.status == .excluded } }

    /// The number of cases that could not be tried on this subject or in this process. Each names its reason.
    public var untried: Int { results.count { $0.status == .untried } }

    /// Whether no case failed, everything is accounted for, and no kill has left what it should not.
    public var isClean: Bool { failed == 0 && findings.isEmpty && (kills?.faults ?? []).isEmpty }

    /// The same report with what came of kills, or why none were tried.
    func adding(_ kills: KillRun.Result?, untried: String?) -> ConformanceReport {
        var report = self
        report.kills = kills
        report.untriedKills = untried
        return report
    }

    /// 0 for a clean report, 1 for any other.
    public var exitStatus: Int32 { isClean ? 0 : 1 }

    /// The last line of every report, such as `367 passed, 60 refused as declared, 0 failed, 0 skipped`. Counts of refusals
    /// and of cases that were not tried are left out where they are zero.
    public var countsLine: String {
        let refusals = refused == 0 ? "" : "\(refused) refused as declared, "
        let others = untried == 0 ? "" : "\(untried) not tried, "
        return "\(passed) passed, \(refusals)\(failed) failed, \(others)\(skipped) skipped"
    }

    /// The failures, in the order of the cases.
    public var failures: [ConformanceFailure] {
        results.filter { $0.status == .failed }.compactMap(\.failure)
    }
}
