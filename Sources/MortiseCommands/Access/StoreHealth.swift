import MortiseCore

/// What a look at a store says of its health, and how much of it was looked at.
struct StoreHealth {
    /// Whether every byte was checked, and not only what opening reads.
    let isWhole: Bool
    /// Each with its place; none where nothing is known to be wrong.
    let problems: [String]
    /// What is worth knowing and no fault.
    let notes: [String]

    /// A store that is larger takes too long for a look at it.
    private static let largest: Int64 = 64_000_000

    /// - Parameter version: of the store, from which whatever is told of it was read already.
    /// - Throws: what checking the store throws where it cannot be read at all.
    init(
        _ configuration: any SelfDescribingConfiguration, _ store: OpenStore, _ version: any StoreVersion, bytes: Int64
    ) throws {
        var problems: [String] = []
        var notes = [(store.store as? any RecoveryReporting)?.recoveryDescription].compactMap { $0 }
        let verifiable = configuration as? any VerifiableConfiguration
        if bytes <= Self.largest, let verifiable {
            let report = try verifiable.verifyStore()
            problems = report.problems
            // Both tell of an end that was never acknowledged.
            if !report.notes.isEmpty { notes = report.notes }
            isWhole = true
        } else {
            do { try version.check() } catch { problems = ["\(error)"] }
            isWhole = false
        }
        self.problems = problems
        self.notes = notes
    }

    var text: String {
        if !problems.isEmpty { return "damaged: " + FigureText.plural(problems.count, "problem") }
        return isWhole
            ? "sound: every byte was checked" : "sound as far as it was read; \"mortise verify\" checks every byte"
    }

    var json: JSONText {
        .object([
            ("state", .text(problems.isEmpty ? "sound" : "damaged")), ("isWhole", .bool(isWhole)),
            ("problems", .list(problems.map { .text($0) })), ("notes", .list(notes.map { .text($0) })),
        ])
    }
}
