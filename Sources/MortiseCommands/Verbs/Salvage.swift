import ArgumentParser
import MortiseCore

/// `mortise salvage`
struct Salvage: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Saves what can be read of a damaged store into a new one.",
        discussion: """
            The damaged store stays as it is. Records keep their numbers. What was lost is listed, and the exit status is \
            65 where something was.

            EXAMPLES
              mortise salvage log:library.log rescued.log
            """)

    @OptionGroup var store: StoreOption

    @Argument(help: "The path of the new store, where there is nothing yet.")
    var newPath: String

    @Option(help: "How to print: text or json.")
    var format: ReportFormat = .text

    func run() throws {
        let argument = try store.argument()
        let configuration = try argument.capable(of: (any SalvageableConfiguration).self, "be salvaged")
        try argument.checkPresence()
        let report = try configuration.salvageStore(to: newPath)
        try report.print(format, summary: report.problems.isEmpty ? "salvaged whole" : "salvaged in part")
        if !report.problems.isEmpty { throw StoreDamage(store: argument.name, problems: report.problems) }
    }
}
