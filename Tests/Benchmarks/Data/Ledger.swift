import Foundation
import Mortise

/// A ledger's data, and a log that holds them: made once and shared by the rows that do not change them.
final class Ledger {
    let entries: [LedgerValues]
    private let newFile: (String) -> String
    private var saved: ModelContainer?
    /// A closed copy of the log, to be copied by those who change it.
    private var closed: String?

    /// Five transactions for each record of the other rows, and no more than fifty thousand.
    static func size(forRecords records: Int) -> Int { min(records * 5, 50_000) }

    /// How many transactions one save has.
    static let batch = 5_000

    init(_ count: Int, seed: UInt64, newFile: @escaping (String) -> String) {
        entries = LedgerValues.generate(count, seed: seed)
        self.newFile = newFile
    }

    static func newContainer(_ path: String) throws -> ModelContainer {
        try ModelContainer(
            for: LedgerAccount.self, LedgerTransaction.self, LedgerSplit.self, LedgerTag.self, store: "log:\(path)")
    }

    /// A log that has everything.
    func savedContainer() throws -> ModelContainer {
        if let saved { return saved }
        let container = try Self.newContainer(newFile("log"))
        try Self.importAll(entries, into: container)
        saved = container
        return container
    }

    /// A file of its own with everything, not open.
    func copy() throws -> String {
        if closed == nil {
            let path = newFile("log")
            try savedContainer().store(AppendLogStore.self)?.backup(to: path)
            closed = path
        }
        let path = newFile("log")
        for end in ["", ".checkpoint"] where FileManager.default.fileExists(atPath: (closed ?? "") + end) {
            try FileManager.default.copyItem(atPath: (closed ?? "") + end, toPath: path + end)
        }
        return path
    }

    /// As an app imports statements: models, in a context that stays, with a save for each five thousand.
    static func importAll(_ entries: [LedgerValues], into container: ModelContainer) throws {
        let context = ModelContext(container)
        let accounts = (0..<LedgerValues.accountCount).map {
            LedgerAccount(number: LedgerValues.accountNumber($0), name: "Account \($0)")
        }
        let tags = (0..<LedgerValues.tagCount).map { LedgerTag(name: LedgerValues.tagName($0)) }
        for account in accounts { context.insert(account) }
        for tag in tags { context.insert(tag) }
        try context.save()
        for start in stride(from: 0, to: entries.count, by: batch) {
            for values in entries[start..<min(start + batch, entries.count)] {
                let transaction = LedgerTransaction(values, account: accounts[values.account])
                context.insert(transaction)
                transaction.splits = values.splits.map { LedgerSplit($0, month: values.month) }
                transaction.tags = values.tags.map { tags[$0] }
            }
            try context.save()
        }
    }

    /// What every way of importing has to come to: how many transactions, splits and tags of transactions there are.
    static func contents(_ context: ModelContext) throws -> Int {
        let links = try context.fetch(FetchDescriptor<LedgerTag>()).reduce(0) { $0 + $1.transactions.count }
        return try check(
            context.fetchCount(FetchDescriptor<LedgerTransaction>()),
            context.fetchCount(FetchDescriptor<LedgerSplit>()), links)
    }

    static func check(_ transactions: Int, _ splits: Int, _ links: Int) -> Int {
        (transactions * 1_000_000 + splits) * 1_000_000 + links
    }

    /// A number for groups and their totals, in their order.
    static func check(_ groups: some Sequence<(key: String, count: Int, cents: Int64)>) -> Int {
        var hash = 0
        for group in groups {
            for byte in group.key.utf8 { hash = hash &* 31 &+ Int(byte) }
            hash = (hash &* 31 &+ group.count) &* 31 &+ Int(group.cents)
        }
        return hash
    }

    static func cents(_ amount: Decimal) -> Int64 { NSDecimalNumber(decimal: amount * 100).int64Value }
}
