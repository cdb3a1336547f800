/// One node of an ordered index: entries in ascending order of key and row. A leaf's entries are the index's own; a
/// branch has one entry for each child, the lowest that was beneath it when it was made, and the first covers
/// everything below the second.
///
/// The first eight bytes of a key (sixteen in a wide index) lie in arrays of their own, where a search runs through few
/// cache lines; longer keys have the rest in the node's heap.
///
/// @unchecked Sendable: written only by the transaction that made it, before its version is published.
final class IndexNode: @unchecked Sendable {
    static let capacity = 128

    /// The transaction that may write to this node.
    let owner: UInt64
    let isWide: Bool
    // Nothing that reads or writes these calls anything that comes back, and checking each access for exclusivity took as
    // long as copying a node.
    @exclusivity(unchecked) private(set) var count = 0
    /// Empty in a leaf.
    @exclusivity(unchecked) private(set) var cells: ContiguousArray<IndexChild> = []
    /// How many entries of the index lie beneath each child.
    @exclusivity(unchecked) private(set) var counts: ContiguousArray<Int> = []

    // Heads, then rows, then second heads where the node is wide.
    private let words: UnsafeMutablePointer<UInt64>
    // For each entry the offset and length of its tail in the heap; nil while no entry has one.
    @exclusivity(unchecked) private var references: UnsafeMutablePointer<UInt64>?
    @exclusivity(unchecked) private var heap: UnsafeMutableRawPointer?
    @exclusivity(unchecked) private var heapCount = 0
    @exclusivity(unchecked) private var heapCapacity = 0

    init(owner: UInt64, isWide: Bool) {
        self.owner = owner
        self.isWide = isWide
        words = .allocate(capacity: Self.capacity * (isWide ? 3 : 2))
    }

    init(copying other: IndexNode, owner: UInt64) {
        self.owner = owner
        isWide = other.isWide
        count = other.count
        cells = other.cells
        counts = other.counts
        words = .allocate(capacity: Self.capacity * (isWide ? 3 : 2))
        words.update(from: other.words, count: count)
        (words + Self.capacity).update(from: other.words + Self.capacity, count: count)
        if isWide { (words + 2 * Self.capacity).update(from: other.words + 2 * Self.capacity, count: count) }
        if let references = other.references, let heap = other.heap {
            let copy = UnsafeMutablePointer<UInt64>.allocate(capacity: Self.capacity)
            copy.update(from: references, count: count)
            self.references = copy
            heapCount = other.heapCount
            heapCapacity = max(other.heapCount, 256)
            let bytes = UnsafeMutableRawPointer.allocate(byteCount: heapCapacity, alignment: 8)
            bytes.copyMemory(from: heap, byteCount: heapCount)
            self.heap = bytes
        }
    }

    deinit {
        words.deallocate()
        references?.deallocate()
        heap?.deallocate()
    }

    var isLeaf: Bool { cells.isEmpty }
    /// One child, which is read now if it is still in a file.
    @inline(__always) func child(_ index: Int) -> IndexNode { cells[index].node }
    var isFull: Bool { count == Self.capacity }
    /// The entries of the index beneath this node.
    var total: Int { isLeaf ? count : counts.reduce(0, +) }

    // MARK: Reading

    @inline(__always) func head(_ index: Int) -> UInt64 { words[index] }
    @inline(__always) func row(_ index: Int) -> UInt64 { words[Self.capacity + index] }
    @inline(__always) func second(_ index: Int) -> UInt64 { isWide ? words[2 * Self.capacity + index] : 0 }

    func tail(_ index: Int) -> UnsafeRawBufferPointer {
        guard let references, let heap else { return UnsafeRawBufferPointer(start: nil, count: 0) }
        let reference = references[index]
        return UnsafeRawBufferPointer(start: heap + Int(reference >> 32), count: Int(reference & 0xFFFF_FFFF))
    }

    /// An entry as a place; valid until the node changes.
    func probe(_ index: Int) -> IndexProbe {
        IndexProbe(head: head(index), second: second(index), tail: tail(index), row: row(index))
    }

    /// Whether an entry's key is a probe's, whatever their rows are.
    func hasKey(_ index: Int, _ probe: IndexProbe) -> Bool {
        head(index) == probe.head && second(index) == probe.second && Self.order(tail(index), probe.tail) == 0
    }

    /// Below zero where the entry comes before the probe, whose head is the entry's.
    private func orderBehindHead(_ index: Int, _ probe: IndexProbe) -> Int {
        if isWide {
            let second = words[2 * Self.capacity + index]
            if second != probe.second { return second < probe.second ? -1 : 1 }
        }
        if references != nil || !probe.tail.isEmpty {
            let order = Self.order(tail(index), probe.tail)
            if order != 0 { return order }
        }
        let row = words[Self.capacity + index]
        return row == probe.row ? 0 : row < probe.row ? -1 : 1
    }

    /// Whether an entry comes before a probe.
    func isBefore(_ index: Int, _ probe: IndexProbe) -> Bool {
        let head = words[index]
        return head < probe.head || (head == probe.head && orderBehindHead(index, probe) < 0)
    }

    static func order(_ a: UnsafeRawBufferPointer, _ b: UnsafeRawBufferPointer) -> Int {
        let shared = min(a.count, b.count)
        var index = 0
        while index + 8 <= shared {
            let x = UInt64(bigEndian: a.loadUnaligned(fromByteOffset: index, as: UInt64.self))
            let y = UInt64(bigEndian: b.loadUnaligned(fromByteOffset: index, as: UInt64.self))
            if x != y { return x < y ? -1 : 1 }
            index += 8
        }
        while index < shared {
            if a[index] != b[index] { return a[index] < b[index] ? -1 : 1 }
            index += 1
        }
        return a.count == b.count ? 0 : a.count < b.count ? -1 : 1
    }

    /// The first entry that does not come before the probe.
    func lowerBound(_ probe: IndexProbe, from first: Int = 0) -> Int {
        var low = first
        var high = count
        while low < high {
            let middle = (low + high) / 2
            let head = words[middle]
            if head < probe.head || (head == probe.head && orderBehindHead(middle, probe) < 0) {
                low = middle + 1
            } else {
                high = middle
            }
        }
        return low
    }

    /// The child in whose part the probe lies.
    func child(for probe: IndexProbe) -> Int {
        let index = lowerBound(probe, from: 1)
        if index < count, words[index] == probe.head, orderBehindHead(index, probe) == 0 { return index }
        return index - 1
    }

    /// The entry that is the probe.
    func place(of probe: IndexProbe) -> Int? {
        let index = lowerBound(probe)
        return index < count && words[index] == probe.head && orderBehindHead(index, probe) == 0 ? index : nil
    }

    // MARK: Writing, by the owner

    /// Puts an entry in; the node must not be full. The probe's tail must not lie in this node.
    func insert(_ probe: IndexProbe, at index: Int) {
        shift(from: index, by: 1)
        words[index] = probe.head
        words[Self.capacity + index] = probe.row
        if isWide { words[2 * Self.capacity + index] = probe.second }
        count += 1
        setTail(probe.tail, at: index)
    }

    /// Inserts a child after its entry.
    func insert(_ child: IndexNode, beneath probe: IndexProbe, at index: Int) {
        insert(.node(child), count: child.total, beneath: probe, at: index)
    }

    func insert(_ child: IndexChild, count: Int, beneath probe: IndexProbe, at index: Int) {
        insert(probe, at: index)
        cells.insert(child, at: index)
        counts.insert(count, at: index)
    }

    func remove(at index: Int) {
        shift(from: index + 1, by: -1)
        count -= 1
        if !cells.isEmpty {
            cells.remove(at: index)
            counts.remove(at: index)
        }
    }

    /// Gives an entry another key and row.
    func replaceEntry(at index: Int, with probe: IndexProbe) {
        words[index] = probe.head
        words[Self.capacity + index] = probe.row
        if isWide { words[2 * Self.capacity + index] = probe.second }
        setTail(probe.tail, at: index)
    }

    func setCount(_ count: Int, at index: Int) { counts[index] = count }
    func add(_ difference: Int, toCountAt index: Int) { counts[index] += difference }

    /// A child that this node's owner may write to.
    func ownedChild(_ index: Int) -> IndexNode {
        let child = child(index)
        if child.owner == owner { return child }
        let copy = IndexNode(copying: child, owner: owner)
        cells[index] = .node(copy)
        return copy
    }

    /// Moves the entries from an index on to a new node.
    func split(at index: Int) -> IndexNode {
        let right = IndexNode(owner: owner, isWide: isWide)
        right.append(self, index..<count)
        count = index
        if !cells.isEmpty {
            cells.removeSubrange(index...)
            counts.removeSubrange(index...)
        }
        compactHeap(reserving: 0)
        return right
    }

    /// Appends entries of another node to this node's own.
    func append(_ other: IndexNode, _ range: Range<Int>) {
        for index in range { insert(other.probe(index), at: count) }
        if !other.cells.isEmpty {
            cells += other.cells[range]
            counts += other.counts[range]
        }
    }

    private func shift(from index: Int, by distance: Int) {
        let moved = count - index
        if moved <= 0 { return }
        (words + index + distance).update(from: words + index, count: moved)
        let rows = words + Self.capacity
        (rows + index + distance).update(from: rows + index, count: moved)
        if isWide {
            let seconds = words + 2 * Self.capacity
            (seconds + index + distance).update(from: seconds + index, count: moved)
        }
        if let references { (references + index + distance).update(from: references + index, count: moved) }
    }

    private func setTail(_ tail: UnsafeRawBufferPointer, at index: Int) {
        guard let start = tail.baseAddress, !tail.isEmpty else {
            references?[index] = 0
            return
        }
        let references = self.references ?? makeReferences()
        references[index] = 0
        if heapCount + tail.count > heapCapacity { compactHeap(reserving: tail.count) }
        guard let heap else { return }
        (heap + heapCount).copyMemory(from: start, byteCount: tail.count)
        references[index] = UInt64(heapCount) << 32 | UInt64(tail.count)
        heapCount += tail.count
    }

    private func makeReferences() -> UnsafeMutablePointer<UInt64> {
        let made = UnsafeMutablePointer<UInt64>.allocate(capacity: Self.capacity)
        made.update(repeating: 0, count: Self.capacity)
        references = made
        return made
    }

    /// Drops what removed entries left in the heap, and makes room.
    private func compactHeap(reserving more: Int) {
        guard let references else { return }
        var live = 0
        for index in 0..<count { live += Int(references[index] & 0xFFFF_FFFF) }
        let capacity = max(256, live + live / 2 + more)
        let fresh = UnsafeMutableRawPointer.allocate(byteCount: capacity, alignment: 8)
        var end = 0
        for index in 0..<count {
            let tail = tail(index)
            guard let start = tail.baseAddress, !tail.isEmpty else { continue }
            (fresh + end).copyMemory(from: start, byteCount: tail.count)
            references[index] = UInt64(end) << 32 | UInt64(tail.count)
            end += tail.count
        }
        heap?.deallocate()
        heap = fresh
        heapCount = end
        heapCapacity = capacity
    }
}
