/// Chunks side by side: the leaves of the vector that a table is, so that a version which differs in one chunk shares the
/// other groups. Immutable.
///
/// @unchecked Sendable: nothing changes after initialisation.
final class ChunkGroup: @unchecked Sendable {
    static let shift = 6
    static let capacity = 1 << shift
    static let mask = capacity - 1

    let chunks: ContiguousArray<Chunk>
    // Where the chunks' bytes are, so that reading a value touches no object but the table.
    let places: UnsafeMutablePointer<ChunkPlace>
    private let firstSequences: UnsafeMutablePointer<UInt64>

    init(_ chunks: ContiguousArray<Chunk>) {
        self.chunks = chunks
        places = .allocate(capacity: max(chunks.count, 1))
        firstSequences = .allocate(capacity: max(chunks.count, 1))
        for (index, chunk) in chunks.enumerated() {
            (places + index).initialize(to: chunk.place)
            (firstSequences + index).initialize(to: chunk.place.sequence(0))
        }
    }

    deinit {
        places.deallocate()
        firstSequences.deallocate()
    }

    var firstSequence: UInt64 { firstSequences[0] }

    /// The chunk in whose range of numbers a sequence lies.
    func chunk(for sequence: UInt64) -> Int {
        var low = 1
        var high = chunks.count
        while low < high {
            let middle = (low + high) / 2
            if firstSequences[middle] <= sequence { low = middle + 1 } else { high = middle }
        }
        return low - 1
    }
}

extension ChunkPlace {
    /// The offset of the row with that number among the first so many, dead or alive.
    func offset(of sequence: UInt64, count: Int) -> Int? {
        guard count > 0 else { return nil }
        let first = self.sequence(0)
        guard sequence >= first else { return nil }
        // Numbers without gaps are the rule: rows saved together have them.
        let guess = min(sequence - first, UInt64(count - 1))
        var high = Int(guess)
        if self.sequence(high) == sequence { return high }
        var low = 0
        while low < high {
            let middle = (low + high) / 2
            if self.sequence(middle) < sequence { low = middle + 1 } else { high = middle }
        }
        return self.sequence(low) == sequence ? low : nil
    }
}
