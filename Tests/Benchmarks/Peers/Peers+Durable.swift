#if BenchmarkPeers
import Foundation
import GRDBSQLite

// What the log's rows stand beside: SQLite with every commit on the disk, and the size of its file.

extension Peers {
    /// One record in each transaction, in WAL mode with synchronous=FULL: the same promise as a log's. All records are there
    /// before.
    func committing(_ saves: Int, _ fixture: Fixture) throws -> Way {
        let sqlite = try SQLiteConnection(path: fixture.newFile("sqlite"))
        try sqlite.execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL")
        try sqlite.execute(Self.tables)
        try sqlite.execute("BEGIN")
        for values in fixture.trips { try sqlite.insert(values) }
        try sqlite.execute("COMMIT; PRAGMA wal_checkpoint(TRUNCATE)")
        return Way(name: Row.sqliteDurable, units: saves) {
            try sqlite.insert(fixture.trips[0])
            let before = sqlite.number(try sqlite.statement("SELECT COUNT(*) FROM trip"))
            return {
                for number in 0..<saves {
                    try sqlite.execute("BEGIN")
                    try sqlite.insert(fixture.trips[number % fixture.trips.count])
                    try sqlite.execute("COMMIT")
                }
                return { sqlite.number(try sqlite.statement("SELECT COUNT(*) FROM trip")) - before }
            }
        }
    }

    /// The file with all records and an index for the parent, beside the other three, vacuumed.
    func size(_ fixture: Fixture) -> [Gauge] {
        [
            Gauge(name: Row.sqlite, units: fixture.records, quantity: .bytes) {
                let path = fixture.newFile("sqlite")
                defer { try? FileManager.default.removeItem(atPath: path) }
                let sqlite = try SQLiteConnection(path: path)
                try sqlite.execute(Self.tables)
                try sqlite.execute("CREATE INDEX trip_traveler ON trip(traveler)")
                try sqlite.execute("BEGIN")
                for values in fixture.trips { try sqlite.insert(values) }
                try sqlite.execute("COMMIT")
                try sqlite.execute("VACUUM")
                let size = try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int
                return Double(size ?? 0)
            }
        ]
    }
}
#endif
