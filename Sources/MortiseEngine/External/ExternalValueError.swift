public import MortiseCore

/// Why an external value of an `.externalStorage` attribute cannot be read. The record and all of its other values can.
public struct ExternalValueError: Error, Hashable, Sendable {
    /// Why the file cannot be used.
    public enum Reason: Hashable, Sendable {
        /// The file does not exist, or no longer.
        case missing
        /// The file has another length; both in bytes.
        case wrongLength(expected: UInt64, found: UInt64)
        /// The file has the right length, but not the bytes that were written.
        case wrongChecksum
        /// The system does not let the file be read.
        case unreadable(FileError)
        /// The store was opened without a folder for such files.
        case noPlace
    }

    /// The entity of the record.
    public let entity: String
    /// The attribute whose value cannot be read.
    public let property: String
    /// The record; its other values can be read.
    public let record: PersistentIdentifier
    /// The file that has the value; empty if the store has no folder for it.
    public let path: String
    /// Why the data cannot be read.
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
    /// The attribute, the record, the file and the way out, in one line.
    public var description: String {
        "\(entity).\(property) of \(record) cannot be read from \(path.isEmpty ? "its file" : path): \(reason)"
    }
}

extension ExternalFileFault: CustomStringConvertible {
    package var description: String { "\(path): \(reason)" }
}

extension ExternalFileFault: ClassifiedStoreError {
    /// That of the file system's error if there is one; otherwise `damaged`.
    package var errorClass: StoreErrorClass { reason.errorClass }

    /// A file that may not be read is not damaged for that reason.
    /// - Throws: `FileError` if the user may not read the file.
    package func throwIfDenied() throws(FileError) {
        if case .unreadable(let error) = reason, error.errorClass == .denied { throw error }
    }
}

extension ExternalValueError.Reason {
    /// That of the file system's error if there is one; otherwise `damaged`.
    package var errorClass: StoreErrorClass {
        if case .unreadable(let error) = self { error.errorClass } else { .damaged }
    }
}

extension ExternalValueError.Reason: CustomStringConvertible {
    /// The reason and the way out.
    public var description: String {
        switch self {
        case .missing:
            "the file is missing. Restore it from a backup, or set the property again; if another process has "
                + "changed the "
                + "record meanwhile, fetch it again."
        case .wrongLength(let expected, let found):
            "expected \(expected) bytes, found \(found). Restore the file from a backup, or set the property again."
        case .wrongChecksum:
            "the file's checksum does not match. Restore the file from a backup, or set the property again."
        case .unreadable(let error): "\(error)"
        case .noPlace: "the store was opened without its folder of external data. Open it at its path."
        }
    }
}

extension ExternalValueError: ClassifiedStoreError, SwiftDataErrorConvertible {
    /// That of the file system's error if there is one; otherwise `damaged`.
    public var errorClass: StoreErrorClass { reason.errorClass }
    /// The error of SwiftData that this one matches: `modelValidationFailure`.
    public var swiftDataError: SwiftDataError { .modelValidationFailure }
}
