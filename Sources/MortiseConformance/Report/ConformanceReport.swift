public import MortiseCore

/// What came of a run: one result for each case, and what is wrong with the run itself.
public struct ConformanceReport: Sendable, Codable {
    public enum Status: String, Codable, Sendable {
        case passed, failed
        /// The case is excluded, and fails as it should then.
        case excluded
    }

    public struct Result: Sendable, Codable {
        public let caseID: String
        public let level: String
        public let requirement: String
        public let status: Status
        /// Whether the clean refusal of a capability was tested, since the subject does not claim it.
        public let testedRefusal: Bool
        public let failure: ConformanceFailure?
        public let exclusion: ConformanceExclusion?
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

        public var description: String {
            switch self {
            case .notRun(let id): "\(id) was neither run nor excluded. Run it, or exclude it with a reason."
            case .unknownExclusion(let id): "\(id) is excluded, and there is no such case. Remove the exclusion."
            case .needlessExclusion(let id): "\(id) is excluded, and passes. Remove the exclusion."
            case .exclusionWithoutReason(let id): "\(id) is excluded without a reason. Give one."
            case .repeatedExclusion(let id): "\(id) is excluded twice. Keep one exclusion."
            case .repeatedCase(let id): "Two cases are called \(id). Rename one."
            }
        }
    }

    public let subject: String
    public let capabilities: [StoreCapability]
    public let level: String
    /// Whether only some cases of the level were asked for, by name.
    public let isPartial: Bool
    public let results: [Result]
    public let findings: [Finding]
    /// What came of killing processes that save; nil where none were.
    public private(set) var kills: KillRun.Result?

    public var passed: Int { results.count { $0.status == .passed } }
    public var failed: Int { results.count { $0.status == .failed } }
    public var skipped: Int { results.count { $0.status == .excluded } }

    /// Whether no case failed, everything is accounted for, and no kill has left what it should not.
    public var isClean: Bool { failed == 0 && findings.isEmpty && (kills?.faults ?? []).isEmpty }

    /// The same report with what came of kills.
    func adding(_ kills: KillRun.Result?) -> ConformanceReport {
        var report = self
        report.kills = kills
        return report
    }

    /// 0 for a clean report, 1 for any other.
    public var exitStatus: Int32 { isClean ? 0 : 1 }

    /// The last line of every report.
    public var countsLine: String { "\(passed) passed, \(failed) failed, \(skipped) skipped" }

    public var failures: [ConformanceFailure] {
        results.filter { $0.status == .failed }.compactMap(\.failure)
    }
}
