import MortiseCore

/// A table under construction: shares the chunks of the version it started from until it writes to them.
final class TableWriter {
    let layout: RecordLayout
    private let storeIdentifier: String
    private let owner: UInt64
    private var chunks: ContiguousArray<Chunk>
    private var count: Int
    private let origin: TableVersion.Origin

    init(_ base: TableVersion, owner: UInt64) {
        layout = base.layout
        storeIdentifier = base.storeIdentifier
        self.owner = owner
        chunks = base.chunks
        count = base.count
        origin = base.origin
    }

    init(layout: RecordLayout, storeIdentifier: String, owner: UInt64, isOutside: Bool) {
        self.layout = layout
        self.storeIdentifier = storeIdentifier
        self.owner = owner
        chunks = []
        count = 0
        origin = TableVersion.Origin(isOutside: isOutside)
    }

    /// The row with that number if it is there.
    func row(_ sequence: UInt64) -> Int? {
        guard let row = TableVersion.place(of: sequence, in: chunks),
            chunks[row / Chunk.capacity].isLive(row % Chunk.capacity)
        else { return nil }
        return row
    }

    func value(_ row: Int, _ slot: Int) -> StoredValue {
        chunks[row / Chunk.capacity].value(row % Chunk.capacity, slot)
    }

    private func writable(_ index: Int) -> Chunk {
        if chunks[index].owner == owner { return chunks[index] }
        let copy = Chunk(copying: chunks[index], owner: owner)
        chunks[index] = copy
        return copy
    }

    func set(_ value: StoredValue, _ row: Int, _ slot: Int) {
        writable(row / Chunk.capacity).set(value, row % Chunk.capacity, slot)
    }

    /// Adds a row. Sequence numbers ascend.
    func append(_ sequence: UInt64, _ values: ContiguousArray<StoredValue>) {
        if chunks.last.map({ $0.count == Chunk.capacity }) ?? true {
            chunks.append(Chunk(width: layout.slots.count, owner: owner))
        }
        writable(chunks.count - 1).append(sequence, values)
        count += 1
    }

    func remove(_ row: Int) {
        writable(row / Chunk.capacity).remove(row % Chunk.capacity)
        count -= 1
    }

    /// The rows that are there, with their numbers.
    func forEachRow(_ body: (_ row: Int, _ sequence: UInt64) throws -> Void) rethrows {
        for (index, chunk) in chunks.enumerated() {
            for offset in 0..<chunk.count where chunk.isLive(offset) {
                try body(index * Chunk.capacity + offset, chunk.sequences[offset])
            }
        }
    }

    func finished() -> TableVersion {
        TableVersion(layout: layout, storeIdentifier: storeIdentifier, chunks: chunks, count: count, origin: origin)
    }
}
