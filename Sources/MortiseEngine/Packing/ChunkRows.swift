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
    /// The places in the chunk of records that an index names a row of, by the records' places in `live`.
    private var offsets: [Int: Int] = [:]

    init(_ live: [Row], in place: PackedChunk.Place) {
        self.live = live
        self.place = place
    }

    /// Looks up the rows of the records in the indexes: a reader that found a row there expects the record in it.
    /// - Parameters:
    ///   - own: the table that the chunk is of, as far as it can be read.
    ///   - other: the table that the records are taken from.
    ///   - leaves: nodes of an index that are in memory, and may not be readable any more.
    mutating func pin(
        byIndexesOf own: TableVersion, _ other: TableVersion, leaves: (_ index: Int) -> [IndexNode]
    ) {
        let key = KeyBuffer()
        for (number, definition) in own.plan.indexes.enumerated() {
            var places: [[UInt8]: [Int]] = [:]
            for (place, row) in live.enumerated() where offsets[place] == nil {
                key.setKey(
                    other.place(ofChunk: row.row >> Chunk.shift), row.row & Chunk.mask, definition, other.dictionaries)
                places[Array(key.key), default: []].append(place)
            }
            let found = rows(inLeaves: leaves(number))
            for (bytes, places) in places {
                let rows = bytes.withUnsafeBytes { self.rows($0, in: own.indexes[number]) }
                // Fewer where a node cannot be read, and some of a key that several leaves have.
                let known = rows.count == places.count ? rows : (found[bytes] ?? []).sorted()
                guard known.count == places.count else { continue }
                for (place, row) in zip(places, known) { offsets[place] = row - self.place.firstRow }
            }
        }
    }

    /// The rows of the chunk that leaves have, by their keys.
    private func rows(inLeaves leaves: [IndexNode]) -> [[UInt8]: Set<Int>] {
        var found: [[UInt8]: Set<Int>] = [:]
        for leaf in leaves {
            for entry in 0..<leaf.count {
                let row = Int(leaf.row(entry))
                guard row >= place.firstRow, row < place.firstRow + place.rows else { continue }
                var key: [UInt8] = []
                for word in leaf.isWide ? [leaf.head(entry), leaf.second(entry)] : [leaf.head(entry)] {
                    withUnsafeBytes(of: word.bigEndian) { key.append(contentsOf: $0) }
                }
                key.append(contentsOf: leaf.tail(entry))
                while key.last == 0 { key.removeLast() }
                found[key, default: []].insert(row)
            }
        }
        return found
    }

    /// The rows of the chunk that an index has under a key, ascending.
    private func rows(_ key: UnsafeRawBufferPointer, in index: OrderedIndex) -> [Int] {
        let wanted = IndexProbe(key, row: UInt64(place.firstRow), isWide: index.isWide)
        var rows: [Int] = []
        index.forEachRun(from: wanted, to: nil) { node, run in
            for entry in run {
                let row = Int(node.row(entry))
                guard node.hasKey(entry, wanted), row < place.firstRow + place.rows else { return false }
                rows.append(row)
            }
            return true
        }
        return rows
    }

    /// The numbers of all rows in order, each with the row that its record is taken from; nil for a deleted one.
    /// - Returns: nil if the rows cannot be as the file says.
    func sequences() -> [(sequence: UInt64, row: Int?)]? {
        guard live.count <= place.rows, live.first.map({ $0.sequence >= place.first }) ?? true else { return nil }
        // The first row's number is known, and so is that of each row that an index names.
        var fixed: [(offset: Int, sequence: UInt64, row: Int?)] = []
        var free: [Row] = []
        for (number, row) in live.enumerated() {
            if row.sequence == place.first {
                fixed.append((0, row.sequence, row.row))
            } else if let offset = offsets[number] {
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
