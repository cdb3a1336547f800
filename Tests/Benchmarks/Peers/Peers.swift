import Foundation

/// Work that the other databases do as well.
enum PeerWork {
    case filter(destination: String, price: Double)
    case count(destination: String, price: Double)
    case fetchAll
    /// Fetching all, and reading a number and two strings of each.
    case readAll
    case sortLimit(by: String)
    case sortAll
    case lookUp(places: [Int])
    case equality(names: [String])
    case children(parents: Int)
    case insert
    /// The same into a file only.
    case insertToDisk
    /// One record in each transaction, on the disk when it returns.
    case commit(saves: Int)
    case update(before: Date)
    case delete(from: Date, to: Date)
}

/// The same for what the rows about a ledger do.
enum LedgerWork {
    case importing
    case monthsAndCategories
    case months
    case counts(above: [Int64])
    case pages(Int, size: Int, skipping: Int)
    case findOrCreate(names: [String])
    case deleting(account: String, transactions: Int)
}

extension Row {
    static let grdb = "GRDB, hand-written records"
    static let grdbCodable = "GRDB, Codable records"
    static let grdbStatement = "GRDB, cached SQL statement"
    static let grdbInterface = "GRDB, query interface"
    static let grdbUpdate = "GRDB, one UPDATE statement"
    static let grdbMemory = "GRDB, hand-written records, in memory"
    static let sqlite = "SQLite, C API"
    static let sqliteDurable = "SQLite, C API, WAL, synchronous=FULL"
    static let sqliteMemory = "SQLite, C API, in memory"
    static let lmdb = "LMDB, C API, appending encoded records"
    static let lmdbIndexed = "LMDB, C API, encoded records, three indexes"
}

#if !BenchmarkPeers
/// GRDB and SQLite, which are in the program only if it is built with the trait of that name.
final class Peers {
    init(_ fixture: Fixture) {}

    func ways(_ work: PeerWork) throws -> [Way] { [] }
    func ways(_ work: LedgerWork) throws -> [Way] { [] }
    func size(_ fixture: Fixture) -> [Gauge] { [] }

    static let ledgersInMemory: [(String, String)] = []
    static func importLedger(_ entries: [LedgerValues], into path: String) throws {}

    static var note: String? {
        """
        GRDB and SQLite are not in this build. They need the library of SQLite (libsqlite3-dev) and a trait:
        swift run -c release --traits BenchmarkPeers mortise-bench
        """
    }
}
#endif
