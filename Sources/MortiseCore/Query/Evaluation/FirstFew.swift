/// The first `limit` elements of a stream in any order. Memory does not grow with the length of the stream: it holds twice the
/// limit at most.
package struct FirstFew<Element> {
    /// Up to this many are kept in order, so that `last` tells as early as possible what need not be looked at. More are put in
    /// order when there are twice as many: moving them for each one that comes would take too long.
    @usableFromInline static var orderedLimit: Int { 64 }
    @usableFromInline var kept: [Element] = []
    @usableFromInline let limit: Int
    /// An element that does not precede it is not among the first; nil while too few are known.
    @usableFromInline package var last: Element?

    @inlinable
    package init(_ limit: Int) {
        self.limit = max(0, limit)
        kept.reserveCapacity(min(self.limit, 1 << 16))
    }

    /// Takes an element in if it may be among the first.
    @inlinable
    package mutating func add(_ element: Element, by precedes: (Element, Element) throws -> Bool) rethrows {
        if limit == 0 { return }
        if let last, try !precedes(element, last) { return }
        if limit <= Self.orderedLimit {
            try insert(element, by: precedes)
        } else {
            kept.append(element)
            // Sorting as many again as are wanted costs each of them a few comparisons.
            if kept.count < 2 * limit { return }
            try kept.sort(by: precedes)
            kept.removeLast(kept.count - limit)
            last = kept.last
        }
    }

    /// Puts an element in its place, after those that it does not precede.
    @inlinable
    mutating func insert(_ element: Element, by precedes: (Element, Element) throws -> Bool) rethrows {
        var (low, high) = (0, kept.count)
        while low < high {
            let middle = (low + high) / 2
            if try precedes(element, kept[middle]) { high = middle } else { low = middle + 1 }
        }
        if kept.count == limit { kept.removeLast() }
        kept.insert(element, at: low)
        if kept.count == limit { last = kept.last }
    }

    /// The first ones, in order.
    @inlinable
    package func sorted(by precedes: (Element, Element) throws -> Bool) rethrows -> [Element] {
        Array(try kept.sorted(by: precedes).prefix(limit))
    }
}
