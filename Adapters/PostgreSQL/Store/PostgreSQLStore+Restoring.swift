#if PostgreSQL
import Foundation
public import MortiseCore
import MortiseSQL
import Synchronization

extension PostgreSQLStore {
    /// The number of the record that is inserted next.
    public var nextRecordNumber: UInt64 {
        (try? reading { _, moment in UInt64(clamping: moment.nextNumber) }) ?? 1
    }

    /// Stores records of another store under their identifiers. They may refer to records that come with later calls: references are
    /// not checked.
    /// - Throws: `PostgreSQLError`, which names the record at fault.
    public func restore(_ records: [DefaultSnapshot], ofStore store: String, nextNumber: UInt64) throws {
        guard allowsSave else { throw error(.readOnly) }
        guard nextNumber < 1 << 62 else {
            throw error(.misfit("The store has used up the numbers that records can have"))
        }
        let known = identifier
        do {
            try restoring(records, ofStore: store, nextNumber: nextNumber)
        } catch {
            // What the tables have: the end may have come through although its answer was lost.
            let found = try? pool.using { connection in
                try connection.run("SELECT s.identifier FROM mortise_store s").rows.first?.text(0)
                    .flatMap(EscapedText.text)
            }
            current.withLock { $0 = (found ?? nil) ?? known }
            throw error
        }
    }

    private func restoring(_ records: [DefaultSnapshot], ofStore store: String, nextNumber: UInt64) throws {
        try saveLock.withLock {
            try pool.using { connection in
                try connection.transaction {
                    let results = try connection.run([
                        .init("SELECT 1 FROM mortise_store FOR UPDATE"), .init(Self.momentText),
                    ])
                    _ = try moment(results[1])
                    if identifier != store {
                        for table in Set(mapping.entities.values.map(\.table)).sorted() {
                            let found = try connection.run("SELECT 1 FROM \(SQLName.quoted(table)) t LIMIT 1")
                            guard found.count == 0 else { throw error(.notEmpty) }
                        }
                        try connection.run(
                            "UPDATE mortise_store SET identifier = $1::text", [.text(EscapedText.escaped(store))])
                        current.withLock { $0 = store }
                    }
                    try setReferences(connection, areChecked: false)
                    let writer = SaveWriter(self, connection)
                    for (table, values) in try writer.insert(records, noting: false) { writer.add(table, values) }
                    writer.addLinks()
                    writer.statements.append(
                        .init(
                            "UPDATE mortise_store SET \"nextNumber\" = greatest(\"nextNumber\", $1::int8), "
                                + "\"holdsNaN\" = \"holdsNaN\" OR $2::bool",
                            [.integer(Int64(clamping: nextNumber)), .bool(writer.holdsNaN)]))
                    _ = try connection.run(writer.statements)
                    try setReferences(connection, areChecked: true)
                    if writer.holdsNaN { knownNaN.withLock { $0 = true } }
                }
            }
        }
    }

    /// Removes the references of the store's tables, or puts them back without looking at what is there. Other programs may have tables
    /// in the same schema.
    private func setReferences(_ connection: PostgreSQLConnection, areChecked: Bool) throws {
        if !areChecked {
            let tables = Set(mapping.catalog.entities.map(\.table)).union(
                linkSlots.compactMap { owner, place in
                    if case .links(let links) = owner.slots[place].place { links } else { nil }
                })
            let found = try connection.run(
                """
                SELECT c.conrelid::regclass::text, c.conname::text FROM pg_constraint c \
                JOIN pg_class t ON t.oid = c.conrelid JOIN pg_class d ON d.oid = c.confrelid \
                WHERE c.contype = 'f' AND c.connamespace = current_schema()::regnamespace \
                AND d.relnamespace = c.connamespace \
                AND t.relname::text = ANY($1::text[]) AND d.relname::text = ANY($1::text[])
                """, [.array(tables.sorted().map(SQLValue.text), of: "text")])
            _ = try connection.run(
                found.rows.compactMap { row in
                    guard let table = row.text(0), let name = row.text(1) else { return nil }
                    return .init("ALTER TABLE \(table) DROP CONSTRAINT \(SQLName.quoted(name))")
                })
            return
        }
        var statements: [PostgreSQLConnection.Statement] = []
        func add(_ table: String, _ column: String, _ destination: String) {
            guard let target = mapping.entities[destination]?.table else { return }
            statements.append(
                .init(
                    "ALTER TABLE \(SQLName.quoted(table)) ADD FOREIGN KEY (\(SQLName.quoted(column))) "
                        + "REFERENCES \(SQLName.quoted(target)) (\"id\") DEFERRABLE INITIALLY DEFERRED NOT VALID"))
        }
        for (owner, place, column, _) in referenceSlots { add(owner.table, column, owner.slots[place].destination) }
        for (owner, place) in linkSlots {
            guard case .links(let links) = owner.slots[place].place else { continue }
            add(links, TableMapping.Link.owner, owner.name)
            add(links, TableMapping.Link.member, owner.slots[place].destination)
        }
        _ = try connection.run(statements)
    }
}
#endif
