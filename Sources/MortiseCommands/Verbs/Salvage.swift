#if Tool
import ArgumentParser
import MortiseCore

/// `mortise salvage`
struct Salvage: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Saves what can be read of a damaged store into a new one.",
        discussion: """
            The damaged store stays as it is. Records keep their numbers. Losses are listed; the exit status is 65 if \
            there are any.

            EXAMPLES
              mortise salvage log:library.log log:rescued.log
            """)

    @OptionGroup var store: StoreOption

    @Argument(
        help: ArgumentHelp(
            "The new store: a URL of the same kind, or its path. Nothing may exist there yet.", valueName: "new-store"))
    var newStore: String

    @Option(help: "How to print: text or json.")
    var format: ReportFormat = .text

    @Option(help: "When to show progress: auto (on a terminal, after a second), always or never.")
    var progress: ProgressChoice = .auto

    func run() throws {
        let argument = try store.argument()
        let configuration = try argument.capable(of: .salvage, "be salvaged")
        try argument.checkPresence()
        let path = try argument.path(ofNewStore: newStore)
        let report = try ElapsedLine.showing("salvaging", argument.size, progress) {
            try configuration.salvageStore(to: path)
        }
        try report.print(format, summary: report.problems.isEmpty ? "salvaged whole" : "salvaged in part")
        if !report.problems.isEmpty { throw StoreDamage(store: argument.name, problems: report.problems) }
    }
}
#endif
