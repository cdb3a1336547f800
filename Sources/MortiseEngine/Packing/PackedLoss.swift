/// A part of a packed version that cannot be read.
public struct PackedLoss {
    /// What part of a table is lost.
    public enum Part: Hashable, Sendable {
        /// Rows whose records have numbers in this range.
        case rows(Range<UInt64>)
        /// Strings that many records of a slot share; they read as empty.
        case strings(slot: Int)
        /// Some of the links between records.
        case links
        /// Some entries of an index; no record is lost.
        case index
        /// All rows.
        case table
    }

    /// The name of the entity.
    public var entity: String
    /// What part of the table is lost.
    public var part: Part
    /// The error that users of the store see.
    public var error: any Error
}

/// Collects what cannot be read of a packed version.
final class PackedLosses {
    private let file: PackedFile
    private(set) var found: [PackedLoss] = []

    init(_ file: PackedFile) { self.file = file }

    func note(_ entity: String, _ part: PackedLoss.Part, _ error: any Error) {
        found.append(PackedLoss(entity: entity, part: part, error: file.explaining(error)))
    }
}
