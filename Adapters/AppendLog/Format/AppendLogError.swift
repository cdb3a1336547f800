public import MortiseCore
public import MortiseEngine

/// What is wrong with a file of an append-log store, and where. The file is as it was.
public struct AppendLogError: Error, Hashable, Sendable {
    /// The file.
    public let path: String
    /// What is wrong with the file.
    public let fault: LogFault

    /// Makes the error of a file.
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
    /// The file has no bytes.
    case empty
    /// The checkpoint's file has no bytes. The log begins after the transaction, and needs a checkpoint unless that is 0.
    case emptyCheckpoint(transaction: UInt64)
    /// The file ends within its header.
    case tooShort(bytes: Int)
    /// The file does not begin like a log or a checkpoint.
    case notALog
    /// A log where a checkpoint is expected, or the reverse.
    case wrongKindOfFile
    /// The file has a version of the format that this library does not know.
    case unsupportedVersion(UInt16)
    /// The header's checksum is wrong.
    case damagedHeader
    /// The offset once held a valid frame and no longer does. Frames from that number on cannot be read.
    case damagedFrame(offset: Int64, sequence: UInt64, reason: String)
    /// A checkpoint has other bytes at the offset than were written there.
    case damagedRegion(offset: Int64, what: String)
    /// A frame of a kind that may not be skipped and is not known.
    case unknownKind(offset: Int64, kind: UInt8)
    /// A frame with unknown flags, whose meaning this version cannot know.
    case unknownFlags(offset: Int64, flags: UInt8)
    /// The disk fails to read the file, from the offset on if that is known.
    case unreadable(offset: Int64?, error: FileError)
    /// The checksum is right and the content is not: another program wrote it. `what` follows the part in a sentence; the
    /// offset is nil if the fault has no single one.
    case malformed(part: Part, offset: Int64?, what: String)
    /// A frame has another number than its position requires.
    case outOfOrder(offset: Int64, expected: UInt64, found: UInt64)
    /// The log begins after this transaction, and there is no checkpoint of it.
    case checkpointMissing(transaction: UInt64)
    /// There is a checkpoint and no log.
    case logMissing
    /// The checkpoint belongs to another store, another log, or a copy of the log that was written to separately.
    case checkpointOfAnother
    /// The log ends before the offset that its checkpoint names.
    case logShorterThanCheckpoint(offset: Int64, size: Int64)
    /// That many transactions cannot be read, because the schema that they were written under is damaged.
    case schemaMissing(transactions: Int)
    /// A schema of more entities, or of more properties in all, than the format allows.
    case schemaTooLarge(entities: Int, properties: Int)
    /// A schema that contradicts itself, or that is larger with what its entities inherit than the format allows. Nothing was
    /// written.
    case invalidSchema(StoredSchemaFault)
    /// A value that the format cannot keep bit for bit. Nothing was written.
    case unwritableValue(entity: String, property: String)
    /// A default value in the schema that the format cannot keep bit for bit. Nothing was written.
    case unwritableDefault(entity: String, property: String)
    /// A part of a checkpoint would have more bytes than the format allows, 4 GiB - 1. The old checkpoint stays.
    case regionTooLarge(bytes: Int)
    /// Data that are in a file of their own cannot be read.
    case damagedValue(entity: String, property: String, record: UInt64, reason: ExternalValueError.Reason)
    /// The file was written while it was read, again and again.
    case unstable
    /// A store that is open for reading cannot follow the log's writer any more.
    case leftBehind(reason: String)

    /// A part of a log or a checkpoint, as its errors name it.
    public enum Part: String, Hashable, Sendable {
        /// The first 64 bytes of a log or a checkpoint.
        case fileHeader = "file header"
        /// A frame of the log, with its header.
        case frame
        /// The log as a whole.
        case log
        /// The directory of a checkpoint.
        case directory = "directory of the checkpoint"
        /// A region of a checkpoint.
        case region = "region of the checkpoint"
        /// The checkpoint as a whole.
        case checkpoint
    }
}

extension AppendLogError: CustomStringConvertible, SwiftDataErrorConvertible {
    /// The file, the fault and the way out, in one line.
    public var description: String { "\(path): \(fault)" }
    /// The error of SwiftData that this one matches: `loadIssueModelContainer`.
    public var swiftDataError: SwiftDataError { .loadIssueModelContainer }
}

extension LogFault: CustomStringConvertible {
    /// The fault, with its offset, and the way out.
    public var description: String {
        switch self {
        case .empty:
            "The file is empty; a log has at least 64 bytes. Remove it to start a new store, or restore a backup."
        case .emptyCheckpoint(0):
            "The checkpoint is empty. The log has everything, so that nothing needs to be done: the next opening for writing "
                + "makes the checkpoint again."
        case .emptyCheckpoint(let transaction):
            "The checkpoint is empty, and the log begins after transaction \(transaction): it needs the checkpoint. Restore a "
                + "backup, or salvage the store. Do not remove the file."
        case .tooShort(let bytes): "The file is \(bytes) bytes long; its header alone has 64. Restore a backup."
        case .notALog: "The file is not an append log. Give the path of a log, or a path where no file exists."
        case .wrongKindOfFile:
            "Found a checkpoint where a log is expected, or the reverse. Check whether the two files were swapped."
        case .unsupportedVersion(let version):
            "The file has format version \(version), which this library does not know. Update the library."
        case .damagedHeader: "The file's header is damaged. Salvage the store, or restore a backup."
        case .damagedFrame(let offset, let sequence, let reason):
            "Frame \(sequence) at offset \(offset) is damaged: \(reason). Salvage the store, or restore a backup."
        case .damagedRegion(let offset, let what):
            "At offset \(offset) the checkpoint \(what). Salvage the store, or restore a backup."
        case .unknownKind(let offset, let kind):
            "The frame at offset \(offset) has kind \(kind), which this library does not know. Update the library."
        case .unknownFlags(let offset, let flags):
            "The frame at offset \(offset) has flags \(flags), which this library does not know. Update the library."
        case .unreadable(let offset, let error):
            (offset.map { "From offset \($0) on: " } ?? "")
                + "\(error). If it stays unreadable, salvage the store or restore a backup."
        case .malformed(let part, let offset, let what):
            (offset.map { "At offset \($0) the " } ?? "The ")
                + "\(part.rawValue) \(what). Salvage the store, or restore a backup."
        case .outOfOrder(let offset, let expected, let found):
            "The frame at offset \(offset) has number \(found); expected \(expected). Salvage the store, or "
                + "restore a backup."
        case .checkpointMissing(let transaction):
            "The log begins after transaction \(transaction), but its checkpoint is missing. Restore the "
                + "checkpoint's file."
        case .logMissing:
            "The log is missing, but its checkpoint exists. Restore the log, or remove the checkpoint to start "
                + "a new store."
        case .checkpointOfAnother:
            "The checkpoint belongs to another log, or to another copy of it. Restore the checkpoint of this log; "
                + "if the log was never compacted, it is enough to move the checkpoint away."
        case .logShorterThanCheckpoint(let offset, let size):
            "The log is \(size) bytes long, but its checkpoint refers to offset \(offset). Salvage the store, "
                + "or restore a backup."
        case .schemaMissing(let transactions):
            "\(transactions) transactions cannot be read: their schema is missing from both the log and the "
                + "checkpoint. "
                + "Restore a backup."
        case .schemaTooLarge(let entities, let properties):
            "The schema has \(entities) entities with \(properties) properties; a log holds at most "
                + "\(ByteReader.mostEntities) and \(ByteReader.mostProperties). Split it over several stores."
        case .invalidSchema(let fault): fault.description
        case .unwritableValue(let entity, let property):
            "\(entity).\(property) has a value that would not read back unchanged. Change the value, or store "
                + "it as Data."
        case .unwritableDefault(let entity, let property):
            "The default value of \(entity).\(property) would not read back unchanged. Change it, or remove it."
        case .regionTooLarge(let bytes):
            "A part of the checkpoint would have \(bytes) bytes; the limit is \(UInt32.max). Give the attributes with "
                + "large values the option externalStorage."
        case .damagedValue(let entity, let property, let record, let reason):
            "\(entity).\(property) of record \(record) cannot be read: \(reason)"
        case .unstable: "Another process kept changing the file while it was read. Try again."
        case .leftBehind(let reason):
            "The store was opened for reading and can no longer follow the log's writer: \(reason). Open the store again."
        }
    }
}
