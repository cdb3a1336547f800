#if Tool
import ArgumentParser
import MortiseCore

/// Which records a verb changes, and whether it may.
struct EditOptions: ParsableArguments {
    @Argument(help: "The entity whose records are changed, including its subentities.")
    var entity: String

    @Option(
        name: [.customLong("where")],
        help: ArgumentHelp("Only records for which the predicate holds, such as '$id == 7'.", valueName: "predicate"))
    var condition: String?

    @Flag(help: "All records of the entity; needed where no predicate is given.")
    var all = false

    @Flag(help: "Carry it out. Without this the changes are only shown.")
    var yes = false

    @Option(help: "How to print: text, or json with one object for each change.")
    var format: ReportFormat = .text

    func validate() throws {
        if condition == nil, !all { throw ValidationError("Say which records with --where, or pass --all.") }
        if condition != nil, all { throw ValidationError("Pass --where or --all, not both.") }
    }
}

/// Changes that are shown before they are made, and made in one transaction.
struct RecordEdit {
    /// How many records are listed.
    private static let listed = 100

    private let store: OpenStore
    private let queryable: any QueryableDataStore
    let run: StoreQueryRun
    private let baseVersion: UInt64?

    /// Opens the store, for writing if the changes are to be made, and finds the records.
    /// - Throws: `ToolError`; `PredicateTextError`; `UnknownEntity`; what the store throws.
    init(_ argument: StoreArgument, _ options: EditOptions) throws {
        let configuration = try argument.selfDescribing()
        guard let schema = try configuration.storedSchema() else { throw ToolError.missing(store: argument.name) }
        store =
            options.yes
            ? try OpenStore(configuration, schema: schema, name: argument.name) : try OpenStore.reading(argument)
        guard let queryable = store.store as? any QueryableDataStore else {
            throw ToolError.unsupported(store: store.name, what: "be changed without models")
        }
        self.queryable = queryable
        let text = PredicateText(schema: store.schema, storeIdentifier: store.store.identifier)
        try text.check(options.entity)
        run = try StoreQueryRun(
            StoreQuery(
                options.entity, purpose: .rows,
                conjuncts: try options.condition.map { try text.conditions($0, entity: options.entity) } ?? [],
                order: [], offset: 0, limit: nil), in: store)
        baseVersion = (store.store as? any VersionedDataStore)?.currentVersion.number
    }

    var schema: StoredSchema { store.schema }
    var layouts: [String: RecordLayout] { store.layouts }
    var storeIdentifier: String { store.store.identifier }

    /// Shows the changes, and makes them if that is wanted.
    /// - Throws: `ToolError`; what the store throws, which has changed nothing then.
    func show(
        _ changes: ChangeSet, _ options: EditOptions, then change: StoreBatch.Change, of records: [PersistentIdentifier]
    ) throws {
        let output = ToolContext.current.output
        if options.format == .text {
            try output.line(output.styled(Self.line(changes), .bold))
        }
        let cut = changes.count > Self.listed && options.format == .text
        try ChangePrinter(showsValues: true, format: options.format).print(
            records: cut ? changes.first(Self.listed) : changes)
        if cut { try output.line("  and \(FigureText.count(changes.count - Self.listed)) more") }
        if records.isEmpty || changes.isEmpty {
            if options.format == .text { try output.line("there is nothing to change") }
        } else if options.yes {
            do {
                _ = try queryable.execute(
                    StoreBatch(.records(records), change, author: "mortise", baseVersion: baseVersion))
            } catch DataStoreError.unsupportedFeature {
                throw ToolError.unsupported(store: store.name, what: "carry out this change without models")
            }
            if options.format == .text { try output.line("saved as one transaction") }
        } else {
            try ToolContext.current.errors.line("nothing was changed; pass --yes to carry this out")
            try ToolContext.current.errors.flush()
        }
        try store.close()
    }

    private static func line(_ changes: ChangeSet) -> String {
        let parts = [
            changes.updated.isEmpty ? nil : FigureText.plural(changes.updated.count, "record") + " updated",
            changes.deleted.isEmpty ? nil : FigureText.plural(changes.deleted.count, "record") + " deleted",
        ].compactMap(\.self)
        return parts.isEmpty ? "no record changes" : parts.joined(separator: ", ")
    }
}

extension ChangeSet {
    /// The first records alone, deleted ones before changed ones.
    fileprivate func first(_ count: Int) -> ChangeSet {
        var part = self
        part.deleted = Array(deleted.prefix(count))
        part.updated = Array(updated.prefix(count - part.deleted.count))
        return part
    }
}
#endif
