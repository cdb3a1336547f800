#if PostgreSQL
import MortiseCore
import MortiseSQL

/// The schemas of the database in which migrations of a store keep tables: those of the store to come, and those of the store as it was.
/// Each says so in its comment; a schema without that comment is somebody else's.
struct MigrationPlaces {
    private let namespace: String
    /// PostgreSQL cuts longer names.
    private static let longestName = 63

    init(of namespace: String) { self.namespace = namespace }

    /// Where the records of the next version are written.
    var sibling: String { fitted("_mortise_next") }

    /// Where the tables stay of a store that had a version of its schema and a number for it.
    func copy(_ version: Schema.Version, _ number: Int64) -> String { fitted("_before_\(version)_\(number)") }

    private func fitted(_ end: String) -> String {
        if namespace.utf8.count + end.utf8.count <= Self.longestName { return namespace + end }
        // FNV-1a, so that two long names have two places.
        let hash = namespace.utf8.reduce(0x811C_9DC5 as UInt32) { ($0 ^ UInt32($1)) &* 0x0100_0193 }
        let end = "_" + String(hash, radix: 16) + end
        var name = namespace
        while name.utf8.count + end.utf8.count > Self.longestName, !name.isEmpty { name.removeLast() }
        return name + end
    }

    private var siblingComment: String { "mortise: the next version of \(namespace)" }
    private var copyComment: String { "mortise: a copy of \(namespace), number " }

    private static func literal(_ text: String) -> String { "'\(text.replacing("'", with: "''"))'" }

    // MARK: Making and removing

    /// Makes the schema of a sibling, in place of one that an interrupted migration has left.
    /// - Throws: `PostgreSQLError`, `.schemaTaken` if somebody else has a schema of that name.
    func makeSibling(_ connection: PostgreSQLConnection) throws {
        try removeSibling(connection)
        if try comment(of: sibling, connection) != nil {
            throw PostgreSQLError(connection.location, .schemaTaken(sibling))
        }
        _ = try connection.run([
            .init("CREATE SCHEMA \(SQLName.quoted(sibling))"),
            .init("COMMENT ON SCHEMA \(SQLName.quoted(sibling)) IS \(Self.literal(siblingComment))"),
        ])
    }

    func removeSibling(_ connection: PostgreSQLConnection) throws {
        guard try comment(of: sibling, connection) == siblingComment else { return }
        try connection.run("DROP SCHEMA \(SQLName.quoted(sibling)) CASCADE")
    }

    /// Makes the schema of a copy.
    /// - Returns: its name.
    func makeCopy(_ connection: PostgreSQLConnection, _ version: Schema.Version, _ number: Int64) throws -> String {
        let name = copy(version, number)
        _ = try connection.run([
            .init("CREATE SCHEMA \(SQLName.quoted(name))"),
            .init("COMMENT ON SCHEMA \(SQLName.quoted(name)) IS \(Self.literal(copyComment + "\(number)"))"),
        ])
        return name
    }

    /// The schemas of copies, newest first.
    func copies(_ connection: PostgreSQLConnection) throws -> [String] {
        let found = try connection.run(
            """
            SELECT n.nspname::text, obj_description(n.oid, 'pg_namespace') FROM pg_namespace n \
            WHERE obj_description(n.oid, 'pg_namespace') LIKE 'mortise: a copy of %'
            """)
        return found.rows.compactMap { row -> (name: String, number: Int64)? in
            // A copy that was renamed to be the store again keeps its comment.
            guard let name = row.text(0), name != namespace, let comment = row.text(1), comment.hasPrefix(copyComment),
                let number = Int64(comment.dropFirst(copyComment.count))
            else { return nil }
            return (name, number)
        }.sorted { $0.number > $1.number }.map(\.name)
    }

    /// Removes the tables of a copy, and its schema. Where others use them, nothing is removed.
    func removeCopy(_ name: String, _ connection: PostgreSQLConnection) throws {
        let tables = try Self.tables(in: name, connection)
        let list = tables.map { "\(SQLName.quoted(name)).\(SQLName.quoted($0))" }.joined(separator: ", ")
        try connection.transaction {
            // A program that has it open for writing has a share of this lock.
            let found = try connection.run(
                "SELECT pg_try_advisory_xact_lock(\(StoreLock.writing), hashtext($1::text))", [.text(name)])
            guard found.rows.first?.bool(0) == true else { return }
            if !tables.isEmpty { try connection.run("DROP TABLE \(list)") }
            try connection.run("DROP SCHEMA \(SQLName.quoted(name))")
        }
    }

    static func tables(in namespace: String, _ connection: PostgreSQLConnection) throws -> [String] {
        try connection.run(
            """
            SELECT c.relname::text FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace \
            WHERE n.nspname::text = $1::text AND c.relkind = 'r' ORDER BY 1
            """, [.text(namespace)]
        ).rows.compactMap { $0.text(0) }
    }

    /// Nil if there is no such schema; empty if it has no comment.
    private func comment(of name: String, _ connection: PostgreSQLConnection) throws -> String? {
        try connection.run(
            "SELECT coalesce(obj_description(n.oid, 'pg_namespace'), '') FROM pg_namespace n WHERE n.nspname::text = $1::text",
            [.text(name)]
        ).rows.first?.text(0)
    }
}
#endif
