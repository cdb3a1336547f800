import MortiseCore

/// Where the rows of a chunk lie that is made again: its records are known, and the rows between them were those of deleted
/// ones, of which nothing is known but how many there were.
struct ChunkRows {
    /// A record that is there.
    struct Row {
        let sequence: UInt64
        /// Its row in the version that it is taken from.
        let row: Int
    }

    private let live: [Row]
    private let place: PackedChunk.Place

    init(_ live: [Row], in place: PackedChunk.Place) {
        self.live = live
        self.place = place
    }

    /// The numbers of all rows in order, each with the row that its record is taken from; nil for a deleted one.
    /// - Parameter known: the rows of the table among which a record's row is, by the record's number, as far as indexes say.
    /// - Returns: nil if the rows cannot be as the file and the indexes say.
    func sequences(within known: [UInt64: ClosedRange<Int>]) -> [(sequence: UInt64, row: Int?)]? {
        guard var points = points(within: known) else { return nil }
        // From the last one back: then each place leaves one for the next, whatever comes before.
        for index in points.indices.dropLast().reversed() {
            let next = points[index + 1]
            points[index].low = max(points[index].low, next.low - points[index].span(to: next))
            points[index].high = min(points[index].high, next.high - 1)
        }
        var result: [(sequence: UInt64, row: Int?)] = []
        for (point, next) in zip(points, points.dropFirst()) {
            guard result.count >= point.low, result.count <= point.high else { return nil }
            result.append((point.sequence, point.row))
            // Deleted rows under numbers that are free, as many as may be.
            let end = min(next.high, result.count - 1 + point.span(to: next))
            var sequence = point.sequence
            while result.count < end {
                sequence += 1
                result.append((sequence, nil))
            }
        }
        return result.count == place.rows ? result : nil
    }

    /// A row whose number is known, and the offsets in the chunk that it may have.
    private struct Point {
        let sequence: UInt64
        let row: Int?
        var low: Int
        var high: Int

        /// How far apart two rows may be at most: between them, each number is that of one row or of none.
        func span(to next: Point) -> Int { Int(clamping: next.sequence - sequence) }
    }

    /// The first row, those of records, and the one after the last; nil if they are not in order.
    private func points(within known: [UInt64: ClosedRange<Int>]) -> [Point]? {
        var points: [Point] = []
        if live.first?.sequence != place.first {
            points.append(Point(sequence: place.first, row: nil, low: 0, high: 0))
        }
        for row in live {
            let isFirst = row.sequence == place.first
            let range = known[row.sequence]
            points.append(
                Point(
                    sequence: row.sequence, row: row.row,
                    low: max(0, (range?.lowerBound ?? 0) - place.firstRow),
                    high: isFirst ? 0 : range.map { $0.upperBound - place.firstRow } ?? place.rows))
        }
        points.append(Point(sequence: place.limit, row: nil, low: place.rows, high: place.rows))
        return zip(points, points.dropFirst()).allSatisfy { $0.sequence < $1.sequence } ? points : nil
    }
}
