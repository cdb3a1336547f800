/// Entries that are put into an index together: sorted first, since neighbor after neighbor costs a fraction of putting
/// them in as they come.
struct SortedEntries {
    struct Entry {
        let head: UInt64
        let second: UInt64
        /// With the mark of an exempt entry.
        let row: UInt64
        /// The number of what of the key does not fit the heads; negative where it does.
        let tail: Int
    }

    let isWide: Bool
    private var entries: ContiguousArray<Entry> = []
    private var tails: [UInt8] = []
    private var tailEnds: [Int] = []
    /// The entries' places in their order, once they are sorted.
    private var order: ContiguousArray<EntryOrder.Place> = []
    /// Whether entries with equal keys come in the order of their rows already.
    private var isByRow = true
    private var lastRow: UInt64 = 0

    private static let exempt: UInt64 = 1 << 63

    init(isWide: Bool) { self.isWide = isWide }

    var isEmpty: Bool { entries.isEmpty }

    /// Makes room for more entries; for a few at a time, too, without moving all that there are each time.
    mutating func reserve(_ count: Int) {
        let wanted = entries.count + count
        if entries.capacity < wanted { entries.reserveCapacity(max(wanted, entries.capacity * 2)) }
    }

    /// Adds an entry that is not yet in the index. `isExempt` exempts its key from uniqueness.
    mutating func append(_ key: UnsafeRawBufferPointer, row: UInt64, isExempt: Bool = false) {
        let probe = IndexProbe(key, row: row, isWide: isWide)
        append(head: probe.head, second: probe.second, tail: keep(probe.tail), row: row, isExempt: isExempt)
    }

    @inline(__always)
    mutating func append(head: UInt64, second: UInt64, tail: Int = -1, row: UInt64, isExempt: Bool = false) {
        if row < lastRow { isByRow = false }
        lastRow = row
        entries.append(Entry(head: head, second: second, row: isExempt ? row | Self.exempt : row, tail: tail))
    }

    /// The number of a tail, for entries that have it.
    mutating func keep(_ tail: UnsafeRawBufferPointer) -> Int {
        if tail.isEmpty { return -1 }
        tails.append(contentsOf: tail)
        tailEnds.append(tails.count)
        return tailEnds.count - 1
    }

    // MARK: In order

    mutating func sort() {
        if order.count == entries.count { return }
        let (ends, comparesEqual) = (tailEnds, !tailEnds.isEmpty || !isByRow)
        order = tails.withUnsafeBytes { tails in
            entries.withUnsafeBufferPointer { entries in
                EntryOrder(entries, comparesEqual: comparesEqual) { Self.tail($0, tails, ends) }.sorted()
            }
        }
    }

    private static func tail(_ number: Int, _ tails: UnsafeRawBufferPointer, _ ends: [Int]) -> UnsafeRawBufferPointer {
        if number < 0 { return UnsafeRawBufferPointer(start: nil, count: 0) }
        return UnsafeRawBufferPointer(rebasing: tails[(number == 0 ? 0 : ends[number - 1])..<ends[number]])
    }

    /// Calls the body with the entries in their order, after `sort()`.
    func forEach(_ body: (_ probe: IndexProbe, _ isExempt: Bool) throws -> Void) rethrows {
        try tails.withUnsafeBytes { tails in
            try entries.withUnsafeBufferPointer { entries in
                for place in order {
                    let entry = entries[Int(place.place)]
                    try body(
                        IndexProbe(
                            head: entry.head, second: entry.second, tail: Self.tail(entry.tail, tails, tailEnds),
                            row: entry.row & ~Self.exempt), entry.row & Self.exempt != 0)
                }
            }
        }
    }

    /// Calls the body with the rows of each two entries that have the same key, after `sort()`; exempt ones aside.
    func forEachDuplicate(_ body: (_ first: UInt64, _ second: UInt64) throws -> Void) rethrows {
        var last: IndexProbe?
        try forEach { probe, isExempt in
            if let last, !isExempt, last.head == probe.head, last.second == probe.second,
                last.tail.elementsEqual(probe.tail)
            {
                try body(last.row, probe.row)
            }
            last = isExempt ? nil : probe
        }
    }

    mutating func index(owner: UInt64) -> OrderedIndex {
        sort()
        var builder = OrderedIndexBuilder(isWide: isWide, owner: owner)
        forEach { probe, _ in builder.append(probe) }
        return builder.finish()
    }

    /// Puts the entries into an index, which has none of them yet.
    mutating func insert(into index: inout OrderedIndex, owner: UInt64) {
        if index.isEmpty {
            index = self.index(owner: owner)
        } else {
            sort()
            forEach { probe, _ in index.insert(probe, owner: owner) }
        }
    }
}
