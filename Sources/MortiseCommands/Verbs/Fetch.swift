#if Tool
import ArgumentParser
import MortiseCore

/// What a verb asks a store for.
struct QueryOptions: ParsableArguments {
    @Argument(
        help: "The entity whose records are fetched, including its subentities.",
        completion: .custom(SchemaCompletion.entities))
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
            discussion: "Separate several keys by commas, or repeat the option.", valueName: "key"),
        completion: .custom(SchemaCompletion.keys))
    var sort: [String] = []

    @Option(parsing: .unconditional, help: "The maximum number of records to fetch.")
    var limit: Int?

    @Option(parsing: .unconditional, help: "The number of records to skip.")
    var offset = 0

    @Option(
        help: ArgumentHelp(
            "Read the store as it was after this transaction, or at this time.",
            discussion: "See mortise history. Stores with a history can, such as json: and log:.",
            valueName: "number or time"))
    var asOf: String?

    func validate() throws {
        if let limit, limit < 0 { throw ValidationError("The limit must not be negative.") }
        if offset < 0 { throw ValidationError("The offset must not be negative.") }
    }

    /// Opens a store for reading, as it is now or as it was.
    /// - Throws: what `OpenStore.reading(_:)` and `OpenStore.goBack(to:)` throw.
    func open(_ argument: StoreArgument) throws -> OpenStore {
        let point = try asOf.map(PastPoint.init)
        let store = try OpenStore.reading(argument)
        if let point { try store.goBack(to: point) }
        return store
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
              mortise fetch log:library.log Track --group-by album.artist.name --count --aggregate 'sum(milliseconds)' \
            --having 'count > 20' --sort '-sum(milliseconds)' --limit 10
            """)

    @OptionGroup var store: StoreOption
    @OptionGroup var options: QueryOptions

    @Option(
        help: ArgumentHelp(
            "What to print of each record: properties separated by commas, through relationships too.",
            discussion: "Through to-many relationships as lists: stops.place; stops.count is their number.",
            valueName: "properties"),
        completion: .custom(SchemaCompletion.properties))
    var select: String?

    @Option(
        help: "How to print: table, record (one property a line), json (one array), lines (one object a line) or csv.")
    var format: RecordFormat = .table

    @Flag(
        help: ArgumentHelp(
            "Print only the count; with --format json or lines as {\"count\":3}, with csv under a heading.",
            discussion: "With --group-by or --aggregate: print the count of each group too."))
    var count = false

    @OptionGroup var groups: GroupOptions

    func validate() throws {
        if select != nil, groups.isGiven {
            throw ValidationError("Pass --select for records, or --group-by and --aggregate for groups, not both.")
        }
    }

    func run() throws {
        let store = try options.open(try self.store.argument())
        if groups.isGiven {
            try GroupListing(groups, options, counts: count, in: store).print(format, from: store)
            return try store.close()
        }
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
