/// Entries for an index that is built at once.
struct SortedEntries {
    private struct Entry {
        let head: UInt64
        let second: UInt64
        let row: UInt64
        let tail: Int
        let tailCount: Int
    }
    private let isWide: Bool
    private var entries: [Entry] = []
    private var tails: [UInt8] = []

    init(isWide: Bool) { self.isWide = isWide }

    mutating func append(_ key: UnsafeRawBufferPointer, row: UInt64) {
        let probe = IndexProbe(key, row: row, isWide: isWide)
        entries.append(
            Entry(
                head: probe.head, second: probe.second, row: row, tail: tails.count, tailCount: probe.tail.count))
        if !probe.tail.isEmpty { tails.append(contentsOf: probe.tail) }
    }

    func index(owner: UInt64) -> OrderedIndex {
        var builder = OrderedIndexBuilder(isWide: isWide, owner: owner)
        tails.withUnsafeBytes { tails in
            func tail(_ entry: Entry) -> UnsafeRawBufferPointer {
                UnsafeRawBufferPointer(rebasing: tails[entry.tail..<(entry.tail + entry.tailCount)])
            }
            let sorted = entries.sorted { a, b in
                if a.head != b.head { return a.head < b.head }
                if a.second != b.second { return a.second < b.second }
                if a.tailCount + b.tailCount > 0, !tail(a).elementsEqual(tail(b)) {
                    return tail(a).lexicographicallyPrecedes(tail(b))
                }
                return a.row < b.row
            }
            for entry in sorted {
                builder.append(IndexProbe(head: entry.head, second: entry.second, tail: tail(entry), row: entry.row))
            }
        }
        return builder.finish()
    }
}
