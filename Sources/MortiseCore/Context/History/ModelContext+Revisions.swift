extension ModelContext {
    /// What the history of its store has of a record, newest first: the saves of all contexts and processes, with their times and authors.
    ///
    ///     for revision in try context.history(of: trip, limit: 10) {
    ///         print(revision.timestamp, revision.author ?? "-", revision.oldValue(\.name) ?? "-", revision.newValue(\.name) ?? "-")
    ///     }
    ///
    /// Values are there as far as the history keeps them: stores in memory and JSON files keep those before and after a change, an append
    /// log those after it, from which those before follow as far as the log reaches; SQLite keeps names of properties alone. A property that
    /// was renamed since has its present name, and one that the model no longer has is left out. A removal of all records at once is no
    /// revision of this one.
    ///
    /// The history is read from its end, until the revisions are found and their values known, or up to its beginning.
    /// - Parameters:
    ///   - model: the model of the record, or a deleted model.
    ///   - limit: how many revisions are wanted; nil for all.
    /// - Returns: the revisions; none for a model that was never saved, or whose store is not one of the container's.
    /// - Throws: `DataStoreError.unsupportedFeature` if the model's store has no history of change sets; `ModelContextError.containerClosed`;
    ///   the store's errors.
    public func history<M: PersistentModel>(of model: M, limit: Int? = nil) throws -> [RecordRevision<M>] {
        try state.prepare()
        let record = model.persistentModelID
        guard !record.isTemporary, let name = record.storeIdentifier,
            let store = container.stores.first(where: { $0.identifier == name })
        else { return [] }
        var search = RevisionSearch<M>(of: record, store: name, schema: container.schema, limit: limit)
        if try !store.withArchive({ try search.run(in: $0) }) { throw DataStoreError.unsupportedFeature }
        return search.found
    }
}

/// Finds the revisions of a record, from the end of a history towards its beginning.
private struct RevisionSearch<M: PersistentModel> {
    private let record: PersistentIdentifier
    private let store: String
    private let schema: Schema
    private let limit: Int
    private var revisions: [RecordRevision<M>] = []
    /// The revisions of which the value before is not known, by property.
    private var open: [PartialKeyPath<M>: [Int]] = [:]

    init(of record: PersistentIdentifier, store: String, schema: Schema, limit: Int?) {
        self.record = record
        self.store = store
        self.schema = schema
        self.limit = max(0, limit ?? .max)
    }

    var found: [RecordRevision<M>] { Array(revisions.prefix(limit)) }

    private var isDone: Bool { revisions.count >= limit && open.isEmpty }

    /// How many numbers are looked at first.
    private static var firstStretch: Int64 { 256 }

    mutating func run(in archive: any HistoryArchive) throws {
        let bounds = try archive.historyBounds()
        var end = bounds.last
        var stretch = Self.firstStretch
        while end > bounds.horizon, !isDone {
            let start = max(bounds.horizon + 1, end - stretch + 1)
            // Nil where nothing is known.
            var passed: [RecordRevision<M>?] = []
            var expected = start
            try archive.readChangeSets(start...end) { entry, changes in
                if entry.number > expected || entry.kind == .stub { passed.append(nil) }
                expected = entry.number + 1
                if entry.kind == .stub { return true }
                var found = try changes()
                // Each of its stages may have changed the record.
                if entry.kind == .migration { found.mergeUpdates() }
                if let revision = RecordRevision<M>(of: record, in: found, entry, store: store, schema: schema) {
                    passed.append(revision)
                }
                return true
            }
            if expected <= end { passed.append(nil) }
            for revision in passed.reversed() { take(revision) }
            end = start - 1
            stretch *= 2
        }
    }

    /// Takes the next earlier revision, or that there may have been one.
    private mutating func take(_ revision: RecordRevision<M>?) {
        guard let revision else { return open = [:] }
        for (property, waiting) in open where revision.settles(property) {
            open[property] = nil
            if revision.kind == .deletion || !revision.knowsNewValue(property) { continue }
            for place in waiting { revisions[place].completeOldValue(property, from: revision) }
        }
        // Others would be cut off again.
        if revisions.count >= limit { return }
        for property in revision.withoutOldValue { open[property, default: []].append(revisions.count) }
        revisions.append(revision)
    }
}
