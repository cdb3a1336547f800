#if BenchmarkPeers
import Foundation
import GRDB

/// The ledger on GRDB: a file in WAL mode with synchronous=FULL, where a commit is on the disk when it returns, as in a log.
final class LedgerPeer {
    let pool: DatabasePool
    private let path: String

    /// The database that has everything.
    init(_ fixture: Fixture) throws {
        path = fixture.newFile("sqlite")
        pool = try Self.newPool(path)
        try Self.importAll(fixture.ledger.entries, into: pool)
        try pool.writeWithoutTransaction { db in _ = try db.checkpoint(.truncate) }
    }

    static func newPool(_ path: String) throws -> DatabasePool {
        let pool = try DatabasePool(path: path)
        try pool.writeWithoutTransaction { db in
            // Opening in WAL mode has set NORMAL.
            try db.execute(sql: "PRAGMA synchronous = FULL")
            guard try Int.fetchOne(db, sql: "PRAGMA synchronous") == 2 else { throw LedgerPeerFailure.notDurable }
            if try !db.tableExists("entry") { try db.execute(sql: LedgerTables.sql) }
        }
        return pool
    }

    /// A file of its own with everything, not open.
    func copy(_ fixture: Fixture) throws -> String {
        let copy = fixture.newFile("sqlite")
        try FileManager.default.copyItem(atPath: path, toPath: copy)
        return copy
    }

    static func close(_ pool: DatabasePool, _ path: String) throws {
        try pool.close()
        for end in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + end) }
    }

    // MARK: Importing

    private static func start(_ db: Database) throws {
        for place in 0..<LedgerValues.accountCount {
            try AccountRecord(
                id: Int64(place + 1), number: LedgerValues.accountNumber(place), name: "Account \(place)"
            ).insert(db)
        }
        for place in 0..<LedgerValues.tagCount {
            try TagRecord(id: Int64(place + 1), name: LedgerValues.tagName(place)).insert(db)
        }
    }

    static func importAll(_ entries: [LedgerValues], into pool: DatabasePool) throws {
        try pool.write(start)
        for start in stride(from: 0, to: entries.count, by: Ledger.batch) {
            try pool.write { db in
                for values in entries[start..<min(start + Ledger.batch, entries.count)] {
                    try EntryRecord(values).insert(db)
                    let entry = db.lastInsertedRowID
                    for split in values.splits {
                        try SplitRecord(
                            cents: split.cents, month: values.month, category: split.category, entry: entry
                        ).insert(db)
                    }
                    for tag in values.tags { try EntryTagRecord(entry: entry, tag: Int64(tag + 1)).insert(db) }
                }
            }
        }
    }

    static func importAllCodable(_ entries: [LedgerValues], into pool: DatabasePool) throws {
        try pool.write(start)
        for start in stride(from: 0, to: entries.count, by: Ledger.batch) {
            try pool.write { db in
                for values in entries[start..<min(start + Ledger.batch, entries.count)] {
                    try CodableEntryRecord(values).insert(db)
                    let entry = db.lastInsertedRowID
                    for split in values.splits {
                        try CodableSplitRecord(
                            cents: split.cents, month: values.month, category: split.category, entry: entry
                        ).insert(db)
                    }
                    for tag in values.tags {
                        try CodableEntryTagRecord(entry: entry, tag: Int64(tag + 1)).insert(db)
                    }
                }
            }
        }
    }

    static func contents(_ db: Database) throws -> Int {
        func count(_ table: String) throws -> Int {
            try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM \(table)") ?? 0
        }
        return Ledger.check(try count("entry"), try count("split"), try count("entry_tag"))
    }
}

enum LedgerPeerFailure: Error { case notDurable }

extension Peers {
    static let ledgersInMemory = [(Row.grdb, "ledger-peer")]

    /// What the process does whose memory is measured.
    static func importLedger(_ entries: [LedgerValues], into path: String) throws {
        try LedgerPeer.importAll(entries, into: LedgerPeer.newPool(path))
    }

    func ways(_ work: LedgerWork) throws -> [Way] {
        let entries = fixture.ledger.entries
        switch work {
        case .importing:
            return [
                importing(Row.grdb, LedgerPeer.importAll), importing(Row.grdbCodable, LedgerPeer.importAllCodable),
            ]
        case .monthsAndCategories:
            return [
                try totals(
                    "SELECT month || category, COUNT(*), SUM(cents) FROM split GROUP BY month, category ORDER BY 1",
                    entries.count * 2)
            ]
        case .months:
            return [
                try totals("SELECT month, COUNT(*), SUM(cents) FROM entry GROUP BY month ORDER BY 1", entries.count)
            ]
        case .counts(let limits):
            let pool = try ledger.get().pool
            return [
                Way(name: Row.grdbStatement, units: limits.count) {
                    {
                        let sum = try pool.read { db in
                            let statement = try db.cachedStatement(sql: "SELECT COUNT(*) FROM entry WHERE cents > ?")
                            return try limits.reduce(0) {
                                try $0 + (Int.fetchOne(statement, arguments: [$1]) ?? 0)
                            }
                        }
                        return { sum }
                    }
                }
            ]
        case .pages(let pages, let size, let skipped): return [try paging(pages, size, skipped)]
        case .findOrCreate(let names): return [try findingOrCreating(names)]
        case .deleting(let account, let lost): return [try deleting(account, lost)]
        }
    }

    private func importing(
        _ name: String, _ work: @escaping ([LedgerValues], DatabasePool) throws -> Void
    ) -> Way {
        let entries = fixture.ledger.entries
        return Way(name: name, units: entries.count) { [fixture] in
            let path = fixture.newFile("sqlite")
            let pool = try LedgerPeer.newPool(path)
            return {
                try work(entries, pool)
                return {
                    let contents = try pool.read(LedgerPeer.contents)
                    try LedgerPeer.close(pool, path)
                    return contents
                }
            }
        }
    }

    private func totals(_ sql: String, _ units: Int) throws -> Way {
        let pool = try ledger.get().pool
        return Way(name: Row.grdb, units: units) {
            {
                let groups = try pool.read { db in
                    let rows = try GRDB.Row.fetchAll(db.cachedStatement(sql: sql))
                    return rows.map { (key: $0[0] as String, count: $0[1] as Int, cents: $0[2] as Int64) }
                }
                return { Ledger.check(groups) }
            }
        }
    }

    private func paging(_ pages: Int, _ size: Int, _ skipped: Int) throws -> Way {
        let pool = try ledger.get().pool
        let sql = """
            SELECT * FROM entry WHERE (date, reference) > (?, ?) ORDER BY date, reference LIMIT \(size)
            """
        let last = try pool.read { db in
            try EntryRecord.fetchOne(
                db, sql: "SELECT * FROM entry ORDER BY date, reference LIMIT 1 OFFSET \(skipped - 1)")
        }
        return Way(name: Row.grdbStatement, units: pages) {
            {
                var shown: [EntryRecord] = []
                var place = last
                for _ in 0..<pages {
                    guard let after = place else { break }
                    let page = try pool.read { db in
                        try EntryRecord.fetchAll(
                            db.cachedStatement(sql: sql),
                            arguments: [after.date.timeIntervalSinceReferenceDate, after.reference])
                    }
                    shown += page
                    place = page.last
                }
                return { [shown] in
                    Ledger.check(
                        shown.map {
                            ($0.reference + $0.payee, Int($0.date.timeIntervalSinceReferenceDate), $0.cents)
                        })
                }
            }
        }
    }

    private func findingOrCreating(_ names: [String]) throws -> Way {
        let pool = try LedgerPeer.newPool(fixture.newFile("sqlite"))
        return Way(name: Row.grdbStatement, units: names.count) {
            {
                try pool.write { db in
                    let statement = try db.cachedStatement(sql: "SELECT * FROM tag WHERE name = ?")
                    for name in names {
                        if try TagRecord.fetchOne(statement, arguments: [name]) == nil {
                            try TagRecord(name: name).insert(db)
                        }
                    }
                }
                return {
                    try pool.write { db in
                        let count = try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM tag") ?? 0
                        try db.execute(sql: "DELETE FROM tag")
                        return count
                    }
                }
            }
        }
    }

    private func deleting(_ account: String, _ lost: Int) throws -> Way {
        let ledger = try ledger.get()
        return Way(name: Row.grdb, units: lost) { [fixture] in
            let path = try ledger.copy(fixture)
            let pool = try LedgerPeer.newPool(path)
            _ = try pool.read(LedgerPeer.contents)
            return {
                try pool.write { try $0.execute(sql: "DELETE FROM account WHERE number = ?", arguments: [account]) }
                return {
                    let contents = try pool.read(LedgerPeer.contents)
                    try LedgerPeer.close(pool, path)
                    return contents
                }
            }
        }
    }
}
#endif
