#if Tool
import ArgumentParser
import Foundation
public import MortiseCore

/// The command-line tool over the stores of a registry.
///
/// A package with its own store builds its tool in a few lines, and depends on this one with its trait `Tool`,
/// `.package(url: …, traits: ["Tool"])`:
///
/// ```swift
/// import MortiseCommands
/// import MortiseCore
/// import ShelfStore
///
/// MortiseTool(registry: StoreRegistry(.shelf)).run()
/// ```
///
/// A store takes part where its configuration is a `SelfDescribingConfiguration`, and in the verbs that look after stores
/// where it is a `MaintainableConfiguration`.
public struct MortiseTool: Sendable {
    private let registry: StoreRegistry
    private let settings: ToolSettings
    private let version: String
    private let models: Schema?
    // @unchecked: read once, by the thread that runs the tool.
    private struct Plan: @unchecked Sendable { let type: any SchemaMigrationPlan.Type }
    private let plan: Plan?
    private let server: ToolServer?

    /// - Parameters:
    ///   - registry: the stores that the tool knows.
    ///   - settings: where stores are that are called by a name, as in `mortise info @library`.
    ///   - version: what `--version` prints.
    ///   - models: the schema of the models that are linked into the tool, for `mortise schema check` and `mortise migrate`; nil for
    ///     a tool without models.
    ///   - migrationPlan: the plan that leads to the models, for `mortise migrate`; nil for a tool without one.
    ///   - server: what `mortise serve` starts, such as `.inspector` of the library `MortiseInspector`; nil for a tool without it.
    public init(
        registry: StoreRegistry, settings: ToolSettings = ToolSettings(), version: String = "", models: Schema? = nil,
        migrationPlan: (any SchemaMigrationPlan.Type)? = nil, server: ToolServer? = nil
    ) {
        self.registry = registry
        self.settings = settings
        self.version = version
        self.models = models
        plan = migrationPlan.map(Plan.init)
        self.server = server
    }

    /// Does what the process's arguments say, and ends the process with an exit status of `ToolExitStatus`.
    public func run() -> Never { exit(run(Array(CommandLine.arguments.dropFirst()))) }

    /// Does what the arguments say.
    /// - Returns: the exit status.
    public func run(_ arguments: [String]) -> Int32 {
        let context = ToolContext(
            registry: registry, settings: settings, models: models?.stored,
            plan: models.flatMap { models in plan.map { (models, $0.type) } }, output: Output(1), errors: Output(2),
            server: server)
        return context.whileCurrent {
            do {
                if arguments == ["--version"], !version.isEmpty {
                    try context.output.line(version)
                } else {
                    try Self.checkVerb(arguments[...], of: MortiseCommand.self)
                    var command = try MortiseCommand.parseAsRoot(arguments)
                    try command.run()
                }
                try context.output.flush()
                return ToolExitStatus.success
            } catch {
                return Self.report(error, context)
            }
        }
    }

    /// - Throws: `ToolError.usage` for an unknown verb, with the one that may be meant.
    private static func checkVerb(_ words: ArraySlice<String>, of parent: any ParsableCommand.Type) throws {
        guard let word = words.first, !word.hasPrefix("-") else { return }
        let subcommands = parent.configuration.subcommands
        let verbs = subcommands.map { ($0, $0.configuration.commandName ?? "\($0)".lowercased()) }
        let path = parent == MortiseCommand.self ? [] : [parent.configuration.commandName ?? "\(parent)".lowercased()]
        if parent == MortiseCommand.self, word == "help" { return }
        guard let (verb, _) = verbs.first(where: { $0.1 == word }) else {
            throw ToolError.usage(
                "unknown verb \"\((path + [word]).joined(separator: " ").shown())\""
                    + Suggestion.text(word, among: verbs.map(\.1) + (path.isEmpty ? ["help"] : []))
                    + "; see mortise \((path + ["--help"]).joined(separator: " "))")
        }
        if !verb.configuration.subcommands.isEmpty { try checkVerb(words.dropFirst(), of: verb) }
    }

    /// Prints what went wrong in one line, and help to the standard output.
    static func report(_ error: any Error, _ context: ToolContext) -> Int32 {
        // What was printed before the error comes before it.
        try? context.output.flush()
        if MortiseCommand.exitCode(for: error) == .success {
            do {
                try context.output.line(MortiseCommand.fullMessage(for: error))
                try context.output.flush()
                return ToolExitStatus.success
            } catch { return ToolExitStatus.of(error) }
        }
        if error is SchemasDiffer { return ToolExitStatus.different }
        if case ToolError.findings? = error as? ToolError { return ToolExitStatus.of(error) }
        let message = message(error)
        let mark = context.errors.styled("error:", .red)
        try? context.errors.line("mortise: \(mark) \(message)")
        if context.errors.isTerminal, let place = error as? PredicateTextError {
            try? context.errors.line(place.excerpt)
        }
        try? context.errors.flush()
        return ToolExitStatus.of(error)
    }

    private static func message(_ error: any Error) -> String {
        let text = ToolExitStatus.isOfArguments(error) ? MortiseCommand.message(for: error) : "\(error)"
        return text.split(whereSeparator: \.isNewline).map { String($0).trimmingCharacters(in: .whitespaces) }
            .filter { !$0.isEmpty }.joined(separator: " ").shown(limit: 2_000)
    }
}

/// What the exit status of the tool says. The numbers are those of `sysexits.h` where it has one.
public enum ToolExitStatus {
    /// Everything went well.
    public static let success: Int32 = 0
    /// The compared stores or schemas differ, or a check has found errors.
    public static let different: Int32 = 1
    /// The command line is not understood: a verb, an option, a URL, a predicate, an entity.
    public static let usage: Int32 = 64
    /// A store is damaged, or a file is not a store.
    public static let damaged: Int32 = 65
    /// The store does not exist.
    public static let missing: Int32 = 66
    /// The store's kind cannot do this.
    public static let unsupported: Int32 = 69
    /// An error of the tool itself.
    public static let internalError: Int32 = 70
    /// Something already exists at the path of a new file or store.
    public static let alreadyExists: Int32 = 73
    /// A device, a disk or a network failed.
    public static let failedInputOutput: Int32 = 74
    /// Another process has the store, or is writing to it; try again later.
    public static let locked: Int32 = 75
    /// The user may not do this.
    public static let denied: Int32 = 77
    /// The stores contradict each other or the request: other schemas, values that are not unique.
    public static let conflict: Int32 = 78
    /// The user interrupted the tool; whatever it had saved by then is complete.
    public static let interrupted: Int32 = 130

    static func of(_ error: any Error) -> Int32 {
        if case .interrupted? = error as? ToolError { return interrupted }
        if error is StoresDiffer || error is SchemasDiffer { return different }
        if let classified = error as? any ClassifiedStoreError { return of(classified.errorClass) }
        return isOfArguments(error) ? usage : internalError
    }

    /// Whether the error is one of the argument parser's.
    static func isOfArguments(_ error: any Error) -> Bool {
        !(error is any ClassifiedStoreError) && MortiseCommand.exitCode(for: error) == .validationFailure
    }

    private static func of(_ errorClass: StoreErrorClass) -> Int32 {
        switch errorClass {
        case .usage: usage
        case .missing: missing
        case .damaged: damaged
        case .alreadyExists: alreadyExists
        case .locked, .busy: locked
        case .denied: denied
        case .unsupported: unsupported
        case .failedInputOutput, .closed: failedInputOutput
        case .conflict, .invalid: conflict
        }
    }
}
#endif
