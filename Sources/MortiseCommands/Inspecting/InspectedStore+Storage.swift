#if Inspector
import MortiseCore

extension InspectedStore {
    /// How many bytes of each part of a record are shown.
    private static let mostBytes = 4_096

    private var transparent: (any TransparentConfiguration)? { (try? configuration) as? any TransparentConfiguration }

    /// The language in which the storage itself can be asked; nil for a store without one.
    package var statementLanguage: String? { transparent?.statementLanguage }

    /// Runs one statement that only reads, without keeping other requests from the store.
    /// - Throws: `StatementError`; what the store throws.
    package func answer(toStatement text: String, showsPlan: Bool) throws -> (answer: StatementAnswer, seconds: Double)
    {
        guard let transparent else { throw StatementError.noLanguage }
        let clock = ContinuousClock.now
        let answer = try transparent.answer(toStatement: text, within: StatementLimits(showsPlan: showsPlan))
        return (answer, (ContinuousClock.now - clock).seconds)
    }

    /// What the storage has of a record.
    /// - Returns: nil for a store that does not show it; no parts where it has no bytes of that record alone.
    /// - Throws: what the store throws.
    package func storedParts(of record: PersistentIdentifier) throws -> [StoredPart]? {
        try transparent?.storedParts(of: record, limit: Self.mostBytes)
    }
}
#endif
