#if Tool
import ArgumentParser
import MortiseCore

/// Which records a verb changes, and whether it may.
struct EditOptions: ParsableArguments {
    @Argument(
        help: "The entity whose records are changed, including its subentities.",
        completion: .custom(SchemaCompletion.entities))
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
    /// What is to happen to the records that were found.
    struct Change {
        var changes: ChangeSet
        /// The records that the store changes or deletes. What follows from that by delete rules need not be among them.
        var records: [PersistentIdentifier]
        /// Whether each record gets values of its own, which no batch says.
        var isByRecord = false
    }

    /// How many records are listed.
    private static let listed = 100
    /// How often others may save in between before the tool gives up.
    private static let attempts = 10

    private let store: OpenStore
    private let query: StoreQuery
    let run: StoreQueryRun

    /// Opens the store, for writing if the changes are to be made, and finds the records.
    /// - Throws: `ToolError`; `PredicateTextError`; `UnknownEntity`; what the store throws.
    init(_ argument: StoreArgument, _ options: EditOptions) throws {
        let configuration = try argument.selfDescribing()
        guard let schema = try configuration.storedSchema() else { throw ToolError.missing(store: argument.name) }
        try self.init(
            options.yes
                ? OpenStore(configuration, schema: schema, name: argument.name) : OpenStore.reading(argument), options)
    }

    /// Finds the records in an open store.
    /// - Throws: `ToolError`; `PredicateTextError`; `UnknownEntity`; what the store throws.
    init(_ store: OpenStore, _ options: EditOptions) throws {
        self.store = store
        let text = PredicateText(schema: store.schema, storeIdentifier: store.store.identifier)
        try text.check(options.entity)
        query = StoreQuery(
            options.entity, purpose: .rows,
            conjuncts: try options.condition.map { try text.conditions($0, entity: options.entity) } ?? [],
            order: [], offset: 0, limit: nil)
        run = try StoreQueryRun(query, in: store)
    }

    var schema: StoredSchema { store.schema }
    var layouts: [String: RecordLayout] { store.layouts }
    var storeIdentifier: String { store.store.identifier }

    /// Shows the changes, and makes them if that is wanted. Where somebody else has saved since the records were
    /// found, they are found again; the changes are made if they are still the same.
    /// - Parameters:
    ///   - options: what was asked for.
    ///   - change: what the store does with the records.
    ///   - make: what that comes to for the records that were found.
    /// - Throws: `ToolError`, `.changedSinceShown` where others have changed what was shown; what the store throws, which has
    ///   changed nothing then.
    func carryOut(
        _ options: EditOptions, _ change: StoreBatch.Change, _ make: (StoreQueryRun) throws -> Change
    ) throws {
        let output = ToolContext.current.output
        let made = try Self.change(run, make)
        try show(made.changes, options)
        if let shown = ShownChanges.current {
            if options.yes, let changes = shown.changes, !made.changes.comesToTheSame(as: changes) {
                try output.flush()
                throw ToolError.changedSinceShown(store: store.name)
            }
            shown.changes = made.changes
        }
        if made.records.isEmpty || made.changes.isEmpty {
            if options.format == .text { try output.line("there is nothing to change") }
        } else if options.yes {
            try save(made, change, options, make)
            if options.format == .text { try output.line("saved as one transaction") }
        } else {
            try ToolContext.current.errors.line("nothing was changed; pass --yes to carry this out")
            try ToolContext.current.errors.flush()
        }
    }

    func close() throws { try store.close() }

    /// The properties of the unique keys of an entity, also of those that it inherits.
    private func uniqueProperties(of entity: String) -> [String] {
        var names: Set<String> = []
        var next: String? = entity
        while let name = next, let found = store.schema.entities.first(where: { $0.name == name }) {
            names.formUnion(found.uniquenessConstraints.joined())
            next = found.superentity
        }
        return names.sorted()
    }

    /// A read that fails looks like a record that is not there: its error comes before what that led to.
    private static func change(
        _ run: StoreQueryRun, _ make: (StoreQueryRun) throws -> Change
    ) throws -> Change {
        let result = Result { try make(run) }
        try run.version.check()
        return try result.get()
    }

    private func show(_ changes: ChangeSet, _ options: EditOptions) throws {
        let output = ToolContext.current.output
        if options.format == .text {
            try output.line(output.styled(Self.line(changes), .bold))
        }
        let cut = changes.count > Self.listed && options.format == .text
        try ChangePrinter(showsValues: true, format: options.format).print(
            records: cut ? changes.first(Self.listed) : changes)
        if cut { try output.line("  and \(FigureText.count(changes.count - Self.listed)) more") }
    }

    private func save(
        _ shown: Change, _ change: StoreBatch.Change, _ options: EditOptions,
        _ make: (StoreQueryRun) throws -> Change
    ) throws {
        var run = run
        var attempts = 1
        var checksRecords = true
        while true {
            do {
                return try save(shown, change, run, checksRecords: checksRecords)
            } catch let error where error is VersionSuperseded || error is RecordsSuperseded {
                if attempts == Self.attempts { throw error }
                attempts += 1
                store.refresh()
                run = try StoreQueryRun(query, in: store)
                let now = try Self.change(run, make)
                guard now.changes.comesToTheSame(as: shown.changes) else {
                    let output = ToolContext.current.output
                    if options.format == .text { try output.line("another program has saved meanwhile; now:") }
                    try show(now.changes, options)
                    try output.flush()
                    throw ToolError.changedSinceShown(store: store.name)
                }
                // A unique value that another record has: the batch says so. A deletion takes none, and others of which it is told
                // refer to its records.
                let own = Set(shown.records)
                if case .update = change, let error = error as? RecordsSuperseded {
                    checksRecords = error.identifiers.contains(where: own.contains)
                    // There is no batch for values that differ: the store has said which record is in the way.
                    if shown.isByRecord, !checksRecords, let other = error.identifiers.first,
                        let model = shown.records.first
                    {
                        throw ModelContextError.notUnique(
                            entity: model.entityName, properties: uniqueProperties(of: model.entityName), values: [],
                            model: model, other: other)
                    }
                }
            }
        }
    }

    private func save(
        _ made: Change, _ change: StoreBatch.Change, _ run: StoreQueryRun, checksRecords: Bool
    ) throws {
        if made.isByRecord { return try saveByRecord(made, run) }
        if checksRecords, let version = run.version as? AnswerVersion, try save(made, change, run, readIn: version) {
            return
        }
        (run.version as? AnswerVersion)?.endState()
        let base = store.versioned != nil ? run.version.number : nil
        do {
            _ = try store.queryable.execute(
                StoreBatch(.records(made.records), change, author: "mortise", baseVersion: base))
        } catch DataStoreError.unsupportedFeature {
            throw ToolError.unsupported(store: store.name, what: "carry out this change without models")
        }
    }

    /// Saves a change provided that its records have the versions still that they were read in.
    /// - Returns: false if the store does not number the versions of its records, or leaves to its caller what a batch checks, such as
    ///   unique values; nothing was saved then.
    private func save(
        _ made: Change, _ change: StoreBatch.Change, _ run: StoreQueryRun, readIn version: AnswerVersion
    ) throws -> Bool {
        let capabilities = store.queryable.capabilities
        guard capabilities.contains(.batchUpdate) else { return false }
        switch change {
        case .update: return try save(made.changes.updated, readIn: version)
        case .delete:
            // The store has to refuse references that others have made since.
            return try capabilities.contains(.referentialIntegrity) && save(deletionOf: made, run, readIn: version)
        }
    }

    /// Saves values that differ from record to record.
    private func saveByRecord(_ made: Change, _ run: StoreQueryRun) throws {
        if let version = run.version as? AnswerVersion {
            guard try save(made.changes.updated, readIn: version) else {
                throw ToolError.unsupported(store: store.name, what: "change relationships without models")
            }
            return
        }
        let snapshots = try made.changes.updated.map { update in
            guard let record = run.reader.record(update.record) else {
                throw ToolError.changedMeanwhile(record: "\(update.record)")
            }
            let values = update.layout.slots.indices.map { slot in
                update.value(at: slot) ?? run.reader.value(record, slot: slot)
            }
            return DefaultSnapshot(
                persistentIdentifier: update.record, layout: update.layout, values: ContiguousArray(values))
        }
        _ = try store.save(
            updated: snapshots, changedSlots: made.changes.updated.map(\.slots), baseVersion: run.version.number)
    }

    private func save(_ updates: [ChangeSet.Update], readIn version: AnswerVersion) throws -> Bool {
        var snapshots: [DefaultSnapshot] = []
        var versions: [UInt64] = []
        for update in updates {
            guard let read = version.snapshot(of: update.record), read.recordVersion != 0 else { return false }
            var values = read.values
            for slot in update.slots.slots where values.indices.contains(slot) {
                values[slot] = update.value(at: slot) ?? .null
            }
            snapshots.append(
                DefaultSnapshot(persistentIdentifier: update.record, layout: read.layout, values: values))
            versions.append(read.recordVersion)
        }
        version.endState()
        _ = try store.save(updated: snapshots, changedSlots: updates.map(\.slots), updatedVersions: versions)
        return true
    }

    /// Deletes records, and takes them out of those that are kept.
    private func save(deletionOf made: Change, _ run: StoreQueryRun, readIn version: AnswerVersion) throws -> Bool {
        let gone = Set(made.records)
        let deleted = made.records.compactMap(version.snapshot(of:))
        guard deleted.count == made.records.count, deleted.allSatisfy({ $0.recordVersion != 0 }) else { return false }
        var cleared: [DefaultSnapshot] = []
        var versions: [UInt64] = []
        for update in made.changes.updated {
            guard let holder = run.reader.record(update.record), let read = version.snapshot(of: update.record),
                read.recordVersion != 0
            else { return false }
            var values = read.values
            for slot in update.slots.slots {
                if case .identifiers(let members) = run.reader.value(holder, slot: slot) {
                    values[slot] = .identifiers(members.filter { !gone.contains($0) })
                    continue
                }
                guard read.layout.slots[slot].property.isOptional else {
                    throw ModelValidationError.missingValue(
                        entity: update.record.entityName, property: read.layout.slots[slot].name, model: update.record)
                }
                values[slot] = .null
            }
            cleared.append(DefaultSnapshot(persistentIdentifier: update.record, layout: read.layout, values: values))
            versions.append(read.recordVersion)
        }
        try version.check()
        version.endState()
        _ = try store.save(
            updated: cleared, deleted: deleted, changedSlots: made.changes.updated.map(\.slots),
            updatedVersions: versions, deletedVersions: deleted.map(\.recordVersion))
        return true
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

    /// Whether the same records are deleted, and the same values changed in the same way.
    fileprivate func comesToTheSame(as other: ChangeSet) -> Bool {
        func areSame(_ a: ContiguousArray<StoredValue>, _ b: ContiguousArray<StoredValue>) -> Bool {
            a.count == b.count && zip(a, b).allSatisfy { $0.isIdentical(to: $1) }
        }
        return updated.count == other.updated.count && deleted.count == other.deleted.count
            && zip(deleted, other.deleted).allSatisfy { $0.record == $1.record && areSame($0.values, $1.values) }
            && zip(updated, other.updated).allSatisfy { a, b in
                a.record == b.record && a.slots == b.slots && areSame(a.values, b.values)
                    && areSame(a.oldValues, b.oldValues)
            }
    }
}
#endif
