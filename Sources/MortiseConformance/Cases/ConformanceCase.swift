public import MortiseCore

/// One requirement on a store, and the experiment that shows whether it is met.
///
/// Cases know nothing of each other; each runs on a fresh storage. They can be arguments of a parameterized test:
/// ```swift
/// @Test(arguments: ConformanceCase.all) func conforms(_ conformanceCase: ConformanceCase) throws {
///     try subject.check(conformanceCase)
/// }
/// ```
public struct ConformanceCase: Identifiable, Hashable, Sendable, CustomStringConvertible {
    /// How soon an author meets a case.
    public enum Level: Int, Comparable, CaseIterable, Codable, Sendable, CustomStringConvertible {
        /// What a store has to do to be one: about twenty cases.
        case firstHour
        /// What every application relies on.
        case core
        /// Everything.
        case full

        /// Orders from the lowest level to the highest.
        public static func < (lhs: Level, rhs: Level) -> Bool { lhs.rawValue < rhs.rawValue }

        /// The level of that name; nil for an unknown one.
        public init?(name: String) {
            guard let level = Level.allCases.first(where: { $0.description == name }) else { return nil }
            self = level
        }

        /// The level's name.
        public var description: String {
            switch self {
            case .firstHour: "first-hour"
            case .core: "core"
            case .full: "full"
            }
        }
    }

    /// The stable name: area, a full stop, and what is required.
    public let id: String
    /// The lowest level that requires the case.
    public let level: Level
    /// What is required, in one sentence.
    public let requirement: String
    /// The capability that the case needs. If the subject does not claim it, the case tests that the store refuses it
    /// cleanly. Nil if every store must pass the case.
    public let capability: StoreCapability?
    /// Further capabilities that the case needs; an unclaimed one must be refused in the same way.
    public let otherCapabilities: [StoreCapability]
    /// The usual cause of a failure.
    public let hint: String
    /// Whether the case stores or asks for so much that it takes long. The kill table tries it only on stores whose fault is one
    /// of size.
    public let isLarge: Bool
    private let body: @Sendable (CaseContext) throws -> Void

    /// A case; `all` holds those of the kit, and an author may add cases of their own.
    public init(
        _ id: String, level: Level, capability: StoreCapability? = nil, and others: [StoreCapability] = [],
        requirement: String, hint: String, isLarge: Bool = false,
        body: @escaping @Sendable (CaseContext) throws -> Void
    ) {
        self.id = id
        self.level = level
        self.capability = capability
        otherCapabilities = others
        self.requirement = requirement
        self.hint = hint
        self.isLarge = isLarge
        self.body = body
    }

    /// The part of the id before the full stop.
    public var area: String { id.split(separator: ".").first.map(String.init) ?? id }

    /// The case's identifier.
    public var description: String { id }
    /// Two cases are equal if their identifiers are.
    public static func == (lhs: ConformanceCase, rhs: ConformanceCase) -> Bool { lhs.id == rhs.id }
    /// Hashes the identifier.
    public func hash(into hasher: inout Hasher) { hasher.combine(id) }

    /// Whether the subject lacks a capability that the case takes, so that its refusal is what is tested.
    public func testsRefusal(by subject: ConformanceSubject) -> Bool { missing(in: subject) != nil }

    private func missing(in subject: ConformanceSubject) -> StoreCapability? {
        ([capability].compactMap { $0 } + otherCapabilities).first { !subject.capabilities.contains($0) }
    }

    /// Runs the case in a context that was made for it.
    /// - Throws: `ConformanceFailure`; what the store throws unexpectedly.
    public func run(in context: CaseContext) throws {
        if let capability = missing(in: context.subject) {
            try Refusals.check(capability, in: context)
        } else {
            try body(context)
        }
        try context.settle()
    }

    /// What came of running the case once.
    enum Outcome: Sendable {
        case passed
        case failed(ConformanceFailure)
        /// The subject lacks what the case needs, such as a folder; the text says what.
        case untried(String)
    }

    /// Runs the case on a fresh storage of the subject and cleans up. Any error is a failure, and so is running beyond
    /// the subject's time limit. `shrinks` says whether random cases look for the smallest failure.
    func outcome(on subject: ConformanceSubject, shrinks: Bool = true) -> Outcome {
        CaseAttempt(self, on: subject, shrinks: shrinks).outcome()
    }
}

extension ConformanceCase {
    /// Every case of the kit, in the order in which an author should take them.
    public static let all: [ConformanceCase] = {
        let areas: [[ConformanceCase]] = [
            lifecycleCases, identityCases, foreignIdentifierCases, valueCases, specialValueCases, codedCases,
            valueVariationCases, numberCases, textCases, textMeaningCases, optionalCases, relationshipCases,
            timeZoneCases, longTextCases,
            wideModelCases, deleteRuleCases, uniquenessCases, updateCases, deletionCases, fetchCases, enumerationCases,
            freedValueCases,
            sortCases, windowCases, countCases, atomicityCases, isolationCases, sessionVariationCases, reopeningCases,
            batchCases, batchUpdateCases, batchInsertCases, storeBatchCases, storeContractCases, contractVariationCases,
            limitCases, sizeCases, optionalKindCases, constraintCases, concurrencyCases, conflictCases, expressionCases,
            collectionExpressionCases, expressionVariationCases, comparisonCases, arithmeticCases, orderCases,
            captureCases, aggregateCases,
            planningCases, promiseCases, planningVariationCases, versionCases, recordVersionCases,
            recordVersionKindCases, deferralCases, readConsistencyCases, announcementCases, schemaCases,
            schemaNameCases,
            schemaPlanCases, schemaVariationCases, migrationCases, errorCases, scopeCases, batchAnnouncementCases,
            historyCases, batchHistoryCases, wideHistoryCases, closingCases, durabilityCases, storageCases, openerCases,
            historyKeepingCases, openerPathCases, openerProcessCases, openerErrorCases, listedCases, deletedTargetCases,
            valueUpdateCases, conditionVariationCases, aggregateSecondCases, contractSecondCases, historySecondCases,
            schemaSecondCases, announcementSecondCases, batchSecondCases, conditionSecondCases, savingSecondCases,
            durabilitySecondCases, folderSecondCases, migrationSecondCases, schemaQuestionCases, schemaRoundCases,
            relationshipSecondCases, openerSecondCases, readConsistencySecondCases, storageSecondCases,
            sizeSecondCases, longTextSecondCases,
            folderCases, folderContentCases, failedWriteCases, resourceCases, randomCases,
        ]
        let cases = areas.flatMap { $0 }
        return Level.allCases.flatMap { level in cases.filter { $0.level == level } }
    }()

    /// The cases up to a level, that level included.
    public static func all(upTo level: Level) -> [ConformanceCase] { all.filter { $0.level <= level } }

    /// The case with that id; nil if the kit has no such case.
    public static func named(_ id: String) -> ConformanceCase? { all.first { $0.id == id } }
}
