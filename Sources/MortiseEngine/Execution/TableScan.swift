import MortiseCore

/// The rows of one table for which conditions hold, gone through chunk by chunk: what columns can tell is asked of whole
/// chunks, the rest row by row of what is left.
struct TableScan {
    private let table: TableVersion
    /// The rows in question; nil for all.
    private let candidates: RowCandidates?
    private let tests: [ColumnTest]
    private let rest: CompiledFilter?
    /// The table's number in the reader of `rest`.
    private let number: Int

    /// - Parameter candidates: the rows in question; nil for all.
    init(
        _ table: TableVersion, candidates: RowCandidates?, conjuncts: [QueryExpression], reader: RecordReader,
        number: Int
    ) {
        self.table = table
        self.candidates = candidates
        self.number = number
        var tests: [ColumnTest] = []
        var rest: [QueryExpression] = []
        // Of a few rows, less is read than has to be prepared for going through a column.
        let isFew = candidates.map { $0.count <= Self.few } ?? false
        for conjunct in conjuncts {
            if !isFew, let test = ColumnTest(conjunct, table) { tests.append(test) } else { rest.append(conjunct) }
        }
        self.tests = tests.count > 1 ? Self.inOrder(tests, table) : tests
        self.rest = rest.isEmpty ? nil : CompiledFilter(rest, reader: reader, table: number)
    }

    private static let few = 32

    /// The tests that take out most rows for what they cost come first. Which those are is tried out on a chunk from the
    /// middle; those of equal worth stay in the order in which they were written.
    private static func inOrder(_ tests: [ColumnTest], _ table: TableVersion) -> [ColumnTest] {
        let chunk = (table.endRow >> Chunk.shift) / 2
        let count = min(Chunk.capacity, table.endRow - chunk << Chunk.shift)
        guard count > 0 else { return tests }
        let place = table.place(ofChunk: chunk)
        let selection = ChunkSelection()
        selection.selectAll(place, count)
        let all = selection.count
        if all == 0 { return tests }
        let worths = tests.map { test in
            selection.selectAll(place, count)
            test.narrow(place, SelectedRows(words: selection.words, count: count))
            return Double(all - selection.count) / (Double(all) * Double(max(test.cost, 1)))
        }
        return tests.indices.sorted { (-worths[$0], $0) < (-worths[$1], $1) }.map { tests[$0] }
    }

    /// How many rows are looked at.
    var scanned: Int { candidates?.count ?? table.count }

    /// Calls the body with every chunk that has rows for which the conditions hold.
    func forEachChunk(
        _ body: (_ place: ChunkPlace, _ first: Int, _ rows: SelectedRows, _ selection: borrowing ChunkSelection) throws
            -> Void
    ) throws {
        let selection = ChunkSelection()
        switch candidates {
        case .few(let rows):
            var next = 0
            while next < rows.count {
                let chunk = rows[next] >> Chunk.shift
                selection.clear()
                while next < rows.count, rows[next] >> Chunk.shift == chunk {
                    selection.select(rows[next] & Chunk.mask)
                    next += 1
                }
                try narrow(chunk, selection, body)
            }
            return
        case .many(let set):
            for chunk in 0..<((table.endRow + Chunk.mask) >> Chunk.shift) {
                if selection.select(set, inChunk: chunk) { try narrow(chunk, selection, body) }
            }
            return
        case nil: break
        }
        for chunk in 0..<((table.endRow + Chunk.mask) >> Chunk.shift) {
            let first = chunk << Chunk.shift
            selection.selectAll(table.place(ofChunk: chunk), min(Chunk.capacity, table.endRow - first))
            try narrow(chunk, selection, body)
        }
    }

    @inline(__always)
    private func narrow(
        _ chunk: Int, _ selection: borrowing ChunkSelection,
        _ body: (ChunkPlace, Int, SelectedRows, borrowing ChunkSelection) throws -> Void
    ) throws {
        let place = table.place(ofChunk: chunk)
        let first = chunk << Chunk.shift
        let rows = SelectedRows(words: selection.words, count: min(Chunk.capacity, table.endRow - first))
        for test in tests {
            test.narrow(place, rows)
            if rows.isEmpty { return }
        }
        if let rest {
            try rows.keep { try rest.matches(RecordReference(table: number, row: first + $0)) }
        }
        try body(place, first, rows, selection)
    }

    // MARK: What is made of the rows

    func count() throws -> Int {
        if candidates == nil, tests.isEmpty, rest == nil { return table.count }
        var count = 0
        try forEachChunk { _, _, _, selection in count += selection.count }
        return count
    }

    /// - Parameter limit: how many are wanted at most; the scan ends there.
    /// - Returns: how many rows were looked at, at most.
    @discardableResult
    func append(to rows: inout [RecordReference], limit: Int = .max) throws -> Int {
        if candidates == nil, tests.isEmpty, rest == nil { rows.reserveCapacity(rows.count + min(table.count, limit)) }
        let end = limit == .max ? Int.max : rows.count + limit
        var endRow = 0
        do {
            try forEachChunk { _, first, _, selection in
                selection.forEach { rows.append(RecordReference(table: number, row: first + $0)) }
                endRow = first + Chunk.capacity
                if rows.count >= end { throw Enough() }
            }
        } catch is Enough {
            rows.removeLast(rows.count - end)
            return min(scanned, endRow)
        }
        return scanned
    }

    private struct Enough: Error {}
}
