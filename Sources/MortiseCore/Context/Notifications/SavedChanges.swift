import Foundation

/// What a context has saved, for its notification.
struct SavedChanges {
    private var sets: [ChangeSet] = []
    /// The place of each store's save in its history, by the identifiers of the stores.
    private(set) var historyTokens: [String: any HistoryToken] = [:]

    var isEmpty: Bool { sets.allSatisfy(\.isEmpty) }

    /// Takes in what a store has saved as it was asked to.
    mutating func append(
        _ changes: ChangeSet, by session: StoreSession, _ outcome: SaveOutcome, _ token: (any HistoryToken)?
    ) {
        sets.append(outcome.committed(changes))
        let recorded = session.announce(outcome) {
            $0 ? outcome.committedWithValues(changes) : outcome.named(changes)
        }
        if let token = token ?? recorded { note(token, of: session.identifier) }
    }

    /// Takes in what a store has done on its own account.
    mutating func append(_ changes: ChangeSet, by session: StoreSession) {
        sets.append(changes)
        let recorded = session.announce { _ in changes }
        if let recorded { note(recorded, of: session.identifier) }
    }

    mutating func note(_ token: any HistoryToken, of store: String) { historyTokens[store] = token }

    func userInfo(of sessions: [StoreSession]) -> [AnyHashable: Any] {
        var generations: [String: UInt64] = [:]
        for session in sessions { generations[session.identifier] = session.version?.number }
        var info = Self.places.mapValues { place -> Any in
            switch place {
            case .inserted: sets.flatMap(\.inserted.records)
            case .updated: sets.flatMap { $0.updated.map(\.record) }
            case .deleted: sets.flatMap { $0.deleted.map(\.record) }
            case .generations: generations
            }
        }
        if !historyTokens.isEmpty { info[ModelContext.NotificationKey.historyTokens.rawValue] = historyTokens }
        if sets.contains(where: \.isIncomplete) {
            info[ModelContext.NotificationKey.invalidatedAllIdentifiers.rawValue] = true
        }
        return info
    }

    private enum Place: Sendable { case inserted, updated, deleted, generations }

    // Never written, and its keys are strings.
    //
    // A save takes tens of microseconds, and hashing these again for every one of them took a sixth of that.
    nonisolated(unsafe) private static let places: [AnyHashable: Place] = [
        ModelContext.NotificationKey.insertedIdentifiers.rawValue: .inserted,
        ModelContext.NotificationKey.updatedIdentifiers.rawValue: .updated,
        ModelContext.NotificationKey.deletedIdentifiers.rawValue: .deleted,
        ModelContext.NotificationKey.queryGeneration.rawValue: .generations,
    ]
}
