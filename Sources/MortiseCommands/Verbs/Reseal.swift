#if Tool
import ArgumentParser
import MortiseCore

/// `mortise reseal`
struct Reseal: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Checks a store that was edited by hand, and renews its checksum.",
        discussion: """
            Everything is checked first. If something is wrong, its line and column are shown and the store stays as it \
            is.

            EXAMPLES
              mortise reseal json:library.json
            """)

    @OptionGroup var store: StoreOption

    @Option(help: "How to print: text or json.")
    var format: ReportFormat = .text

    func run() throws {
        let argument = try store.argument()
        let configuration = try argument.capable(of: .reseal, "be resealed")
        try argument.checkPresence()
        try configuration.resealStore().print(format, summary: "resealed")
    }
}
#endif
