#if Tool
import ArgumentParser
import MortiseCore

/// `mortise restore`
struct Restore: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Puts a backup in a store's place.",
        discussion: """
            The backup is read whole before anything changes, and the store is replaced in one step: a crash leaves the \
            old store or the restored one. Programs that have the store open for writing must close it first. A store \
            that exists is replaced with --replace only, and only by a backup of that same store; it need not be \
            readable. The backup stays as it is.

            EXAMPLES
              mortise backup log:library.log log:backups/library.log
              mortise restore log:library.log log:backups/library.log --replace
            """)

    @OptionGroup var store: StoreOption

    @Argument(help: ArgumentHelp("The backup: a URL of the same kind, or its path.", valueName: "backup"))
    var backup: String

    @Flag(help: "Replace the store that is there, which loses what was saved since the backup.")
    var replace = false

    @Option(help: "How to print: text or json.")
    var format: ReportFormat = .text

    @Option(help: "When to show progress: auto (on a terminal, after a second), always or never.")
    var progress: ProgressChoice = .auto

    func run() throws {
        let argument = try store.argument()
        let configuration = try argument.capable(of: .restore, "be restored")
        let path = try argument.path(backup, of: "the backup")
        let report: MaintenanceReport
        do {
            let size = (try? StoreArgument(argument.url.scheme + ":" + path))?.size
            report = try ElapsedLine.showing("restoring", size, progress) {
                try configuration.restoreStore(from: path, replacing: replace) {}
            }
        } catch RestoreError.storeExists {
            throw ToolError.notReplaced(store: argument.name)
        } catch RestoreError.noBackup {
            throw ToolError.missing(store: path)
        }
        try report.print(format, summary: report.problems.isEmpty ? "restored" : "restored with its faults")
        if !report.problems.isEmpty { throw StoreDamage(store: argument.name, problems: report.problems) }
    }
}
#endif
