#if BenchmarkPeers
import Foundation
import GRDB
import GRDBSQLite

/// GRDB and SQLite with the records of a fixture: on disk in WAL mode, as a program would keep them.
final class Peers {
    unowned let fixture: Fixture
    private(set) lazy var ledger = Result { try LedgerPeer(fixture) }
    private var disk: (pool: DatabasePool, sqlite: SQLiteConnection)?

    init(_ fixture: Fixture) { self.fixture = fixture }

    static var note: String? { nil }

    /// The database for everything but insertion, which has a fresh one each time. Where parents look for their
    /// children there is an index for that too, beside the three that insertion pays for.
    private func saved() throws -> (pool: DatabasePool, sqlite: SQLiteConnection) {
        if let disk { return disk }
        let path = fixture.newFile("sqlite")
        let pool = try newPool(path)
        let sqlite = try SQLiteConnection(path: path)
        try sqlite.execute("BEGIN")
        for values in fixture.trips { try sqlite.insert(values) }
        try sqlite.execute("COMMIT")
        try sqlite.execute("CREATE INDEX trip_traveler ON trip(traveler)")
        try sqlite.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        disk = (pool, sqlite)
        return (pool, sqlite)
    }

    private func newPool(_ path: String) throws -> DatabasePool {
        let pool = try DatabasePool(path: path)
        try pool.write { try $0.execute(sql: Self.tables) }
        return pool
    }

    func ways(_ work: PeerWork) throws -> [Way] {
        let all = fixture.records
        switch work {
        case .filter(let destination, let price):
            // The plus keeps SQLite from using the index that the other side does not have here either.
            let sql = "SELECT * FROM trip WHERE +destination = ? AND price < ?"
            return try [
                reading(Row.grdb, all) { db in
                    let statement = try db.cachedStatement(sql: sql)
                    let trips = try TripRecord.fetchAll(statement, arguments: [destination, price])
                    return { trips.count }
                },
                c(Row.sqlite, all) { sqlite in
                    let statement = try sqlite.statement(sql)
                    SQLiteConnection.bind(destination, 1, statement)
                    sqlite3_bind_double(statement, 2, price)
                    let trips = sqlite.trips(statement)
                    return { trips.count }
                },
            ]
        case .count(let destination, let price):
            let sql = "SELECT COUNT(*) FROM trip WHERE +destination = ? AND price < ?"
            return try [
                reading(Row.grdb, all) { db in
                    let count = try Int.fetchOne(db.cachedStatement(sql: sql), arguments: [destination, price])
                    return { count ?? 0 }
                },
                c(Row.sqlite, all) { sqlite in
                    let statement = try sqlite.statement(sql)
                    SQLiteConnection.bind(destination, 1, statement)
                    sqlite3_bind_double(statement, 2, price)
                    let count = sqlite.number(statement)
                    return { count }
                },
            ]
        case .fetchAll:
            return try [
                reading(Row.grdb, all) { db in
                    let trips = try TripRecord.fetchAll(db, sql: "SELECT * FROM trip")
                    return { trips.count }
                },
                reading(Row.grdbCodable, all) { db in
                    let trips = try CodableTripRecord.fetchAll(db, sql: "SELECT * FROM trip")
                    return { trips.count }
                },
                c(Row.sqlite, all) { sqlite in
                    let trips = sqlite.trips(try sqlite.statement("SELECT * FROM trip"))
                    return { trips.count }
                },
            ]
        case .readAll:
            return try [
                reading(Row.grdb, all) { db in
                    let trips = try TripRecord.fetchAll(db, sql: "SELECT * FROM trip")
                    let sum = trips.reduce(0) { $0 + $1.values.checkSum }
                    return { trips.isEmpty ? 0 : sum }
                },
                c(Row.sqlite, all) { sqlite in
                    let trips = sqlite.trips(try sqlite.statement("SELECT * FROM trip"))
                    let sum = trips.reduce(0) { $0 + $1.checkSum }
                    return { trips.isEmpty ? 0 : sum }
                },
            ]
        case .sortLimit(let column):
            let sql = "SELECT * FROM trip ORDER BY \(column) LIMIT 20"
            return try [
                reading(Row.grdb, all) { db in
                    let trips = try TripRecord.fetchAll(db.cachedStatement(sql: sql))
                    return { trips.sumOfPrices }
                },
                c(Row.sqlite, all) { sqlite in
                    let trips = sqlite.trips(try sqlite.statement(sql))
                    return { trips.reduce(0) { $0 + Int($1.price) } }
                },
            ]
        case .sortAll:
            return [
                try reading(Row.grdb, all) { db in
                    let trips = try TripRecord.fetchAll(db, sql: "SELECT * FROM trip ORDER BY price")
                    return { trips.count }
                }
            ]
        case .lookUp(let places):
            return [
                try reading(Row.grdbStatement, places.count) { db in
                    let statement = try db.cachedStatement(sql: "SELECT * FROM trip WHERE key = ?")
                    let trips = try places.map { try TripRecord.fetchOne(statement, arguments: [$0 + 1]) }
                    return { Set(trips.compactMap { $0?.values.id }).count }
                }
            ]
        case .equality(let names):
            return try [
                reading(Row.grdbStatement, names.count) { db in
                    let statement = try db.cachedStatement(sql: "SELECT * FROM trip WHERE name = ?")
                    let sum = try names.reduce(0) {
                        try $0 + TripRecord.fetchAll(statement, arguments: [$1]).sumOfPrices
                    }
                    return { sum }
                },
                reading(Row.grdbInterface, names.count) { db in
                    let sum = try names.reduce(0) { sum, name in
                        try sum + TripRecord.filter(Column("name") == name).fetchAll(db).sumOfPrices
                    }
                    return { sum }
                },
            ]
        case .children(let parents):
            let sql = "SELECT * FROM trip WHERE traveler = ?"
            return try [
                c(Row.sqlite, parents) { sqlite in
                    let statement = try sqlite.statement(sql)
                    var trips: [[TripValues]] = []
                    // One transaction for all of them, as the others have.
                    try sqlite.execute("BEGIN")
                    for parent in 0..<parents {
                        sqlite3_reset(statement)
                        sqlite3_bind_int64(statement, 1, Int64(parent))
                        trips.append(sqlite.trips(statement))
                    }
                    try sqlite.execute("COMMIT")
                    return { [trips] in trips.reduce(0) { $0 + $1.count } }
                },
                reading(Row.grdb, parents) { db in
                    let statement = try db.cachedStatement(sql: sql)
                    let trips = try (0..<parents).map { try TripRecord.fetchAll(statement, arguments: [$0]) }
                    return { trips.reduce(0) { $0 + $1.count } }
                },
            ]
        case .insert:
            return [inserting(Row.grdb, onDisk: true), inserting(Row.grdbMemory, onDisk: false), insertingInC]
        case .insertToDisk: return try [inserting(Row.grdb, onDisk: true)] + LMDB.ways(fixture)
        case .commit(let saves): return [try committing(saves, fixture)]
        case .update(let date): return try [updating(before: date), updatingAtOnce(before: date)]
        case .delete(let start, let end): return [try deleting(from: start, to: end)]
        }
    }

    // MARK: Reading

    /// - Parameter body: what it returns keeps the records, so that freeing them is not part of the time.
    private func reading(_ name: String, _ units: Int, _ body: @escaping (Database) throws -> Check) throws -> Way {
        let pool = try saved().pool
        return Way(name: name, units: units) { { try pool.read(body) } }
    }

    private func c(_ name: String, _ units: Int, _ body: @escaping (SQLiteConnection) throws -> Check) throws -> Way {
        let sqlite = try saved().sqlite
        return Way(name: name, units: units) { { try body(sqlite) } }
    }

    // MARK: Writing

    private func inserting(_ name: String, onDisk: Bool) -> Way {
        Way(name: name, units: fixture.records) { [fixture] in
            let path = fixture.newFile("sqlite")
            let writer: any DatabaseWriter = onDisk ? try self.newPool(path) : try DatabaseQueue()
            if !onDisk { try writer.write { try $0.execute(sql: Self.tables) } }
            return {
                try writer.write { db in
                    for values in fixture.trips { try TripRecord(values).insert(db) }
                }
                return {
                    let count = try writer.read { try TripRecord.fetchCount($0) }
                    try writer.close()
                    for end in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + end) }
                    return count
                }
            }
        }
    }

    private var insertingInC: Way {
        Way(name: Row.sqliteMemory, units: fixture.records) { [fixture] in
            let sqlite = try SQLiteConnection(path: ":memory:")
            try sqlite.execute(Self.tables)
            return {
                try sqlite.execute("BEGIN")
                for values in fixture.trips { try sqlite.insert(values) }
                try sqlite.execute("COMMIT")
                return { sqlite.number(try sqlite.statement("SELECT COUNT(*) FROM trip")) }
            }
        }
    }

    private func updating(before date: Date) throws -> Way {
        let pool = try saved().pool
        let limit = date.timeIntervalSinceReferenceDate
        let count = fixture.trips.count { $0.startDate < date }
        return Way(name: Row.grdb, units: count) {
            {
                try pool.write { db in
                    let found = try TripRecord.fetchAll(
                        db, sql: "SELECT * FROM trip WHERE startDate < ?", arguments: [limit])
                    for var trip in found {
                        trip.values.price += 1
                        try trip.update(db, columns: ["price"])
                    }
                    return found.count
                }.asCheck
            }
        }
    }

    /// Without making records of them: what SQL is best at.
    private func updatingAtOnce(before date: Date) throws -> Way {
        let pool = try saved().pool
        let limit = date.timeIntervalSinceReferenceDate
        let count = fixture.trips.count { $0.startDate < date }
        return Way(name: Row.grdbUpdate, units: count) {
            {
                try pool.write { db in
                    try db.execute(sql: "UPDATE trip SET price = price + 1 WHERE startDate < ?", arguments: [limit])
                    return db.changesCount
                }.asCheck
            }
        }
    }

    private func deleting(from start: Date, to end: Date) throws -> Way {
        let pool = try saved().pool
        let lost = fixture.trips.filter { $0.startDate >= start && $0.startDate < end }
        return Way(name: Row.grdb, units: lost.count) {
            {
                let count = try pool.write { db in
                    try db.execute(
                        sql: "DELETE FROM trip WHERE startDate >= ? AND startDate < ?",
                        arguments: [start.timeIntervalSinceReferenceDate, end.timeIntervalSinceReferenceDate])
                    return db.changesCount
                }
                return {
                    try pool.write { db in for values in lost { try TripRecord(values).insert(db) } }
                    return count
                }
            }
        }
    }
}

extension [TripRecord] {
    fileprivate var sumOfPrices: Int { reduce(0) { $0 + Int($1.values.price) } }
}

extension Int {
    fileprivate var asCheck: Check { { self } }
}
#endif
