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

/// Prints changes of a store, as text or as one object of JSON for each record.
private struct ChangePrinter {
    let showsValues: Bool
    let format: ReportFormat
    private var output: Output { ToolContext.current.output }

    init(showsValues: Bool, format: ReportFormat) {
        self.showsValues = showsValues
        self.format = format
    }

    func print(_ changes: ChangeSet) throws {
        let now = Date(timeIntervalSinceReferenceDate: Date.timeIntervalSinceReferenceDate.rounded())
        let time = TimestampText.text(of: changes.commit?.timestamp ?? now)
        var stamp: [(String, JSONText)] = [("timestamp", .text(time))]
        if let commit = changes.commit {
            stamp.insert(("transaction", .raw("\(commit.number)")), at: 0)
            stamp.append(("author", changes.author.map { .text($0) } ?? .null))
        }
        if format == .text {
            let line =
                changes.commit == nil
                ? "\(time)  \(FigureText.count(changes.inserted.count)) inserted, "
                    + "\(FigureText.count(changes.updated.count)) updated, "
                    + "\(FigureText.count(changes.deleted.count)) deleted"
                : TransactionText.line(changes)
            try output.line(output.styled(line, .bold))
        }
        if changes.isErasure { try print(note: "erase", "all records", stamp) }
        if changes.isIncomplete { try print(note: "unknown", "more may have changed", stamp) }
        for deletion in changes.deleted { try print("delete", deletion.record, [], [], stamp) }
        for update in changes.updated {
            let values = update.slots.slots.compactMap { slot in
                update.value(at: slot).map { (name: update.layout.slots[slot].name, value: $0) }
            }
            try print("update", update.record, update.properties, values, stamp)
        }
        if changes.inserted.hasValues {
            for snapshot in changes.inserted.values {
                let stored = snapshot.layout.slots.indices.filter { snapshot.layout.slots[$0].role != .toManyDerived }
                let values = stored.map { (name: snapshot.layout.slots[$0].name, value: snapshot.values[$0]) }
                try print("insert", snapshot.persistentIdentifier, nil, values, stamp)
            }
        } else {
            for record in changes.inserted.records { try print("insert", record, nil, [], stamp) }
        }
    }

    private func print(note name: String, _ text: String, _ stamp: [(String, JSONText)]) throws {
        switch format {
        case .text: try output.line("  \(name)  \(text)")
        case .json: try output.line(JSONText.object([("change", JSONText.text(name))] + stamp).description)
        }
    }

    /// Prints a change. `properties` are those that changed; nil for all.
    private func print(
        _ verb: String, _ record: PersistentIdentifier, _ properties: [String]?,
        _ told: [(name: String, value: StoredValue)], _ stamp: [(String, JSONText)]
    ) throws {
        let values = showsValues ? told : []
        switch format {
        case .text:
            let detail =
                !values.isEmpty
                ? values.map { "\($0.name)=\(ValueText.plain($0.value).shown())" }.joined(separator: " ")
                : (properties ?? []).joined(separator: ", ")
            try output.line("  \(verb) \("\(record)".shown())" + (detail.isEmpty ? "" : "  \(detail)"))
        case .json:
            var members = [("change", JSONText.text(verb)), ("entity", .text(record.entityName))]
            members.append(("record", .raw(ValueText.json(record))))
            if let properties, !properties.isEmpty {
                members.append(("properties", .list(properties.map { .text($0) })))
            }
            if !values.isEmpty {
                members.append(("values", .object(values.map { ($0.name, .raw(ValueText.json($0.value))) })))
            }
            try output.line(JSONText.object(members + stamp).description)
        }
    }
}
#endif
