import MortiseCore

/// Which group each row is in.
struct AggregateGrouping {
    private(set) var groups = AggregateGroups()
    private let keys: [QueryExpression]
    private let evaluator: QueryEvaluator
    /// The slot of the only key, where that is a property.
    private let onlySlot: Int?

    init(_ keys: [QueryExpression], _ reader: RecordReader) {
        self.keys = keys
        evaluator = QueryEvaluator(reader: reader)
        if keys.isEmpty { _ = groups.number(of: []) }
        if keys.count == 1, case .property(.variable(0), let property) = keys[0] {
            onlySlot = property.slot
        } else {
            onlySlot = nil
        }
    }

    /// The groups of a run's rows, new ones included.
    mutating func numbers(of run: FamilyRows.Run, _ columns: inout AggregateColumns) throws -> [Int] {
        if keys.isEmpty { return Array(repeating: 0, count: run.offsets.count) }
        if let onlySlot, onlySlot < columns.table.plan.columns.count, run.place.entry(onlySlot).form == .code {
            return coded(run, onlySlot, &columns)
        }
        return try run.offsets.map { offset in
            let record = RecordReference(table: columns.number, row: run.first + offset)
            return groups.number(of: try keys.map { try evaluator.sortKey($0, record) })
        }
    }

    private mutating func coded(_ run: FamilyRows.Run, _ slot: Int, _ columns: inout AggregateColumns) -> [Int] {
        let entry = run.place.entry(slot)
        return run.offsets.map { offset in
            if run.place.isAbsent(entry, offset) { return groups.number(of: [.null]) }
            let code = run.place.code(entry, offset)
            if let known = columns.group(ofCode: code) { return known }
            let number = groups.number(of: [.string(columns.table.dictionaries[slot]?[code] ?? "")])
            columns.note(number, ofCode: code)
            return number
        }
    }
}

/// What an aggregation needs of one table: where its functions' values are, and which groups its codes are.
struct AggregateColumns {
    let table: TableVersion
    let number: Int
    let sources: [AggregateSource]
    /// By code of the only key's column; less than zero where it is not known yet.
    private var groupsByCode: [Int] = []

    init(
        _ scan: TableScan, _ states: [AggregateState], _ functions: [AggregateFunction], _ evaluator: QueryEvaluator
    ) {
        table = scan.table
        number = scan.number
        sources = zip(states, functions).map { AggregateSource($0, $1, scan.table, evaluator, scan.number) }
    }

    func group(ofCode code: Int) -> Int? {
        code < groupsByCode.count && groupsByCode[code] >= 0 ? groupsByCode[code] : nil
    }

    mutating func note(_ group: Int, ofCode code: Int) {
        if code >= groupsByCode.count { groupsByCode += repeatElement(-1, count: code + 1 - groupsByCode.count) }
        groupsByCode[code] = group
    }
}

/// Where a function's values come from: a column, or whatever the evaluator says.
struct AggregateSource {
    private let state: AggregateState
    private let function: AggregateFunction
    private let column: Column?
    private let isSum: Bool
    private let table: TableVersion
    private let evaluator: QueryEvaluator
    private let number: Int

    init(
        _ state: AggregateState, _ function: AggregateFunction, _ table: TableVersion, _ evaluator: QueryEvaluator,
        _ number: Int
    ) {
        self.state = state
        self.function = function
        self.table = table
        self.number = number
        self.evaluator = evaluator
        if case .property(.variable(0), let property)? = function.expression,
            property.slot < table.plan.columns.count, table.plan.columns[property.slot].role == .attribute,
            // Data may be external, which the evaluator reads.
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

    /// Adds the values of a run's rows to their groups.
    func add(_ run: FamilyRows.Run, _ groups: [Int]) throws {
        guard let expression = function.expression else {
            for group in groups { state.add(count: 1, group: group) }
            return
        }
        guard let column else {
            for (offset, group) in zip(run.offsets, groups) {
                let record = RecordReference(table: number, row: run.first + offset)
                try state.add(evaluator.sortKey(expression, record), group: group)
            }
            return
        }
        let place = run.place
        let entry = place.entry(column.slot)
        if isSum, entry.form == .double {
            add(run, entry, groups) {
                place.double(entry, $0)
            } to: {
                state.add($0, groups: $1)
            }
        } else if isSum, column.kind?.integerRange != nil {
            add(run, entry, groups) {
                place.integer(entry, $0) ?? 0
            } to: {
                state.add($0, groups: $1)
            }
        } else {
            for (offset, group) in zip(run.offsets, groups) {
                try state.add(
                    place.value(column, offset, table.dictionaries[column.slot], table.plan.targets[column.slot]),
                    group: group)
            }
        }
    }

    /// Hands the values of a run that are there over at once.
    @inline(__always)
    private func add<Number>(
        _ run: FamilyRows.Run, _ entry: ChunkPlace.Entry, _ groups: [Int], _ read: (Int) -> Number,
        to take: (UnsafeBufferPointer<Number>, UnsafeBufferPointer<Int>) -> Void
    ) {
        withUnsafeTemporaryAllocation(of: Number.self, capacity: run.offsets.count) { numbers in
            withUnsafeTemporaryAllocation(of: Int.self, capacity: run.offsets.count) { present in
                var count = 0
                for (offset, group) in zip(run.offsets, groups) where !run.place.isAbsent(entry, offset) {
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
