public import MortiseCore

/// A kind of store under test: what an adapter's author writes to have the kit run on it.
///
/// ```swift
/// let subject = ConformanceSubject("CSV folder", capabilities: [.reopening, .erase]) {
///     try SubjectStorage.folder { CSVConfiguration(folder: $0) }
/// }
/// ```
public struct ConformanceSubject: Identifiable, Sendable, CustomStringConvertible {
    public let name: String
    public let capabilities: StoreCapabilities
    public let exclusions: [ConformanceExclusion]
    private let makeStorage: @Sendable () throws -> SubjectStorage

    /// - Parameter storage: makes a new, empty storage; called once for each case.
    public init(
        _ name: String, capabilities: StoreCapabilities = [], exclusions: [ConformanceExclusion] = [],
        storage: @escaping @Sendable () throws -> SubjectStorage
    ) {
        self.name = name
        self.capabilities = capabilities
        self.exclusions = exclusions
        self.makeStorage = storage
    }

    public var id: String { name }
    public var description: String { name }

    func storage() throws -> SubjectStorage { try makeStorage() }

    /// The exclusion of a case, if there is one.
    public func exclusion(of conformanceCase: ConformanceCase) -> ConformanceExclusion? {
        exclusions.first { $0.caseID == conformanceCase.id }
    }

    /// The same subject with other exclusions.
    public func excluding(_ exclusions: [ConformanceExclusion]) -> ConformanceSubject {
        ConformanceSubject(name, capabilities: capabilities, exclusions: exclusions, storage: makeStorage)
    }

    /// Runs one case on a fresh storage, for use as the body of a parameterised test.
    ///
    /// An excluded case is run as well: it has to fail, or its exclusion is not needed any more.
    /// - Throws: `ConformanceFailure`, also for whatever else the store throws.
    public func check(_ conformanceCase: ConformanceCase) throws {
        let outcome = conformanceCase.outcome(on: self)
        switch (outcome, exclusion(of: conformanceCase)) {
        case (.failed(let failure), nil): throw failure
        case (.passed, let exclusion?):
            throw ConformanceFailure(
                of: conformanceCase, expected: "a failure, since the case is excluded (\(exclusion.reason))",
                found: "that it passes", hint: "The exclusion is not needed any more. Remove it.")
        default: break
        }
    }
}

/// Says that a subject does not pass a case, and why. Every exclusion shows in the report.
public struct ConformanceExclusion: Hashable, Codable, Sendable {
    public enum Class: String, Hashable, Codable, Sendable, CaseIterable {
        /// The storage cannot do this, and never will.
        case unsupported
        /// The store does it wrongly.
        case bug
        /// The store will do it some day.
        case future
    }

    public let caseID: String
    public let reason: String
    public let `class`: Class

    public init(_ caseID: String, _ class: Class, reason: String) {
        self.caseID = caseID
        self.class = `class`
        self.reason = reason
    }
}
