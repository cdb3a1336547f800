#if Tool
import ArgumentParser
import MortiseCore

/// `mortise backup`
struct Backup: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Copies a store's files as of one moment, while others write it.",
        discussion: """
            The copy opens as the store does. To copy into another kind of store use "mortise copy". If records contradict \
            each other, the copy has them as they are; that is listed, and the exit status is 65.

            EXAMPLES
              mortise backup log:library.log log:backups/library-2026-05-01.log
            """)

    @OptionGroup var store: StoreOption

    @Argument(
        help: ArgumentHelp(
            "The copy: a URL of the same kind, or its path. Nothing may exist there yet.", valueName: "new-store"))
    var newStore: String

    @Option(help: "How to print: text or json.")
    var format: ReportFormat = .text

    @Option(help: "When to show progress: auto (on a terminal, after a second), always or never.")
    var progress: ProgressChoice = .auto

    func run() throws {
        let argument = try store.argument()
        let configuration = try argument.capable(of: .backUp, "be backed up")
        try argument.checkPresence()
        let path = try argument.path(ofNewStore: newStore)
        let report = try ElapsedLine.showing("backing up", argument.size, progress) {
            try configuration.backUpStore(to: path)
        }
        try report.print(format, summary: report.problems.isEmpty ? "backed up" : "backed up with its faults")
        if !report.problems.isEmpty { throw StoreDamage(store: argument.name, problems: report.problems) }
    }
}
#endif
