import Foundation
import Mortise

extension Inventory {
    /// Who has done what, the latest first, from the history of the store.
    /// - Throws: `MaintenanceError.unsupported` for a store that keeps no history, as one of your own may be.
    public func audit(limit: Int = 100) throws -> [AuditLine] {
        var descriptor = HistoryDescriptor<DefaultHistoryTransaction>(
            sortBy: [SortDescriptor(\.transactionIdentifier, order: .reverse)])
        descriptor.fetchLimit = UInt64(max(1, limit))
        return try container.history(descriptor).flatMap { transaction in
            transaction.changes.map { AuditLine($0, of: transaction) }
        }
    }
}

extension AuditLine {
    init(_ change: HistoryChange, of transaction: DefaultHistoryTransaction) {
        let record = change.changedPersistentIdentifier
        time = transaction.timestamp
        author = transaction.author
        entity = record.entityName
        id = record.string
        switch change {
        case .insert: (action, details) = ("added", [])
        case .update(let update): (action, details) = ("changed", update.updatedProperties.sorted())
        case .delete(let deletion):
            (action, details) = ("deleted", deletion.preservedValues.map { "\($0.key) \($0.value)" }.sorted())
        }
    }
}
