/// Which records a document holds: the numbers of each entity's records, ascending.
struct RecordDirectory {
    /// The position of a record.
    struct Place: Hashable {
        var entity: Int
        /// The record's position among those of its entity.
        var rank: Int
    }

    private(set) var sequences: [ContiguousArray<UInt64>]
    /// All numbers in order, each with its entity, once `mergeAll` has been called.
    private var merged: ContiguousArray<(sequence: UInt64, entity: UInt32)> = []

    init(entityCount: Int) {
        sequences = Array(repeating: [], count: entityCount)
    }

    /// Adds a record, whose number is above those of its entity so far.
    @inline(__always) mutating func append(_ sequence: UInt64, to entity: Int) {
        sequences[entity].append(sequence)
    }

    func last(of entity: Int) -> UInt64? { sequences[entity].last }

    /// Makes look-ups among many entities as fast as those in one, when all records have been added.
    mutating func mergeAll() {
        merged.removeAll()
        merged.reserveCapacity(sequences.reduce(0) { $0 + $1.count })
        for (entity, column) in sequences.enumerated() {
            for sequence in column { merged.append((sequence, UInt32(truncatingIfNeeded: entity))) }
        }
        merged.sort { $0.sequence < $1.sequence }
    }

    /// The place of a record of the entity, or of one that inherits from it.
    func place(of sequence: UInt64, under entity: Int, in plan: DocumentPlan) -> Place? {
        if plan.entities[entity].members.count == 1 {
            return rank(of: sequence, in: sequences[entity]).map { Place(entity: entity, rank: $0) }
        }
        guard let found = holder(of: sequence), plan.isEntity(found, under: entity) else { return nil }
        return rank(of: sequence, in: sequences[found]).map { Place(entity: found, rank: $0) }
    }

    /// The entity that a record belongs to.
    func holder(of sequence: UInt64) -> Int? {
        guard !merged.isEmpty else { return sequences.firstIndex { rank(of: sequence, in: $0) != nil } }
        var lower = 0
        var upper = merged.count
        while lower < upper {
            let middle = lower &+ (upper &- lower) / 2
            if merged[middle].sequence < sequence { lower = middle &+ 1 } else { upper = middle }
        }
        guard lower < merged.count, merged[lower].sequence == sequence else { return nil }
        return Int(merged[lower].entity)
    }

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
