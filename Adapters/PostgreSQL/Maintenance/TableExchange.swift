#if PostgreSQL
import MortiseCore
import MortiseSQL

/// Puts the tables of a store that was made from another one into its place, within the transaction of the migration.
struct TableExchange {
    let turn: MigrationTurn
    let places: MigrationPlaces

    private static let own = [
        "mortise_store", "mortise_entity", "mortise_property", "mortise_history", "mortise_saves",
        "mortise_holder",
    ]
    private var connection: PostgreSQLConnection { turn.connection }

    /// The tables that the store's description of itself names.
    private var names: [String] {
        let catalog = turn.stored.catalog
        let links = catalog.properties.filter { $0.form.hasPrefix("to-many ") }.map(\.place)
        return Self.own + Set(catalog.entities.map(\.table) + links).sorted()
    }

    /// Those of them that are there: a later schema may have done without some.
    private func tables() throws -> [String] {
        let there = Set(
            try connection.run(
                "SELECT t.table_name::text FROM information_schema.tables t WHERE t.table_schema = current_schema()"
            )
            .rows.compactMap { $0.text(0) })
        return names.filter(there.contains)
    }

    /// - Throws: `PostgreSQLError`, `.usedByOthers` for what other programs have made of the tables, and what would stay with the old ones.
    func checkForOthers() throws {
        let found = try connection.run(
            """
            WITH own AS (SELECT c.oid FROM pg_class c WHERE c.relnamespace = current_schema()::regnamespace \
            AND c.relname::text = ANY($1::text[])) \
            SELECT DISTINCT f.what FROM ( \
            SELECT 'the view ' || r.ev_class::regclass::text AS what FROM pg_depend d \
            JOIN pg_rewrite r ON d.classid = 'pg_rewrite'::regclass AND d.objid = r.oid \
            WHERE d.refclassid = 'pg_class'::regclass AND d.refobjid IN (SELECT oid FROM own) \
            UNION ALL SELECT 'the trigger ' || t.tgname::text FROM pg_trigger t \
            WHERE NOT t.tgisinternal AND t.tgrelid IN (SELECT oid FROM own) \
            UNION ALL SELECT 'the foreign key ' || k.conname::text || ' of ' || k.conrelid::regclass::text \
            FROM pg_constraint k WHERE k.contype = 'f' AND k.confrelid IN (SELECT oid FROM own) \
            AND k.conrelid NOT IN (SELECT oid FROM own) \
            UNION ALL SELECT 'the index ' || x.indexrelid::regclass::text FROM pg_index x \
            JOIN pg_class c ON c.oid = x.indexrelid WHERE x.indrelid IN (SELECT oid FROM own) \
            AND NOT x.indisprimary AND c.relname NOT LIKE 'mortise\\_%' \
            UNION ALL SELECT 'the policy ' || p.polname::text FROM pg_policy p WHERE p.polrelid IN (SELECT oid FROM own) \
            UNION ALL SELECT 'the publication ' || b.pubname::text FROM pg_publication_rel r \
            JOIN pg_publication b ON b.oid = r.prpubid WHERE r.prrelid IN (SELECT oid FROM own) \
            UNION ALL SELECT 'the table ' || i.inhrelid::regclass::text FROM pg_inherits i \
            WHERE i.inhparent IN (SELECT oid FROM own) \
            ) f ORDER BY 1
            """, [.array(names.map(SQLValue.text), of: "text")])
        let what = found.rows.compactMap { $0.text(0) }
        if what.isEmpty { return }
        throw PostgreSQLError(connection.location, .usedByOthers(what))
    }

    /// Moves the tables out of the way, and the others into their place.
    /// - Throws: `PostgreSQLError`. The transaction can only be given up then.
    func carryOut(takingFrom sibling: String, keepingCopy keepsCopy: Bool) throws {
        let (old, number) = (turn.stored, turn.stored.schemaNumber)
        // Every reading begins with this table: who has it alone waits for nobody who waits for it.
        try connection.run("LOCK TABLE mortise_store IN ACCESS EXCLUSIVE MODE")
        // Somebody may have made them meanwhile.
        try checkForOthers()
        let tables = try tables()
        let grants = try grants(of: tables)
        let namespace = try connection.run("SELECT current_schema()::text").rows.first?.text(0) ?? ""
        // Transactions are not numbered again, so that all tokens have expired.
        let last = try connection.run("SELECT s.\"lastTransaction\", s.\"nextNumber\" FROM mortise_store s").rows.first
        // Somebody may still ask what became of a save whose answer was lost.
        let next = SQLName.quoted(sibling)
        _ = try connection.run([
            .init("DELETE FROM \(next).mortise_saves"),
            .init("INSERT INTO \(next).mortise_saves SELECT s.key, s.n, s.first, s.count FROM mortise_saves s"),
        ])
        // Who has the old tables open finds another number, there and here.
        try connection.run("UPDATE mortise_store SET \"schemaNumber\" = $1::int8", [.integer(number + 1)])
        if keepsCopy {
            let copy = try places.makeCopy(connection, old.schema.version, number)
            for table in tables { try move(table, from: namespace, to: copy) }
        } else {
            let list = tables.map { SQLName.quoted($0) }.joined(separator: ", ")
            try connection.run("DROP TABLE \(list)")
        }
        for table in try MigrationPlaces.tables(in: sibling, connection) {
            try move(table, from: sibling, to: namespace)
            for grant in grants[table] ?? grants["mortise_store"] ?? [] {
                try connection.run("GRANT \(grant.privilege) ON \(SQLName.quoted(table)) TO \(grant.grantee)")
            }
        }
        try connection.run("DROP SCHEMA \(SQLName.quoted(sibling))")
        // They have been made by a program that knows its own version.
        var metadata = try StoreMetadata(connection)
        metadata.schema = metadata.schema.keepingNames(of: old.schema)
        try metadata.write(connection)
        try connection.run(
            "UPDATE mortise_store SET \"schemaNumber\" = $1::int8, \"lastTransaction\" = greatest(\"lastTransaction\", $2::int8) + 1, "
                + "\"nextNumber\" = greatest(\"nextNumber\", $3::int8)",
            [.integer(number + 1), .integer(last?.integer(0) ?? 0), .integer(last?.integer(1) ?? 1)])
        // The history begins after the migration.
        _ = try connection.run([
            .init("DELETE FROM mortise_history"),
            .init("UPDATE mortise_store SET horizon = \"lastTransaction\", \"horizonMark\" = NULL, erasure = 0"),
        ])
    }

    private func move(_ table: String, from namespace: String, to other: String) throws {
        try connection.run(
            "ALTER TABLE \(SQLName.quoted(namespace)).\(SQLName.quoted(table)) SET SCHEMA \(SQLName.quoted(other))")
    }

    /// By table, what its owner has let others do with it. New tables get what `mortise_store` has.
    private func grants(of tables: [String]) throws -> [String: [(privilege: String, grantee: String)]] {
        let found = try connection.run(
            """
            SELECT c.relname::text, a.privilege_type, a.is_grantable, \
            CASE a.grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(a.grantee)) END \
            FROM pg_class c CROSS JOIN LATERAL aclexplode(c.relacl) a \
            WHERE c.relnamespace = current_schema()::regnamespace AND c.relname::text = ANY($1::text[]) \
            AND a.grantee <> c.relowner
            """, [.array(tables.map(SQLValue.text), of: "text")])
        var grants: [String: [(privilege: String, grantee: String)]] = [:]
        for row in found.rows {
            guard let table = row.text(0), let privilege = row.text(1), let grantee = row.text(3) else { continue }
            grants[table, default: []].append((privilege, grantee + (row.bool(2) == true ? " WITH GRANT OPTION" : "")))
        }
        return grants
    }
}
#endif
