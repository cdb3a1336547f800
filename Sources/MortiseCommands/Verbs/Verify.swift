#if Tool
import ArgumentParser
import MortiseCore

/// `mortise verify`
struct Verify: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Reads every byte of a store and lists what is wrong.",
        discussion: """
            Changes nothing and takes no lock. The exit status is 65 if something is wrong.

            EXAMPLES
              mortise verify log:library.log
            """)

    @OptionGroup var store: StoreOption

    @Option(help: "How to print: text or json.")
    var format: ReportFormat = .text

    @Option(help: "When to show progress: auto (on a terminal, after a second), always or never.")
    var progress: ProgressChoice = .auto

    func run() throws {
        let argument = try store.argument()
        let configuration = try argument.capable(of: .verify, "be verified")
        try argument.checkPresence()
        let report = try ElapsedLine.showing("verifying", argument.size, progress) { try configuration.verifyStore() }
        guard report.problems.isEmpty else {
            try report.print(format, summary: "damaged")
            throw StoreDamage(store: argument.name, problems: report.problems)
        }
        try report.print(format, summary: "sound")
    }
}

/// A check of a store found something.
struct StoreDamage: ClassifiedStoreError, CustomStringConvertible {
    let store: String
    let problems: [String]
    var errorClass: StoreErrorClass { .damaged }
    /// The problems themselves are on the standard output.
    var description: String { "\(store) is damaged: found \(FigureText.plural(problems.count, "problem"))" }
}
#endif
