/// Others have changed or deleted records since the saving context read them, or have taken a unique value that it found
/// free. Nothing was changed.
///
/// Any store may throw it from `save(_:)` and `execute(_:)`. The context then reads the records again, settles conflicts by
/// its merge policy, follows delete rules, looks for owners of unique values, and saves again.
public struct RecordsSuperseded: Error, Sendable, Hashable {
    /// The records that were changed or deleted, and those that now have the unique values.
    public let identifiers: [PersistentIdentifier]

    /// Makes the error. Name at least one record, and all that are known.
    public init(_ identifiers: [PersistentIdentifier]) { self.identifiers = identifiers }
}

extension RecordsSuperseded: CustomStringConvertible, SwiftDataErrorConvertible {
    /// The first records, in one line.
    public var description: String {
        let names = identifiers.prefix(3).map { "\($0)" }.joined(separator: ", ")
        let more = identifiers.count > 3 ? " and \(identifiers.count - 3) more" : ""
        return "Another save has changed \(names)\(more) since the records were read. Read them again and save again."
    }
    /// The error of SwiftData that this one matches: `modelValidationFailure`.
    public var swiftDataError: SwiftDataError { .modelValidationFailure }
}

extension DataStoreSaveChangesRequest {
    /// Compares the versions that the request is based on with the stored ones. A store that numbers the versions of its
    /// records throws `RecordsSuperseded` with the result unless that is empty, within the transaction that makes the changes.
    /// - Parameter current: the version of a record that is stored now; nil if there is no such record.
    /// - Returns: the records that have another version or are gone.
    /// - Throws: what `current` throws.
    public func superseded(_ current: (PersistentIdentifier) throws -> UInt64?) rethrows -> [PersistentIdentifier] {
        func check(_ records: [SnapshotType], _ versions: [UInt64]) throws -> [PersistentIdentifier] {
            try records.enumerated().compactMap { place, record in
                let read = place < versions.count ? versions[place] : 0
                guard let now = try current(record.persistentIdentifier) else { return record.persistentIdentifier }
                return read == 0 || read == now ? nil : record.persistentIdentifier
            }
        }
        return try check(updated, updatedVersions) + check(deleted, deletedVersions)
    }
}
