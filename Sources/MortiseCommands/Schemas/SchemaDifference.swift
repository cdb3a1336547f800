#if Tool
import ArgumentParser
import MortiseCore

/// How questions about renames are answered.
struct RenameOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "What was renamed; may be given several times.", valueName: "new=old, such as Trip.cost=price"))
    var rename: [String] = []

    @Option(
        help: ArgumentHelp(
            "What was not renamed and is dropped; may be given several times.", valueName: "name, such as Trip.note"))
    var drop: [String] = []

    @Option(help: ArgumentHelp("A file with answers, in the form that questions are printed in.", valueName: "file"))
    var answers: String?
}

/// Two schemas, compared.
struct SchemaDifference {
    let old: SchemaSource
    let new: SchemaSource
    /// The new one, with what was answered.
    let document: SchemaDocument
    let changes: [SchemaChange]
    /// By new name, `Trip.cost`, the old one, where that was answered.
    let answeredRenames: [String: String]

    /// Compares, asks about what may be a rename, and counts records where the old schema is a store's.
    /// - Throws: `ToolError.unansweredQuestions` after printing them.
    init(_ old: SchemaSource, _ new: SchemaSource, _ options: RenameOptions, counting: Bool) throws {
        self.old = old
        self.new = new
        var answers = try RenameAnswers(renames: options.rename, drops: options.drop, file: options.answers)
        while true {
            let document = try answers.apply(to: new.document, from: old.document)
            let comparison = SchemaComparison(from: old.document, to: document)
            let guesses = RenameGuess.all(comparison, from: old.document, to: document, drops: answers.drops)
            if guesses.isEmpty {
                self.document = document
                answeredRenames = answers.renames
                var changes = comparison.changes
                if counting, let argument = old.store {
                    let store = try OpenStore.reading(argument)
                    changes = try ChangeCount(store).counted(changes)
                    try store.close()
                }
                self.changes = changes
                return
            }
            let questions = RenameQuestions(guesses: guesses)
            guard Terminal.isInteractive else {
                try ToolContext.current.output.line(questions.json.description)
                throw ToolError.unansweredQuestions(guesses.map(\.rename))
            }
            try questions.ask(&answers)
        }
    }

    /// Whether a change asks for more than reading records by the new schema.
    var isBreaking: Bool { changes.contains { [.rewritten, .refused].contains($0.changeClass) } }

    func print(to output: Output) throws {
        for change in changes {
            let style: TextStyle =
                switch change.changeClass {
                case .refused: .red
                case .rewritten: .yellow
                default: .dim
                }
            var line = output.styled(change.changeClass.rawValue, style) + "  "
            line += output.styled(change.subject.shown(limit: 200), .bold) + "  " + change.detail.shown(limit: 300)
            if let records = change.records { line += "  (\(FigureText.plural(records, "record")))" }
            try output.line(line)
            try output.line("   " + change.effect.shown(limit: 500))
            if let wayOut = change.wayOut { try output.line("   → " + wayOut.shown(limit: 500)) }
        }
        if changes.isEmpty { return try output.line(output.styled("equal", .green)) }
        let counts = SchemaChange.Class.allCases.compactMap { changeClass -> String? in
            let count = changes.count { $0.changeClass == changeClass }
            return count == 0 ? nil : "\(count) \(changeClass.rawValue)"
        }
        try output.line()
        try output.line("\(FigureText.plural(changes.count, "difference")): " + counts.joined(separator: ", "))
        if old.document.storageDigest == document.storageDigest { try output.line("the storage is the same") }
    }

    var json: JSONText {
        func side(_ source: SchemaSource, _ document: SchemaDocument) -> JSONText {
            .object([
                ("source", .text(source.name)), ("version", .text("\(document.schema.version)")),
                ("storage", .text(document.storageDigest)),
            ])
        }
        func text(_ text: String?) -> JSONText { text.map { .text($0) } ?? .null }
        return .object([
            ("from", side(old, old.document)), ("to", side(new, document)), ("isEqual", .bool(changes.isEmpty)),
            ("hasEqualStorage", .bool(old.document.storageDigest == document.storageDigest)),
            ("isBreaking", .bool(isBreaking)),
            (
                "changes",
                .list(
                    changes.map { change in
                        .object([
                            ("kind", .text(change.kind.rawValue)), ("class", .text(change.changeClass.rawValue)),
                            ("entity", text(change.entity)), ("property", text(change.property)),
                            ("origin", text(change.origin)), ("detail", .text(change.detail)),
                            ("effect", .text(change.effect)), ("wayOut", text(change.wayOut)),
                            ("records", change.records.map { .number($0) } ?? .null),
                        ])
                    })
            ),
        ])
    }
}

/// The schemas that were compared are not the same. That has been printed.
struct SchemasDiffer: Error {}
#endif
