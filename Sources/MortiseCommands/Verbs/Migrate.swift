#if Tool
import ArgumentParser
import Logging
import MortiseCore

/// `mortise migrate`
struct Migrate: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Brings a store to another version of its schema, or says what that would do.",
        discussion: """
            Without --to the stages of the migration plan that is linked into the tool are carried out, code included. With --to the \
            store comes to the schema of a file, a commit or another store, whose version has to be a later one: renamed properties \
            are found by their original name, new ones get their default, and what has no place is dropped. Types do not change \
            that way.

            The store is replaced in one step at the end; before that it stays as it is, also if the process dies. --dry-run \
            writes nothing, and has the status 78 if a stage would be refused. --plan shows the versions and stages of the linked plan.

            Where a migration drops something, and with --keep-copy, a copy of the store as it was stays beside it. --backups lists \
            these copies, and --restore puts one of them into the store's place, which loses what was saved since.

            """ + SchemaSource.help
                + """


                EXAMPLES
                  mortise migrate log:library.log --to schema.json --dry-run
                  mortise migrate log:library.log --to schema.json --keep-copy --loss refused
                  mortise migrate log:library.log --backups
                  mortise migrate log:library.log --restore library.log.schema-1.0.0-71146da29ba382a8
                """)

    /// What happens to what has no place.
    enum Loss: String, ExpressibleByArgument, CaseIterable {
        case allowed
        case refused
    }

    @OptionGroup var store: StoreOption

    @Option(help: ArgumentHelp("The schema to come to; that of the linked plan unless given.", valueName: "schema"))
    var to: String?

    @Flag(help: "Only say what would be done.")
    var dryRun = false

    @Flag(help: "Only show the versions and stages of the linked plan.")
    var plan = false

    @Flag(help: "Only list the copies that migrations have left beside the store.")
    var backups = false

    @Option(help: ArgumentHelp("Put a copy into the store's place, by its name or path.", valueName: "copy"))
    var restore: String?

    @Flag(help: "Keep a copy of the store as it was, also where nothing is lost.")
    var keepCopy = false

    @Option(help: "With --to, what happens to what the schema has no place for: allowed or refused.")
    var loss: Loss = .allowed

    @Option(help: "When to show progress: auto (on a terminal), always or never.")
    var progress: ProgressChoice = .auto

    @Option(help: "How to print: text or json.")
    var format: ReportFormat = .text

    func validate() throws {
        let modes = [to != nil || dryRun || keepCopy || loss != .allowed, plan, backups, restore != nil]
        if modes.count(where: \.self) > 1 {
            throw ValidationError("--plan, --backups and --restore are used alone")
        }
    }

    func run() throws {
        let argument = try store.argument()
        if let copy = restore { return try restore(copy, argument) }
        if backups { return try listCopies(argument) }
        let configuration = try argument.migratable()
        try argument.checkPresence()
        guard let stored = try configuration.storedSchema() else { throw ToolError.missing(store: argument.name) }
        if let to {
            try migrate(configuration, from: stored, to: SchemaSource(to), argument)
        } else {
            guard let linked = ToolContext.current.plan else {
                throw ToolError.usage("no migration plan is linked into this tool; give the schema with --to")
            }
            if plan { return try showPlan(linked.plan, stored: stored.version, argument) }
            if loss != .allowed || keepCopy {
                throw ToolError.usage(
                    "the linked plan says itself what happens to losses and copies; see its migrationOptions")
            }
            try migrate(configuration, to: linked.schema, linked.plan, argument)
        }
    }

    private func migrate(
        _ configuration: any MigratableConfiguration, from stored: StoredSchema, to source: SchemaSource,
        _ argument: StoreArgument
    ) throws {
        let schema = source.document.schema
        if schema.entities != stored.entities, schema.version <= stored.version {
            throw ToolError.usage(
                "\(source.name) has version \(schema.version), and \(argument.name) has \(stored.version) with other models; "
                    + "give the schema a later version")
        }
        var options = MigrationOptions()
        options.loss = loss == .refused ? .refused : .allowed
        options.copies = keepCopy ? .always : .whereSomethingIsLost
        // Called on this thread only.
        nonisolated(unsafe) var line: ProgressLine?
        options.progress = { [progress] step in
            if line == nil { line = ProgressLine("migrated", of: step.records, progress) }
            if step.part == .mapping { line?.update(min(step.completed, step.records)) }
        }
        defer { line?.interrupt() }
        FilePlan.current = FilePlan(from: stored, to: schema, options)
        defer { FilePlan.current = nil }
        try migrate(configuration, to: Schema(stored: schema), FilePlan.Plan.self, argument)
    }

    private func migrate(
        _ configuration: any MigratableConfiguration, to schema: Schema, _ plan: any SchemaMigrationPlan.Type,
        _ argument: StoreArgument
    ) throws {
        let output = ToolContext.current.output
        let preview = try ModelContainer.migrationPreview(
            for: schema, migrationPlan: plan, configurations: [configuration]
        ).first
        guard let preview else { throw ToolError.missing(store: argument.name) }
        if dryRun || preview.stages.isEmpty {
            try print(preview, argument, isDone: false)
            if preview.stages.contains(where: { $0.refusal != nil }) { throw ToolError.findings(.conflict) }
            return
        }
        // What is logged is what the preview says.
        let container = try ModelContainer(
            for: schema, migrationPlan: plan, configurations: [configuration],
            logger: Logger(label: "mortise") { _ in SwiftLogNoOpLogHandler() })
        try container.close()
        try print(preview, argument, isDone: true)
        try output.flush()
    }

    private static func milliseconds(_ duration: Duration) -> Int {
        Int(clamping: Int64((duration / .milliseconds(1)).rounded(.up)))
    }

    private func print(_ preview: MigrationPreview, _ argument: StoreArgument, isDone: Bool) throws {
        let output = ToolContext.current.output
        switch format {
        case .json:
            let stages = preview.stages.map { stage in
                JSONText.object([
                    ("from", .text("\(stage.from)")), ("to", .text("\(stage.to)")),
                    ("code", .bool(stage.hasCode && to == nil)), ("changes", .list(stage.changes.map { .text($0) })),
                    ("drops", stage.loss.map { .text("\($0)") } ?? .null),
                    ("refusal", stage.refusal.map { .text($0) } ?? .null),
                ])
            }
            try output.line(
                JSONText.object([
                    ("store", .text(argument.name)), ("from", .text("\(preview.from)")), ("to", .text("\(preview.to)")),
                    ("records", .number(preview.records)), ("done", .bool(isDone)), ("copy", .bool(preview.isCopy)),
                    ("keepsIdentifiers", .bool(preview.keepsIdentifiers)),
                    ("bytesNeeded", preview.space.map { .number(Int(clamping: $0.needed)) } ?? .null),
                    ("bytesFree", preview.space?.free.map { .number(Int(clamping: $0)) } ?? .null),
                    ("leastMilliseconds", preview.time.map { .number(Self.milliseconds($0.lowerBound)) } ?? .null),
                    ("mostMilliseconds", preview.time.map { .number(Self.milliseconds($0.upperBound)) } ?? .null),
                    ("stages", .list(stages)),
                ]).description)
        case .text:
            let records = "\(FigureText.count(preview.records)) record\(preview.records == 1 ? "" : "s")"
            if preview.stages.isEmpty {
                return try output.line("\(argument.name): version \(preview.to), \(records), nothing to do")
            }
            for stage in preview.stages {
                try output.line("\(stage.from) to \(stage.to)\(stage.hasCode && to == nil ? ", with code" : "")")
                for change in stage.changes { try output.line("  \(change.shown(limit: 500))") }
                if let loss = stage.loss {
                    try output.line(output.styled("  drops \("\(loss)".shown(limit: 2_000))", .yellow))
                }
                if let refusal = stage.refusal {
                    try output.line(output.styled("  is refused: \(refusal.shown(limit: 2_000))", .red))
                }
            }
            if let way = preview.way, !isDone { try output.line("  \(way)") }
            if let duration = preview.duration, !isDone { try output.line("  \(duration)") }
            if let space = preview.space, !isDone {
                let free = space.free.map { " of \(FigureText.bytes($0)) that are free" } ?? ""
                let line = "  takes up to \(FigureText.bytes(space.needed))\(free)"
                try output.line(space.isEnough ? line : output.styled(line, .red))
            }
            try output.line(
                "\(argument.name): \(isDone ? "migrated" : "would come") from version \(preview.from) to \(preview.to), \(records)"
            )
        }
    }
}

/// A plan of two versions without classes: the one that a store has and the one of a file.
private struct FilePlan {
    // Set and used by the thread that runs the verb only.
    nonisolated(unsafe) static var current: FilePlan?

    let old: StoredSchema
    let new: StoredSchema
    let options: MigrationOptions

    init(from old: StoredSchema, to new: StoredSchema, _ options: MigrationOptions) {
        (self.old, self.new, self.options) = (old, new, options)
    }

    enum Before: VersionedSchema {
        static var models: [any PersistentModel.Type] { [] }
        static var versionIdentifier: Schema.Version { stored?.version ?? Schema.Version(1, 0, 0) }
        static var stored: StoredSchema? { FilePlan.current?.old }
    }

    enum After: VersionedSchema {
        static var models: [any PersistentModel.Type] { [] }
        static var versionIdentifier: Schema.Version { stored?.version ?? Schema.Version(1, 0, 0) }
        static var stored: StoredSchema? { FilePlan.current?.new }
    }

    enum Plan: SchemaMigrationPlan {
        static var schemas: [any VersionedSchema.Type] { [Before.self, After.self] }
        // One that sees both versions is carried out now, and not at the next save.
        static var stages: [MigrationStage] {
            FilePlan.current?.old.version == FilePlan.current?.new.version
                ? [] : [.custom(from: Before.self, to: After.self)]
        }
        static var migrationOptions: MigrationOptions { FilePlan.current?.options ?? MigrationOptions() }
    }
}
#endif
