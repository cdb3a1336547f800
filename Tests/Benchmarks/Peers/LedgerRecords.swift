#if BenchmarkPeers
import Foundation
import GRDB

/// The ledger's tables, with the indexes that the models have. Amounts are cents: SQLite has no decimals.
enum LedgerTables {
    static let sql = """
        CREATE TABLE account (id INTEGER PRIMARY KEY, number TEXT NOT NULL UNIQUE, name TEXT NOT NULL);
        CREATE TABLE entry (
            id INTEGER PRIMARY KEY, reference TEXT NOT NULL UNIQUE, date DOUBLE NOT NULL, month TEXT NOT NULL,
            cents INTEGER NOT NULL, payee TEXT NOT NULL, category TEXT NOT NULL, memo TEXT NOT NULL,
            account INTEGER NOT NULL REFERENCES account(id) ON DELETE CASCADE);
        CREATE INDEX entry_date ON entry(date, reference);
        CREATE INDEX entry_cents ON entry(cents);
        CREATE INDEX entry_account ON entry(account);
        CREATE TABLE split (
            id INTEGER PRIMARY KEY, cents INTEGER NOT NULL, month TEXT NOT NULL, category TEXT NOT NULL,
            entry INTEGER NOT NULL REFERENCES entry(id) ON DELETE CASCADE);
        CREATE INDEX split_entry ON split(entry);
        CREATE TABLE tag (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
        CREATE TABLE entry_tag (
            entry INTEGER NOT NULL REFERENCES entry(id) ON DELETE CASCADE,
            tag INTEGER NOT NULL REFERENCES tag(id) ON DELETE CASCADE, PRIMARY KEY (entry, tag)) WITHOUT ROWID;
        CREATE INDEX entry_tag_tag ON entry_tag(tag);
        """
}

struct AccountRecord: PersistableRecord {
    static let databaseTableName = "account"
    var id: Int64
    var number: String
    var name: String

    func encode(to container: inout PersistenceContainer) {
        container["id"] = id
        container["number"] = number
        container["name"] = name
    }
}

struct EntryRecord: FetchableRecord, PersistableRecord {
    static let databaseTableName = "entry"
    var id: Int64?
    var reference: String
    var date: Date
    var month: String
    var cents: Int64
    var payee: String
    var category: String
    var memo: String
    var account: Int64

    init(_ values: LedgerValues) {
        reference = values.reference
        date = values.date
        month = values.month
        cents = values.cents
        payee = values.payee
        category = values.category
        memo = values.memo
        account = Int64(values.account + 1)
    }

    /// A row of `SELECT *`.
    init(row: GRDB.Row) throws {
        id = row[0]
        reference = row[1]
        date = Date(timeIntervalSinceReferenceDate: row[2])
        month = row[3]
        cents = row[4]
        payee = row[5]
        category = row[6]
        memo = row[7]
        account = row[8]
    }

    func encode(to container: inout PersistenceContainer) {
        container["id"] = id
        container["reference"] = reference
        container["date"] = date.timeIntervalSinceReferenceDate
        container["month"] = month
        container["cents"] = cents
        container["payee"] = payee
        container["category"] = category
        container["memo"] = memo
        container["account"] = account
    }
}

struct SplitRecord: PersistableRecord {
    static let databaseTableName = "split"
    var id: Int64?
    var cents: Int64
    var month: String
    var category: String
    var entry: Int64

    func encode(to container: inout PersistenceContainer) {
        container["id"] = id
        container["cents"] = cents
        container["month"] = month
        container["category"] = category
        container["entry"] = entry
    }
}

struct TagRecord: FetchableRecord, PersistableRecord {
    static let databaseTableName = "tag"
    var id: Int64?
    var name: String

    init(id: Int64? = nil, name: String) {
        self.id = id
        self.name = name
    }

    init(row: GRDB.Row) throws {
        id = row[0]
        name = row[1]
    }

    func encode(to container: inout PersistenceContainer) {
        container["id"] = id
        container["name"] = name
    }
}

struct EntryTagRecord: PersistableRecord {
    static let databaseTableName = "entry_tag"
    var entry: Int64
    var tag: Int64

    func encode(to container: inout PersistenceContainer) {
        container["entry"] = entry
        container["tag"] = tag
    }
}

/// A transaction and its splits as most programs with GRDB have them.
struct CodableEntryRecord: Codable, PersistableRecord {
    static let databaseTableName = "entry"
    static func databaseDateEncodingStrategy(for column: String) -> DatabaseDateEncodingStrategy {
        .timeIntervalSinceReferenceDate
    }

    var id: Int64?
    var reference: String
    var date: Date
    var month: String
    var cents: Int64
    var payee: String
    var category: String
    var memo: String
    var account: Int64

    init(_ values: LedgerValues) {
        reference = values.reference
        date = values.date
        month = values.month
        cents = values.cents
        payee = values.payee
        category = values.category
        memo = values.memo
        account = Int64(values.account + 1)
    }
}

struct CodableSplitRecord: Codable, PersistableRecord {
    static let databaseTableName = "split"
    var id: Int64?
    var cents: Int64
    var month: String
    var category: String
    var entry: Int64
}

struct CodableEntryTagRecord: Codable, PersistableRecord {
    static let databaseTableName = "entry_tag"
    var entry: Int64
    var tag: Int64
}
#endif
