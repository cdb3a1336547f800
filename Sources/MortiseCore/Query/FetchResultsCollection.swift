/// The results of a fetch, made in batches when they are first asked for.
///
/// The collection keeps the batch that was used last; others are made again when they are needed. Which records it holds
/// is fixed by the fetch; their values are the context's at the time of reading.
public struct FetchResultsCollection<Element>: RandomAccessCollection {
    public typealias Index = Int
    public typealias Indices = Range<Int>
    public typealias Iterator = IndexingIterator<FetchResultsCollection<Element>>
    public typealias SubSequence = Slice<FetchResultsCollection<Element>>

    private final class Batch {
        var range = 0..<0
        var elements: [Element] = []
    }

    public var startIndex: Int { 0 }
    public let endIndex: Int
    private let batchSize: Int
    private let make: (Range<Int>) -> [Element]
    private let batch = Batch()

    init(count: Int, batchSize: Int, make: @escaping (Range<Int>) -> [Element]) {
        self.endIndex = count
        self.batchSize = Swift.max(batchSize, 1)
        self.make = make
    }

    /// - Precondition: `position` is at least 0 and less than `endIndex`.
    public subscript(position: Int) -> Element {
        precondition(position >= 0 && position < endIndex, "Index \(position) is out of range 0..<\(endIndex).")
        if !batch.range.contains(position) {
            let start = position / batchSize * batchSize
            batch.range = start..<Swift.min(start + batchSize, endIndex)
            batch.elements = make(batch.range)
        }
        return batch.elements[position - batch.range.lowerBound]
    }
}
