import MortiseCore

/// The rows of one table for which conditions hold, gone through chunk by chunk: what columns can tell is asked of whole
/// chunks, the rest row by row of what is left.
struct TableScan {
    let table: TableVersion
    /// The rows in question; nil for all.
    private let candidates: RowCandidates?
    private let tests: [ColumnTest]
    private let rest: CompiledFilter?
    /// The table's number in the reader of `rest`.
    let number: Int

    /// Prepares a scan of the candidates; of all rows if that is nil.
    init(
        _ table: TableVersion, candidates: RowCandidates?, conjuncts: [QueryExpression], reader: RecordReader,
        number: Int
    ) {
        self.table = table
        self.candidates = candidates
        self.number = number
        var tests: [ColumnTest] = []
        var sure: [QueryExpression] = []
        var risky: [QueryExpression] = []
        // Of a few rows, less is read than has to be prepared for going through a column.
        let isFew = candidates.map { $0.count <= Self.few } ?? false
        for conjunct in conjuncts {
            if conjunct.mayThrow {
                risky.append(conjunct)
            } else if !isFew, let test = ColumnTest(conjunct.simplified, table) {
                tests.append(test)
            } else {
                sure.append(conjunct)
            }
        }
        self.tests = tests.count > 1 ? Self.inOrder(tests, table) : tests
        if sure.count > 1, !isFew { sure = Self.inOrder(sure, table, reader, number) }
        // Non-throwing tests run first and shield throwing ones from the rows they reject; the latter keep their order.
        rest =
            sure.isEmpty && risky.isEmpty
            ? nil : CompiledFilter(sure + risky, reader: reader, table: number, isOrdered: !isFew)
    }

    private static let few = 32

    /// The tests that take out most rows for what they cost come first. Which those are is tried out on a chunk from the
    /// middle; those of equal worth stay in the order in which they were written.
    private static func inOrder(_ tests: [ColumnTest], _ table: TableVersion) -> [ColumnTest] {
        let selection = ChunkSelection()
        guard let (place, _, count) = middle(of: table), selection.selectAll(place, count) > 0 else { return tests }
        let worths = tests.map { test in
            let all = selection.selectAll(place, count)
            test.narrow(place, SelectedRows(words: selection.words, count: count))
            return Double(all - selection.count) / (Double(all) * Double(max(test.cost, 1)))
        }
        return tests.indices.sorted { (-worths[$0], $0) < (-worths[$1], $1) }.map { tests[$0] }
    }

    /// The same for conditions that are evaluated row by row, tried out on a few rows.
    private static func inOrder(
        _ conditions: [QueryExpression], _ table: TableVersion, _ reader: RecordReader, _ number: Int
    ) -> [QueryExpression] {
        let selection = ChunkSelection()
        guard let (place, first, count) = middle(of: table), selection.selectAll(place, count) > 0 else {
            return conditions
        }
        var sample: [RecordReference] = []
        selection.forEach { if sample.count < few { sample.append(RecordReference(table: number, row: first + $0)) } }
        let worths = conditions.map { condition in
            let filter = CompiledFilter([condition], reader: reader, table: number)
            // What is wrong with an expression is found out when it is its turn.
            let left = sample.count(where: { (try? filter.matches($0)) ?? true })
            return Double(sample.count - left) / (Double(sample.count) * Double(max(condition.cost, 1)))
        }
        return conditions.indices.sorted {
            (-worths[$0], conditions[$0].cost, $0) < (-worths[$1], conditions[$1].cost, $1)
        }.map { conditions[$0] }
    }

    /// A chunk from the middle of a table, the number of its first row and how many it has.
    private static func middle(of table: TableVersion) -> (place: ChunkPlace, first: Int, count: Int)? {
        let first = (table.endRow >> Chunk.shift) / 2 << Chunk.shift
        let count = min(Chunk.capacity, table.endRow - first)
        return count > 0 ? (table.place(ofChunk: first >> Chunk.shift), first, count) : nil
    }

    /// How many rows are looked at.
    var scanned: Int { candidates?.count ?? table.count }

    /// Calls the body with each chunk that has rows for which the conditions hold. `slot` is the column that the body
    /// reads. Throws what the conditions and the body throw.
    func forEachChunk(
        reading slot: Int? = nil,
        _ body: (_ place: ChunkPlace, _ first: Int, _ rows: SelectedRows, _ selection: borrowing ChunkSelection) throws
            -> Void
    ) throws {
        var cursor = ChunkCursor(self, reading: slot)
        while let chunk = try cursor.advance() {
            try body(
                table.place(ofChunk: chunk), chunk << Chunk.shift, selected(cursor.selection, chunk), cursor.selection)
        }
    }

    @inline(__always)
    private func selected(_ selection: borrowing ChunkSelection, _ chunk: Int) -> SelectedRows {
        SelectedRows(words: selection.words, count: min(Chunk.capacity, table.endRow - chunk << Chunk.shift))
    }

    /// Goes through the chunks that have rows for which the conditions hold, one when it is asked for.
    struct ChunkCursor: ~Copyable {
        let scan: TableScan
        /// The rows of the chunk that was come to last.
        let selection = ChunkSelection()
        /// The chunk to look at next, or the place among few candidates.
        private var next = 0
        /// How many rows have been looked at, at most.
        private(set) var scanned = 0
        /// The column of each chunk that is read first.
        private let slot: Int?

        /// Begins a scan. `slot` is the column that the caller reads; those that the conditions read are known.
        init(_ scan: TableScan, reading slot: Int? = nil) {
            self.scan = scan
            self.slot = scan.tests.isEmpty ? slot : scan.tests[0].slot
        }

        /// The next chunk with such rows; nil after the last.
        mutating func advance() throws -> Int? {
            while let chunk = select() {
                if try scan.narrow(chunk, selection) { return chunk }
            }
            return nil
        }

        /// Selects the rows in question of the next chunk that has any.
        private mutating func select() -> Int? {
            let table = scan.table
            if case .few(let rows)? = scan.candidates {
                guard next < rows.count else { return nil }
                let chunk = rows[next] >> Chunk.shift
                selection.clear()
                while next < rows.count, rows[next] >> Chunk.shift == chunk {
                    selection.select(rows[next] & Chunk.mask)
                    next += 1
                }
                scanned = next
                return chunk
            }
            let end = (table.endRow + Chunk.mask) >> Chunk.shift
            while next < end {
                let chunk = next
                next += 1
                scanned = min(scan.scanned, next << Chunk.shift)
                if case .many(let set)? = scan.candidates {
                    if selection.select(set, inChunk: chunk) { return chunk }
                } else {
                    let count = min(Chunk.capacity, table.endRow - chunk << Chunk.shift)
                    let place = table.place(ofChunk: chunk)
                    if let slot, next < end, let ahead = table.placeIfLoaded(ofChunk: next) {
                        place.prefetch(ahead, slot)
                    }
                    selection.selectAll(place, count)
                    return chunk
                }
            }
            return nil
        }
    }

    /// Leaves the rows of a chunk for which the conditions hold.
    /// - Returns: whether there are any.
    @inline(__always)
    private func narrow(_ chunk: Int, _ selection: borrowing ChunkSelection) throws -> Bool {
        let rows = selected(selection, chunk)
        if !tests.isEmpty {
            let place = table.place(ofChunk: chunk)
            for test in tests {
                test.narrow(place, rows)
                if rows.isEmpty { return false }
            }
        }
        if let rest {
            let first = chunk << Chunk.shift
            try rows.keep { try rest.matches(RecordReference(table: number, row: first + $0)) }
        }
        return !rows.isEmpty
    }

    // MARK: What is made of the rows

    func count() throws -> Int {
        if candidates == nil, tests.isEmpty, rest == nil { return table.count }
        var count = 0
        try forEachChunk { _, _, _, selection in count += selection.count }
        return count
    }

    /// Appends matching records, at most `limit`, and ends the scan there. Returns an upper bound of how many rows it
    /// looked at. Throws what the conditions throw.
    @discardableResult
    func append(to rows: inout [RecordReference], limit: Int = .max) throws -> Int {
        if candidates == nil, tests.isEmpty, rest == nil { rows.reserveCapacity(rows.count + min(table.count, limit)) }
        let (end, overflows) = rows.count.addingReportingOverflow(limit)
        var cursor = ChunkCursor(self)
        while let chunk = try cursor.advance() {
            let first = chunk << Chunk.shift
            cursor.selection.forEach { rows.append(RecordReference(table: number, row: first + $0)) }
            if !overflows, rows.count >= end {
                rows.removeLast(rows.count - end)
                return cursor.scanned
            }
        }
        return scanned
    }
}
