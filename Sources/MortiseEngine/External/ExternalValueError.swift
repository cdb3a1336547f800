public import MortiseCore

/// Why the value of an `.externalStorage` attribute, which is kept in a file of its own, cannot be read. The record and all
/// of its other values can.
public struct ExternalValueError: Error, Hashable, Sendable {
    public enum Reason: Hashable, Sendable {
        /// There is no such file (any more).
        case missing
        /// The file has another length; both in bytes.
        case wrongLength(expected: UInt64, found: UInt64)
        /// The file has its length and other bytes than were written.
        case wrongChecksum
        /// The system does not let the file be read.
        case unreadable(FileError)
        /// The store was opened without a place for such files.
        case noPlace
    }

    public let entity: String
    public let property: String
    public let record: PersistentIdentifier
    /// The file that has the value; empty where there is no place for it.
    public let path: String
    public let reason: Reason

    init(entity: String, property: String, record: PersistentIdentifier, fault: ExternalFileFault) {
        self.entity = entity
        self.property = property
        self.record = record
        path = fault.path
        reason = fault.reason
    }
}

/// What is wrong with one of the files that values are in.
package struct ExternalFileFault: Error, Hashable, Sendable {
    package let path: String
    package let reason: ExternalValueError.Reason
}

extension ExternalValueError: CustomStringConvertible {
    public var description: String {
        "\(entity).\(property) of \(record) cannot be read from \(path.isEmpty ? "its file" : path): \(reason)"
    }
}

extension ExternalFileFault: CustomStringConvertible {
    package var description: String { "\(path): \(reason)" }
}

extension ExternalValueError.Reason: CustomStringConvertible {
    public var description: String {
        switch self {
        case .missing:
            "it is not there. Restore it from a backup, or set the property anew; where another process has changed the "
                + "record meanwhile, fetch it again."
        case .wrongLength(let expected, let found):
            "it has \(found) bytes and was written with \(expected). Restore it from a backup, or set the property anew."
        case .wrongChecksum:
            "its bytes are not those that were written. Restore it from a backup, or set the property anew."
        case .unreadable(let error): "\(error)"
        case .noPlace: "the store was opened without the folder of such files. Open it at its path."
        }
    }
}

extension ExternalValueError: ClassifiedStoreError, SwiftDataErrorConvertible {
    public var errorClass: StoreErrorClass {
        if case .unreadable(let error) = reason { error.errorClass } else { .damaged }
    }
    public var swiftDataError: SwiftDataError { .modelValidationFailure }
}
