import MortiseCore

/// A run of rows that lie together. Shared between versions until a transaction writes to it: then the transaction has
/// a chunk of its own.
///
/// @unchecked Sendable: written only by the transaction that made it, before its version is published.
final class Chunk: @unchecked Sendable {
    static let capacity = 128

    /// The transaction that may write to this chunk.
    let owner: UInt64
    private(set) var sequences: ContiguousArray<UInt64>
    private(set) var liveCount: Int
    private var live: ContiguousArray<Bool>
    private var values: ContiguousArray<StoredValue>
    private let width: Int

    init(width: Int, owner: UInt64) {
        self.owner = owner
        self.width = width
        sequences = []
        live = []
        values = []
        liveCount = 0
        sequences.reserveCapacity(Self.capacity)
        live.reserveCapacity(Self.capacity)
        values.reserveCapacity(Self.capacity * width)
    }

    init(copying other: Chunk, owner: UInt64) {
        self.owner = owner
        self.width = other.width
        sequences = other.sequences
        live = other.live
        values = other.values
        liveCount = other.liveCount
    }

    var count: Int { sequences.count }
    func isLive(_ offset: Int) -> Bool { live[offset] }
    func value(_ offset: Int, _ slot: Int) -> StoredValue { values[offset * width + slot] }
    func row(_ offset: Int) -> ArraySlice<StoredValue> {
        ArraySlice(values[(offset * width)..<((offset + 1) * width)])
    }

    /// The offset of the row with that sequence number, dead or alive. Sequence numbers ascend.
    func offset(of sequence: UInt64) -> Int? {
        var low = 0
        var high = sequences.count
        while low < high {
            let middle = (low + high) / 2
            if sequences[middle] < sequence { low = middle + 1 } else { high = middle }
        }
        return low < sequences.count && sequences[low] == sequence ? low : nil
    }

    func append(_ sequence: UInt64, _ row: ContiguousArray<StoredValue>) {
        sequences.append(sequence)
        live.append(true)
        liveCount += 1
        values.append(contentsOf: row)
    }

    func set(_ value: StoredValue, _ offset: Int, _ slot: Int) { values[offset * width + slot] = value }

    /// Marks a row as deleted. Its values stay, for readers that hold this version's successor and a model of the row.
    func remove(_ offset: Int) {
        guard live[offset] else { return }
        live[offset] = false
        liveCount -= 1
    }
}
