#if Inspector
import Foundation
import MortiseCore
import Testing

/// What the storage has, and what it answers in its own language.
@Suite struct StorageTests {
    private func encoded(_ text: String) -> String {
        text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
    }

    /// Where the parts of a record are, by the page that shows them, with their first bytes.
    private func parts(_ page: String) -> [(offset: Int, bytes: [UInt8])] {
        page.matches(of: /byte ([\d,]+)<\/small><\/p><pre class="hex">0000  ([0-9a-f ]+?)  +[^<]{1,64}\n?/).map {
            match in
            let digits = match.2.split(separator: " ").prefix(16)
            return (
                Int(match.1.replacing(",", with: "")) ?? -1, digits.compactMap { UInt8($0, radix: 16) }
            )
        }
    }

    @Test(.timeLimit(.minutes(15))) func theBytesOfARecordAreThoseOfTheFile() throws {
        let store = try OddStore()
        try store.insert([OddStore.thing("Anvil"), OddStore.thing("Bellows")])
        let json = store.folder.appending(path: "odd.json").path
        #expect(try InspectorRun.tool(["copy", store.url, "json:" + json]) == 0)
        #expect(
            try InspectorRun.tool(["set", store.url, "Thing", "--where", "$id == 2", "name=Tongs", "--yes"]) == 0)
        let run = try InspectorRun([store.url, "json:" + json], keeping: store)
        for (number, path, count) in [(0, store.path, 2), (1, json, 1)] {
            let page = try run.get("/s/\(number)/storage/Thing/2")
            let file = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
            let found = parts(page.body)
            #expect(page.status == 200 && found.count == count, "\(page.body)")
            for part in found {
                #expect(!part.bytes.isEmpty && Array(file[part.offset..<part.offset + part.bytes.count]) == part.bytes)
            }
        }
        let log = try run.get("/s/0/storage/Thing/2").body
        #expect(log.contains("transaction 1, inserted") && log.contains("transaction 2, updated"))
        #expect(log.contains("Bellows") && log.contains("Tongs") && !log.contains("Anvil"))
        #expect(try run.get("/s/0/storage/Thing/99").status == 404)
        #expect(try run.get("/s/0/sql?q=x").status == 501)
    }

    #if SQLite
    private func sqlite() throws -> (store: OddStore, path: String, run: InspectorRun) {
        let store = try OddStore()
        try store.insert([OddStore.thing("Anvil"), OddStore.thing("<b>Bellows</b>", ["note": .string("é")])])
        let path = store.folder.appending(path: "odd.sqlite").path
        #expect(try InspectorRun.tool(["copy", store.url, "sqlite:" + path]) == 0)
        return (store, path, try InspectorRun(["sqlite:" + path], keeping: store))
    }

    @Test(.timeLimit(.minutes(15))) func aStatementReads() throws {
        let (_, _, run) = try sqlite()
        func ask(_ text: String, _ more: String = "") throws -> InspectorRun.Reply {
            try run.get("/s/0/sql?q=\(encoded(text))\(more)")
        }
        #expect(try run.get("/s/0").body.contains("href=\"/s/0/sql\""))
        let rows = try ask("SELECT name, size, NULL AS gap FROM Thing ORDER BY id; -- all\n")
        #expect(rows.status == 200 && rows.body.contains("2 rows in"), "\(rows.body)")
        #expect(rows.body.contains("&lt;b&gt;Bellows&lt;/b&gt;") && !rows.body.contains("<b>Bellows"))
        #expect(rows.body.contains("<th scope=\"col\">gap</th>") && rows.body.contains("class=\"v nil\""))
        #expect(try ask("select count(*) from pragma_table_info('Thing')").status == 200)
        #expect(try ask("SELECT * FROM Thing WHERE id = 1", "&plan=1").body.contains("PRIMARY KEY"))
        #expect(try ask("EXPLAIN QUERY PLAN SELECT * FROM Thing").body.contains("SCAN"))
        let many = try ask("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n")
        #expect(many.body.contains("the first 500 rows"))
        let long = try ask(
            "SELECT group_concat('01234567890123456789', '') AS h FROM (WITH RECURSIVE n(i) AS "
                + "(SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 100000) SELECT i FROM n)")
        #expect(long.body.contains("2.0 MB") && long.bytes.count < 20_000)
        let record = try run.get("/s/0/storage/Thing/2").body
        #expect(record.contains("<h2>note</h2>") && record.contains("c3 a9") && record.contains(">TEXT</span>"))
    }

    @Test(.timeLimit(.minutes(15))) func aStatementChangesNothing() throws {
        let (store, path, run) = try sqlite()
        let before = try Data(contentsOf: URL(fileURLWithPath: path))
        let other = store.folder.appending(path: "other.sqlite").path
        for text in [
            "INSERT INTO Shelf (id, ent, rv) VALUES (9, 1, 1)", "DELETE FROM Thing", "UPDATE Thing SET name = 'x'",
            "WITH x AS (SELECT 1) DELETE FROM Thing", "DROP TABLE Thing", "CREATE TABLE x (a)",
            "CREATE TEMP TABLE x (a)", "PRAGMA user_version = 7", "PRAGMA hard_heap_limit = 1",
            "EXPLAIN PRAGMA hard_heap_limit = 1", "EXPLAIN QUERY PLAN PRAGMA hard_heap_limit = 1",
            "/* SELECT */ PRAGMA hard_heap_limit = 1", "-- SELECT\nPRAGMA hard_heap_limit = 1",
            "ATTACH '\(other)' AS x", "VACUUM INTO '\(other)'", "VACUUM", "BEGIN", "SELECT 1; DELETE FROM Thing",
            "SELECT 1; SELECT 2", "SELECT load_extension('x')", "SELECT writefile('\(other)', 'x')", "SELECT ?", ";",
            "-- nothing", "SELECT", "SELECT 'open", "REINDEX", "ANALYZE", "(PRAGMA user_version)", "\u{0}",
        ] {
            let reply = try run.get("/s/0/sql?q=\(encoded(text))")
            #expect(reply.status == 400 && reply.body.contains("role=\"alert\""), "\(text): \(reply.status)")
        }
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == before)
        #expect(!FileManager.default.fileExists(atPath: other))
        #expect(try run.get("/s/0/e/Thing").body.contains("of 2"))
    }

    @Test(.timeLimit(.minutes(15))) func aStatementHasItsTime() throws {
        let (_, _, run) = try sqlite()
        let endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
        let clock = ContinuousClock.now
        let reply = try run.get("/s/0/sql?q=\(encoded(endless))")
        #expect(reply.status == 400 && reply.body.contains("took longer than"), "\(reply.status)")
        #expect(clock.duration(to: .now) < .seconds(120))
        #expect(try run.get("/s/0/e/Thing").status == 200)
    }
    #endif
}
#endif
