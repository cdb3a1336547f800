import Synchronization

/// Chunks side by side: the leaves of the vector that a table is, so that a version which differs in one chunk shares the
/// other groups. Immutable.
///
/// @unchecked Sendable: nothing changes after initialization but the places of chunks that are still in a file. They are atomic,
/// and go from nothing to their final value.
final class ChunkGroup: @unchecked Sendable {
    static let shift = 6
    static let capacity = 1 << shift
    static let mask = capacity - 1

    /// The chunks, made now for a group that came out of a file and was not touched before.
    var cells: ContiguousArray<ChunkCell> { packed?.cells ?? made }
    private let made: ContiguousArray<ChunkCell>
    let packed: PackedCells?
    /// Whether the chunks were made, touched or not.
    var hasCells: Bool { packed?.isMade ?? true }
    private let count: Int
    // Where the chunks' bytes are, so that reading a value touches no object but the table.
    let places: UnsafeMutablePointer<ChunkSpot>
    private let firstSequences: UnsafeMutablePointer<UInt64>

    init(_ cells: ContiguousArray<ChunkCell>) {
        made = cells
        packed = nil
        count = cells.count
        places = .allocate(capacity: max(cells.count, 1))
        firstSequences = .allocate(capacity: max(cells.count, 1))
        for (index, cell) in cells.enumerated() {
            if case .chunk(let chunk) = cell {
                (places + index).initialize(to: ChunkSpot(chunk.place))
            } else {
                (places + index).initialize(to: ChunkSpot(nil))
            }
            (firstSequences + index).initialize(to: cell.firstSequence)
        }
    }

    /// A group whose chunks are all in a file.
    init(_ packed: PackedCells) {
        made = []
        self.packed = packed
        count = packed.chunks.count
        places = .allocate(capacity: max(count, 1))
        firstSequences = .allocate(capacity: max(count, 1))
        for (index, chunk) in packed.chunks.enumerated() {
            (places + index).initialize(to: ChunkSpot(nil))
            (firstSequences + index).initialize(to: chunk.firstSequence)
        }
    }

    private static let loading = Mutex(())

    /// Where the bytes of a chunk are that was not touched before.
    func load(_ index: Int) -> ChunkPlace {
        let place = cells[index].chunk.place
        Self.loading.withLock { _ in places[index].set(place) }
        return place
    }

    deinit {
        places.deinitialize(count: count)
        places.deallocate()
        firstSequences.deallocate()
    }

    var firstSequence: UInt64 { firstSequences[0] }

    /// The number of the first row of a chunk, which is not read for that.
    @inline(__always)
    func firstSequence(ofChunk index: Int) -> UInt64 { firstSequences[index] }

    /// The chunk in whose range of numbers a sequence lies.
    func chunk(for sequence: UInt64) -> Int {
        var low = 1
        var high = count
        while low < high {
            let middle = (low + high) / 2
            if firstSequences[middle] <= sequence { low = middle + 1 } else { high = middle }
        }
        return low - 1
    }
}

/// Where a chunk's bytes are, once they are anywhere.
struct ChunkSpot: ~Copyable {
    private let fixed: Atomic<UInt>
    // Set before `fixed`, and read after it.
    private let heap: Atomic<UInt>

    init(_ place: ChunkPlace?) {
        fixed = Atomic(UInt(bitPattern: place?.fixed))
        heap = Atomic(UInt(bitPattern: place?.heap))
    }

    /// Nil for a chunk that is still in a file.
    @inline(__always)
    var place: ChunkPlace? {
        guard let fixed = UnsafeRawPointer(bitPattern: fixed.load(ordering: .acquiring)),
            let heap = UnsafeRawPointer(bitPattern: heap.load(ordering: .relaxed))
        else { return nil }
        return ChunkPlace(fixed: fixed, heap: heap)
    }

    /// Under a lock, and without effect where it is set. Others read meanwhile.
    func set(_ place: ChunkPlace) {
        if fixed.load(ordering: .relaxed) != 0 { return }
        heap.store(UInt(bitPattern: place.heap), ordering: .relaxed)
        fixed.store(UInt(bitPattern: place.fixed), ordering: .releasing)
    }
}

extension ChunkPlace {
    /// The offset of the row with that number among the first `count`, dead or alive.
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
