/// A snapshot that tells which version of its record it shows.
///
/// A store whose records other processes can change between a context's reading and its save numbers the versions of each
/// record. It hands the number out with the values, and gets it back with a save; see
/// `DataStoreSaveChangesRequest.updatedVersions`.
public protocol RecordVersionTelling: DataStoreSnapshot {
    /// The version of the record: a different number whenever its stored values differ, and none that it has had before. 0 if
    /// the store does not tell.
    var recordVersion: UInt64 { get }
}
