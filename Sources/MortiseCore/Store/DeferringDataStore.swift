/// A save that a store has carried out, and that may not be durable yet.
public struct DeferredSave: Sendable {
    public let result: DataStoreSaveChangesResult<DefaultSnapshot>
    let wait: @Sendable () throws -> (any StoreVersion)?

    /// - Parameter wait: returns when the save is as durable as the store promises and every reader may see it, with the
    ///   version that it made; nil where it changed nothing.
    public init(
        _ result: DataStoreSaveChangesResult<DefaultSnapshot>,
        wait: @escaping @Sendable () throws -> (any StoreVersion)?
    ) {
        self.result = result
        self.wait = wait
    }

    /// Returns when the save is as durable as the store promises.
    /// - Returns: the version that it made; nil where it changed nothing.
    /// - Throws: what kept it from becoming durable. Then it was not carried out, or nobody knows.
    public func finish() throws -> (any StoreVersion)? { try wait() }
}

/// A store that takes in more saves while those before them are on their way to the disk, so that contexts that save at the
/// same time wait for one sync together.
///
/// A context holds the store for itself while it prepares a save and hands it over, and no longer while the save becomes
/// durable.
public protocol DeferringDataStore: ConcurrentDataStore, VersionedDataStore {
    /// As `save(_:)`, but returns before the save is durable or can be seen. What others have saved since the request's base
    /// version is no reason to refuse it, where the request would be the same on top of that.
    /// - Throws: as `save(_:)`, `VersionSuperseded` where the request might be another; nothing was changed then.
    func beginSave(_ request: DataStoreSaveChangesRequest<DefaultSnapshot>) throws -> DeferredSave
}
