#if Tool
import ArgumentParser
import MortiseCore

/// `mortise explain`
struct Explain: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Runs a query and shows how it ran: what the store did, which index it used, how many rows it read.",
        discussion: """
            EXAMPLES
              mortise explain json:library.json Track --where 'unitPrice > 1' --sort name --limit 10
            """)

    @OptionGroup var store: StoreOption
    @OptionGroup var options: QueryOptions

    @Option(help: "How to print: text or json.")
    var format: ReportFormat = .text

    func run() throws {
        let store = try options.open(try self.store.argument())
        let query = try options.query(store)
        let clock = ContinuousClock.now
        let run = try StoreQueryRun(query, in: store)
        let seconds = (ContinuousClock.now - clock).seconds
        switch format {
        case .text: try Self.print(run, seconds)
        case .json: try ToolContext.current.output.line(Self.json(run, seconds))
        }
        try store.close()
    }

    static func print(_ run: StoreQueryRun, _ seconds: Double) throws {
        let output = ToolContext.current.output
        try output.line("\(run.explanation)")
        try output.line("  \(FigureText.duration(seconds))")
        if run.explanation.isFullScan, let suggestion = run.suggestion {
            try output.line("  \(output.styled("declare", .yellow)) \(suggestion) to avoid the scan")
        }
    }

    static func json(_ run: StoreQueryRun, _ seconds: Double) -> String {
        let found = run.explanation
        let conjuncts = found.conjuncts.map {
            JSONText.object([("text", .text($0.text)), ("status", .text($0.status.rawValue))])
        }
        return JSONText.object([
            ("entity", .text(found.entity)), ("detail", .text(found.detail)), ("conjuncts", .list(conjuncts)),
            ("order", .list(found.order.map { .text($0) })), ("orderIsPushed", .bool(found.orderIsPushed)),
            ("offset", .number(found.offset)), ("limit", found.limit.map { .number($0) } ?? .null),
            ("windowIsPushed", .bool(found.windowIsPushed)), ("isFullScan", .bool(found.isFullScan)),
            ("rowsScanned", .number(found.rowsScanned)), ("rowsReturned", .number(found.rowsReturned)),
            ("seconds", .raw("\(seconds)")), ("suggestion", run.suggestion.map { .text($0) } ?? .null),
        ]).description
    }
}
#endif
