import Logging

extension ContextState {
    /// When a fetch began; nil if nothing measures it.
    var fetchStart: ContinuousClock.Instant? {
        StoreEvents.isObserved || container.slowFetchLimit != nil ? .now : nil
    }

    /// Reports the cost of a fetch. The event and the log line leave out the query's values, which may be private.
    func emitFetch(
        _ query: StoreQuery, _ plan: FetchPlan, since start: ContinuousClock.Instant, scanned: Int, returned: Int
    ) {
        let duration = ContinuousClock.now - start
        let store =
            container.storeIndex(ofEntity: query.entity).map { container.stores[$0].configurationName } ?? ""
        StoreEvents.emit(
            .fetch(
                entity: query.entity, store: store, duration: duration, scanned: scanned, returned: returned,
                isFullScan: plan.isFullScan))
        guard let limit = container.slowFetchLimit, duration > limit else { return }
        container.logger.warning(
            "slow fetch",
            metadata: [
                "entity": "\(query.entity)", "store": "\(store)", "duration": "\(duration)", "scanned": "\(scanned)",
                "returned": "\(returned)", "plan": "\(plan.detail)",
            ])
    }
}
