#if Tool
import ArgumentParser
import Foundation
import MortiseCore

/// `mortise watch`
struct Watch: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Prints the changes that other processes save to a store, as they happen.",
        discussion: """
            The store has to tell what others commit. An append log tells every transaction; a JSON file is compared with \
            what it was before, each time when it was replaced. Values are shown only with --values.

            EXAMPLES
              mortise watch log:library.log
              mortise watch json:library.json --values --format json
            """)

    @OptionGroup var store: StoreOption

    @Option(help: "End after this many changes of the store.")
    var changes: Int?

    @Option(help: "End after this many seconds.")
    var seconds: Double?

    @Flag(help: "Show the new values.")
    var values = false

    @Option(help: "How to print: text, or json with one object for each change.")
    var format: ReportFormat = .text

    func validate() throws {
        if let changes, changes < 1 { throw ValidationError("The number of changes must be at least 1.") }
        if let seconds, !(seconds > 0 && seconds < 1e9) {
            throw ValidationError("The number of seconds must be above 0.")
        }
    }

    func run() throws {
        let follower = try StoreFollower(try store.argument())
        let printer = ChangePrinter(showsValues: values, format: format)
        let end = seconds.map { ContinuousClock.now + .seconds($0) }
        let interruption = Interruption()
        try ToolContext.current.errors.line("watching \(follower.name); Ctrl-C ends it")
        try ToolContext.current.errors.flush()
        var seen = 0
        while !interruption.isRequested {
            let found = try follower.next()
            for changes in found { try printer.print(changes) }
            if !found.isEmpty { try ToolContext.current.output.flush() }
            seen += found.count
            if let changes, seen >= changes { return }
            if let end, ContinuousClock.now >= end { return }
        }
    }
}
#endif
