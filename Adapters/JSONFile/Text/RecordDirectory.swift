/// Which records a document holds: the numbers of each entity's records, ascending.
struct RecordDirectory {
    /// Where a record stands.
    struct Place: Hashable {
        var entity: Int
        /// The record's position among those of its entity.
        var rank: Int
    }

    private(set) var sequences: [ContiguousArray<UInt64>]

    init(entityCount: Int) {
        sequences = Array(repeating: [], count: entityCount)
    }

    /// Adds a record, whose number is above those of its entity so far.
    @inline(__always) mutating func append(_ sequence: UInt64, to entity: Int) {
        sequences[entity].append(sequence)
    }

    func last(of entity: Int) -> UInt64? { sequences[entity].last }

    /// The place of a record, if it belongs to one of the entities.
    func place(of sequence: UInt64, among entities: [Int]) -> Place? {
        for entity in entities {
            if let rank = rank(of: sequence, in: sequences[entity]) { return Place(entity: entity, rank: rank) }
        }
        return nil
    }

    func place(of sequence: UInt64) -> Place? { place(of: sequence, among: Array(sequences.indices)) }

    private func rank(of sequence: UInt64, in column: ContiguousArray<UInt64>) -> Int? {
        guard let first = column.first, sequence >= first, let last = column.last, sequence <= last else { return nil }
        // Numbers given out without a break lie at their distance from the first; none lies further up than that.
        let distance = min(sequence &- first, UInt64(column.count &- 1))
        var upper = Int(truncatingIfNeeded: distance)
        if column[upper] == sequence { return upper }
        var lower = 0
        while lower < upper {
            let middle = lower &+ (upper &- lower) / 2
            if column[middle] < sequence { lower = middle &+ 1 } else { upper = middle }
        }
        return column[lower] == sequence ? lower : nil
    }

    /// A number that two entities have; numbers within one entity differ by construction.
    func firstDuplicate() -> UInt64? {
        let columns = sequences.filter { !$0.isEmpty }.sorted { $0[0] < $1[0] }
        let isApart = zip(columns, columns.dropFirst()).allSatisfy { lower, upper in lower[lower.count - 1] < upper[0] }
        if isApart { return nil }
        var all: ContiguousArray<UInt64> = []
        all.reserveCapacity(columns.reduce(0) { $0 + $1.count })
        for column in columns { all += column }
        all.sort()
        for index in all.indices.dropFirst() where all[index] == all[index - 1] { return all[index] }
        return nil
    }
}
