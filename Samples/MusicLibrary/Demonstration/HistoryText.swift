import Foundation
import Mortise

/// A transaction as a few lines: who, when, and how many records of what.
enum HistoryText {
    static func lines(of transaction: DefaultHistoryTransaction) -> [String] {
        let time = transaction.timestamp.formatted(Date.ISO8601FormatStyle(timeZone: .gmt))
        return ["#\(transaction.id), \(time), by \(transaction.author ?? "nobody")"]
            + text("insert", transaction.changes) + text("update", transaction.changes)
            + text("delete", transaction.changes)
    }

    private static func text(_ kind: String, _ changes: [HistoryChange]) -> [String] {
        var counts: [String: Int] = [:]
        var properties: [String: Set<String>] = [:]
        for change in changes where name(of: change) == kind {
            let entity = change.changedPersistentIdentifier.entityName
            counts[entity, default: 0] += 1
            if case .update(let update) = change { properties[entity, default: []].formUnion(update.updatedProperties) }
        }
        if counts.isEmpty { return [] }
        let parts = counts.sorted { $0.key < $1.key }.map { entity, count in
            let changed = properties[entity].map { " (\($0.sorted().joined(separator: ", ")))" } ?? ""
            return "\(count) \(entity)\(changed)"
        }
        return ["  \(kind) \(parts.joined(separator: ", "))"]
    }

    private static func name(of change: HistoryChange) -> String {
        switch change {
        case .insert: "insert"
        case .update: "update"
        case .delete: "delete"
        }
    }
}
