#if Tool
import ArgumentParser
import Foundation
import MortiseCore

/// `mortise shell`
struct Shell: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Reads queries and verbs line by line, about one store.",
        discussion: """
            A line is a query, Entity [where predicate] [sort keys] [limit number], or a verb with its options and without \
            the store: fetch, count, explain, history, set, delete, info, verify. "set" and "delete" show what would \
            change; "yes" carries it out. "help" lists all.

            On a terminal, Up and Down go to earlier lines, Tab completes verbs, entities and properties, and Control-X says how the \
            query in the line would be carried out. Lines are kept in ~/.local/state/mortise/history, or the file that \
            MORTISE_HISTORY names; if that is empty, they are not.

            Lines may come from a file or a pipe: then the first error ends the shell, with its exit status.

            EXAMPLES
              mortise shell log:library.log
              echo 'count Track where unitPrice > 1' | mortise shell log:library.log
            """)

    @OptionGroup var store: StoreOption

    func run() throws {
        var session = ShellSession(store: store.store)
        try session.start()
        let context = ToolContext.current
        let isInteractive = isatty(0) == 1 && context.output.isTerminal
        guard isInteractive else {
            while let line = readLine() {
                guard try session.run(line) else { return }
                try context.output.flush()
            }
            return
        }
        var lines = TerminalLines(input: 0, output: context.output, prompt: "mortise> ")
        var history = LineHistory()
        func attempt(_ body: () throws -> Bool) throws -> Bool {
            do {
                let goesOn = try body()
                try context.output.flush()
                return goesOn
            } catch {
                try context.output.flush()
                _ = MortiseTool.report(error, context)
                return true
            }
        }
        while true {
            let editor = LineEditor(earlier: history.lines, complete: session.complete)
            let line = try lines.read(editor) { text in
                _ = try attempt {
                    try session.plan(text)
                    return true
                }
            }
            guard let line else { return }
            // Another shell may have written since.
            if LineHistory.isKept { history = LineHistory() }
            history.add(line)
            history.save()
            guard try attempt({ try session.run(line) }) else { return }
        }
    }
}

/// What a shell knows between its lines.
struct ShellSession {
    /// The verbs of the tool that may stand in a line. All have the store as their first argument.
    private static let verbs = ["fetch", "explain", "history", "set", "delete", "info", "verify"]
    private static let help = """
        Entity [where predicate] [sort keys] [limit number]
                      prints records; so does fetch before it
        count Entity … prints how many there are
        explain Entity … says how the store found them
        fetch, explain, history, set, delete, info, verify
                      with options as on the command line, and without the store
        yes           carries out what set or delete has shown last
        help [VERB], quit
        """

    private let store: String
    private var entities: Set<String> = []
    /// What may stand next in a line.
    private(set) var complete: (String) -> (start: String.Index, words: [String]) = { ($0.endIndex, []) }
    /// The last `set` or `delete` that only showed what would change, and what that was.
    private var shown: (words: [String], changes: ShownChanges)?

    init(store: String) { self.store = store }

    /// Looks whether the store is there.
    /// - Throws: what opening it throws.
    mutating func start() throws {
        let argument = try StoreArgument(store)
        guard let schema = try argument.selfDescribing().storedSchema() else {
            throw ToolError.missing(store: argument.name)
        }
        entities = Set(schema.entities.map(\.name))
        let completion = ShellCompletion(schema, verbs: Self.verbs + ["count", "yes", "help", "quit"])
        complete = { completion($0) }
    }

    /// Says how the query in a line would be carried out; nothing for a line without one.
    /// - Throws: what is wrong with the query; what the store throws.
    func plan(_ line: String) throws {
        var text = line.trimmingCharacters(in: .whitespaces)
        for verb in ["fetch ", "count ", "explain "] where text.hasPrefix(verb) {
            text = String(text.dropFirst(verb.count)).trimmingCharacters(in: .whitespaces)
        }
        guard Self.isQuery(text), entities.contains(String(text.prefix { !$0.isWhitespace })) else { return }
        try query(text, "explain")
    }

    /// Does what a line says.
    /// - Returns: false if the shell is to end.
    /// - Throws: what the verb throws; `ToolError.usage`.
    mutating func run(_ line: String) throws -> Bool {
        let text = line.trimmingCharacters(in: .whitespacesAndNewlines)
        let first = String(text.prefix { !$0.isWhitespace })
        let rest = String(text.dropFirst(first.count)).trimmingCharacters(in: .whitespaces)
        switch first {
        case "": return true
        case _ where first.hasPrefix("#"): return true
        case "quit", "exit": return false
        case "help" where rest.isEmpty: try ToolContext.current.output.line(Self.help)
        case "help": try run(words: [rest, "--help"])
        case "yes":
            guard let shown else {
                throw ToolError.usage("there is nothing to carry out; use set or delete first")
            }
            self.shown = nil
            try ShownChanges.$current.withValue(shown.changes) { try run(words: shown.words + ["--yes"]) }
        case "fetch" where Self.isQuery(rest), "count" where Self.isQuery(rest), "explain" where Self.isQuery(rest):
            try query(rest, first)
        case "count":
            try run(words: ["fetch", store] + Self.words(of: rest) + ["--count"])
        case _ where entities.contains(first): try query(text, "fetch")
        case _ where Self.verbs.contains(first):
            let words = [first, store] + (try Self.words(of: rest))
            shown = nil
            let changes = ShownChanges()
            try ShownChanges.$current.withValue(changes) { try run(words: words) }
            if ["set", "delete"].contains(first), !words.contains("--yes") { shown = (words, changes) }
        default:
            throw ToolError.usage(
                "unknown verb or entity \"\(first.shown())\""
                    + Suggestion.text(first, among: Self.verbs + ["count", "yes", "help", "quit"] + entities.sorted())
                    + "; \"help\" lists them")
        }
        return true
    }

    private func run(words: [String]) throws {
        do {
            var command = try MortiseCommand.parseAsRoot(words)
            try command.run()
        } catch  where MortiseCommand.exitCode(for: error) == .success {
            try ToolContext.current.output.line(MortiseCommand.fullMessage(for: error))
        }
    }

    /// Whether what follows a verb is a query, not options: a literal may have the sign of an option in it.
    private static func isQuery(_ text: String) -> Bool {
        let words = text.split(maxSplits: 2, whereSeparator: \.isWhitespace)
        guard let entity = words.first, !entity.hasPrefix("-") else { return false }
        return words.count == 1 || !words[1].hasPrefix("-")
    }

    private func query(_ text: String, _ verb: String) throws {
        let store = try OpenStore.reading(try StoreArgument(store))
        var query = try QueryText(text, store).query(store)
        if verb == "count" { query.purpose = .count }
        let clock = ContinuousClock.now
        let run = try StoreQueryRun(query, in: store)
        switch verb {
        case "count": try ToolContext.current.output.line("\(run.count)")
        case "explain": try Explain.print(run, (ContinuousClock.now - clock).seconds)
        default:
            try RecordPrinter(
                RecordColumns(nil, entity: query.entity, store), run.reader, .table, checking: run.version
            ).print(run.records)
        }
        try store.close()
    }

    /// The words of a line, as a shell takes it apart: quotation marks hold words together, a backslash takes the next
    /// character as it is, except between apostrophes.
    /// - Throws: `ToolError.usage` for a quotation that does not end.
    static func words(of line: String) throws -> [String] {
        var words: [String] = []
        var word: String?
        var quote: Character?
        var isEscaped = false
        for character in line {
            if isEscaped {
                if quote == "\"", character != "\"", character != "\\" { word = (word ?? "") + "\\" }
                word = (word ?? "") + String(character)
                isEscaped = false
            } else if character == "\\", quote != "'" {
                isEscaped = true
            } else if character == quote {
                quote = nil
            } else if quote == nil, character == "\"" || character == "'" {
                quote = character
                word = word ?? ""
            } else if quote == nil, character.isWhitespace {
                if let word { words.append(word) }
                word = nil
            } else {
                word = (word ?? "") + String(character)
            }
        }
        if let quote { throw ToolError.usage("the line has a \(quote) without another one") }
        if isEscaped { throw ToolError.usage("the line ends with a backslash") }
        if let word { words.append(word) }
        return words
    }
}
#endif
