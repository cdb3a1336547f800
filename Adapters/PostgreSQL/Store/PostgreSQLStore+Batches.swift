#if PostgreSQL
import Foundation
public import MortiseCore
import MortiseSQL

extension PostgreSQLStore {
    /// Carries out a batch in one transaction.
    /// - Throws: `DataStoreError.unsupportedFeature` for values that are calculated from other records; `RecordsSuperseded` if a
    ///   named record is gone; `QueryEvaluationError`; `PostgreSQLError`.
    public func execute(_ batch: StoreBatch) throws -> StoreBatchResult {
        if case .update(let assignments) = batch.change,
            !assignments.allSatisfy({ mapping.readsOwnValuesOnly($0.value) })
        {
            throw DataStoreError.unsupportedFeature
        }
        guard allowsSave else { throw error(.readOnly) }
        var count = 0
        var requested = RequestedChanges()
        return try saveLock.withLock {
            try committing(author: batch.author) { writer in
                try writer.begin(numbers: 0)
                let records = try selected(batch.selection, writer)
                count = records.count
                requested = RequestedChanges()
                switch batch.change {
                case .delete:
                    requested.deleted = records
                    requested.clears = true
                case .update(let assignments): requested = try updates(of: records, assignments, writer)
                }
                try writer.load(requested)
                if case .records = batch.selection {
                    let missing = records.filter { writer.versions[$0] == nil && (batch.change.isDeletion) }
                    if !missing.isEmpty { throw RecordsSuperseded(missing) }
                }
                return requested
            } failing: { error, writer in
                try explained(error, requested, writer, isBatch: true)
            } result: { writer, number in
                let changes =
                    writer.isEmpty ? ChangeSet(author: batch.author) : changeSet(writer, number, author: batch.author)
                return (
                    StoreBatchResult(count: count, changes: changes, report: ExecutionReport(scanned: count)),
                    ChangeSet(author: batch.author), []
                )
            }
        }
    }

    /// The records of a batch, in identity order.
    private func selected(_ selection: StoreBatch.Selection, _ writer: SaveWriter) throws -> [PersistentIdentifier] {
        switch selection {
        case .records(let records): return records.sorted()
        case .query(let query):
            guard let selection = self.selection(query), selection.isExact else {
                throw DataStoreError.unsupportedFeature
            }
            var text = SQLText("SELECT t0.\"id\", t0.\"ent\"", .postgreSQL)
            text.append(selection.rows)
            text.append(" ORDER BY t0.\"id\"")
            let result = try writer.connection.run([.init(text)])[0]
            return try result.rows.map {
                try selection.decoding.identifier($0, store: identifier, path: configuration.location)
            }
        }
    }

    /// The records that get other values, with these.
    private func updates(
        of records: [PersistentIdentifier], _ assignments: [StoreBatch.Assignment], _ writer: SaveWriter
    ) throws -> RequestedChanges {
        var requested = RequestedChanges()
        let groups = Dictionary(grouping: records, by: \.entityName).sorted { $0.key < $1.key }
        var decodings: [(RecordDecoding, PostgreSQLConnection.Statement)] = []
        for (name, records) in groups {
            guard let entity = mapping.entities[name] else { continue }
            let decoding = RecordDecoding([entity.number], mapping)
            decodings.append(
                (
                    decoding,
                    .init(
                        "SELECT \(decoding.columns) FROM \(SQLName.quoted(entity.table)) t0 WHERE t0.\"id\" = ANY($1::int8[]) "
                            + "AND t0.\"ent\" = \(entity.number) ORDER BY t0.\"id\"",
                        [.numbers(records.compactMap { writer.number($0) })])
                ))
        }
        let results = try writer.connection.run(decodings.map(\.1))
        var found: Set<PersistentIdentifier> = []
        for ((decoding, _), result) in zip(decodings, results) {
            for row in result.rows {
                let snapshot = try decoding.record(row, store: identifier, path: configuration.location)
                found.insert(snapshot.persistentIdentifier)
                let reader = OneRecord.reader(of: snapshot, schema.stored)
                guard let record = reader.record(snapshot.persistentIdentifier) else { continue }
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
                if slots.isEmpty { continue }
                requested.updated.append(
                    DefaultSnapshot(
                        persistentIdentifier: snapshot.persistentIdentifier, layout: snapshot.layout, values: values))
                requested.changedSlots.append(slots)
            }
        }
        let missing = records.filter { !found.contains($0) }
        if !missing.isEmpty { throw RecordsSuperseded(missing) }
        return requested
    }
}

extension StoreBatch.Change {
    fileprivate var isDeletion: Bool { if case .delete = self { true } else { false } }
}
#endif
