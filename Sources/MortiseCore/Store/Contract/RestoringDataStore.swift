/// A store that can take the place of another one: with its identifier, and with its records under theirs.
///
/// A container that migrates a store by copying it (see `ReplaceableConfiguration` in `MortiseEngine`) needs this to keep all identifiers;
/// without it a plan has to say that they may change.
public protocol RestoringDataStore: DataStore where Snapshot == DefaultSnapshot {
    /// The number of the record that is inserted next, after those of records that are gone. Numbers are not used again.
    var nextRecordNumber: UInt64 { get }

    /// Stores records that another store holds, under the identifiers that they have there, all of them or none. The first call comes
    /// before this store holds anything.
    /// - Parameters:
    ///   - records: records of any entities. They may refer to records of later calls; derived relationships are empty.
    ///   - store: the identifier of the other store, which this one has from now on. The same in all calls.
    ///   - nextNumber: the number that the next record to be inserted gets at least. The same in all calls.
    /// - Throws: the store's error, which names the record at fault.
    func restore(_ records: [DefaultSnapshot], ofStore store: String, nextNumber: UInt64) throws
}
