#if SQLite
import Foundation
public import MortiseCore
import MortiseSQL

extension SQLiteStore {
    /// Carries out a batch in one transaction.
    /// - Throws: `DataStoreError.unsupportedFeature` for values that are calculated from other records; `RecordsSuperseded` if a
    ///   named record is gone; `QueryEvaluationError`; `SQLiteError`.
    public func execute(_ batch: StoreBatch) throws -> StoreBatchResult {
        if case .update(let assignments) = batch.change,
            !assignments.allSatisfy({ mapping.readsOwnValuesOnly($0.value) })
        {
            throw DataStoreError.unsupportedFeature
        }
        var records: [PersistentIdentifier] = []
        return try committing(author: batch.author) { writer in
            records = try selected(batch.selection, writer)
            switch batch.change {
            case .delete: try writer.delete(records, clearing: true)
            case .update(let assignments):
                // Records can take unique values of each other only where all are known.
                let portion = mapping.hasUnique(assignments) ? records.count : 1_000
                var first = 0
                while first < records.count {
                    let end = min(first + portion, records.count)
                    try update(records[first..<end], assignments, &writer)
                    first = end
                }
            }
            return writer
        } explaining: { error, writer in
            try writer.requiring(records, except: Set(records)) ?? error
        } result: { writer, number in
            let changes =
                writer.isEmpty
                ? ChangeSet(author: batch.author)
                : changeSet(of: writer.changes, writer.entry(number, author: batch.author), withOwners: true)
            let report = ExecutionReport(scanned: records.count)
            return (
                StoreBatchResult(count: records.count, changes: changes, report: report),
                ChangeSet(author: batch.author), nil
            )
        }
    }

    /// The records of a batch, in identity order.
    private func selected(_ selection: StoreBatch.Selection, _ writer: SaveWriter) throws -> [PersistentIdentifier] {
        switch selection {
        case .records(let records):
            // As a loop: optimized, Swift 6.3.1 does not compile this function with a closure here.
            var missing: [PersistentIdentifier] = []
            for record in records where try writer.version(of: record) == nil { missing.append(record) }
            if !missing.isEmpty { throw RecordsSuperseded(missing) }
            return records.sorted()
        case .query(let query):
            guard let selection = self.selection(query), selection.isExact else {
                throw DataStoreError.unsupportedFeature
            }
            var found: [PersistentIdentifier] = []
            var text = SQLText("SELECT t0.\"id\", t0.\"ent\"")
            text.append(selection.rows)
            text.append(" ORDER BY t0.\"id\"")
            try run(writer.connection, "", text) { row in
                found.append(
                    try selection.decoding.identifier(row, store: identifier, path: configuration.path))
            }
            return found
        }
    }

    private func update(
        _ records: ArraySlice<PersistentIdentifier>, _ assignments: [StoreBatch.Assignment], _ writer: inout SaveWriter
    ) throws {
        var snapshots: [DefaultSnapshot] = []
        var changed: [SlotSet] = []
        for (name, records) in Dictionary(grouping: records, by: \.entityName) {
            guard let entity = mapping.entities[name] else { continue }
            let decoding = RecordDecoding([entity.number], mapping)
            let numbers = records.compactMap { writer.number($0) }
            try writer.connection.run(
                "SELECT \(decoding.columns) FROM \(SQLName.quoted(entity.table)) t0 WHERE t0.\"id\" IN "
                    + "(SELECT value FROM json_each(?)) ORDER BY t0.\"id\"", [.list(numbers)]
            ) { row in
                let snapshot = try decoding.record(row, store: identifier, path: configuration.path)
                let reader = OneRecord.reader(of: snapshot, schema.stored)
                guard let record = reader.record(snapshot.persistentIdentifier) else { return }
                var values = snapshot.values
                var slots = SlotSet()
                for assignment in assignments {
                    let value = try assignment.value(for: record, in: reader)
                    let slot = assignment.property.slot
                    if values.indices.contains(slot), !value.isIdentical(to: values[slot]) {
                        values[slot] = value
                        slots.insert(slot)
                    }
                }
                if slots.isEmpty { return }
                snapshots.append(
                    DefaultSnapshot(
                        persistentIdentifier: snapshot.persistentIdentifier, layout: snapshot.layout, values: values))
                changed.append(slots)
            }
        }
        try writer.update(snapshots, changed)
    }
}

extension TableMapping {
    /// Whether an assignment may change a unique value.
    fileprivate func hasUnique(_ assignments: [StoreBatch.Assignment]) -> Bool {
        assignments.contains { assignment in
            entities.values.contains { entity in
                entity.layout.uniqueConstraints.contains { constraint in
                    constraint.contains { slot in
                        slot == assignment.property.slot && entity.layout.slots[slot].name == assignment.property.name
                    }
                }
            }
        }
    }
}
#endif
