/// What a store did otherwise than required.
public struct ConformanceFailure: Error, Hashable, Codable, Sendable, CustomStringConvertible {
    /// The case that failed.
    public let caseID: String
    /// What the case requires, in one sentence.
    public let requirement: String
    /// What the case expected.
    public let expected: String
    /// What the store did instead.
    public let found: String
    /// What was done to the store until then, in order.
    public let operations: [String]
    /// The usual cause.
    public let hint: String

    init(
        caseID: String, requirement: String, expected: String, found: String, operations: [String], hint: String
    ) {
        self.caseID = caseID
        self.requirement = requirement
        self.expected = expected
        self.found = found
        self.operations = operations
        self.hint = hint
    }

    init(
        of conformanceCase: ConformanceCase, expected: String, found: String, operations: [String] = [],
        hint: String? = nil
    ) {
        caseID = conformanceCase.id
        requirement = conformanceCase.requirement
        self.expected = expected
        self.found = found
        self.operations = operations
        self.hint = hint ?? conformanceCase.hint
    }

    /// The failure as text of several lines: requirement, steps, expected and found, hint.
    public var description: String {
        var lines = [
            "\(caseID): \(requirement)",
            "  expected  \(expected)",
            "  found     \(found)",
        ]
        if !operations.isEmpty {
            lines.append("  after     \(operations[0])")
            lines += operations.dropFirst().map { "            \($0)" }
        }
        lines.append("  hint      \(hint)")
        return lines.joined(separator: "\n")
    }
}
