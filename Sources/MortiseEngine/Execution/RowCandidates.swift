import MortiseCore

/// The rows of a table in which those of a query may be, each once.
enum RowCandidates {
    /// Their numbers, ascending.
    case few([Int])
    /// Many, as a set.
    case many(RowSet)

    var count: Int {
        switch self {
        case .few(let rows): rows.count
        case .many(let set): set.count
        }
    }
}

/// A set of rows of one table, a bit for each row.
struct RowSet {
    private(set) var words: [UInt64]
    private(set) var count = 0

    init(endRow: Int) {
        words = Array(repeating: 0, count: (endRow + Chunk.mask) >> Chunk.shift * ChunkSelection.wordCount)
    }

    mutating func insert(_ row: Int) {
        let bit: UInt64 = 1 << UInt64(row & 63)
        if words[row >> 6] & bit != 0 { return }
        words[row >> 6] |= bit
        count += 1
    }
}

extension TableIndex {
    /// The rows in several ranges, which hold `count` rows together.
    func candidates(in ranges: [IndexRange], count: Int) -> RowCandidates {
        // Numbers have to be sorted; a set has to be gone through word by word.
        guard count > 1024, count > table.endRow >> 6 else { return .few(rows(in: ranges)) }
        var set = RowSet(endRow: table.endRow)
        for range in ranges {
            forEachRow(in: range) { row in
                set.insert(row)
                return true
            }
        }
        return .many(set)
    }

    /// The first rows in the order of the index, or in the opposite one.
    func candidates(first count: Int, descending: Bool) -> RowCandidates {
        var set = RowSet(endRow: table.endRow)
        forEachRow(descending: descending) { row in
            if set.count < count { set.insert(row) }
            return set.count < count
        }
        return .many(set)
    }
}
