import ArgumentParser
import Foundation
import MortiseCore

/// `mortise watch`
struct Watch: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Prints the changes that other processes save to a store, as they happen.",
        discussion: """
            If the store keeps its history, every transaction is printed; otherwise, the difference since the last poll. \
            Values are shown only with --values.

            EXAMPLES
              mortise watch log:library.log
              mortise watch json:library.json --values --format json
            """)

    @OptionGroup var store: StoreOption

    @Option(parsing: .unconditional, help: "The number of milliseconds between two polls.")
    var interval = 250

    @Option(help: "End after this many changes of the store.")
    var changes: Int?

    @Option(help: "End after this many seconds.")
    var seconds: Double?

    @Flag(help: "Show the new values.")
    var values = false

    @Option(help: "How to print: text, or json with one object for each change.")
    var format: ReportFormat = .text

    func validate() throws {
        if interval < 1 || interval > 3_600_000 {
            throw ValidationError("The interval must be 1 to 3600000 milliseconds.")
        }
        if let changes, changes < 1 { throw ValidationError("The number of changes must be at least 1.") }
        if let seconds, !(seconds > 0 && seconds < 1e9) {
            throw ValidationError("The number of seconds must be above 0.")
        }
    }

    func run() throws {
        var watcher = try StoreWatcher(try store.argument(), values: values, format: format)
        let end = seconds.map { ContinuousClock.now + .seconds($0) }
        let interruption = Interruption()
        try ToolContext.current.errors.line("watching \(watcher.name); Ctrl-C ends it")
        try ToolContext.current.errors.flush()
        var seen = 0
        while !interruption.isRequested {
            seen += try watcher.look()
            if let changes, seen >= changes { return }
            if let end, ContinuousClock.now >= end { return }
            Thread.sleep(forTimeInterval: Double(interval) / 1_000)
        }
    }
}

/// Looks at a store again and again.
private struct StoreWatcher {
    private let argument: StoreArgument
    private let configuration: any SelfDescribingConfiguration
    private let showsValues: Bool
    private let format: ReportFormat
    private var state: StoreState
    private var mark: String
    /// A file's time does not tell two changes apart that follow each other at once: it is looked at twice.
    private var readRetries = false
    private var lastTransaction: UInt64 = 0
    private let output = ToolContext.current.output

    var name: String { argument.name }

    init(_ argument: StoreArgument, values: Bool, format: ReportFormat) throws {
        self.argument = argument
        configuration = try argument.selfDescribing()
        showsValues = values
        self.format = format
        mark = try configuration.changeMark()
        let store = try OpenStore.reading(argument)
        state = try StoreState(store)
        if let history = store.store as? any StoredHistoryProviding {
            lastTransaction = try history.storedTransactions(after: 0, last: 1).last?.number ?? 0
        }
        try store.close()
    }

    /// Prints what is new.
    /// - Returns: how many changes that were.
    mutating func look() throws -> Int {
        let current = try configuration.changeMark()
        guard current != mark || readRetries else { return 0 }
        readRetries = current != mark
        mark = current
        let (newer, transactions) = try steadily { [argument, lastTransaction] in
            // Closed again at once: a file that is open in this process would be given as it was then.
            let store = try OpenStore.reading(argument)
            let found = (
                try StoreState(store),
                try (store.store as? any StoredHistoryProviding)?.storedTransactions(after: lastTransaction, last: nil)
            )
            try store.close()
            return found
        }
        let older = state
        state = newer
        if let transactions {
            for transaction in transactions { try print(transaction) }
            lastTransaction = transactions.last?.number ?? lastTransaction
            try output.flush()
            return transactions.count
        }
        let difference = try ContentDifference(older, newer)
        guard !difference.isEmpty else { return 0 }
        try print(difference)
        try output.flush()
        return 1
    }

    /// Beside a writer, a reader may see a half-written file for a moment.
    private func steadily<R>(_ body: () throws -> R) throws -> R {
        var attempts = 0
        while true {
            do {
                return try body()
            } catch let error as any ClassifiedStoreError where error.errorClass == .damaged && attempts < 5 {
                attempts += 1
                Thread.sleep(forTimeInterval: 0.05)
            }
        }
    }

    private func print(_ transaction: StoredTransaction) throws {
        if format == .text { try output.line(output.styled(TransactionText.line(transaction), .bold)) }
        let stamp: [(String, JSONText)] = [
            ("transaction", .raw("\(transaction.number)")),
            ("timestamp", .text(TimestampText.text(of: transaction.timestamp))),
            ("author", transaction.author.map { .text($0) } ?? .null),
        ]
        for record in transaction.deleted { try print("delete", record, [], stamp) }
        for update in transaction.updated { try print("update", update.record, update.properties, stamp) }
        for record in transaction.inserted { try print("insert", record, nil, stamp) }
    }

    private func print(_ difference: ContentDifference) throws {
        let now = TimestampText.text(
            of: Date(timeIntervalSinceReferenceDate: Date.timeIntervalSinceReferenceDate.rounded()))
        if format == .text {
            try output.line(
                output.styled(
                    "\(now)  \(FigureText.count(difference.inserted.count)) inserted, "
                        + "\(FigureText.count(difference.updated.count)) updated, "
                        + "\(FigureText.count(difference.deleted.count)) deleted", .bold))
        }
        let stamp: [(String, JSONText)] = [("timestamp", .text(now))]
        for record in difference.deleted { try print("delete", record, [], stamp) }
        for update in difference.updated { try print("update", update.record, update.properties, stamp) }
        for record in difference.inserted { try print("insert", record, nil, stamp) }
    }

    /// Prints a change. `properties` are those that changed; nil for all.
    private func print(
        _ verb: String, _ record: PersistentIdentifier, _ properties: [String]?,
        _ stamp: [(String, JSONText)]
    ) throws {
        let layout = state.layouts[record.entityName] ?? RecordLayout.empty(record.entityName)
        var values: [(name: String, value: StoredValue)] = []
        if showsValues, verb != "delete", let rows = state.version.rows(ofEntity: record.entityName),
            let row = rows.row(of: record)
        {
            let slots = layout.slots.enumerated().filter { _, slot in
                slot.role != .toManyDerived && (properties?.contains(slot.name) ?? true)
            }
            values = slots.map { ($0.element.name, rows.value(row: row, slot: $0.offset)) }
        }
        switch format {
        case .text:
            let detail =
                showsValues && !values.isEmpty
                ? values.map { "\($0.name)=\(ValueText.plain($0.value).shown())" }.joined(separator: " ")
                : (properties ?? []).joined(separator: ", ")
            try output.line("  \(verb) \("\(record)".shown())" + (detail.isEmpty ? "" : "  \(detail)"))
        case .json:
            var members = [("change", JSONText.text(verb)), ("entity", .text(record.entityName))]
            members.append(("record", .raw(ValueText.json(record))))
            if let properties, !properties.isEmpty {
                members.append(("properties", .list(properties.map { .text($0) })))
            }
            if !values.isEmpty {
                members.append(("values", .object(values.map { ($0.name, .raw(ValueText.json($0.value))) })))
            }
            try output.line(JSONText.object(members + stamp).description)
        }
    }
}
