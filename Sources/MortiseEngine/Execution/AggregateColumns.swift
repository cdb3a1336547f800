import MortiseCore

/// What an aggregation needs of one table: where its functions' values are, and which numbers its keys' words have.
struct AggregateColumns {
    let table: TableVersion
    let number: Int
    let sources: [AggregateSource]
    /// For each key, what it comes to by the word that its column has.
    var known: [WordNumbers]

    init(
        _ scan: TableScan, _ states: [AggregateState], _ functions: [AggregateFunction], keys: Int,
        _ evaluator: QueryEvaluator
    ) {
        table = scan.table
        number = scan.number
        sources = zip(states, functions).map { AggregateSource($0, $1, scan.table, evaluator, scan.number) }
        known = Array(repeating: WordNumbers(), count: keys)
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
            groups.withUnsafeBufferPointer { state.add(oneTo: $0) }
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
        } else if isSum, entry.form == .decimal {
            try addDecimals(run, entry, groups)
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

    /// Decimals as whole numbers, and one after the other the rest.
    private func addDecimals(_ run: FamilyRows.Run, _ entry: ChunkPlace.Entry, _ groups: [Int]) throws {
        try withUnsafeTemporaryAllocation(of: ScaledInteger.self, capacity: run.offsets.count) { numbers in
            try withUnsafeTemporaryAllocation(of: Int.self, capacity: run.offsets.count) { present in
                var count = 0
                func take() {
                    state.add(
                        UnsafeBufferPointer(rebasing: numbers[..<count]),
                        groups: UnsafeBufferPointer(rebasing: present[..<count]))
                    count = 0
                }
                for (offset, group) in zip(run.offsets, groups) where !run.place.isAbsent(entry, offset) {
                    let stored = run.place.storedDecimal(entry, offset)
                    if let number = stored.scaled {
                        numbers.initializeElement(at: count, to: number)
                        present.initializeElement(at: count, to: group)
                        count += 1
                    } else {
                        take()
                        try state.add(.decimal(stored.number), group: group)
                    }
                }
                take()
            }
        }
    }
}
