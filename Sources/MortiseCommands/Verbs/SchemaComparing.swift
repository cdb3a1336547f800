#if Tool
import ArgumentParser
import MortiseCore

/// `mortise schema diff`
struct SchemaDiff: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "diff", abstract: "Lists every difference between two schemas, and what it means to records.",
        discussion: """
            Each difference has a class: 0, records stay as they are; M, they are read by the new schema without being written \
            again; I, an index is built or a constraint checked; W, values or links are written again; X, a store refuses to open \
            without a stage of a migration plan that says how. If the old schema is a store's, the records that a difference \
            concerns are counted, and what only records can prevent is decided.

            What was dropped and something new that resembles it may be one property under a new name. That is asked on a \
            terminal; elsewhere answer with --rename, --drop or --answers. Without an answer, the questions are printed as JSON and \
            the status is 64. The status is 1 if the schemas differ.

            """ + SchemaSource.help
                + """


                EXAMPLES
                  mortise schema diff json:library.json schema.json
                  mortise schema diff git:HEAD:schema.json schema.json --rename Trip.cost=price
                """)

    @Argument(help: ArgumentHelp("The old schema.", valueName: "old"))
    var old: String

    @Argument(help: ArgumentHelp("The new schema.", valueName: "new"))
    var new: String

    @OptionGroup var renames: RenameOptions

    @Option(help: "How to print: text or json.")
    var format: ReportFormat = .text

    func run() throws {
        let difference = try SchemaDifference(SchemaSource(old), SchemaSource(new), renames, counting: true)
        try difference.report(format)
        if !difference.changes.isEmpty { throw SchemasDiffer() }
    }
}

/// `mortise schema check`
struct SchemaCheck: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check", abstract: "Compares a schema with the one that was shipped, for continuous integration.",
        discussion: """
            The status is 0 if both are equal, and 1 if they differ. With --breaking it is 1 only for differences of the classes W \
            and X, which "mortise help schema diff" explains, as it does questions about renames.

            """ + SchemaSource.help
                + """


                EXAMPLES
                  mortise schema check --against schema.json json:library.json
                  mortise schema check --against git:v1.0:schema.json schema.json --breaking
                """)

    @Option(help: ArgumentHelp("The schema that was shipped.", valueName: "schema"))
    var against: String

    @Argument(
        help: ArgumentHelp("The schema; the models that are linked into the tool unless given.", valueName: "schema"))
    var source: String = "models:"

    @Flag(help: "Differ only where records have to be written again, or a plan is needed.")
    var breaking = false

    @OptionGroup var renames: RenameOptions

    @Option(help: "How to print: text or json.")
    var format: ReportFormat = .text

    func run() throws {
        let difference = try SchemaDifference(SchemaSource(against), SchemaSource(source), renames, counting: true)
        try difference.report(format)
        if breaking ? difference.isBreaking : !difference.changes.isEmpty { throw SchemasDiffer() }
    }
}

extension SchemaDifference {
    fileprivate func report(_ format: ReportFormat) throws {
        let output = ToolContext.current.output
        switch format {
        case .text: try print(to: output)
        case .json: try output.line(json.description)
        }
    }
}

/// `mortise schema lint`
struct SchemaLintVerb: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "lint", abstract: "Finds what is likely to cause trouble in a schema.",
        discussion: """
            S06 a type has changed, S07 something is dropped or renamed, S16 the storage has changed and the version not, S17 an \
            original name is not needed any more (these with --against); S08 a default that is the same for all records and should \
            not be, S09 an ordered relationship, S10 a list within a record, S11 a transformable attribute, S12 an enum without a \
            case for unknown values, S13 a word of SQL or of a service, S14 names that differ in case only, S15 a name of more than \
            60 bytes, S19 a reserved name. With --for sync also S01 a required attribute without a default, S02 a unique \
            constraint, S03 a required relationship, S04 a relationship without inverse, S05 the delete rule deny; and S01 to S09 \
            and S12 are errors. The status is 1 if there are errors.

            """ + SchemaSource.help
                + """


                EXAMPLES
                  mortise schema lint json:library.json
                  mortise schema lint schema.json --against git:v1.0:schema.json --for sync
                """)

    /// What records are used for.
    enum Purpose: String, ExpressibleByArgument, CaseIterable {
        /// They are exchanged with a service.
        case sync
    }

    @Argument(help: ArgumentHelp("The schema.", valueName: "schema"))
    var source: String

    @Option(name: .customLong("for"), help: "Find what prevents that use: sync.")
    var purpose: Purpose?

    @Option(help: ArgumentHelp("The schema that was shipped.", valueName: "schema"))
    var against: String?

    @Option(help: "How to print: text or json.")
    var format: ReportFormat = .text

    func run() throws {
        let document = try SchemaSource(source).document
        let shipped = try against.map { try SchemaSource($0).document }
        let lint = SchemaLint(document, since: shipped, isForSync: purpose == .sync)
        let output = ToolContext.current.output
        switch format {
        case .json:
            let findings = lint.findings.map { finding in
                JSONText.object([
                    ("code", .text(finding.code)), ("severity", .text(finding.severity.rawValue)),
                    ("subject", .text(finding.subject)), ("message", .text(finding.message)),
                ])
            }
            try output.line(JSONText.object([("findings", .list(findings))]).description)
        case .text:
            for finding in lint.findings {
                let severity = output.styled(finding.severity.rawValue, finding.severity == .error ? .red : .yellow)
                try output.line(
                    "\(severity) \(finding.code)  \(finding.subject.shown(limit: 200)) \(finding.message.shown(limit: 500))"
                )
            }
            if lint.findings.isEmpty { try output.line(output.styled("nothing found", .green)) }
        }
        if lint.hasErrors { throw SchemasDiffer() }
    }
}
#endif
