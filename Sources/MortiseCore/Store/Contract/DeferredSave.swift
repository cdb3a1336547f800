/// A save that a store has accepted, and that may not be durable yet.
public struct DeferredSave: Sendable {
    /// What `save(_:)` would have returned. Valid once `finish()` has returned.
    public let result: DataStoreSaveChangesResult<DefaultSnapshot>
    let wait: @Sendable () throws -> (any StoreVersion)?

    /// Creates a save that is still to become durable.
    /// - Parameters:
    ///   - result: what `save(_:)` would have returned.
    ///   - wait: called by `finish()`. Returns when the save is as durable as the store promises and every reader can
    ///     see it, with the version that the save made; nil if it changed nothing.
    public init(
        _ result: DataStoreSaveChangesResult<DefaultSnapshot>,
        wait: @escaping @Sendable () throws -> (any StoreVersion)?
    ) {
        self.result = result
        self.wait = wait
    }

    /// Returns when the save is as durable as the store promises.
    /// - Returns: the version that it made; nil if it changed nothing.
    /// - Throws: why it did not become durable. Then it was either not carried out, or its outcome is unknown.
    public func finish() throws -> (any StoreVersion)? { try wait() }
}
