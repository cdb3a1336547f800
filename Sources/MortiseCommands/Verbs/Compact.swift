#if Tool
import ArgumentParser
import MortiseCore

/// `mortise compact`
struct Compact: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Makes a store smaller: drops the history that its URL does not ask to keep, and unused data.",
        discussion: """
            No record changes. External files that no record names are removed, including those that an opening has \
            moved aside. A crash at any moment leaves the store as it was, or compacted.

            EXAMPLES
              mortise compact 'log:library.log?keepDays=30'
            """)

    @OptionGroup var store: StoreOption

    @Option(help: "How to print: text or json.")
    var format: ReportFormat = .text

    @Option(help: "When to show progress: auto (on a terminal, after a second), always or never.")
    var progress: ProgressChoice = .auto

    func run() throws {
        let argument = try store.argument()
        let configuration = try argument.capable(of: .compact, "be compacted")
        try argument.checkPresence()
        let report = try ElapsedLine.showing("compacting", argument.size, progress) { try configuration.compactStore() }
        try report.print(format, summary: "compacted")
    }
}
#endif
