public import MortiseCore
import Synchronization

/// The rows of one entity in one version of an engine. Immutable.
///
/// @unchecked Sendable: nothing changes after initialisation but the verification mark, which has a lock.
public final class TableVersion: RowSource, @unchecked Sendable {
    public let layout: RecordLayout
    let storeIdentifier: String
    let chunks: ContiguousArray<Chunk>
    private let liveCount: Int
    let origin: Origin

    /// Where a table's rows came from: shared by all versions that follow from one reading of a file.
    final class Origin: Sendable {
        let isOutside: Bool
        private let verified = Mutex<Set<ObjectIdentifier>>([])
        init(isOutside: Bool) { self.isOutside = isOutside }
        func isVerified(for layout: ModelLayout) -> Bool {
            !isOutside || verified.withLock { $0.contains(ObjectIdentifier(layout)) }
        }
        func noteVerified(for layout: ModelLayout) {
            verified.withLock { _ = $0.insert(ObjectIdentifier(layout)) }
        }
    }

    init(
        layout: RecordLayout, storeIdentifier: String, chunks: ContiguousArray<Chunk>, count: Int, origin: Origin
    ) {
        self.layout = layout
        self.storeIdentifier = storeIdentifier
        self.chunks = chunks
        self.liveCount = count
        self.origin = origin
    }

    public override var endRow: Int {
        guard let last = chunks.last else { return 0 }
        return (chunks.count - 1) * Chunk.capacity + last.count
    }
    public override var count: Int { liveCount }

    public override func contains(row: Int) -> Bool {
        guard row >= 0, row / Chunk.capacity < chunks.count else { return false }
        let chunk = chunks[row / Chunk.capacity]
        let offset = row % Chunk.capacity
        return offset < chunk.count && chunk.isLive(offset)
    }

    public override func identifier(ofRow row: Int) -> PersistentIdentifier {
        .numbered(sequence(ofRow: row), storeIdentifier: storeIdentifier, entityName: layout.entityName)
    }

    /// The number under which the store knows a row.
    public func sequence(ofRow row: Int) -> UInt64 {
        chunks[row / Chunk.capacity].sequences[row % Chunk.capacity]
    }

    public override func row(of identifier: PersistentIdentifier) -> Int? {
        guard let sequence = identifier.sequenceNumber, identifier.storeIdentifier == storeIdentifier,
            identifier.entityName == layout.entityName
        else { return nil }
        return row(ofSequence: sequence)
    }

    /// The row with that number, if it is there.
    public func row(ofSequence sequence: UInt64) -> Int? {
        guard let place = Self.place(of: sequence, in: chunks), contains(row: place) else { return nil }
        return place
    }

    static func place(of sequence: UInt64, in chunks: ContiguousArray<Chunk>) -> Int? {
        var low = 0
        var high = chunks.count
        while low < high {
            let middle = (low + high) / 2
            if (chunks[middle].sequences.first ?? .max) <= sequence { low = middle + 1 } else { high = middle }
        }
        guard low > 0, let offset = chunks[low - 1].offset(of: sequence) else { return nil }
        return (low - 1) * Chunk.capacity + offset
    }

    public override func value(row: Int, slot: Int) -> StoredValue {
        guard slot < layout.slots.count else { return .null }
        return chunks[row / Chunk.capacity].value(row % Chunk.capacity, slot)
    }

    public override func needsVerification(for layout: ModelLayout) -> Bool { !origin.isVerified(for: layout) }
    public override func noteVerified(for layout: ModelLayout) { origin.noteVerified(for: layout) }
}
