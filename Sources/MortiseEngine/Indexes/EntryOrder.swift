/// Sorts entries by key, and those with equal keys by row, in which order they have to come.
///
/// Most of a key's bits are the same in all entries: only those that differ are looked at, eleven at a time, and as many of
/// them as tell most entries apart. What is left in one lot is sorted again among itself.
///
/// Measured against `sort(by:)` of the same entries: 2 times as fast with 1,000, 7 times with 100,000.
struct EntryOrder {
    struct Place {
        var key: UInt64
        /// The entry's place as it came.
        var place: UInt32
    }

    private let entries: UnsafeBufferPointer<SortedEntries.Entry>
    /// Whether entries whose heads are equal may still have to change places.
    private let comparesEqual: Bool
    private let tail: (Int) -> UnsafeRawBufferPointer

    init(
        _ entries: UnsafeBufferPointer<SortedEntries.Entry>, comparesEqual: Bool,
        tail: @escaping (Int) -> UnsafeRawBufferPointer
    ) {
        self.entries = entries
        self.comparesEqual = comparesEqual
        self.tail = tail
    }

    /// Fewer are compared with each other.
    private static let least = 256
    private static let digit = 11

    func sorted() -> ContiguousArray<Place> {
        var places = ContiguousArray(entries.indices.lazy.map { Place(key: 0, place: UInt32(truncatingIfNeeded: $0)) })
        var other = places
        var counts = ContiguousArray(repeating: 0, count: 1 << Self.digit)
        places.withUnsafeMutableBufferPointer { places in
            other.withUnsafeMutableBufferPointer { other in
                counts.withUnsafeMutableBufferPointer { counts in
                    sort(places, UnsafeMutableBufferPointer(rebasing: other[...]), counts)
                }
            }
        }
        return places
    }

    private func sort(
        _ places: UnsafeMutableBufferPointer<Place>, _ other: UnsafeMutableBufferPointer<Place>,
        _ counts: UnsafeMutableBufferPointer<Int>
    ) {
        if places.count < Self.least { return compare(places) }
        let first = entries[Int(places[0].place)]
        var heads: UInt64 = 0
        var seconds: UInt64 = 0
        for place in places {
            let entry = entries[Int(place.place)]
            heads |= entry.head ^ first.head
            seconds |= entry.second ^ first.second
        }
        let bits = heads.nonzeroBitCount + seconds.nonzeroBitCount
        if bits == 0 {
            if comparesEqual { compare(places) }
            return
        }
        // Three bits more than the entries' number has leave few of them together.
        let enough = (Int.bitWidth - places.count.leadingZeroBitCount + 3 + Self.digit - 1) / Self.digit * Self.digit
        let width = min(bits, bits <= 3 * Self.digit ? bits : enough, 63)
        let parts = DifferingBits(heads, seconds, upTo: width)
        for index in places.indices {
            let entry = entries[Int(places[index].place)]
            places[index].key = parts.key(entry.head, entry.second)
        }
        distribute(places, other, counts, width)
        if width == bits, !comparesEqual { return }
        var start = 0
        while start < places.count {
            var end = start + 1
            while end < places.count, places[end].key == places[start].key { end += 1 }
            if end - start > 1 {
                sort(
                    UnsafeMutableBufferPointer(rebasing: places[start..<end]),
                    UnsafeMutableBufferPointer(rebasing: other[start..<end]), counts)
            }
            start = end
        }
    }

    /// Sorts by the lowest bits of the places' keys; those that are equal stay in their order.
    private func distribute(
        _ places: UnsafeMutableBufferPointer<Place>, _ other: UnsafeMutableBufferPointer<Place>,
        _ counts: UnsafeMutableBufferPointer<Int>, _ width: Int
    ) {
        var (from, to) = (places, other)
        for shift in stride(from: 0, to: width, by: Self.digit) {
            let mask = UInt64(counts.count - 1)
            counts.update(repeating: 0)
            for place in from { counts[Int(place.key >> UInt64(shift) & mask)] += 1 }
            var start = 0
            for index in counts.indices { (counts[index], start) = (start, start + counts[index]) }
            for place in from {
                let digit = Int(place.key >> UInt64(shift) & mask)
                to[counts[digit]] = place
                counts[digit] += 1
            }
            swap(&from, &to)
        }
        if from.baseAddress != places.baseAddress { _ = places.update(fromContentsOf: from) }
    }

    private func compare(_ places: UnsafeMutableBufferPointer<Place>) {
        if places.count > 24 {
            var places = places
            places.sort { precedes($0.place, $1.place) }
            return
        }
        for index in places.indices.dropFirst() {
            let moved = places[index]
            var gap = index
            while gap > 0, precedes(moved.place, places[gap - 1].place) {
                places[gap] = places[gap - 1]
                gap -= 1
            }
            places[gap] = moved
        }
    }

    private func precedes(_ a: UInt32, _ b: UInt32) -> Bool {
        let (x, y) = (entries[Int(a)], entries[Int(b)])
        if x.head != y.head { return x.head < y.head }
        if x.second != y.second { return x.second < y.second }
        if x.tail != y.tail {
            let order = IndexNode.order(tail(x.tail), tail(y.tail))
            if order != 0 { return order < 0 }
        }
        return x.row < y.row
    }
}

/// The highest bits in which the keys of many entries differ, put side by side.
private struct DifferingBits {
    private struct Part {
        let isSecond: Bool
        let shift: UInt64
        let mask: UInt64
        let width: UInt64
    }
    private var parts: [Part] = []

    init(_ heads: UInt64, _ seconds: UInt64, upTo width: Int) {
        var left = width
        for (isSecond, word) in [(false, heads), (true, seconds)] {
            var word = word
            while word != 0, left > 0 {
                let top = word.leadingZeroBitCount
                let length = (~(word << UInt64(top))).leadingZeroBitCount
                let taken = min(length, left)
                parts.append(
                    Part(
                        isSecond: isSecond, shift: UInt64(64 - top - taken),
                        mask: taken == 64 ? .max : 1 << UInt64(taken) - 1, width: UInt64(taken)))
                left -= taken
                word &= top + length == 64 ? 0 : UInt64.max >> UInt64(top + length)
            }
        }
    }

    @inline(__always)
    func key(_ head: UInt64, _ second: UInt64) -> UInt64 {
        var key: UInt64 = 0
        for part in parts { key = key << part.width | ((part.isSecond ? second : head) >> part.shift & part.mask) }
        return key
    }
}
