/// The results of a fetch, created in batches when they are accessed.
///
/// The collection keeps the batch that was used last and creates others again when they are needed. The fetch fixes the
/// records; their values are those of the context at the time of reading.
public struct FetchResultsCollection<Element>: RandomAccessCollection {
    /// Positions count from 0.
    public typealias Index = Int
    /// All positions.
    public typealias Indices = Range<Int>
    /// Iterates over the models in order.
    public typealias Iterator = IndexingIterator<FetchResultsCollection<Element>>
    /// A slice that shares the collection's models.
    public typealias SubSequence = Slice<FetchResultsCollection<Element>>

    private final class Batch {
        var range = 0..<0
        var elements: [Element] = []
    }

    /// Always 0.
    public var startIndex: Int { 0 }
    /// The number of models, or of identifiers.
    public let endIndex: Int
    private let batchSize: Int
    private let make: (Range<Int>) -> [Element]
    private let batch = Batch()

    init(count: Int, batchSize: Int, make: @escaping (Range<Int>) -> [Element]) {
        self.endIndex = count
        self.batchSize = Swift.max(batchSize, 1)
        self.make = make
    }

    /// The element at a position.
    /// - Precondition: `position` is at least 0 and less than `endIndex`.
    public subscript(position: Int) -> Element {
        precondition(position >= 0 && position < endIndex, "Index \(position) is out of range 0..<\(endIndex).")
        if batch.range.contains(position) { return batch.elements[position - batch.range.lowerBound] }
        let start = position / batchSize * batchSize
        let range = start..<Swift.min(start + batchSize, endIndex)
        // Observers of what is read may access other batches meanwhile.
        let elements = make(range)
        batch.range = range
        batch.elements = elements
        return elements[position - start]
    }
}
