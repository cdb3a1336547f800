import Foundation
import MortiseCore

/// The history of the kit's store in a folder, as it is in its file.
struct FolderHistory: Codable, Sendable {
    enum Kind: String, Codable, Sendable { case insert, update, delete }
    struct Preserved: Codable, Sendable {
        var name: String
        var value: StoredValue
    }
    struct Change: Codable, Sendable {
        var kind: Kind
        var record: PersistentIdentifier
        var properties: [String] = []
        var preserved: [Preserved] = []
    }
    struct Transaction: Codable, Sendable {
        var number: Int64
        /// Seconds since the reference date.
        var time: Double
        var author: String?
        var changes: [Change]
    }

    static let name = "history.json"
    /// The number of the last transaction, which may have been deleted.
    var last: Int64 = 0
    var transactions: [Transaction] = []
    /// Transactions as they are in the file, by number: every save writes all of them.
    private var written: [Int64: Data] = [:]

    private enum CodingKeys: CodingKey { case last, transactions }

    /// The whole file.
    mutating func file() throws -> Data {
        var data = Data("{\"last\":\(last),\"transactions\":[".utf8)
        for (place, transaction) in transactions.enumerated() {
            let text = try written[transaction.number] ?? JSONEncoder().encode(transaction)
            written[transaction.number] = text
            if place > 0 { data.append(UInt8(ascii: ",")) }
            data += text
        }
        return data + Data("]}".utf8)
    }

    /// Adds a save. `table` holds the records as they were before.
    mutating func add(
        _ request: DataStoreSaveChangesRequest<DefaultSnapshot>,
        _ permanent: [PersistentIdentifier: PersistentIdentifier], before table: SnapshotTable
    ) {
        var changes: [Change] = []
        for snapshot in request.inserted {
            guard let record = permanent[snapshot.persistentIdentifier] else { continue }
            changes.append(Change(kind: .insert, record: record))
        }
        var updates: [Change] = []
        for (place, snapshot) in request.updated.enumerated() {
            let slots = place < request.changedSlots.count ? request.changedSlots[place] : nil
            let names = snapshot.layout.slots.indices.filter { slots?.contains($0) ?? true }
                .map { snapshot.layout.slots[$0].name }
            updates.append(Change(kind: .update, record: snapshot.persistentIdentifier, properties: names))
        }
        changes += updates.sorted { $0.record < $1.record }
        for snapshot in request.deleted.sorted(by: { $0.persistentIdentifier < $1.persistentIdentifier }) {
            let old = table[snapshot.persistentIdentifier] ?? snapshot
            let preserved = zip(old.layout.slots, old.values).filter { slot, _ in
                slot.property.attribute?.options.contains(.preserveValueOnDeletion) == true
            }
            changes.append(
                Change(
                    kind: .delete, record: snapshot.persistentIdentifier,
                    preserved: preserved.map { Preserved(name: $0.name, value: $1) }))
        }
        if changes.isEmpty { return }
        last += 1
        transactions.append(
            Transaction(
                number: last, time: Date().timeIntervalSinceReferenceDate, author: request.editingState.author,
                changes: changes))
    }
}

extension FolderStore: HistoryProviding {
    static var historyType: DefaultHistoryTransaction.Type { DefaultHistoryTransaction.self }

    func fetchHistory(
        _ descriptor: HistoryDescriptor<DefaultHistoryTransaction>
    ) throws -> [DefaultHistoryTransaction] {
        var found = content.history.transactions.map(transaction)
        if let predicate = descriptor.predicate { found = try found.filter { try predicate.evaluate($0) } }
        if !descriptor.sortBy.isEmpty { found.sort(using: descriptor.sortBy) }
        return descriptor.fetchLimit == 0 ? found : Array(found.prefix(Int(clamping: descriptor.fetchLimit)))
    }

    func deleteHistory(_ descriptor: HistoryDescriptor<DefaultHistoryTransaction>) throws {
        let gone = Set(try fetchHistory(descriptor).map(\.transactionIdentifier))
        var changed = content
        changed.history.transactions.removeAll { gone.contains($0.number) }
        try write(changed, .history)
    }

    private func transaction(_ kept: FolderHistory.Transaction) -> DefaultHistoryTransaction {
        let changes = kept.changes.enumerated().compactMap { place, change -> HistoryChange? in
            let (record, number) = (change.record, Int64(place + 1))
            return switch change.kind {
            case .insert: schema.insertion(of: record, change: number, transaction: kept.number)
            case .update:
                schema.update(
                    of: record, properties: change.properties, change: number, transaction: kept.number)
            case .delete:
                schema.deletion(
                    of: record, preserved: change.preserved.map { ($0.name, $0.value) }, change: number,
                    transaction: kept.number)
            }
        }
        return DefaultHistoryTransaction(
            transactionIdentifier: kept.number, timestamp: Date(timeIntervalSinceReferenceDate: kept.time),
            changes: changes, token: DefaultHistoryToken([identifier: kept.number]), storeIdentifier: identifier,
            bundleIdentifier: "", processIdentifier: "", author: kept.author)
    }
}
