public import MortiseCore
public import MortiseEngine

/// What is wrong with a file of an append-log store, and where. The file is as it was.
public struct AppendLogError: Error, Hashable, Sendable {
    /// The file.
    public let path: String
    public let fault: LogFault

    public init(path: String, fault: LogFault) {
        self.path = path
        self.fault = fault
    }

    static func naming<R>(_ path: String, _ body: () throws -> R) throws -> R {
        do {
            return try body()
        } catch let fault as LogFault {
            throw AppendLogError(path: path, fault: fault)
        }
    }
}

/// A fault of a log or a checkpoint.
public enum LogFault: Error, Hashable, Sendable {
    case empty
    /// The file ends within its header.
    case tooShort(bytes: Int)
    case notALog
    /// A log where a checkpoint is expected, or the other way round.
    case wrongKindOfFile
    case unsupportedVersion(UInt16)
    /// The header's checksum is wrong.
    case damagedHeader
    /// What stands at the offset was a valid frame once and is not any more. Frames from that number on cannot be read.
    case damagedFrame(offset: Int64, sequence: UInt64, reason: String)
    /// What stands at the offset of a checkpoint is not what was written there.
    case damagedRegion(offset: Int64, what: String)
    /// A frame of a kind that may not be skipped and is not known.
    case unknownKind(offset: Int64, kind: UInt8)
    /// A frame with flags that are not known, so that nobody knows what else it asks for.
    case unknownFlags(offset: Int64, flags: UInt8)
    /// The disk does not give what stands there; where an offset is known, it is from there on.
    case unreadable(offset: Int64?, error: FileError)
    /// The checksum is right and the content is not: another program wrote it.
    case malformed(offset: Int64, what: String)
    /// A frame stands where another should.
    case outOfOrder(offset: Int64, expected: UInt64, found: UInt64)
    /// The log begins behind this transaction, and there is no checkpoint of it.
    case checkpointMissing(transaction: UInt64)
    /// There is a checkpoint and no log.
    case logMissing
    /// The checkpoint belongs to another store or another log.
    case checkpointOfAnother
    /// The log ends before the place that its checkpoint names.
    case logShorterThanCheckpoint(offset: Int64, size: Int64)
    /// So many transactions cannot be read, because the schema that they were written under is damaged.
    case schemaMissing(transactions: Int)
    /// A schema of more entities, or of more properties in all, than the format allows.
    case schemaTooLarge(entities: Int, properties: Int)
    /// A value that the format cannot keep bit for bit.
    case unwritableValue(entity: String, property: String)
    /// Data that are in a file of their own cannot be read.
    case damagedValue(entity: String, property: String, record: UInt64, reason: ExternalValueError.Reason)
    /// The file was written while it was read, again and again.
    case unstable
}

extension AppendLogError: CustomStringConvertible, SwiftDataErrorConvertible {
    public var description: String { "\(path): \(fault)" }
    public var swiftDataError: SwiftDataError { .loadIssueModelContainer }
}

extension LogFault: CustomStringConvertible {
    public var description: String {
        switch self {
        case .empty: "The file is empty, and a log never is. Remove it to start anew, or restore a backup."
        case .tooShort(let bytes): "The file ends after \(bytes) bytes, within its header. Restore a backup."
        case .notALog: "The file is no append log. Give the path of one, or of no file."
        case .wrongKindOfFile: "The file is the other of log and checkpoint. Put each in its place."
        case .unsupportedVersion(let version):
            "The file has format version \(version), which this library does not know. Update the library."
        case .damagedHeader: "The file's header is damaged. Salvage the store, or restore a backup."
        case .damagedFrame(let offset, let sequence, let reason):
            "At offset \(offset) frame \(sequence) is damaged: \(reason). Salvage the store, or restore a backup."
        case .damagedRegion(let offset, let what):
            "At offset \(offset) the checkpoint \(what). Salvage the store, or restore a backup."
        case .unknownKind(let offset, let kind):
            "At offset \(offset) stands a frame of kind \(kind), which this library does not know. Update the library."
        case .unknownFlags(let offset, let flags):
            "At offset \(offset) stands a frame with flags \(flags), which this library does not know. Update the library."
        case .unreadable(let offset, let error):
            (offset.map { "From offset \($0) on: " } ?? "") + "\(error) Salvage the store, or restore a backup."
        case .malformed(let offset, let what): "At offset \(offset) the content of a frame \(what)."
        case .outOfOrder(let offset, let expected, let found):
            "At offset \(offset) stands number \(found) where \(expected) should. Salvage the store, or restore a backup."
        case .checkpointMissing(let transaction):
            "The log begins after transaction \(transaction), and its checkpoint is not there. Restore the file."
        case .logMissing:
            "There is no log, but a checkpoint of one. Restore the log, or remove the checkpoint too to start anew."
        case .checkpointOfAnother: "The checkpoint belongs to another log. Restore the one that belongs to this."
        case .logShorterThanCheckpoint(let offset, let size):
            "The log has \(size) bytes and its checkpoint goes on at \(offset). Salvage the store, or restore a backup."
        case .schemaMissing(let transactions):
            "\(transactions) transactions cannot be read: the schema that they were written under is not there, neither in "
                + "the log nor in a checkpoint. Restore a backup."
        case .schemaTooLarge(let entities, let properties):
            "The schema has \(entities) entities with \(properties) properties; a log takes \(ByteReader.mostEntities) and "
                + "\(ByteReader.mostProperties). Split it over several stores."
        case .unwritableValue(let entity, let property):
            "\(entity).\(property) has a value that the log cannot keep bit for bit."
        case .damagedValue(let entity, let property, let record, let reason):
            "\(entity).\(property) of record \(record) cannot be read: \(reason)"
        case .unstable: "The file was changed again and again while it was read. Try again."
        }
    }
}
