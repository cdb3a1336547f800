#if Tool
import ArgumentParser
import MortiseCore

/// What a verb asks a store for.
struct QueryOptions: ParsableArguments {
    @Argument(help: "The entity whose records are fetched, including its subentities.")
    var entity: String

    @Option(
        name: [.customLong("where")],
        help: ArgumentHelp(
            "The condition, such as 'price > 100 && destination == \"Paris\"'.",
            discussion:
                "Write dates, UUIDs, decimals and data in quotation marks; see the grammar in the documentation.",
            valueName: "predicate"))
    var condition: String?

    @Option(
        parsing: .unconditionalSingleValue,
        help: ArgumentHelp(
            "A sort key; a minus before it puts the largest first.",
            discussion: "Separate several keys by commas, or repeat the option.", valueName: "key"))
    var sort: [String] = []

    @Option(parsing: .unconditional, help: "The maximum number of records to fetch.")
    var limit: Int?

    @Option(parsing: .unconditional, help: "The number of records to skip.")
    var offset = 0

    func validate() throws {
        if let limit, limit < 0 { throw ValidationError("The limit must not be negative.") }
        if offset < 0 { throw ValidationError("The offset must not be negative.") }
    }

    /// - Throws: `UnknownEntity`; `PredicateTextError`.
    func query(_ store: OpenStore, purpose: StoreQuery.Purpose = .rows) throws -> StoreQuery {
        let text = PredicateText(schema: store.schema, storeIdentifier: store.store.identifier)
        try text.check(entity)
        return StoreQuery(
            entity, purpose: purpose, conjuncts: try condition.map { try text.conditions($0, entity: entity) } ?? [],
            order: try sort.flatMap { try text.order($0, entity: entity) }, offset: offset, limit: limit)
    }
}

/// `mortise fetch`
struct Fetch: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Prints records.",
        discussion: """
            EXAMPLES
              mortise fetch json:library.json Track --where 'milliseconds > 300000 && album.artist.name == "AC/DC"' \
            --sort -milliseconds --limit 20
              mortise fetch log:trips.log Trip --where 'any stops (nights > 3)' --format json
              mortise fetch log:trips.log Trip --where 'startDate between "2026-05-01" and "2026-06-01"' --format csv \
            --select name,startDate,price
              mortise fetch sqlite:library.db Track --format lines | jq .name
            """)

    @OptionGroup var store: StoreOption
    @OptionGroup var options: QueryOptions

    @Option(
        help: ArgumentHelp(
            "What to print of each record: properties separated by commas, through to-one relationships too.",
            valueName: "properties"))
    var select: String?

    @Option(
        help: "How to print: table, record (one property a line), json (one array), lines (one object a line) or csv.")
    var format: RecordFormat = .table

    @Flag(help: "Print only the count; with --format json or lines as {\"count\":3}, with csv under a heading.")
    var count = false

    func run() throws {
        let store = try OpenStore.reading(try self.store.argument())
        let query = try options.query(store, purpose: count ? .count : .rows)
        let columns = try RecordColumns(select, entity: options.entity, store)
        let run = try StoreQueryRun(query, in: store)
        if count {
            let output = ToolContext.current.output
            switch format {
            case .table, .record: try output.line("\(run.count)")
            case .json, .lines: try output.line(JSONText.object([("count", .number(run.count))]).description)
            case .csv: try output.line("count\n\(run.count)")
            }
        } else {
            try RecordPrinter(columns, run.reader, format, checking: run.version).print(run.records)
        }
        try store.close()
    }
}
#endif
