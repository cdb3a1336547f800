#if Tool
import ArgumentParser
import MortiseCore

/// `mortise compare`
struct Compare: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Compares two stores: contents, query results, plans, timings, durability and size.",
        discussion: """
            Both stores must have the same schema. Write a query as "Entity where PREDICATE sort KEYS limit N"; only the \
            entity is required. Records are identified by their position in the order of insertion, not by their numbers. \
            If both stores hold the same records, equal results are the same positions in the same order. Otherwise, \
            equal results have the same values and refer to the same positions. The exit status is 1 if data or a result \
            differs.

            EXAMPLES
              mortise compare json:library.json log:library.log --query 'Track where unitPrice > 1 sort -name limit 10' \
            --query 'Invoice where total > 20'
            """)

    @Argument(help: "The URL of one store.")
    var first: String

    @Argument(help: "The URL of the other.")
    var second: String

    @Option(help: "A query to run on both; may be given several times.")
    var query: [String] = []

    @Option(help: "How often to run each query; the median time is shown.")
    var times = 5

    @Flag(help: "Show the values that differ, not only where they are.")
    var values = false

    @Option(help: "How to print: text or json.")
    var format: ReportFormat = .text

    @Option(help: "When to show progress: auto (on a terminal, after a second), always or never.")
    var progress: ProgressChoice = .auto

    func validate() throws {
        if times < 1 || times > 1_000 { throw ValidationError("The number of times must be 1 to 1000.") }
    }

    func run() throws {
        let arguments = [try StoreArgument(first), try StoreArgument(second)]
        let (left, right) = (try OpenStore.reading(arguments[0]), try OpenStore.reading(arguments[1]))
        guard left.schema == right.schema else {
            throw ToolError.otherSchema(
                store: right.name, other: left.name, differences: SchemaDifferences.between(right.schema, left.schema))
        }
        let texts = try query.map { try QueryText($0, left) }
        let versions = (try left.walkedVersion(), try right.walkedVersion())
        let line = ProgressLine("compared", of: try left.count(), progress, after: .seconds(1))
        let content = try ContentComparison(
            versions.0, versions.1, left.schema, left.layouts, showingValues: values, progress: line.update)
        line.finish(content.compared)
        let asked = try zip(query, texts).map { text, parsed in
            try QueryComparison(text, parsed, left, right, times: times, content)
        }
        let output = ToolContext.current.output
        let sides = try zip([left, right], arguments).map { try StoreSide($0, $1) }
        switch format {
        case .text: try print(sides, content, asked, to: output)
        case .json:
            try output.line(
                JSONText.object([
                    ("stores", .list(sides.map(\.json))), ("isEqual", .bool(content.isEqual)),
                    ("differences", .list(content.differences.map { .text($0) })),
                    ("queries", .list(asked.map(\.json))),
                ]).description)
        }
        try left.close()
        try right.close()
        let differing = asked.filter { !$0.isEqual }.count
        if !content.isEqual || differing > 0 {
            throw StoresDiffer(
                description: content.isEqual
                    ? "\(FigureText.plural(differing, "query", "queries")) gave different results"
                    : "the stores differ in \(FigureText.plural(content.differing, "place")), the first: "
                        + (content.differences.first ?? ""))
        }
    }

    private func print(
        _ sides: [StoreSide], _ content: ContentComparison, _ asked: [QueryComparison], to output: Output
    ) throws {
        var table = TextTable(["", sides[0].name, sides[1].name], numeric: [false, false, false])
        var rows = [
            ["records", FigureText.count(sides[0].records), FigureText.count(sides[1].records)],
            ["size", FigureText.bytes(sides[0].bytes), FigureText.bytes(sides[1].bytes)],
            ["durability", sides[0].durability, sides[1].durability],
            ["capabilities", sides[0].capabilities, sides[1].capabilities],
        ]
        for query in asked {
            rows.append([query.text.shown(limit: 60), "", ""])
            rows.append([
                "  answers", FigureText.plural(query.counts.0, "record"), FigureText.plural(query.counts.1, "record"),
            ])
            rows.append(["  plan", query.plans.0, query.plans.1])
            rows.append(["  scanned", FigureText.count(query.scanned.0), FigureText.count(query.scanned.1)])
            rows.append(["  time", FigureText.duration(query.seconds.0), FigureText.duration(query.seconds.1)])
        }
        for row in rows { table.measure(row) }
        if let width = output.width { table.fit(width) }
        try output.line(output.styled(table.heading(), .bold))
        for row in rows { try output.line(table.line(row)) }
        try output.line()
        if content.isEqual {
            try output.line(output.styled("equal", .green) + ": content and order are the same")
        } else {
            try output.line(
                output.styled("different", .red) + ": \(FigureText.plural(content.differing, "difference"))")
            for difference in content.differences { try output.line("  \(difference.shown(limit: 300))") }
        }
        for query in asked where !query.isEqual {
            try output.line(output.styled("different answers", .red) + ": \(query.text.shown())")
        }
    }
}

/// The stores that were compared are not the same.
struct StoresDiffer: Error, CustomStringConvertible {
    let description: String
}

/// One of the two stores in numbers.
private struct StoreSide {
    let name: String
    let records: Int
    let bytes: Int64
    let durability: String
    let capabilities: String

    init(_ store: OpenStore, _ argument: StoreArgument) throws {
        let configuration = try argument.selfDescribing()
        name = store.name
        records = try store.count()
        bytes = try configuration.storeFiles().reduce(0) { $0 + $1.bytes }
        durability = "\(configuration.durabilityGrade)"
        capabilities = "\(store.store.capabilities)"
    }

    var json: JSONText {
        .object([
            ("store", .text(name)), ("records", .number(records)), ("bytes", .raw("\(bytes)")),
            ("durability", .text(durability)), ("capabilities", .text(capabilities)),
        ])
    }
}

/// One query on both stores.
private struct QueryComparison {
    let text: String
    let isEqual: Bool
    let counts: (Int, Int)
    let plans: (String, String)
    let scanned: (Int, Int)
    let seconds: (Double, Double)

    init(
        _ text: String, _ query: QueryText, _ left: OpenStore, _ right: OpenStore, times: Int,
        _ content: ContentComparison
    ) throws {
        self.text = text
        let (a, b) = (try Self.ask(query.query(left), left, times), try Self.ask(query.query(right), right, times))
        counts = (a.run.records.count, b.run.records.count)
        plans = (a.run.explanation.detail, b.run.explanation.detail)
        scanned = (a.run.explanation.rowsScanned, b.run.explanation.rowsScanned)
        seconds = (a.seconds, b.seconds)
        isEqual = try AnswerComparison(a.run, b.run, content).isEqual
    }

    private static func ask(
        _ query: StoreQuery, _ store: OpenStore, _ times: Int
    ) throws -> (run: StoreQueryRun, seconds: Double) {
        var seconds: [Double] = []
        var run: StoreQueryRun?
        for _ in 0..<times {
            let start = ContinuousClock.now
            run = try StoreQueryRun(query, in: store)
            seconds.append((ContinuousClock.now - start).seconds)
        }
        seconds.sort()
        return (try run ?? StoreQueryRun(query, in: store), seconds.isEmpty ? 0 : seconds[seconds.count / 2])
    }

    var json: JSONText {
        func side(_ count: Int, _ plan: String, _ scanned: Int, _ seconds: Double) -> JSONText {
            .object([
                ("records", .number(count)), ("plan", .text(plan)), ("scanned", .number(scanned)),
                ("seconds", .raw("\(seconds)")),
            ])
        }
        return .object([
            ("query", .text(text)), ("isEqual", .bool(isEqual)),
            ("first", side(counts.0, plans.0, scanned.0, seconds.0)),
            ("second", side(counts.1, plans.1, scanned.1, seconds.1)),
        ])
    }
}
#endif
