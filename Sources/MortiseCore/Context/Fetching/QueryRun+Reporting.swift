import Logging

// Explains a query, warns of full scans, and finds false claims of a store.

extension QueryRun {
    var explanation: FetchExplanation {
        FetchExplanation(
            entity: query.entity, store: session?.configurationName ?? "",
            conjuncts: query.conjuncts.map {
                .init(text: "\($0.expression)", status: status(of: $0))
            },
            order: query.order.map { "\($0.expression)" + ($0.isAscending ? "" : " descending") },
            orderClaim: asked.order == query.order ? plan.order : .none, offset: query.offset,
            limit: query.limit,
            windowIsPushed: plan.appliesLimit && (!mergesChanges || asked.limit != nil),
            mergesPendingChanges: mergesChanges, isFullScan: plan.isFullScan, rowsScanned: scanned,
            rowsReturned: count, detail: plan.detail)
    }

    private func status(of conjunct: StoreQuery.Conjunct) -> FetchExplanation.Status {
        let isAsked = asked.conjuncts.contains { $0.id == conjunct.id }
        switch plan.claim(of: conjunct) {
        case .exact where isAsked: return .pushed
        case _ where conjunct.expression.needsModels: return .onModels
        case .superset: return .rechecked
        default: return .residual
        }
    }

    /// Does the whole query again without the store's help and compares.
    func verify(_ query: StoreQuery, _ session: StoreSession) throws {
        var all = query
        let everything = try Self.everything(of: &all, session, state)
        let expected = try finished(
            reader.references(everything), query, without: [], isSorted: false, isCut: false, mergesChanges: hasChanges)
        let isSame =
            query.purpose == .count
            ? expected.count == count : named.map { $0 == expected.map(reader.identifier) } ?? (expected == records)
        guard !isSame else { return }
        func text(_ identifiers: [PersistentIdentifier], _ count: Int) -> String {
            "\(count) [" + identifiers.prefix(5).map { "\($0)" }.joined(separator: ", ") + "]"
        }
        let claims = query.conjuncts.map { "\(plan.claim(of: $0).rawValue) for \($0.expression)" }
        throw QueryPlanError.falseClaim(
            adapter: session.typeName,
            claim: (claims + ["order \(plan.order)", plan.appliesLimit ? "window" : ""]).filter { !$0.isEmpty }
                .joined(separator: ", "),
            expected: text(expected.map(reader.identifier), expected.count), found: text(identifiers(), count))
    }
}

extension ContextState {
    private func policy(_ request: FullScanPolicy?) -> FullScanPolicy {
        request ?? context?.fullScanPolicy ?? container.fullScanPolicy
    }

    func refusesFullScans(_ request: FullScanPolicy?) -> Bool { policy(request) == .refuse }

    func checkPolicy(_ plan: FetchPlan, _ query: StoreQuery, _ request: FullScanPolicy?) throws {
        guard refusesFullScans(request), plan.isFullScan, !query.conjuncts.isEmpty || query.limit != nil else {
            return
        }
        throw QueryPlanError.fullScanRefused(
            entity: query.entity, causes: FullScanCause.all(of: query, plan), suggestion: plan.suggestion)
    }

    func warn(_ plan: FetchPlan, _ query: StoreQuery, scanned: Int, _ request: FullScanPolicy?) throws {
        if plan.isFullScan { try checkPolicy(plan, query, request) }
        log(plan, query, scanned: scanned, request)
    }

    /// Logs a warning if the policy asks for one.
    func log(_ plan: FetchPlan, _ query: StoreQuery, scanned: Int, _ request: FullScanPolicy?) {
        guard case .warn(let limit) = policy(request), plan.isFullScan, scanned > limit else { return }
        container.logger.warning(
            "full scan",
            metadata: [
                "entity": "\(query.entity)", "scanned": "\(scanned)", "conjuncts": "\(query.conjuncts.count)",
                "plan": "\(plan.detail)", "suggestion": "\(plan.suggestion ?? "none")",
            ])
    }
}
