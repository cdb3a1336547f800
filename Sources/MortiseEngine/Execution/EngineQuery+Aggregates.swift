public import MortiseCore

extension EngineQuery {
    /// Calculates on columns, chunk by chunk; least and greatest values from the ends of indexes where these have them.
    /// - Returns: nil for what needs models.
    /// - Throws: `EngineError.unknownEntity`; `QueryEvaluationError`.
    func aggregate(
        _ asked: AggregateQuery, in version: any StoreVersion
    ) throws -> AggregateAnswer? {
        let needsModels = (asked.keys + asked.functions.compactMap(\.expression)).contains(where: \.needsModels)
        guard !needsModels, !query.conjuncts.contains(where: { $0.expression.needsModels }) else { return nil }
        let reader = RecordReader(schema: catalog.schema, layouts: catalog.layouts) { version.rows(ofEntity: $0) }
        var tables: [(table: TableVersion, number: Int, place: Int)] = []
        for (place, name) in entities.enumerated() {
            guard let number = reader.table(named: name) else { throw EngineError.unknownEntity(name) }
            // A table that nothing was ever written to is in no version.
            if let table = reader.tables[number].rows as? TableVersion { tables.append((table, number, place)) }
        }
        let conjuncts = query.conjuncts.map(\.expression)
        if asked.keys.isEmpty, let ends = IndexEnds(asked.functions, self, tables.map(\.table), version),
            let answer = try ends.answer(reader, tables.map(\.number), conjuncts)
        {
            return answer
        }
        let accesses = tables.map { access($0.table, $0.place) }
        let scans = zip(tables, accesses).map { entry, access in
            TableScan(
                entry.table, candidates: access.candidates, conjuncts: conjuncts, reader: reader, number: entry.number)
        }
        let states = asked.functions.map(AggregateState.init)
        var grouping = AggregateGrouping(asked.keys, reader)
        for state in states { state.reserve(groups: grouping.groups.count) }
        var columns = scans.map { scan in
            AggregateColumns(scan, states, asked.functions, keys: asked.keys.count, QueryEvaluator(reader: reader))
        }
        func add(_ run: FamilyRows.Run) throws {
            let numbers = try grouping.numbers(of: run, &columns[run.scan])
            for state in states { state.reserve(groups: grouping.groups.count) }
            for source in columns[run.scan].sources { try source.add(run, numbers) }
        }
        if scans.count == 1 {
            try scans[0].forEachChunk { place, first, _, selection in
                var offsets: [Int] = []
                offsets.reserveCapacity(Chunk.capacity)
                selection.forEach { offsets.append($0) }
                try add(FamilyRows.Run(scan: 0, place: place, first: first, offsets: offsets))
            }
        } else {
            try FamilyRows(scans).forEachRun { run in
                try add(run)
                return true
            }
        }
        return AggregateAnswer(
            groups: try grouping.groups.results(states),
            report: ExecutionReport(
                scanned: scans.reduce(0) { $0 + $1.scanned }, detail: accesses.detail,
                isFullScan: accesses.detail == nil ? nil : accesses.contains(where: \.isFullScan)))
    }
}

extension EngineDataStore {
    /// Aggregates on columns; nil without a version, and if the framework has to do it.
    /// - Throws: `QueryEvaluationError`; the error of a damaged region; once, why what another process has written cannot be taken in.
    public func aggregate(_ query: AggregateQuery, in version: (any StoreVersion)?) throws -> AggregateAnswer? {
        guard let version else { return nil }
        try engine.throwUntold()
        let answer = try EngineQuery(query.query, engine.catalog).aggregate(query, in: version)
        try version.check()
        return answer
    }
}
