/// The first `limit` elements of a stream in any order: a heap of the best so far, with the last of them at the top. Memory
/// does not grow with the length of the stream.
package struct BoundedHeap<Element> {
    @usableFromInline var heap: [Element] = []
    @usableFromInline let limit: Int

    @inlinable
    package init(_ limit: Int) {
        self.limit = limit
        heap.reserveCapacity(min(limit, 1 << 16))
    }

    /// The last of the kept elements; nil while there are fewer than `limit`. An element that does not precede it is not
    /// among the first.
    @inlinable package var last: Element? { heap.count == limit ? heap.first : nil }

    /// Takes an element in if it is among the first.
    @inlinable
    package mutating func add(_ element: Element, by precedes: (Element, Element) throws -> Bool) rethrows {
        if heap.count < limit {
            heap.append(element)
            var place = heap.count - 1
            while place > 0 {
                let parent = (place - 1) / 2
                if try !precedes(heap[parent], heap[place]) { return }
                heap.swapAt(parent, place)
                place = parent
            }
        } else if limit > 0, try precedes(element, heap[0]) {
            heap[0] = element
            var place = 0
            while true {
                var last = place
                for child in [2 * place + 1, 2 * place + 2] where child < heap.count {
                    if try precedes(heap[last], heap[child]) { last = child }
                }
                if last == place { return }
                heap.swapAt(last, place)
                place = last
            }
        }
    }

    /// The first ones, in order.
    @inlinable
    package func sorted(by precedes: (Element, Element) throws -> Bool) rethrows -> [Element] {
        try heap.sorted(by: precedes)
    }
}
