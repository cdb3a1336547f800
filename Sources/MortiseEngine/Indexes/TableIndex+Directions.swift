import MortiseCore

extension TableIndex {
    /// Calls the body with the rows in a range, in order of the index's properties, each in a direction of its own, until it returns false.
    /// Rows with equal keys come in identity order.
    /// - Parameters:
    ///   - range: a part of the index.
    ///   - ascending: for each property, whether its values ascend.
    ///   - skipping: how many rows are left out first.
    ///   - body: gets a row.
    func forEachRow(
        in range: IndexRange, ascending: [Bool], skipping: Int, _ body: (Int) throws -> Bool
    ) rethrows {
        var walk = DirectedWalk(index: self, ascending: ascending, left: skipping)
        _ = try walk.forEachRow(in: range, from: 0, body)
    }

    /// The part of a range in which the first values are those of a row.
    fileprivate func part(of range: IndexRange, sharing count: Int, with row: Int, _ buffer: KeyBuffer) -> IndexRange {
        let components = Array(definition.components.prefix(count))
        let beginning = IndexDefinition(components: components, family: [], constraint: nil)
        buffer.setKey(table.place(ofChunk: row >> Chunk.shift), row & Chunk.mask, beginning, table.dictionaries)
        var part = IndexRange(beginningWith: buffer.bytes)
        if part.lower.lexicographicallyPrecedes(range.lower) { part.lower = range.lower }
        if let end = range.upper, part.upper.map({ end.lexicographicallyPrecedes($0) }) ?? true { part.upper = end }
        return part
    }
}

/// A walk along an index that turns round where the order does: what agrees before the turn lies together, and is gone through by itself.
private struct DirectedWalk {
    let index: TableIndex
    let ascending: [Bool]
    /// How many rows are still to be left out.
    var left: Int
    private let buffer = KeyBuffer()

    init(index: TableIndex, ascending: [Bool], left: Int) {
        self.index = index
        self.ascending = ascending
        self.left = left
    }

    /// - Returns: whether the body wants more.
    mutating func forEachRow(
        in range: IndexRange, from place: Int, _ body: (Int) throws -> Bool
    ) rethrows -> Bool {
        if left > 0 {
            let count = index.count(in: range)
            if count <= left {
                left -= count
                return true
            }
        }
        let isAscending = ascending[place]
        guard let turn = ascending[place...].firstIndex(of: !isAscending) else {
            var goesOn = true
            try index.forEachRow(in: range, descending: !isAscending, skipping: left) { row in
                goesOn = try body(row)
                return goesOn
            }
            left = 0
            return goesOn
        }
        var rest = range
        while let row = first(in: rest, descending: !isAscending) {
            let part = index.part(of: range, sharing: turn, with: row, buffer)
            if try !forEachRow(in: part, from: turn, body) { return false }
            // A row that cannot be read has another key than its entry: what is left would not become less. The version says so when it
            // is checked.
            if isAscending {
                guard let end = part.upper, rest.lower.lexicographicallyPrecedes(end) else { break }
                rest.lower = end
            } else {
                if let end = rest.upper, !part.lower.lexicographicallyPrecedes(end) { break }
                rest.upper = part.lower
            }
        }
        return true
    }

    private func first(in range: IndexRange, descending: Bool) -> Int? {
        var first: Int?
        index.forEachRow(in: range, descending: descending) { row in
            first = row
            return false
        }
        return first
    }
}
