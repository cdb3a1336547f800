/// Which rows of one chunk are still in question, a bit for each. One is used for chunk after chunk.
struct ChunkSelection: ~Copyable {
    static let wordCount = Chunk.capacity / 64
    let words: UnsafeMutablePointer<UInt64>

    init() {
        words = .allocate(capacity: Self.wordCount)
        words.initialize(repeating: 0, count: Self.wordCount)
    }

    deinit { words.deallocate() }

    /// Selects the rows that exist among the first `count`, which is how many rows of the chunk the version has; a
    /// writer may be adding rows after them. Returns how many it selected.
    @discardableResult @inline(__always)
    func selectAll(_ place: ChunkPlace, _ count: Int) -> Int {
        var selected = 0
        for index in 0..<Self.wordCount {
            let left = count - 64 * index
            words[index] = left <= 0 ? 0 : ~place.deadWord(index) & (left >= 64 ? ~0 : (1 << UInt64(left)) - 1)
            selected += words[index].nonzeroBitCount
        }
        return selected
    }

    func clear() { for index in 0..<Self.wordCount { words[index] = 0 } }

    @inline(__always)
    func select(_ offset: Int) { words[offset >> 6] |= 1 << UInt64(offset & 63) }

    /// Selects the rows of a set that are in a chunk.
    /// - Returns: whether there are any.
    func select(_ set: RowSet, inChunk chunk: Int) -> Bool {
        var any: UInt64 = 0
        let first = chunk * Self.wordCount
        for index in 0..<Self.wordCount {
            words[index] = set.words[first + index]
            any |= words[index]
        }
        return any != 0
    }

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

/// The words of a selection that a test narrows, and how many rows may be read after them.
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
                let start = values + MemoryLayout<T>.stride &* first
                if word.nonzeroBitCount > Self.few, count &- first >= 64 {
                    words[index] = word & Self.hits(start, as: type, test)
                } else {
                    words[index] = Self.hits(start, among: word, as: type, test)
                }
            }
            first &+= 64
            index &+= 1
        }
    }

    /// Up to this many rows are tested one by one.
    private static var few: Int { 8 }

    /// Which of sixty-four values pass: a byte for each, which the compiler makes with vectors, and a bit for each byte.
    @inline(__always)
    private static func hits<T: BitwiseCopyable>(
        _ start: UnsafeRawPointer, as type: T.Type, _ test: (T) -> Bool
    ) -> UInt64 {
        var passing = SIMD64<UInt8>()
        return withUnsafeMutableBytes(of: &passing) { bytes in
            // The bytes of a local variable are somewhere.
            let passing = bytes.baseAddress.unsafelyUnwrapped
            var row = 0
            while row < 64 {
                let value = start.loadUnaligned(fromByteOffset: MemoryLayout<T>.stride &* row, as: T.self)
                passing.storeBytes(of: test(value) ? 1 : 0, toByteOffset: row, as: UInt8.self)
                row &+= 1
            }
            var hits: UInt64 = 0
            var group: UInt64 = 0
            while group < 64 {
                let eight = UInt64(littleEndian: passing.load(fromByteOffset: Int(group), as: UInt64.self))
                // The product has the lowest bits of all eight bytes in its highest byte.
                hits |= ((eight &* 0x0102_0408_1020_4080) &>> 56) &<< group
                group &+= 8
            }
            return hits
        }
    }

    /// Which of the rows in question pass.
    @inline(__always)
    private static func hits<T: BitwiseCopyable>(
        _ start: UnsafeRawPointer, among rows: UInt64, as type: T.Type, _ test: (T) -> Bool
    ) -> UInt64 {
        var left = rows
        var hits: UInt64 = 0
        while left != 0 {
            let row = left.trailingZeroBitCount
            left &= left &- 1
            let value = start.loadUnaligned(fromByteOffset: MemoryLayout<T>.stride &* row, as: T.self)
            hits |= (test(value) ? 1 : 0) &<< UInt64(truncatingIfNeeded: row)
        }
        return hits
    }

    /// Whether no row is left.
    var isEmpty: Bool {
        var all: UInt64 = 0
        for index in 0..<ChunkSelection.wordCount { all |= words[index] }
        return all == 0
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
