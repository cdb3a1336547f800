extension ModelContext {
    /// Creates a context that reads the stores as they were at a point in their history.
    ///
    ///     let before = try ModelContext(container, asOf: .token(token))
    ///     let trips = try before.fetch(FetchDescriptor<Trip>(sortBy: [SortDescriptor(\.name)]))
    ///
    /// Fetches, counts, sorts, aggregates and relationships see the records that there were, with the values and identifiers that they had.
    /// The context stays at that point whatever is saved later, and at the latest version of stores that the point does not concern.
    ///
    /// It saves nothing: inserting, batches, `revert` and a save with changes are refused with `ModelContextError.readsPast`.
    ///
    /// What has changed since is taken back from what is stored now. Making the context reads the history after the point once, and the
    /// context keeps the former values of the records that have changed in memory: it needs the history no more, which may be trimmed and
    /// deleted. A fetch asks the store as ever for what has not changed, and looks at each record of the entity that has; conditions and
    /// orders on other records are left to the framework. `explain(_:)` tells how many records have changed. The nearer the point, the
    /// cheaper it is.
    ///
    /// The history must have all transactions after the point, with the values before their changes: stores in memory and JSON files keep
    /// those, except of transactions of more than 100,000 records. Data kept in files of their own are not kept by a history. A log has values
    /// after changes alone. With `allowsReplay` the values before are looked for in what came before the point, as far back as needed: up to
    /// the beginning of the log.
    /// - Parameters:
    ///   - container: the container of the stores.
    ///   - point: the point in their history.
    ///   - allowsReplay: whether the history may be read also before the point.
    /// - Throws: `AsOfUnavailable`, with the number of the oldest transaction as of which the store may be read;
    ///   `SwiftDataError.historyTokenExpired` for a token that is not of the store's past; `ModelContextError.containerClosed`; the stores'
    ///   errors.
    public convenience init(
        _ container: ModelContainer, asOf point: HistoryPoint, allowsReplay: Bool = false
    ) throws {
        let past = try PastOpening(container: container, point: point, allowsReplay: allowsReplay).versions()
        self.init(container, isMain: false, past: past)
    }
}
