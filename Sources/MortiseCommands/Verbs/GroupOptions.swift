#if Tool
import ArgumentParser
import MortiseCore

/// What a verb asks for groups of records.
struct GroupOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Print one line for all records with the same values of these properties, separated by commas.",
            discussion: """
                Also through to-one relationships, as album.artist.name; month(date) is the month in which a date lies, and so are \
                year, quarter, week, day and hour, in UTC.
                """, valueName: "keys"),
        completion: .custom(SchemaCompletion.properties))
    var groupBy: String?

    @Option(
        help: ArgumentHelp(
            "What to calculate of each group, or of all records without --group-by, separated by commas.",
            discussion: "count, sum(price), average(price), minimum(price), maximum(price). Nil is left out.",
            valueName: "functions"))
    var aggregate: String?

    @Option(
        help: ArgumentHelp(
            "Only groups for which the predicate holds, such as 'count > 3 and sum(price) >= 100'.",
            valueName: "predicate"))
    var having: String?

    /// Whether groups are asked for.
    var isGiven: Bool { groupBy != nil || aggregate != nil }

    func validate() throws {
        if having != nil, !isGiven { throw ValidationError("Pass --group-by or --aggregate with --having.") }
    }
}
#endif
