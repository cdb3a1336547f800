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

    var isEmpty: Bool { entries.isEmpty }

    func index(owner: UInt64) -> OrderedIndex {
        var builder = OrderedIndexBuilder(isWide: isWide, owner: owner)
        forEachSorted { builder.append($0) }
        return builder.finish()
    }

    /// Puts the entries into an index, which has none of them yet.
    func insert(into index: inout OrderedIndex, owner: UInt64) {
        if index.count == 0 {
            index = self.index(owner: owner)
        } else {
            forEachSorted { index.insert($0, owner: owner) }
        }
    }

    private func forEachSorted(_ body: (IndexProbe) -> Void) {
        let order = sortedByHead()
        tails.withUnsafeBytes { tails in
            func tail(_ entry: Entry) -> UnsafeRawBufferPointer {
                UnsafeRawBufferPointer(rebasing: tails[entry.tail..<(entry.tail + entry.tailCount)])
            }
            func precedes(_ a: Place, _ b: Place) -> Bool {
                let (a, b) = (entries[a.place], entries[b.place])
                if a.second != b.second { return a.second < b.second }
                if a.tailCount + b.tailCount > 0, !tail(a).elementsEqual(tail(b)) {
                    return tail(a).lexicographicallyPrecedes(tail(b))
                }
                return a.row < b.row
            }
            func emit(_ place: Int) {
                let entry = entries[place]
                body(IndexProbe(head: entry.head, second: entry.second, tail: tail(entry), row: entry.row))
            }
            var first = 0
            while first < order.count {
                var end = first + 1
                while end < order.count, order[end].head == order[first].head { end += 1 }
                if end - first == 1 {
                    emit(order[first].place)
                } else {
                    for place in order[first..<end].sorted(by: precedes) { emit(place.place) }
                }
                first = end
            }
        }
    }

    private struct Place {
        let head: UInt64
        let place: Int
    }

    /// Eleven bits at a time, leaving out those in which all heads agree.
    private func sortedByHead() -> [Place] {
        var sorted = entries.indices.map { Place(head: entries[$0].head, place: $0) }
        guard let least = sorted.first?.head else { return [] }
        if sorted.count < 256 { return sorted.sorted { $0.head < $1.head } }
        var differing: UInt64 = 0
        for place in sorted { differing |= place.head ^ least }
        var other = sorted
        var counts = [Int](repeating: 0, count: 2048)
        for shift in stride(from: UInt64(0), to: 64, by: 11) where differing >> shift & 2047 != 0 {
            for index in counts.indices { counts[index] = 0 }
            for place in sorted { counts[Int(place.head >> shift & 2047)] += 1 }
            var start = 0
            for index in counts.indices { (counts[index], start) = (start, start + counts[index]) }
            for place in sorted {
                let digit = Int(place.head >> shift & 2047)
                other[counts[digit]] = place
                counts[digit] += 1
            }
            swap(&sorted, &other)
        }
        return sorted
    }
}
