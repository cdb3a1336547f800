// What a store of queries answers to descriptors. The framework itself never asks it with one.

extension QueryableDataStore {
    /// Answers by `plan(_:)` and `rows(for:)`.
    /// - Throws: `DataStoreError.preferInMemoryFilter` for a predicate that the plan does not claim as a whole, and
    ///   `.preferInMemorySort` for sort keys; what `rows(for:)` throws; `QueryPlanError.illegalClaim`.
    public func fetch<T: PersistentModel>(
        _ request: DataStoreFetchRequest<T>
    ) throws -> DataStoreFetchResult<T, Snapshot> {
        let found = try answer(to: request.descriptor, .rows)
        return DataStoreFetchResult(descriptor: request.descriptor, fetchedSnapshots: found.snapshots)
    }

    /// Answers by `plan(_:)` and `rows(for:)`, with the purpose `count`.
    /// - Throws: as `fetch(_:)`, but for the order, which makes no difference.
    public func fetchCount<T: PersistentModel>(_ request: DataStoreFetchRequest<T>) throws -> Int {
        var descriptor = request.descriptor
        descriptor.sortBy = []
        let found = try answer(to: descriptor, .count)
        return found.count ?? found.snapshots.count
    }

    /// Answers by `plan(_:)` and `rows(for:)`, with the purpose `identifiers`.
    /// - Throws: as `fetch(_:)`.
    public func fetchIdentifiers<T: PersistentModel>(
        _ request: DataStoreFetchRequest<T>
    ) throws -> [PersistentIdentifier] {
        let found = try answer(to: request.descriptor, .identifiers)
        return found.identifiers ?? found.snapshots.map(\.persistentIdentifier)
    }

    /// The whole answer to a descriptor.
    private func answer<T: PersistentModel>(
        to descriptor: FetchDescriptor<T>, _ purpose: StoreQuery.Purpose
    ) throws -> StoreRows<Snapshot> {
        var query = PreparedQuery(descriptor, purpose: purpose, under: nil).query
        if purpose == .rows, capabilities.contains(.deferredRelationships) {
            // An answer to a descriptor is whole.
            let layouts = schema.stored.recordLayouts()
            let slots = schema.stored.subtree(of: query.entity).flatMap { layouts[$0]?.slots ?? [] }
            query.prefetch = Set(slots.lazy.filter(\.role.isToMany).map(\.name)).sorted()
        }
        let plan = self.plan(query)
        try plan.validate(adapter: "\(Self.self)", for: query)
        guard plan.isExact else { throw DataStoreError.preferInMemoryFilter }
        let isSorted = plan.order == .total || purpose == .count
        if !isSorted, !query.order.isEmpty { throw DataStoreError.preferInMemorySort }
        var found = try rows(for: plan)
        if let count = found.count, !plan.appliesLimit { found.count = query.window(of: count).count }
        found.identifiers = found.identifiers.map { finished($0, { $0 }, query, isSorted, plan) }
        found.snapshots = finished(found.snapshots, \.persistentIdentifier, query, isSorted, plan)
        return found
    }

    /// Puts elements into identity order, unless the store has sorted them, and takes the window, unless it has.
    private func finished<Element>(
        _ elements: [Element], _ identifier: (Element) -> PersistentIdentifier, _ query: StoreQuery,
        _ isSorted: Bool, _ plan: FetchPlan
    ) -> [Element] {
        let sorted = isSorted ? elements : elements.sorted { identifier($0) < identifier($1) }
        return query.isLimited && !plan.appliesLimit ? Array(sorted[query.window(of: sorted.count)]) : sorted
    }
}
