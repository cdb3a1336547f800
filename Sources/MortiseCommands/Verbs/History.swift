#if Tool
import ArgumentParser
import Foundation
import MortiseCore

/// `mortise history`
struct History: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Shows what was saved, when and by whom; of the whole store or of one record.",
        discussion: """
            Without options the last 20 transactions are listed. Every transaction has a number. --from and --to take such a \
            number, or a time in UTC such as 2026-05-01 or 2026-05-01T10:30:00Z. The answer has what led from the state at \
            --from to the state at --to: transaction --from itself is not part of it, transaction --to is.

            With --values, values are shown as far as the store keeps them: a JSON store keeps old and new ones, an append log \
            new ones, except for transactions of many records. Values of deleted records are shown where their properties are \
            marked to be preserved.

            What a store no longer has is said on the standard error; a net change that would need it is refused (exit status 78).

            EXAMPLES
              mortise history log:library.log
              mortise history log:library.log --from 2026-05-01 --changes
              mortise history log:library.log --from 12 --to 15 --net --values
              mortise history log:library.log --record Track/7
              mortise history log:library.log --record Track/7 --as-of 12
            """)

    @OptionGroup var store: StoreOption

    @Option(help: ArgumentHelp("Begin after this transaction, or at this time.", valueName: "number or time"))
    var from: String?

    @Option(help: ArgumentHelp("End with this transaction, or at this time.", valueName: "number or time"))
    var to: String?

    @Option(
        parsing: .unconditional,
        help: "How many transactions to show, the last ones; 20 if nothing else says which, else all.")
    var last: Int?

    @Option(help: ArgumentHelp("Only changes of this record, and its values now.", valueName: "entity/number"))
    var record: String?

    @Option(
        help: ArgumentHelp(
            "With --record: its values after this transaction, or at this time, in place of those now.",
            discussion: "Stores with versions and a history can, such as json: and log:.", valueName: "number or time"))
    var asOf: String?

    @Option(
        help: ArgumentHelp("Only changes of this entity's records, and of its subentities.", valueName: "name"),
        completion: .custom(SchemaCompletion.entities))
    var entity: String?

    @Flag(help: "List the changed records of each transaction.")
    var changes = false

    @Flag(help: "List the changed records with their values, old and new.")
    var values = false

    @Flag(help: "Take all transactions together: what a record went through becomes one change.")
    var net = false

    @Option(help: "How to print: text, or json with one object in each line.")
    var format: ReportFormat = .text

    @Option(help: "When to show progress: auto (on a terminal, after a second), always or never.")
    var progress: ProgressChoice = .auto

    func validate() throws {
        if let last, last < 1 { throw ValidationError("The number of transactions must be at least 1.") }
        if asOf != nil, record == nil { throw ValidationError("--as-of takes a record: name it with --record.") }
        if record != nil, entity != nil { throw ValidationError("Give --record or --entity, not both.") }
    }

    func run() throws {
        let range = try HistoryRange(from: from, to: to)
        let point = try asOf.map(PastPoint.init)
        let store = try OpenStore.reading(try self.store.argument())
        if let point { try store.goBack(to: point) }
        let filter = try ChangeFilter(record: record, entity: entity, in: store.schema)
        let showsRecords = changes || values || net || record != nil
        let showsValues = values || record != nil
        var printed = TransactionWindow(
            limit: last ?? (from == nil && to == nil && record == nil && !net ? 20 : nil))
        let printer = ChangePrinter(showsValues: showsValues, format: format)
        var sum = NetChanges()
        var seen = (transactions: 0, first: UInt64(0), last: UInt64(0))
        var earliest: Date?
        let interruption = Interruption()
        // Not between the transactions on one terminal.
        let isMixed = printed.limit == nil && !net && ToolContext.current.output.isTerminal && progress == .auto
        let line = ProgressLine("transactions", of: nil, isMixed ? .never : progress, after: .seconds(1))
        var read = 0

        func show(_ transaction: ChangeSet) throws {
            if showsRecords {
                try printer.print(transaction)
            } else {
                let output = ToolContext.current.output
                try output.line(
                    format == .text
                        ? TransactionText.line(transaction) : TransactionText.json(transaction).description)
            }
        }
        let isKept = try store.store.readStoredTransactions(after: range.start, withValues: showsValues) {
            transaction in
            if interruption.isRequested {
                line.interrupt()
                throw ToolError.interrupted("interrupted; nothing was changed")
            }
            read += 1
            line.update(read)
            earliest = earliest ?? transaction.commit?.timestamp
            guard let commit = transaction.commit, range.isBeforeEnd(commit) else {
                return range.mayFollow(transaction)
            }
            guard range.contains(commit), let found = filter(transaction) else { return true }
            if seen.transactions == 0 { seen.first = commit.number }
            seen = (seen.transactions + 1, seen.first, commit.number)
            if net { sum.take(found) } else if let due = printed.take(found) { try show(due) }
            return true
        }
        line.finish(read)
        guard isKept else { throw ToolError.unsupported(store: store.name, what: "tell its history") }
        if from != nil || to != nil || record != nil || net {
            let reach = try HistoryReach(store.store)
            if range.reaches(before: reach.horizon, earliest) {
                guard !net || from == nil else {
                    throw ToolError.historyGone(store: store.name, upTo: reach.horizon)
                }
                try ToolContext.current.output.flush()
                try reach.tell()
            }
        }
        if net, seen.transactions > 0 {
            var changes = sum.changes
            changes.commit = nil
            if format == .text {
                try ToolContext.current.output.line(
                    FigureText.plural(seen.transactions, "transaction") + ", from \(seen.first) to \(seen.last):")
            }
            try printer.print(records: changes)
        }
        for transaction in printed.rest { try show(transaction) }
        if seen.transactions == 0, format == .text { try ToolContext.current.output.line("no transactions") }
        if let record = filter.record { try CurrentRecord(record, store, asOf: asOf).print(format) }
        try store.close()
    }
}

/// The part of a history that was asked for.
private struct HistoryRange {
    private enum Bound {
        case number(UInt64)
        case time(Date)
    }

    private let from: Bound?
    private let to: Bound?

    /// - Throws: `ToolError.usage`.
    init(from: String?, to: String?) throws {
        self.from = try from.map { try Self.bound($0, "--from") }
        self.to = try to.map { try Self.bound($0, "--to") }
        if case .number(let first)? = self.from, case .number(let last)? = self.to, first > last {
            throw ToolError.usage("--from \(first) comes after --to \(last); exchange them")
        }
        if case .time(let first)? = self.from, case .time(let last)? = self.to, first > last {
            throw ToolError.usage("--from comes after --to; exchange them")
        }
    }

    private static func bound(_ text: String, _ option: String) throws -> Bound {
        if let number = UInt64(text) { return .number(number) }
        if let date = TimestampText.date(text) { return .time(date) }
        throw ToolError.usage(
            "\(option) takes the number of a transaction or a time such as 2026-05-01T10:30:00Z, not "
                + "\"\(text.shown(limit: 100))\"")
    }

    /// The number of the last transaction that is surely not wanted.
    var start: UInt64 { if case .number(let number)? = from { number } else { 0 } }

    /// Whether something of this may be among the transactions up to the horizon of a history, of which the first that is left was
    /// saved at `earliest`.
    func reaches(before horizon: UInt64, _ earliest: Date?) -> Bool {
        if horizon == 0 { return false }
        switch from {
        case .number(let number)?: return number < horizon
        case .time(let date)?: return earliest.map { date < $0 } ?? true
        case nil: return true
        }
    }

    func contains(_ commit: ChangeSet.Commit) -> Bool {
        if case .time(let date)? = from, commit.timestamp < date { return false }
        return isBeforeEnd(commit)
    }

    func isBeforeEnd(_ commit: ChangeSet.Commit) -> Bool {
        switch to {
        case .number(let number)?: commit.number <= number
        case .time(let date)?: commit.timestamp <= date
        case nil: true
        }
    }

    /// Whether a transaction that is not part of this may be followed by one that is: numbers grow, and clocks may be set back.
    func mayFollow(_ transaction: ChangeSet) -> Bool { if case .number? = to { false } else { true } }
}

/// Which changes of a transaction are wanted.
private struct ChangeFilter {
    let record: (entity: String, key: String)?
    private let entities: Set<String>?

    /// - Throws: `ToolError.usage`; `UnknownEntity`.
    init(record: String?, entity: String?, in schema: StoredSchema) throws {
        var found: (entity: String, key: String)?
        if let record {
            let parts = record.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            guard parts.count == 2, !parts[1].isEmpty else {
                throw ToolError.usage(
                    "--record takes an entity and the record's number, such as Track/7, not \"\(record.shown(limit: 100))\""
                )
            }
            found = (parts[0], parts[1])
        }
        self.record = found
        guard let name = found?.entity ?? entity else {
            entities = nil
            return
        }
        guard schema.entities.contains(where: { $0.name == name }) else {
            throw UnknownEntity(name: name, known: schema.entities.map(\.name))
        }
        entities = schema.family(of: name)
    }

    private func wants(_ identifier: PersistentIdentifier) -> Bool {
        guard let entities else { return true }
        guard entities.contains(identifier.entityName) else { return false }
        return record.map { ValueText.key(identifier) == $0.key } ?? true
    }

    /// The wanted part of a transaction; nil if it has none.
    func callAsFunction(_ transaction: ChangeSet) -> ChangeSet? {
        return entities == nil ? transaction : transaction.part(of: wants)
    }
}

/// The last transactions, held until it is known that they are the last.
private struct TransactionWindow {
    let limit: Int?
    private var waiting: [ChangeSet] = []

    init(limit: Int?) { self.limit = limit }

    /// Takes a transaction.
    /// - Returns: the transaction itself if all are wanted, which is due at once.
    mutating func take(_ transaction: ChangeSet) -> ChangeSet? {
        guard let limit else { return transaction }
        waiting.append(transaction)
        if waiting.count / 2 > max(limit, 8) { waiting.removeFirst(waiting.count - limit) }
        return nil
    }

    /// What is left to show.
    var rest: ArraySlice<ChangeSet> { limit.map { waiting.suffix($0) } ?? [] }
}

/// A record as it is now, or was, below its history.
private struct CurrentRecord {
    private let name: String
    /// The point in the history, as it was given; nil for now.
    private let point: String?
    private let columns: RecordColumns
    private let run: StoreQueryRun?

    /// - Throws: what reading the record throws.
    init(_ record: (entity: String, key: String), _ store: OpenStore, asOf point: String?) throws {
        self.point = point
        name = "\(record.entity)/\(record.key)"
        columns = try RecordColumns(nil, entity: record.entity, store)
        let text = PredicateText(schema: store.schema, storeIdentifier: store.store.identifier)
        let key = UInt64(record.key).map { "\($0)" } ?? ValueText.quoted(record.key)
        let query = StoreQuery(
            record.entity, purpose: .rows, conjuncts: try text.conditions("$id == \(key)", entity: record.entity),
            order: [], offset: 0, limit: nil)
        run = try StoreQueryRun(query, in: store)
    }

    private var heading: String { point.map { "as of \($0.shown(limit: 100))" } ?? "now" }
    private var member: String { point == nil ? "now" : "then" }

    /// - Throws: `ToolError.output`; why a value cannot be read.
    func print(_ format: ReportFormat) throws {
        let output = ToolContext.current.output
        guard let run, let found = run.records.first else {
            try output.line(
                format == .text
                    ? "\(heading): \(name.shown(limit: 200)) \(point == nil ? "does" : "did") not exist"
                    : JSONText.object([(member, .null)]).description)
            return
        }
        let evaluator = QueryEvaluator(reader: run.reader)
        let values = try columns.columns.map {
            (name: $0.name, value: try $0.path.value(of: found, evaluator, run.reader))
        }
        try run.version.check()
        switch format {
        case .text:
            try output.line(output.styled("\(heading):", .bold))
            for (name, value) in values where name != "$id" {
                try output.line(
                    "  \(name.shown()) = \(value.isNull ? "nil" : ValueText.plain(value).shown(limit: 500))")
            }
        case .json:
            try output.line(
                JSONText.object([
                    (member, .object(values.map { ($0.name, .raw(ValueText.json($0.value))) }))
                ]).description)
        }
    }
}
#endif
