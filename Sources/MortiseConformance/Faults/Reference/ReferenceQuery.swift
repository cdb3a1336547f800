import Foundation
import MortiseCore

/// How the reference stores that plan queries do so: everything that can be evaluated on stored values is theirs.
extension ReferenceWork {
    func plan(_ query: StoreQuery) -> FetchPlan {
        var plan = FetchPlan(query, detail: "the reference store's own", isFullScan: true)
        for conjunct in query.conjuncts { plan.claims[conjunct.id] = steps.claim(conjunct) }
        if !query.order.contains(where: { $0.expression.needsModels }) { plan.order = .total }
        plan.appliesLimit =
            plan.order == .total && query.conjuncts.allSatisfy { plan.claim(of: $0) == .exact }
        steps.changePlan(&plan, storage)
        return plan
    }

    func rows(for plan: FetchPlan, in version: ReferenceVersion) throws -> VersionRows {
        let query = plan.query
        if try isClosedAndEmpty() { return VersionRows(entities: [], rows: [], report: ExecutionReport(scanned: 0)) }
        let reader = reader(of: steps.isIndexStale ? ReferenceVersion(steps.indexed(version.state), self) : version)
        let family = steps.queryFamily(query, schema.stored)
        var found: [RecordReference] = []
        for name in schema.stored.entities.map(\.name) where family.contains(name) {
            guard let table = reader.table(named: name) else { continue }
            let rows = reader.tables[table].rows
            for row in 0..<rows.endRow where rows.contains(row: row) { found.append(.init(table: table, row: row)) }
        }
        found.sort { ($0.row, $0.table) < ($1.row, $1.table) }
        let scanned = found.count
        let conditions = query.conjuncts.filter { plan.claim(of: $0) != .residual }
            .map { $0.expression.rewritten(by: steps.rewrite) }.map(seen).map { sought($0, in: query) }
        let tests = conditions.map(steps.judge)
        let left = zip(conditions, tests).filter { $0.1 == nil }.map(\.0)
        found = try QueryExecutor(reader: reader).filter(found, by: steps.conditions(left, query))
        for test in tests.compactMap({ $0 }) {
            found = try found.filter { record in
                try test { reader.tables[record.table].rows.value(row: record.row, slot: $0.slot) }
            }
        }
        if plan.order == .total { found = try sorted(found, query, reader) }
        found = steps.found(found, plan)
        if plan.appliesLimit { found = Array(found[steps.cut(query, found.count)]) }
        return VersionRows(
            entities: reader.tables.map(\.entityName), rows: found,
            report: ExecutionReport(scanned: steps.scanned(scanned, found.count)))
    }

    /// The version of a record, in a store that numbers them.
    func recordVersion(of record: PersistentIdentifier, in version: ReferenceVersion) -> UInt64 {
        record.sequenceNumber.flatMap { version.state.recordVersions[$0] } ?? 0
    }

    /// The groups of an aggregation, of the latest state.
    func aggregate(_ query: AggregateQuery) throws -> AggregateAnswer? {
        let version = version
        var plan = plan(query.query)
        plan.claims = Dictionary(uniqueKeysWithValues: query.query.conjuncts.map { ($0.id, .exact) })
        let found = try rows(for: plan, in: version)
        let reader = reader(of: version)
        let numbers = found.entities.map { reader.table(named: $0) ?? 0 }
        let evaluator = QueryEvaluator(reader: reader)
        let states = query.functions.map(AggregateState.init)
        var groups = AggregateGroups()
        if query.keys.isEmpty { _ = groups.number(of: []) }
        for state in states { state.reserve(groups: groups.count) }
        // The keys of each group as its first record has them, by those that a fault groups by.
        var written: [[StoredValue]: [StoredValue]] = [:]
        // What a fault sums, by group and function.
        var parts: [[StoredValue]: [Int: [StoredValue]]] = [:]
        for row in found.rows {
            let record = RecordReference(table: numbers[row.table], row: row.row)
            var group = 0
            var form: [StoredValue] = []
            if !query.keys.isEmpty {
                let keys = try query.keys.map { try evaluator.sortKey(steps.groupExpression($0), record) }
                form = steps.groupKey.map { keys.map($0) } ?? keys
                group = groups.number(of: form)
                if steps.groupKey != nil, written[form] == nil { written[form] = keys }
                for state in states { state.reserve(groups: groups.count) }
            }
            for (place, (state, function)) in zip(states, query.functions).enumerated() {
                if steps.total != nil, case .sum(let expression, _) = function {
                    parts[form, default: [:]][place, default: []].append(try evaluator.sortKey(expression, record))
                } else if let expression = function.expression {
                    try state.add(steps.addend(evaluator.sortKey(expression, record), function), group: group)
                } else {
                    state.add(count: 1, group: group)
                }
            }
        }
        let results = try groups.results(states).map { group in
            var group = group
            for (place, values) in parts[group.keys] ?? [:] {
                if case .sum(_, let kind) = query.functions[place], let total = steps.total {
                    group.values[place] = try total(values, kind)
                }
            }
            group.keys = written[group.keys] ?? group.keys
            return group
        }
        return AggregateAnswer(groups: steps.aggregated(results, query), report: found.report)
    }

    private func reader(of version: ReferenceVersion) -> RecordReader {
        let see = steps.seen
        return RecordReader(schema: schema.stored, layouts: layouts) { name in
            version.rows(ofEntity: name).map { rows in see.map { SeenRows(rows, $0) } ?? rows }
        }
    }

    private func seen(_ expression: QueryExpression) -> QueryExpression {
        guard let see = steps.seen else { return expression }
        return expression.rewritten { part in
            if case .constant(let value) = part { .constant(see(value)) } else { nil }
        }
    }

    private func sought(_ expression: QueryExpression, in query: StoreQuery) -> QueryExpression {
        guard let sought = steps.sought else { return expression }
        return expression.rewritten { [identifier] part in
            guard case .constant(.identifier(let wanted)) = part else { return nil }
            return .constant(.identifier(sought(wanted, identifier, query.entity)))
        }
    }

    private func sorted(
        _ found: [RecordReference], _ query: StoreQuery, _ reader: RecordReader
    ) throws -> [RecordReference] {
        let order = steps.orderKeys(query.order)
        let evaluator = QueryEvaluator(reader: reader)
        let keyed = try found.enumerated().map { place, record in
            (
                place: place, record: record,
                keys: try order.map { steps.orderValue(try evaluator.sortKey($0.expression, record)) }
            )
        }
        return keyed.sorted { left, right in
            for (place, key) in order.enumerated() {
                switch key.compare(left.keys[place], right.keys[place]) {
                case .orderedAscending: return true
                case .orderedDescending: return false
                case .orderedSame: continue
                }
            }
            return steps.tieIsForward == (left.place < right.place)
        }.map(\.record)
    }

    /// The records of rows, with what follows from others.
    func snapshots(_ rows: VersionRows, of query: StoreQuery, in version: ReferenceVersion) -> [DefaultSnapshot] {
        let sources = rows.entities.map { version.rows(ofEntity: $0) }
        return rows.rows.compactMap { reference in
            guard let source = sources[reference.table], let layout = layouts[rows.entities[reference.table]] else {
                return nil
            }
            let snapshot = DefaultSnapshot(
                persistentIdentifier: source.identifier(ofRow: reference.row), layout: layout,
                values: ContiguousArray(layout.slots.indices.map { source.value(row: reference.row, slot: $0) }))
            return steps.project(steps.handOut(snapshot), query)
        }
    }
}
