extension QueryRun {
    /// Runs a query of a store without versions in portions, if nothing needs all records at once. Rows that no model has
    /// are let go after each portion.
    /// - Parameters:
    ///   - prepared: the query.
    ///   - state: the context that runs it.
    ///   - size: how many records the store is asked for at a time.
    ///   - body: takes the records of a portion, in order.
    /// - Returns: false if something needs all records; nothing was read then.
    /// - Throws: what `ModelContext.fetch(_:)` throws; what the body throws.
    static func stream(
        _ prepared: PreparedQuery<Model>, in state: ContextState, atMost size: Int,
        _ body: (_ records: [RecordReference], ContextReader) throws -> Void
    ) throws -> Bool {
        let start = state.fetchStart
        let run = try QueryRun(beginning: prepared, in: state, needsValues: true)
        // What is read and written since a cursor was made is told from what it hands out: for one at a time.
        guard let session = run.session, session.version == nil, !session.isStreaming, !run.mergesChanges,
            !state.container.verifiesPushDown,
            let planned = try session.plan(run.asked), planned.order == .total
        else { return false }
        run.plan = planned
        try state.checkPolicy(planned, run.query, prepared.descriptor.fullScanPolicy)
        // Rows are let go between portions, when nothing refers to any.
        run.reader.hold = nil
        let next = try session.cursor(for: planned)
        let query = run.query
        var skipped = planned.appliesLimit ? 0 : max(query.offset, 0)
        var left = planned.appliesLimit ? Int.max : max(query.limit ?? .max, 0)
        var returned = 0
        try session.streaming { letGo in
            while left > 0 {
                try state.container.checkOpen()
                guard let found = try next(size) else { break }
                run.scanned += found.report.scanned
                var records = try run.finishedPortion(run.reader.references(found))
                try state.throwReadFailures()
                let first = min(skipped, records.count)
                skipped -= first
                records = Array(records[first..<(first + min(left, records.count - first))])
                left -= records.count
                returned += records.count
                try state.verify(records, in: run.reader)
                try body(records, run.reader)
                letGo()
            }
        }
        try state.warn(run.plan, query, scanned: run.scanned, prepared.descriptor.fullScanPolicy)
        if let start { state.emitFetch(query, run.plan, since: start, scanned: run.scanned, returned: returned) }
        return true
    }

    /// Those of a portion of records for which the conditions hold that the store has left to the framework.
    private func finishedPortion(_ found: [RecordReference]) throws -> [RecordReference] {
        if isPushed(by: plan) { return found }
        let pushed = Set(asked.conjuncts.filter { plan.claim(of: $0) == .exact }.map(\.id))
        return try filter(found, by: query.conjuncts.filter { !pushed.contains($0.id) })
    }
}
