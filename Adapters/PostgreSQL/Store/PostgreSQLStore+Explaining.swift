#if PostgreSQL
import Foundation
import MortiseCore
import MortiseSQL

extension PostgreSQLStore {
    /// Says which record is at fault, where the server says only that there is one. The transaction is gone: the records are as they
    /// were before it. Before a batch, nobody has looked for its unique values: that one is taken is no sign of another save.
    func explained(
        _ error: PostgreSQLError, _ requested: RequestedChanges, _ writer: SaveWriter, isBatch: Bool = false
    ) throws -> any Error {
        if error.state == "54000" { return explainedSize(error, requested) }
        return try pool.using { connection in
            error.state == "23505"
                ? try explainedDuplicate(error, requested, writer, connection, isBatch: isBatch)
                : try explainedReference(error, requested, writer, connection)
        }
    }

    // MARK: Sizes

    /// The record whose value the server's index has no room for: the one with the largest.
    private func explainedSize(_ error: PostgreSQLError, _ requested: RequestedChanges) -> PostgreSQLError {
        guard case .engine(_, _, _, _, let name) = error.fault else { return error }
        // The server does not name the index where the value is larger than a page.
        let indexes = mapping.tables.flatMap { self.mapping.indexes(ofTable: $0.name) }
            .filter { name == nil || $0.name == name }
        var largest: (size: Int, record: PersistentIdentifier, property: String)?
        for snapshot in requested.inserted + requested.updated {
            let record = snapshot.persistentIdentifier
            guard let entity = mapping.entities[record.entityName] else { continue }
            for slot in entity.slots {
                guard case .attribute(let columns) = slot.place,
                    indexes.contains(where: { $0.table == entity.table && $0.columns.contains(columns.compared) }),
                    let value = snapshot[property: slot.slot.name]
                else { continue }
                let size =
                    switch columns.contents(of: value)?.main {
                    case .text(let text): text.utf8.count
                    case .blob(let data): data.count
                    default: 0
                    }
                if size > largest?.size ?? 0 { largest = (size, record, slot.slot.name) }
            }
        }
        // Other limits of the server have the same state.
        guard let largest, largest.size > 2_000 else { return error }
        return self.error(.unfitValue(record: "\(largest.record)", property: largest.property))
    }

    // MARK: References

    private func explainedReference(
        _ error: PostgreSQLError, _ requested: RequestedChanges, _ writer: SaveWriter,
        _ connection: PostgreSQLConnection
    ) throws -> any Error {
        let gone = Set(requested.deleted)
        var wanted: [(record: PersistentIdentifier, property: String, target: PersistentIdentifier)] = []
        for snapshot in requested.inserted + requested.updated {
            for (slot, value) in zip(snapshot.layout.slots, snapshot.values) {
                let targets: [PersistentIdentifier] =
                    switch value {
                    case .identifier(let target): [target]
                    case .identifiers(let members) where slot.role == .toManyStored: members
                    default: []
                    }
                for target in targets where writer.permanent[target] == nil {
                    wanted.append((snapshot.persistentIdentifier, slot.name, target))
                }
            }
        }
        var present: Set<PersistentIdentifier> = []
        for (table, numbers) in writer.numbers(Set(wanted.map(\.target))) {
            let found = try connection.run(
                "SELECT t.\"id\", t.\"ent\" FROM \(SQLName.quoted(table)) t WHERE t.\"id\" = ANY($1::int8[])",
                [.numbers(numbers)])
            present.formUnion(try found.rows.map { try writer.found($0) })
        }
        if let fault = wanted.first(where: { gone.contains($0.target) || !present.contains($0.target) }) {
            return self.error(
                .missingTarget(record: "\(fault.record)", property: fault.property, target: "\(fault.target)"))
        }
        // Others have made them since: the context looks at its delete rules again.
        let known = gone.union(requested.updated.lazy.map(\.persistentIdentifier))
        for (table, numbers) in writer.numbers(requested.deleted) {
            for (owner, place, column, _) in referenceSlots
            where mapping.entities[owner.slots[place].destination]?.table == table {
                let found = try connection.run(
                    "SELECT t.\"id\", t.\"ent\", t.\(SQLName.quoted(column)) FROM \(SQLName.quoted(owner.table)) t "
                        + "WHERE t.\(SQLName.quoted(column)) = ANY($1::int8[])", [.numbers(numbers)])
                let rows = try found.rows.map { (holder: try writer.found($0), target: $0.integer(2)) }
                    .filter { !known.contains($0.holder) }
                let property = owner.slots[place].slot.property
                if let (holder, number) = rows.first, !property.isOptional,
                    requested.clears || property.relationship?.inverse == nil
                {
                    // No context knows who refers to a record by a relationship without an inverse.
                    let target = requested.deleted.first { writer.number($0) == number }
                    return self.error(
                        .missingTarget(
                            record: "\(holder)", property: property.name,
                            target: target.map { "\($0)" } ?? "record \(number)"))
                }
                let holders = rows.map(\.holder)
                if !holders.isEmpty { return RecordsSuperseded(holders) }
            }
        }
        return requested.deleted.first.map { self.error(.stillReferred(record: "\($0)")) } ?? error
    }

    // MARK: Unique values

    /// The record that has the unique values of another: in the same save, or stored.
    private func explainedDuplicate(
        _ error: PostgreSQLError, _ requested: RequestedChanges, _ writer: SaveWriter,
        _ connection: PostgreSQLConnection, isBatch: Bool
    ) throws -> any Error {
        struct Claim: Hashable {
            let entity: String
            let constraint: [Int]
            let values: [SQLValue]
        }
        if let taken = try takenNumber(error, requested, writer, connection) { return taken }
        var claims: [Claim: PersistentIdentifier] = [:]
        var asked: [(claim: Claim, record: PersistentIdentifier, statement: PostgreSQLConnection.Statement)] = []
        let gone = Set(requested.deleted)
        var changing: [PersistentIdentifier: Int] = [:]
        for (place, snapshot) in requested.updated.enumerated() { changing[snapshot.persistentIdentifier] = place }
        for snapshot in requested.updated + requested.inserted {
            let record = snapshot.persistentIdentifier
            let entity = try writer.entity(record)
            let values = writer.fitted(snapshot, entity)
            for constraint in entity.layout.uniqueConstraints {
                guard let contents = claimed(values, constraint, entity, writer) else { continue }
                let root = entity.layout.slots[constraint[0]].declaringEntity
                let claim = Claim(
                    entity: root, constraint: constraint.map { entity.slots[$0].number }, values: contents.map(\.value))
                if let other = claims[claim] {
                    return notUnique(entity, constraint, writer.permanent[record] ?? record, other)
                }
                claims[claim] = writer.permanent[record] ?? record
                var text = SQLText(
                    "SELECT t.\"id\", t.\"ent\" FROM \(SQLName.quoted(entity.table)) t WHERE ", .postgreSQL)
                for (column, value) in contents {
                    text.append("t.\(SQLName.quoted(column)) = ")
                    text.append(value: value)
                    text.append(" AND ")
                }
                text.append("t.\"id\" <> ")
                text.append(value: .integer(writer.number(record) ?? 0))
                text.append(" LIMIT 1")
                asked.append((claim, record, .init(text)))
            }
        }
        let results = try connection.run(asked.map(\.statement))
        for (ask, result) in zip(asked, results) {
            guard let row = result.rows.first else { continue }
            let other = try writer.found(row)
            let entity = try writer.entity(ask.record)
            let constraint = entity.layout.uniqueConstraints.first { constraint in
                constraint.map { entity.slots[$0].number } == ask.claim.constraint
            }
            guard let constraint, !gone.contains(other) else { continue }
            if let place = changing[other] {
                if constraint.contains(where: { requested.changes($0, ofUpdated: place) }) { continue }
                return notUnique(entity, constraint, writer.permanent[ask.record] ?? ask.record, other)
            }
            if isBatch { return notUnique(entity, constraint, writer.permanent[ask.record] ?? ask.record, other) }
            // The context has looked for it before, and found nothing.
            return RecordsSuperseded([other])
        }
        return error
    }

    /// Why a new record did not get its number: somebody has given it to another one. Nil where another constraint refuses.
    private func takenNumber(
        _ error: PostgreSQLError, _ requested: RequestedChanges, _ writer: SaveWriter,
        _ connection: PostgreSQLConnection
    ) throws -> PostgreSQLError? {
        guard case .engine(_, _, let table?, _, let constraint?) = error.fault, constraint.hasPrefix("\(table)_pkey"),
            let (_, numbers) = writer.numbers(writer.permanent.values).first(where: { $0.table == table })
        else { return nil }
        let found = try connection.run(
            "SELECT t.\"id\" FROM \(SQLName.quoted(table)) t WHERE t.\"id\" = ANY($1::int8[]) ORDER BY 1 LIMIT 1",
            [.numbers(numbers)])
        guard let number = found.rows.first?.integer(0),
            let record = writer.permanent.values.first(where: { writer.number($0) == number })
        else { return nil }
        return self.error(
            .damagedMetadata(
                "the next record would be \(record), and \(table) has that number already, by another program perhaps; "
                    + "nextNumber of mortise_store has to be greater"))
    }

    private func notUnique(
        _ entity: TableMapping.Entity, _ constraint: [Int], _ record: PersistentIdentifier,
        _ other: PersistentIdentifier
    ) -> PostgreSQLError {
        error(
            .notUnique(
                entity: entity.name, properties: constraint.map { entity.layout.slots[$0].name }, record: record,
                other: other))
    }

    /// The columns and contents of a unique constraint; nil where it does not count, because a value is null or no number.
    private func claimed(
        _ values: ContiguousArray<StoredValue>, _ constraint: [Int], _ entity: TableMapping.Entity, _ writer: SaveWriter
    ) -> [(column: String, value: SQLValue)]? {
        var found: [(column: String, value: SQLValue)] = []
        for place in constraint {
            let slot = entity.slots[place]
            guard let column = mapping.comparedColumn(slot.place) else { return nil }
            var value: SQLValue?
            switch (slot.place, values[place]) {
            case (.attribute(let columns), let attribute):
                if columns.kind.isNaN(attribute) { return nil }
                value = AttributeColumns.compared(attribute, as: columns.kind, .postgreSQL)
            case (_, .identifier(let target)):
                value = writer.number(writer.permanent[target] ?? target).map(SQLValue.integer)
            default: break
            }
            guard let value, !value.isNull else { return nil }
            found.append((column, value))
        }
        return found.isEmpty ? nil : found
    }
}
#endif
