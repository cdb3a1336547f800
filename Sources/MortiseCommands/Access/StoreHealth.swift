#if Tool
import MortiseCore

/// What a look at a store says of its health, and how much of it was looked at.
struct StoreHealth {
    /// How much of a store was read.
    enum Extent: String {
        case header, opening, whole
    }

    let extent: Extent
    /// Each with its place; none where nothing is known to be wrong.
    let problems: [String]
    /// What is worth knowing and no fault.
    let notes: [String]

    /// Of a store that was not opened.
    static let unknown = StoreHealth(extent: .header, problems: [], notes: [])

    /// Of a store that was opened.
    /// - Throws: what checking the store throws where it cannot be read at all.
    static func of(
        _ configuration: any SelfDescribingConfiguration, _ store: OpenStore, _ version: any StoreVersion,
        checksAll: Bool
    ) throws -> StoreHealth {
        let notes = [store.store.recoveryDescription].compactMap { $0 }
        if checksAll, let verifiable = configuration.capable(of: .verify) {
            let report = try verifiable.verifyStore()
            // Both tell of an end that was never acknowledged.
            return StoreHealth(
                extent: .whole, problems: report.problems, notes: report.notes.isEmpty ? notes : report.notes)
        }
        var problems: [String] = []
        do { try version.check() } catch { problems = ["\(error)"] }
        return StoreHealth(extent: .opening, problems: problems, notes: notes)
    }

    var text: String {
        if !problems.isEmpty { return "damaged: " + FigureText.plural(problems.count, "problem") }
        return switch extent {
        case .header: "not checked; pass --check to read the whole store"
        case .opening: "opened without a fault; pass --check to read every byte"
        case .whole: "sound: every byte was checked"
        }
    }

    var json: JSONText {
        let state = problems.isEmpty ? (extent == .header ? "notChecked" : "sound") : "damaged"
        return .object([
            ("state", .text(state)), ("isWhole", .bool(extent == .whole)), ("extent", .text(extent.rawValue)),
            ("problems", .list(problems.map { .text($0) })), ("notes", .list(notes.map { .text($0) })),
        ])
    }
}
#endif
