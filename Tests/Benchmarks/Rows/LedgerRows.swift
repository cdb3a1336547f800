import Foundation
import Mortise
import MortiseEngine

// An app's every day: importing, totals, counts, pages, finding or creating, and deleting with what belongs to it. Both sides keep
// the same indexes, and a commit is on the disk when it returns.

extension Row {
    static var ledgerImport: Row {
        Row(
            name: "ledger-import", title: "import a ledger in saves of 5,000 transactions with splits and tags",
            unit: "transaction", isSized: false, targets: [.faster(than: grdb, times: 3, fromRecords: 0)]
        ) { fixture in
            let entries = fixture.ledger.entries
            return [
                Way(name: log, units: entries.count) {
                    let path = fixture.newFile("log")
                    let container = try Ledger.newContainer(path)
                    return {
                        try Ledger.importAll(entries, into: container)
                        return {
                            let contents = try Ledger.contents(ModelContext(container))
                            try container.close()
                            LogFiles.remove(path)
                            return contents
                        }
                    }
                }
            ] + (try fixture.peers.ways(.importing))
        }
    }

    static var ledgerImportMemory: Row {
        Row(
            name: "ledger-import-memory",
            title: "memory of a process that imports a ledger, what is imported included, at its peak",
            unit: "process", isSized: false, targets: [.ratio(to: grdb, atMost: 1.5, fromRecords: 0)],
            ways: { _ in [] }
        ) { fixture in
            let count = Ledger.size(forRecords: fixture.records)
            return ([(log, "ledger")] + Peers.ledgersInMemory).map { name, holding in
                Gauge(name: name, units: 1, quantity: .bytes) { try Memory.inChild(holding, records: count) }
            }
        }
    }

    /// The totals of 24 months and 40 categories, from the splits.
    static var ledgerMonthsAndCategories: Row {
        Row(
            name: "ledger-months-categories", title: "count and total of all splits by month and category",
            unit: "split", isSized: false, targets: [.faster(than: grdb, times: 2, fromRecords: 0)]
        ) { fixture in
            let container = try fixture.ledger.savedContainer()
            let keys = [QueryExpression.split("month"), .split("category")]
            let query = AggregateQuery(
                StoreQuery("LedgerSplit"), by: keys, [.count, .sum(.split("amount"), .decimal)])
            return [
                Way(name: log, units: fixture.ledger.entries.count * 2) {
                    {
                        // What a context asks of its store for several keys.
                        let store = container.store(AppendLogStore.self)
                        let groups = try store?.aggregate(query, in: store?.currentVersion)?.groups ?? []
                        return {
                            Ledger.check(
                                groups.map { group in
                                    let key = group.keys.compactMap { String(storedValue: $0) }.joined()
                                    let total = Decimal(storedValue: group.values[1]) ?? 0
                                    return (key, Int(storedValue: group.values[0]) ?? 0, Ledger.cents(total))
                                })
                        }
                    }
                }
            ] + (try fixture.peers.ways(.monthsAndCategories))
        }
    }

    static var ledgerMonths: Row {
        Row(
            name: "ledger-months", title: "count and total of all transactions by month", unit: "transaction",
            isSized: false, targets: [.faster(than: grdb, times: 2, fromRecords: 0)]
        ) { fixture in
            let container = try fixture.ledger.savedContainer()
            return [
                Way(name: log, units: fixture.ledger.entries.count) {
                    let context = ModelContext(container)
                    return {
                        let months = try context.aggregate(
                            FetchDescriptor<LedgerTransaction>(), by: \.month, .count, .sum(\.amount))
                        return {
                            Ledger.check(months.map { ($0.key, $0.values.0, Ledger.cents($0.values.1)) })
                        }
                    }
                }
            ] + (try fixture.peers.ways(.months))
        }
    }

    static var ledgerCount: Row {
        let limits = (1...20).map { Int64($0) * LedgerValues.highestCents / 40 }
        return Row(
            name: "ledger-count", title: "count the transactions of more than an amount, by an index on it",
            unit: "count", isSized: false, targets: [.faster(than: grdbStatement, times: 2, fromRecords: 0)]
        ) { fixture in
            let container = try fixture.ledger.savedContainer()
            let amounts = limits.map { LedgerValues.decimal($0) }
            return [
                Way(name: log, units: limits.count) {
                    let context = ModelContext(container)
                    return {
                        var sum = 0
                        for amount in amounts {
                            sum += try context.fetchCount(
                                FetchDescriptor<LedgerTransaction>(predicate: #Predicate { $0.amount > amount }))
                        }
                        return { [sum] in sum }
                    }
                }
            ] + (try fixture.peers.ways(.counts(above: limits)))
        }
    }

    static var ledgerFirstPages: Row { ledgerPages("ledger-page-first", "at the beginning", 0) }
    static var ledgerMiddlePages: Row { ledgerPages("ledger-page-middle", "in the middle", 0.5) }
    static var ledgerLastPages: Row { ledgerPages("ledger-page-last", "near the end", 0.97) }

    /// Pages one after the other, each asked for by a request of its own, which knows the place where the last one has ended.
    private static func ledgerPages(_ name: String, _ place: String, _ depth: Double) -> Row {
        let (pages, size) = (20, 50)
        return Row(
            name: name, title: "a page of 50 by date and reference \(place) of all, its values read", unit: "page",
            isSized: false, targets: [.faster(than: grdbStatement, times: 2, fromRecords: 0)]
        ) { fixture in
            let container = try fixture.ledger.savedContainer()
            let skipped = max(1, Int(Double(fixture.ledger.entries.count) * depth))
            var descriptor = FetchDescriptor<LedgerTransaction>()
            descriptor.sortBy = [SortDescriptor(\.date), SortDescriptor(\.reference)]
            let start = try ModelContext(container).page(descriptor, size: skipped).next
            return [
                Way(name: log, units: pages) {
                    {
                        var shown: [(String, Date, Decimal, String)] = []
                        var cursor = start
                        for _ in 0..<pages {
                            guard let place = cursor else { break }
                            let page = try ModelContext(container).page(descriptor, after: place, size: size)
                            for entry in page.models {
                                shown.append((entry.reference, entry.date, entry.amount, entry.payee))
                            }
                            cursor = page.next
                        }
                        return { [shown] in
                            Ledger.check(
                                shown.map {
                                    ($0.0 + $0.3, Int($0.1.timeIntervalSinceReferenceDate), Ledger.cents($0.2))
                                })
                        }
                    }
                }
            ] + (try fixture.peers.ways(.pages(pages, size: size, skipping: skipped)))
        }
    }

    /// The loop of an import that knows tags by their names: each name comes four times.
    static var ledgerFindOrCreate: Row {
        let names = (0..<2_000).map { "new tag \($0 * 7 % 500)" }
        return Row(
            name: "ledger-find-or-create", title: "find 500 tags by name, 4 times each, or create them, and save",
            unit: "name", isSized: false, targets: [.faster(than: grdbStatement, times: 3, fromRecords: 0)]
        ) { fixture in
            let container = try Ledger.newContainer(fixture.newFile("log"))
            return [
                Way(name: log, units: names.count) {
                    let context = ModelContext(container)
                    return {
                        for name in names {
                            _ = try context.findOrCreate(LedgerTag.self, where: \.name, is: name) {
                                LedgerTag(name: name)
                            }
                        }
                        try context.save()
                        return {
                            let context = ModelContext(container)
                            let count = try context.fetchCount(FetchDescriptor<LedgerTag>())
                            try context.delete(model: LedgerTag.self)
                            return count
                        }
                    }
                }
            ] + (try fixture.peers.ways(.findOrCreate(names: names)))
        }
    }

    /// One account of ten, with its transactions, their splits, and the tags' links to them.
    static var ledgerDelete: Row {
        Row(
            name: "ledger-delete", title: "delete an account with its transactions and splits",
            unit: "deleted transaction", isSized: false, targets: [.faster(than: grdb, times: 2, fromRecords: 0)]
        ) { fixture in
            let ledger = fixture.ledger
            let number = LedgerValues.accountNumber(3)
            let lost = ledger.entries.count { $0.account == 3 }
            return [
                Way(name: log, units: lost) {
                    let path = try ledger.copy()
                    let container = try Ledger.newContainer(path)
                    // Somebody has worked with it before.
                    _ = try Ledger.contents(ModelContext(container))
                    let context = ModelContext(container)
                    return {
                        if let account = try context.first(LedgerAccount.self, where: \.number, is: number) {
                            context.delete(account)
                        }
                        try context.save()
                        return {
                            let contents = try Ledger.contents(ModelContext(container))
                            try container.close()
                            LogFiles.remove(path)
                            return contents
                        }
                    }
                }
            ] + (try fixture.peers.ways(.deleting(account: number, transactions: lost)))
        }
    }
}

extension QueryExpression {
    /// A property of a split, as stores know it.
    fileprivate static func split(_ name: String) -> QueryExpression {
        let slot = Schema([LedgerSplit.self]).stored.recordLayouts()["LedgerSplit"]?.slot(named: name) ?? 0
        return .property(.variable(0), QueryProperty(entity: "LedgerSplit", name: name, slot: slot))
    }
}
