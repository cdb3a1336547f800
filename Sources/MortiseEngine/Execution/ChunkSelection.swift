/// Which rows of one chunk are still in question, a bit for each. One is used for chunk after chunk.
struct ChunkSelection: ~Copyable {
    static let wordCount = Chunk.capacity / 64
    let words: UnsafeMutablePointer<UInt64>

    init() {
        words = .allocate(capacity: Self.wordCount)
        words.initialize(repeating: 0, count: Self.wordCount)
    }

    deinit { words.deallocate() }

    /// Selects the rows that are there.
    /// - Parameter count: how many rows of the chunk the version has; what lies behind them may be in the making.
    @inline(__always)
    func selectAll(_ place: ChunkPlace, _ count: Int) {
        for index in 0..<Self.wordCount {
            let left = count - 64 * index
            words[index] = left <= 0 ? 0 : ~place.deadWord(index) & (left >= 64 ? ~0 : (1 << UInt64(left)) - 1)
        }
    }

    func clear() { for index in 0..<Self.wordCount { words[index] = 0 } }

    @inline(__always)
    func select(_ offset: Int) { words[offset >> 6] |= 1 << UInt64(offset & 63) }

    var count: Int {
        var count = 0
        for index in 0..<Self.wordCount { count += words[index].nonzeroBitCount }
        return count
    }

    @inline(__always)
    func forEach(_ body: (_ offset: Int) throws -> Void) rethrows {
        for index in 0..<Self.wordCount {
            var word = words[index]
            while word != 0 {
                try body(index << 6 + word.trailingZeroBitCount)
                word &= word - 1
            }
        }
    }
}

/// The words of a selection that a test narrows, and how many rows may be read behind them.
struct SelectedRows {
    let words: UnsafeMutablePointer<UInt64>
    /// Rows of the chunk that the version has.
    let count: Int

    /// Keeps the rows for whose values the test holds. Many selected rows are tested without looking which they are, so
    /// the test has to be one that holds or not for any bits.
    @inline(__always)
    func keep<T: BitwiseCopyable>(_ place: ChunkPlace, _ entry: ChunkPlace.Entry, as type: T.Type, _ test: (T) -> Bool)
    {
        let values = UnsafeRawPointer(place.fixed + entry.offset)
        var first = 0
        var index = 0
        while first < count {
            let word = words[index]
            if word != 0 {
                let start = values + MemoryLayout<T>.stride * first
                var hits: UInt64 = 0
                if word.nonzeroBitCount > 12 {
                    let rows = min(64, count - first)
                    var row = 0
                    while row < rows {
                        let value = start.loadUnaligned(fromByteOffset: MemoryLayout<T>.stride * row, as: T.self)
                        hits |= (test(value) ? 1 : 0) << UInt64(row)
                        row += 1
                    }
                } else {
                    var left = word
                    while left != 0 {
                        let row = left.trailingZeroBitCount
                        left &= left - 1
                        let value = start.loadUnaligned(fromByteOffset: MemoryLayout<T>.stride * row, as: T.self)
                        hits |= (test(value) ? 1 : 0) << UInt64(row)
                    }
                }
                words[index] = word & hits
            }
            first += 64
            index += 1
        }
    }

    /// Keeps the rows whose offsets pass.
    @inline(__always)
    func keep(_ test: (_ offset: Int) throws -> Bool) rethrows {
        for index in 0..<ChunkSelection.wordCount where words[index] != 0 {
            var left = words[index]
            var hits: UInt64 = 0
            while left != 0 {
                let row = left.trailingZeroBitCount
                left &= left - 1
                if try test(index << 6 + row) { hits |= 1 << UInt64(row) }
            }
            words[index] = hits
        }
    }

    /// Keeps the rows that have a value in a column, or those that have none.
    @inline(__always)
    func keep(_ place: ChunkPlace, _ entry: ChunkPlace.Entry, present: Bool) {
        var index = 0
        while index << 6 < count {
            if words[index] != 0 {
                let absent = place.absentWord(entry, index)
                words[index] &= present ? ~absent : absent
            }
            index += 1
        }
    }

    func clear() { for index in 0..<ChunkSelection.wordCount { words[index] = 0 } }
}
