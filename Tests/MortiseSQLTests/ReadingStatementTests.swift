import MortiseCore
import MortiseSQL
import Testing

/// What is taken for a statement that reads, before a database is asked.
@Suite struct ReadingStatementTests {
    private func fault(_ text: String, nestsComments: Bool = false) -> StatementError? {
        do throws(StatementError) {
            _ = try ReadingStatement(text, nestsComments: nestsComments)
            return nil
        } catch { return error }
    }

    @Test(arguments: [
        "SELECT 1", "select 1", "\n\t Select 1", "-- a\nSELECT 1", "/* a */SELECT 1", "/**/ -- b\n /* c */ VALUES (1)",
        "WITH a AS (SELECT 1) SELECT * FROM a", "(SELECT 1)", "( ( SELECT 1))", "TABLE x", "SHOW server_version",
        "EXPLAIN SELECT 1", "EXPLAIN QUERY PLAN SELECT 1", "EXPLAIN (ANALYZE, BUFFERS) SELECT 1",
        "EXPLAIN ANALYZE VERBOSE SELECT 1", "EXPLAIN (SELECT 1)",
    ]) func aStatementThatReadsIsTaken(_ text: String) { #expect(fault(text) == nil) }

    @Test(arguments: [
        "PRAGMA x", "COPY x TO '/x'", "SET x = 1", "DO $$ $$", "CALL x()", "LOAD 'x'", "SELECTED", "VACUUM",
        "EXPLAIN PRAGMA x", "EXPLAIN QUERY PLAN PRAGMA x", "EXPLAIN (ANALYZE) DELETE FROM x",
        "EXPLAIN (FORMAT TEXT) COPY x", "-- SELECT\nCOPY x", "/* SELECT */COPY x", "(COPY x)", "\u{200B}SELECT 1",
        "'SELECT'", "\"SELECT\"", "$$SELECT$$", "/SELECT", "-SELECT", "COMMIT", "LISTEN x",
    ]) func anyOtherIsRefused(_ text: String) { #expect(fault(text) == .notReadOnly) }

    @Test(arguments: ["", " \n", ";", " ; ;", "-- a", "/* a */", "/* a"]) func nothingIsNoStatement(_ text: String) {
        #expect(fault(text) == .notOne)
    }

    /// What one database takes for a comment is a statement for the other.
    @Test func commentsNestWhereTheDatabaseNestsThem() {
        #expect(fault("/* /* */ SELECT */ COPY x", nestsComments: true) == .notReadOnly)
        #expect(fault("/* /* */ PRAGMA x -- */ SELECT 1") == .notReadOnly)
        #expect(fault("/* /* */ */ SELECT 1", nestsComments: true) == nil)
        #expect(fault("SELECT 1\u{0}") != nil)
    }
}
