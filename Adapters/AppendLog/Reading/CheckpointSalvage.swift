import MortiseCore
import MortiseEngine

/// What can be read of a checkpoint, and what follows it in the log.
struct CheckpointSalvage {
    /// Nil once they were taken.
    private(set) var tables: ReplayTables?
    /// Everything that cannot be read, as users get to see it.
    private(set) var problems: [any Error] = []
    /// By entity, the numbers of records that may have been there and are not.
    private var lost: [String: [Range<UInt64>]] = [:]
    /// The last one whose changes it has.
    let transaction: UInt64
    /// The number of the log's next frame; nil if the checkpoint belongs to another log of the store.
    private let sequence: UInt64?

    /// A checkpoint that can be read whole.
    init(_ content: CheckpointContent, _ tables: ReplayTables) {
        self.tables = tables
        transaction = content.version.number
        sequence = content.position.sequence
    }

    init(_ version: EngineVersion, _ losses: [PackedLoss], sequence: UInt64?) {
        tables = try? ReplayTables(version, leniently: true)
        transaction = version.number
        self.sequence = sequence
        for loss in losses {
            problems.append(loss.error)
            switch loss.part {
            case .rows(let numbers): lost[loss.entity, default: []].append(numbers)
            case .table: lost[loss.entity] = [0..<EngineVersion.numberLimit]
            case .strings(let slot): tables?.forgetEmptyStrings(ofEntity: loss.entity, slot: slot)
            case .links, .index: break
            }
        }
        if let damage = version.damage { problems.append(damage) }
    }

    mutating func takeTables() -> ReplayTables? { tables.take() }

    /// Whether a frame comes after what the checkpoint has.
    func isFollowed(by frame: ScannedFrame) -> Bool {
        if let sequence { return frame.position.sequence >= sequence }
        // Transactions are numbered in all logs of a store alike.
        return frame.header.kind.isTransaction
            ? frame.header.transaction > transaction : frame.header.transaction >= transaction
    }

    /// Whether a position lies after the one at which the log continues.
    func isBefore(_ place: LogPosition) -> Bool {
        if let sequence { return place.sequence > sequence }
        return place.transaction > transaction
    }

    /// Where the log continues after it, if that is not after another position.
    func start(before next: LogPosition) -> LogPosition? {
        guard let sequence, sequence <= next.sequence, transaction <= next.transaction else { return nil }
        return LogPosition(end: 0, sequence: sequence, transaction: transaction)
    }

    /// Whether a record may have been among what cannot be read.
    func mayHaveHad(_ entity: String, _ sequence: UInt64) -> Bool {
        lost[entity]?.contains { $0.contains(sequence) } ?? false
    }
}
