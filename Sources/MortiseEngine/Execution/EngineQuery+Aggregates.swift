import MortiseCore

extension EngineQuery {
    /// Calculates on columns, chunk by chunk.
    /// - Returns: nil for a family of several tables, whose records would have to be gone through in identity order.
    /// - Throws: `EngineError.unknownEntity`; `QueryEvaluationError`.
    func aggregate(
        _ asked: AggregateQuery, in version: any StoreVersion
    ) throws -> AggregateAnswer? {
        let needsModels = (asked.keys + asked.functions.compactMap(\.expression)).contains(where: \.needsModels)
        guard entities.count == 1, !needsModels, !query.conjuncts.contains(where: { $0.expression.needsModels }) else {
            return nil
        }
        let reader = RecordReader(schema: catalog.schema, layouts: catalog.layouts) { version.rows(ofEntity: $0) }
        guard let number = reader.table(named: query.entity) else { throw EngineError.unknownEntity(query.entity) }
        let states = asked.functions.map(AggregateState.init)
        var grouping = Grouping(asked.keys, reader, number)
        for state in states { state.reserve(groups: grouping.groups.count) }
        // A table that nothing was ever written to is in no version.
        guard let table = reader.tables[number].rows as? TableVersion else {
            return AggregateAnswer(groups: try grouping.groups.results(states), scanned: 0)
        }
        let access = access(table, 0)
        let scan = TableScan(
            table, candidates: access.candidates, conjuncts: query.conjuncts.map(\.expression), reader: reader,
            number: number)
        let sources = zip(states, asked.functions).map { ColumnSource($0, $1, table, reader, number) }
        try scan.forEachChunk { place, first, _, selection in
            if selection.count == 0 { return }
            try grouping.assign(place, first, selection, table)
            for (state, source) in zip(states, sources) {
                state.reserve(groups: grouping.groups.count)
                try source.add(place, first, grouping.offsets, grouping.numbers)
            }
        }
        return AggregateAnswer(
            groups: try grouping.groups.results(states), scanned: scan.scanned, detail: access.detail,
            isFullScan: access.detail == nil ? nil : access.isFullScan)
    }
}

/// Which group each selected row of a chunk is in.
private struct Grouping {
    private(set) var groups = AggregateGroups()
    private(set) var offsets: [Int] = []
    private(set) var numbers: [Int] = []
    private let keys: [QueryExpression]
    private let evaluator: QueryEvaluator
    private let number: Int
    /// The slot of the only key, where that is a column of strings, and the groups of its codes so far.
    private let codedSlot: Int?
    private var groupsByCode: [Int] = []

    init(_ keys: [QueryExpression], _ reader: RecordReader, _ number: Int) {
        self.keys = keys
        self.number = number
        evaluator = QueryEvaluator(reader: reader)
        if keys.isEmpty { _ = groups.number(of: []) }
        if keys.count == 1, case .property(.variable(0), let property) = keys[0] {
            codedSlot = property.slot
        } else {
            codedSlot = nil
        }
    }

    mutating func assign(
        _ place: ChunkPlace, _ first: Int, _ selection: borrowing ChunkSelection, _ table: TableVersion
    ) throws {
        offsets.removeAll(keepingCapacity: true)
        numbers.removeAll(keepingCapacity: true)
        selection.forEach { offsets.append($0) }
        if keys.isEmpty {
            numbers += repeatElement(0, count: offsets.count)
            return
        }
        if let codedSlot, codedSlot < table.plan.columns.count, place.entry(codedSlot).form == .code {
            assignCodes(place, codedSlot, table)
            return
        }
        for offset in offsets {
            let record = RecordReference(table: number, row: first + offset)
            numbers.append(groups.number(of: try keys.map { try evaluator.sortKey($0, record) }))
        }
    }

    private mutating func assignCodes(_ place: ChunkPlace, _ slot: Int, _ table: TableVersion) {
        let entry = place.entry(slot)
        for offset in offsets {
            if place.isAbsent(entry, offset) {
                numbers.append(groups.number(of: [.null]))
                continue
            }
            let code = place.code(entry, offset)
            if code >= groupsByCode.count { groupsByCode += repeatElement(-1, count: code + 1 - groupsByCode.count) }
            if groupsByCode[code] < 0 {
                groupsByCode[code] = groups.number(of: [.string(table.dictionaries[slot]?[code] ?? "")])
            }
            numbers.append(groupsByCode[code])
        }
    }
}

/// Where a function's values come from: a column, or whatever the evaluator says.
private struct ColumnSource {
    private let state: AggregateState
    private let function: AggregateFunction
    private let column: Column?
    private let isSum: Bool
    private let table: TableVersion
    private let evaluator: QueryEvaluator
    private let number: Int

    init(
        _ state: AggregateState, _ function: AggregateFunction, _ table: TableVersion, _ reader: RecordReader,
        _ number: Int
    ) {
        self.state = state
        self.function = function
        self.table = table
        self.number = number
        evaluator = QueryEvaluator(reader: reader)
        if case .property(.variable(0), let property)? = function.expression,
            property.slot < table.plan.columns.count, table.plan.columns[property.slot].role == .attribute,
            // Data may be in files of their own, which the evaluator reads.
            ![.coded, .data].contains(table.plan.columns[property.slot].kind)
        {
            column = table.plan.columns[property.slot]
        } else {
            column = nil
        }
        switch function {
        case .sum(_, let kind), .average(_, let kind): isSum = column?.kind == kind
        default: isSum = false
        }
    }

    func add(_ place: ChunkPlace, _ first: Int, _ offsets: [Int], _ groups: [Int]) throws {
        guard let expression = function.expression else {
            for group in groups { state.add(count: 1, group: group) }
            return
        }
        guard let column else {
            for (offset, group) in zip(offsets, groups) {
                let record = RecordReference(table: number, row: first + offset)
                try state.add(evaluator.sortKey(expression, record), group: group)
            }
            return
        }
        let entry = place.entry(column.slot)
        if isSum, entry.form == .double {
            add(place, entry, offsets, groups) {
                place.double(entry, $0)
            } to: {
                state.add($0, groups: $1)
            }
        } else if isSum, column.kind?.integerRange != nil {
            add(place, entry, offsets, groups) {
                place.integer(entry, $0) ?? 0
            } to: {
                state.add($0, groups: $1)
            }
        } else {
            for (offset, group) in zip(offsets, groups) {
                try state.add(
                    place.value(column, offset, table.dictionaries[column.slot], table.plan.targets[column.slot]),
                    group: group)
            }
        }
    }

    /// Hands the values of a chunk that are there over at once.
    @inline(__always)
    private func add<Number>(
        _ place: ChunkPlace, _ entry: ChunkPlace.Entry, _ offsets: [Int], _ groups: [Int], _ read: (Int) -> Number,
        to take: (UnsafeBufferPointer<Number>, UnsafeBufferPointer<Int>) -> Void
    ) {
        withUnsafeTemporaryAllocation(of: Number.self, capacity: offsets.count) { numbers in
            withUnsafeTemporaryAllocation(of: Int.self, capacity: offsets.count) { present in
                var count = 0
                for (offset, group) in zip(offsets, groups) where !place.isAbsent(entry, offset) {
                    numbers.initializeElement(at: count, to: read(offset))
                    present.initializeElement(at: count, to: group)
                    count += 1
                }
                take(
                    UnsafeBufferPointer(rebasing: numbers[..<count]), UnsafeBufferPointer(rebasing: present[..<count]))
            }
        }
    }
}
