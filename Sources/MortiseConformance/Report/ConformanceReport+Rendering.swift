import Foundation
import MortiseCore

extension ConformanceReport {
    /// The forms of a report.
    public enum Format: String, CaseIterable, Sendable {
        /// Lines for a terminal.
        case text
        /// One JSON object, for programs.
        case json
        /// A Markdown document with tables, for a repository.
        case markdown
    }

    /// The report in one of the forms.
    /// - Throws: `EncodingError`, which no report of this kit causes.
    public func rendered(as format: Format) throws -> String {
        switch format {
        case .text: text
        case .json: try json()
        case .markdown: markdown
        }
    }

    /// For reading in a terminal: a line for each case, failures in full, then findings, then the counts.
    public var text: String { heading + results.map(Self.line).joined() + closing }

    /// The first lines of the text: the store, and what it claims.
    var heading: String { "\(subject): level \(isPartial ? "chosen by name" : level), claims \(claims)\n\n" }

    /// A result's line of the text.
    static func line(_ result: Result) -> String { "  \(mark(result.status)) \(result.caseID)\(remark(result))\n" }

    /// What comes after the results' lines of the text.
    var closing: String {
        var lines: [String] = []
        for failure in failures + (kills?.faults ?? []) { lines += ["", failure.description] }
        if !findings.isEmpty {
            lines += ["", "Findings:"] + findings.map { "  \($0)" }
        }
        if let kills { lines += ["", "\(kills)"] }
        if let untriedKills { lines += ["", "no process killed: \(untriedKills)"] }
        lines += ["", countsLine]
        return lines.joined(separator: "\n") + "\n"
    }

    private var claims: String {
        capabilities.isEmpty ? "no optional capability" : capabilities.map(\.rawValue).joined(separator: ", ")
    }

    private static func mark(_ status: Status) -> String {
        switch status {
        case .passed: "✓"
        case .failed: "✗"
        case .excluded: "–"
        case .untried: "○"
        }
    }

    private static func remark(_ result: Result) -> String {
        if let exclusion = result.exclusion { return " (\(exclusion.class.rawValue): \(exclusion.reason))" }
        if let reason = result.untried { return " (not tried: \(reason))" }
        return result.testedRefusal ? " (not claimed; refuses cleanly)" : ""
    }

    /// For machines: keys sorted, so that reports can be compared line by line.
    public func json() throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        let summary = Summary(
            report: self, passed: passed, refused: refused, failed: failed, untried: untried,
            skipped: skipped, isClean: isClean)
        return String(decoding: try encoder.encode(summary), as: UTF8.self) + "\n"
    }

    private struct Summary: Encodable {
        let report: ConformanceReport
        let passed: Int
        let refused: Int
        let failed: Int
        let untried: Int
        let skipped: Int
        let isClean: Bool
    }

    /// For a README: capabilities, counts by area, then whatever is not in order.
    public var markdown: String {
        var lines = ["## Conformance of \(subject)", "", "\(countsLine).", "", "| capability | claimed |", "|---|---|"]
        lines += StoreCapability.asked.map {
            "| \($0 == .faultInjection ? "its storage can be made to fail" : $0.summary) | \(capabilities.contains($0) ? "yes" : "no") |"
        }
        lines += ["", "| area | passed | refused | failed | not tried | skipped |", "|---|---|---|---|---|---|"]
        let areas = results.reduce(into: [String]()) { areas, result in
            let area = Self.area(result)
            if !areas.contains(area) { areas.append(area) }
        }
        for area in areas {
            let members = results.filter { Self.area($0) == area }
            func count(_ status: Status) -> Int { members.count { $0.status == status } }
            let refused = members.count { $0.status == .passed && $0.testedRefusal }
            lines.append(
                "| \(area) | \(count(.passed) - refused) | \(refused) | \(count(.failed)) | \(count(.untried)) | \(count(.excluded)) |"
            )
        }
        let noted = results.filter { $0.status != .passed }
        if !noted.isEmpty {
            lines += ["", "| case | status | why |", "|---|---|---|"]
            lines += noted.map { result in
                let why =
                    result.exclusion.map { "\($0.class.rawValue): \($0.reason)" }
                    ?? result.failure.map { "expected \($0.expected); found \($0.found)" } ?? result.untried ?? ""
                return "| `\(result.caseID)` | \(result.status.rawValue) | \(Self.cell(why)) |"
            }
        }
        if !findings.isEmpty { lines += [""] + findings.map { "- \($0)" } }
        if let kills {
            lines += ["", "\(kills)."]
            lines += kills.faults.map { "- `\($0.caseID)`: expected \($0.expected); found \($0.found)" }
        }
        if let untriedKills { lines += ["", "No process killed: \(untriedKills)."] }
        return lines.joined(separator: "\n") + "\n"
    }

    private static func area(_ result: Result) -> String {
        result.caseID.split(separator: ".").first.map(String.init) ?? result.caseID
    }

    private static func cell(_ text: String) -> String {
        text.replacingOccurrences(of: "|", with: "\\|").replacingOccurrences(of: "\n", with: " ")
    }
}
