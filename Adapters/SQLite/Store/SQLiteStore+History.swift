#if SQLite
import Foundation
public import MortiseCore
import MortiseSQL

extension SQLiteStore: HistoryProviding {
    /// The type of the history's transactions.
    public static var historyType: DefaultHistoryTransaction.Type { DefaultHistoryTransaction.self }

    /// The saves that the file still has, oldest first unless the descriptor sorts.
    /// - Throws: `SQLiteError`; what the predicate throws.
    public func fetchHistory(
        _ descriptor: HistoryDescriptor<DefaultHistoryTransaction>
    ) throws -> [DefaultHistoryTransaction] {
        var found: [DefaultHistoryTransaction] = []
        let limit = descriptor.fetchLimit == 0 ? Int.max : Int(clamping: descriptor.fetchLimit)
        try reading { connection, _ in
            try forEachTransaction(connection, after: 0, upTo: .max) { entry in
                let transaction = transaction(entry)
                guard try descriptor.predicate?.evaluate(transaction) ?? true else { return true }
                found.append(transaction)
                return !descriptor.sortBy.isEmpty || found.count < limit
            }
        }
        if !descriptor.sortBy.isEmpty { found.sort(using: descriptor.sortBy) }
        return found.count > limit ? Array(found.prefix(limit)) : found
    }

    /// Deletes the matching transactions from the history. The records stay as they are.
    /// - Throws: `SQLiteError`; what the predicate throws.
    public func deleteHistory(_ descriptor: HistoryDescriptor<DefaultHistoryTransaction>) throws {
        let doomed = try fetchHistory(descriptor).map(\.transactionIdentifier)
        if doomed.isEmpty { return }
        try writing { connection, _ in
            try connection.run(
                "DELETE FROM mortise_history WHERE n IN (SELECT value FROM json_each(?))", [.list(doomed)])
        }
    }

    /// The token of the transaction with a number.
    public func historyToken(ofVersion number: UInt64) -> (any HistoryToken)? {
        DefaultHistoryToken([identifier: Int64(clamping: number)])
    }

    /// The transactions with greater numbers, without values.
    /// - Throws: `SQLiteError`.
    public func storedTransactions(after number: UInt64, last: Int?) throws -> [ChangeSet]? {
        try reading { connection, moment in
            var first = Int64(clamping: number)
            if let last {
                try connection.run(
                    "SELECT min(h.n) FROM (SELECT n FROM mortise_history WHERE n > ? ORDER BY n DESC LIMIT ?) h",
                    [.integer(first), .integer(Int64(max(last, 0)))]
                ) { first = max(first, ($0.number(0) ?? .max) - 1) }
            }
            return try transactions(connection, after: first, upTo: moment.lastTransaction, withOwners: false)
        }
    }

    /// One row of the history.
    struct HistoryEntry {
        let number: Int64
        let date: Date
        let author: String?
        let process: String
        let bundle: String
        let changes: HistoryChanges
    }

    /// Hands over the transactions in order until the body returns false.
    private func forEachTransaction(
        _ connection: SQLiteConnection, after first: Int64, upTo last: Int64, _ body: (HistoryEntry) throws -> Bool
    ) throws {
        let statement = try connection.prepare(
            "SELECT h.n, h.at, h.author, h.process, h.bundle, h.changes FROM mortise_history h WHERE h.n > ? AND h.n <= ? "
                + "ORDER BY h.n")
        defer { connection.finish(statement) }
        try statement.bind([.integer(first), .integer(last)])
        while try statement.step() {
            let number = statement.integer(0)
            guard case .blob(let data)? = statement.value(5), let changes = HistoryChanges(data) else {
                throw error(
                    .damagedValue(record: "transaction \(number)", property: "changes", found: "other bytes"))
            }
            let seconds = if case .real(let seconds)? = statement.value(1) { seconds } else { 0.0 }
            let entry = HistoryEntry(
                number: number, date: Date(timeIntervalSinceReferenceDate: seconds), author: statement.text(2),
                process: statement.text(3) ?? "", bundle: statement.text(4) ?? "", changes: changes)
            if try !body(entry) { return }
        }
    }

    func transactions(
        _ connection: SQLiteConnection, after first: Int64, upTo last: Int64, withOwners: Bool
    ) throws -> [ChangeSet] {
        var found: [ChangeSet] = []
        try forEachTransaction(connection, after: first, upTo: last) { entry in
            found.append(
                changeSet(
                    of: entry.changes, entry.number, at: entry.date, author: entry.author, process: entry.process,
                    bundle: entry.bundle, withOwners: withOwners))
            return true
        }
        return found
    }

    private func record(_ number: Int64, _ entity: Int) -> PersistentIdentifier? {
        mapping.byNumber[entity].map {
            .numbered(UInt64(clamping: number), storeIdentifier: identifier, entityName: $0.name)
        }
    }

    /// The slots of properties that an entity has now.
    private func slots(_ properties: [Int], of entity: TableMapping.Entity) -> [Int] {
        properties.compactMap { number in entity.slots.firstIndex { $0.number == number } }
    }

    /// The changes of a transaction as everybody who follows gets them. What the schema lacks is left out.
    /// With owners, it names records of which only derived lists have changed.
    func changeSet(
        of history: HistoryChanges, _ number: Int64, at date: Date, author: String?, process: String, bundle: String,
        withOwners: Bool
    ) -> ChangeSet {
        var changes = ChangeSet(author: author)
        changes.isErasure = history.isErasure
        changes.commit = ChangeSet.Commit(
            number: UInt64(clamping: number), timestamp: date, process: process, bundle: bundle)
        var inserted: [PersistentIdentifier] = []
        for run in history.inserted {
            for place in 0..<run.count {
                if let record = record(run.first + place, run.entity) { inserted.append(record) }
            }
        }
        changes.inserted = ChangeSet.Insertions(records: inserted)
        for update in history.updated + (withOwners ? history.owners : []) {
            guard let entity = mapping.byNumber[update.entity], let record = record(update.number, update.entity) else {
                continue
            }
            changes.updated.append(
                ChangeSet.Update(
                    record: record, layout: entity.layout, slots: SlotSet(slots(update.properties, of: entity))))
        }
        if withOwners { changes.mergeUpdates() }
        for deletion in history.deleted {
            guard let entity = mapping.byNumber[deletion.entity], let record = record(deletion.number, deletion.entity)
            else { continue }
            var values = ContiguousArray(repeating: StoredValue.null, count: entity.slots.count)
            var preserved = SlotSet()
            for (place, value) in self.preserved(deletion, entity) {
                values[place] = value
                preserved.insert(place)
            }
            changes.deleted.append(
                ChangeSet.Deletion(
                    record: record, layout: entity.layout, values: preserved.isEmpty ? [] : values, preserved: preserved
                ))
        }
        return changes
    }

    private func preserved(
        _ deletion: HistoryChanges.Deletion, _ entity: TableMapping.Entity
    ) -> [(place: Int, value: StoredValue)] {
        deletion.preserved.compactMap { property, text in
            guard let place = entity.slots.firstIndex(where: { $0.number == property }),
                let kind = entity.slots[place].slot.property.attribute?.kind,
                let value = StoredValue(text: text, as: kind)
            else { return nil }
            return (place, value)
        }
    }

    private func transaction(_ entry: HistoryEntry) -> DefaultHistoryTransaction {
        var changes: [HistoryChange] = []
        var next: Int64 = 1
        func append(_ make: (Int64) -> HistoryChange?) {
            guard let change = make(next) else { return }
            changes.append(change)
            next += 1
        }
        for deletion in entry.changes.deleted {
            guard let entity = mapping.byNumber[deletion.entity], let record = record(deletion.number, deletion.entity)
            else { continue }
            let values = preserved(deletion, entity).map { (name: entity.layout.slots[$0.place].name, value: $0.value) }
            append { schema.deletion(of: record, preserved: values, change: $0, transaction: entry.number) }
        }
        for update in entry.changes.updated {
            guard let entity = mapping.byNumber[update.entity], let record = record(update.number, update.entity) else {
                continue
            }
            let names = slots(update.properties, of: entity).map { entity.layout.slots[$0].name }
            append { schema.update(of: record, properties: names, change: $0, transaction: entry.number) }
        }
        for run in entry.changes.inserted {
            for place in 0..<run.count {
                guard let record = record(run.first + place, run.entity) else { continue }
                append { schema.insertion(of: record, change: $0, transaction: entry.number) }
            }
        }
        return DefaultHistoryTransaction(
            transactionIdentifier: entry.number, timestamp: entry.date, changes: changes,
            token: DefaultHistoryToken([identifier: entry.number]), storeIdentifier: identifier,
            bundleIdentifier: entry.bundle, processIdentifier: entry.process, author: entry.author)
    }
}
#endif
