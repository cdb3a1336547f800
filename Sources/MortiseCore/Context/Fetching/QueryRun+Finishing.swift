import Foundation

// What a store has left of a query to the framework: conditions, unsaved changes, order, window.

extension QueryRun {
    /// What a store can be asked of a query whose answer unsaved changes alter.
    static func mergeable(_ query: StoreQuery, _ reader: ContextReader, _ state: ContextState) -> StoreQuery {
        var asked = query
        // What depends on other records may hold for more once changes elsewhere are seen, and what may throw must not be
        // evaluated on values that have changed.
        let hidesRecords = !state.deleted.isEmpty
        asked.conjuncts.removeAll { conjunct in
            conjunct.expression.mayThrow
                || reader.dependsOnOtherRecords(conjunct.expression, hidesRecords: hidesRecords)
        }
        // What is only counted or named cannot be merged.
        if asked.purpose == .count || asked.purpose == .identifiers { asked.purpose = .rows }
        asked.offset = 0
        asked.limit = nil
        asked.order = []
        // Where the store can tell which of the unchanged records come first, as many are enough as would be if all those
        // were among them that are changed or deleted.
        let isOrdered = query.order.allSatisfy {
            !$0.expression.mayThrow && !reader.dependsOnOtherRecords($0.expression, hidesRecords: hidesRecords)
        }
        guard let limit = query.limit, isOrdered, asked.conjuncts.count == query.conjuncts.count else { return asked }
        let family = Set(state.container.schema.stored.subtree(of: query.entity))
        let (end, overflows) = limit.addingReportingOverflow(query.offset)
        let (wider, overflowsToo) = end.addingReportingOverflow(reader.overlaidCount(in: family))
        if overflows || overflowsToo { return asked }
        asked.limit = wider
        asked.order = query.order
        return asked
    }

    /// Does what is left of a query: conditions, unsaved changes, order, window. `looksUp` says whether unsaved models
    /// may be found by their values, instead of going through all of them.
    func finished(
        _ found: [RecordReference], _ query: StoreQuery, without pushed: Set<Int>, isSorted: Bool, isCut: Bool,
        mergesChanges: Bool, looksUp: Bool = false
    ) throws -> [RecordReference] {
        var matching = found
        if mergesChanges { matching.removeAll(where: reader.isOverlaid) }
        let left = query.conjuncts.filter { !pushed.contains($0.id) }
        if !left.isEmpty { matching = try filter(matching, by: left) }
        if mergesChanges {
            let family = Set(
                state.container.schema.stored.subtree(of: query.entity).compactMap { reader.table(named: $0) })
            let changed = reader.changedRecords(in: family, matching: looksUp ? query.conjuncts : [])
            matching += try filter(changed, by: query.conjuncts)
        }
        if query.purpose != .count, !isSorted { matching = try sort(matching, query, isCut: isCut) }
        return isCut || !query.isLimited ? matching : Array(matching[query.window(of: matching.count)])
    }

    func filter(
        _ records: [RecordReference], by conjuncts: [StoreQuery.Conjunct]
    ) throws -> [RecordReference] {
        let onValues = conjuncts.map(\.expression).filter { !$0.needsModels }
        let onModels = conjuncts.compactMap { conjunct -> (@Sendable (Model) throws -> Bool)? in
            if case .onModels(let id, _) = conjunct.expression { prepared.conjunctCode[id] } else { nil }
        }
        let matching = try QueryExecutor(reader: reader).filter(records, by: onValues)
        if onModels.isEmpty { return matching }
        try state.verify(matching, in: reader)
        return try matching.filter { record in
            guard let model = evaluationModel(record) as? Model else { return false }
            for test in onModels where try !test(model) { return false }
            return true
        }
    }

    /// Sorts the records. `isCut` says that the store has already applied offset and limit.
    private func sort(_ records: [RecordReference], _ query: StoreQuery, isCut: Bool) throws -> [RecordReference] {
        let executor = QueryExecutor(reader: reader)
        guard query.order.contains(where: { $0.expression.needsModels }) else {
            let end = query.isLimited && !isCut ? query.window(of: records.count).upperBound : nil
            return try executor.sort(records, by: query.order, upTo: end)
        }
        try state.verify(records, in: reader)
        // Code compares models; what it leaves equal is in identity order, so that is where it starts from.
        let evaluator = QueryEvaluator(reader: reader)
        var keyed = try executor.sort(records, by: []).enumerated().map { place, record in
            (
                place: place, record: record, model: evaluationModel(record) as? Model,
                keys: try query.order.map {
                    $0.expression.needsModels ? .null : try evaluator.sortKey($0.expression, record)
                }
            )
        }
        keyed.sort { left, right in
            for (index, key) in query.order.enumerated() {
                var result = ComparisonResult.orderedSame
                if case .onModels(let id, _) = key.expression {
                    if let a = left.model, let b = right.model { result = prepared.orderCode[id].compare(a, b) }
                } else {
                    result = key.compare(left.keys[index], right.keys[index])
                }
                if result != .orderedSame { return result == .orderedAscending }
            }
            return left.place < right.place
        }
        return keyed.map(\.record)
    }

    /// The model that code looks at: as stored where unsaved changes are not to be seen.
    private func evaluationModel(_ record: RecordReference) -> (any PersistentModel)? {
        guard readsStoredValues, let table = state.table(named: reader.tables[record.table].entityName) else {
            return reader.model(record)
        }
        return table.storedModel(row: record.row, ignoresPendingChanges: true)
    }
}
