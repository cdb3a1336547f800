/// The first `limit` elements of a stream in any order. Memory does not grow with the length of the stream: it holds twice the
/// limit at most, or 256 elements more than the limit.
package struct FirstFew<Element> {
    @usableFromInline var kept: [Element] = []
    @usableFromInline let limit: Int
    /// An element that does not precede it is not among the first; nil until the first cut.
    @usableFromInline package var last: Element?

    @inlinable
    package init(_ limit: Int) {
        // A window that somebody has made up may be negative.
        self.limit = max(0, limit)
        kept.reserveCapacity(min(self.limit, 1 << 16))
    }

    /// Takes an element in if it may be among the first.
    @inlinable
    package mutating func add(_ element: Element, by precedes: (Element, Element) throws -> Bool) rethrows {
        if limit == 0 { return }
        if let last, try !precedes(element, last) { return }
        kept.append(element)
        // Sorting as many again as are wanted costs each of them a few comparisons.
        if kept.count - limit < max(limit, 256) { return }
        try kept.sort(by: precedes)
        kept.removeLast(kept.count - limit)
        last = kept.last
    }

    /// The first ones, in order.
    @inlinable
    package func sorted(by precedes: (Element, Element) throws -> Bool) rethrows -> [Element] {
        Array(try kept.sorted(by: precedes).prefix(limit))
    }
}
