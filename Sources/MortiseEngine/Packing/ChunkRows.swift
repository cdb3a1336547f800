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
    /// - Parameter known: the numbers of records by their row in the table, as far as indexes name them.
    /// - Returns: nil if the rows cannot be as the file says.
    func sequences(at known: [Int: UInt64]) -> [(sequence: UInt64, row: Int?)]? {
        guard live.count <= place.rows, live.first.map({ $0.sequence >= place.first }) ?? true else { return nil }
        var offsets: [UInt64: Int] = [:]
        for offset in 0..<place.rows {
            if let sequence = known[place.firstRow + offset] { offsets[sequence] = offset }
        }
        // The first row's number is known, and so is that of each row that an index names.
        var fixed: [(offset: Int, sequence: UInt64, row: Int?)] = []
        var free: [Row] = []
        for row in live {
            if row.sequence == place.first {
                fixed.append((0, row.sequence, row.row))
            } else if let offset = offsets[row.sequence] {
                fixed.append((offset, row.sequence, row.row))
            } else {
                free.append(row)
            }
        }
        if fixed.first?.offset != 0 { fixed.insert((0, place.first, nil), at: 0) }
        fixed.append((place.rows, place.limit, nil))
        var result: [(sequence: UInt64, row: Int?)] = []
        for (start, end) in zip(fixed, fixed.dropFirst()) {
            guard end.offset > start.offset, end.sequence > start.sequence else { return nil }
            result.append((start.sequence, start.row))
            let between = free.filter { $0.sequence > start.sequence && $0.sequence < end.sequence }
            guard let filled = Self.fill(between, end.offset - start.offset - 1, start.sequence, end.sequence) else {
                return nil
            }
            result += filled
        }
        return result
    }

    /// Adds deleted rows to some records, under numbers that are free, until there are as many as there should be.
    private static func fill(
        _ live: [Row], _ count: Int, _ lower: UInt64, _ upper: UInt64
    ) -> [(sequence: UInt64, row: Int?)]? {
        guard live.count <= count else { return nil }
        var result: [(sequence: UInt64, row: Int?)] = []
        var missing = count - live.count
        var next = lower + 1
        for row in live {
            while missing > 0, next < row.sequence {
                result.append((next, nil))
                missing -= 1
                next += 1
            }
            result.append((row.sequence, row.row))
            next = row.sequence + 1
        }
        while missing > 0, next < upper {
            result.append((next, nil))
            missing -= 1
            next += 1
        }
        return missing == 0 ? result : nil
    }
}
