import Synchronization

/// An event in a store that an operator may want to count. It has names and numbers, never values of records.
public enum StoreEvent: Sendable, Hashable {
    /// A fetch has finished.
    /// - Parameters:
    ///   - store: the name of its configuration.
    ///   - scanned: how many rows the store looked at.
    case fetch(
        entity: String, store: String, duration: Duration, scanned: Int, returned: Int, isFullScan: Bool)
    /// Opening a store, or reading what other processes have written, repaired files that a crash had left incomplete.
    /// - Parameter bytes: how many bytes were set aside; none of them were acknowledged.
    case recovery(store: String, bytes: Int64)
    /// A compaction has finished.
    /// - Parameter dropped: how many transactions of the history it removed.
    case compaction(store: String, dropped: Int, duration: Duration)
    /// A compaction in the background failed: the store did not change, and another one is tried later. Sent once for
    /// consecutive failures.
    /// - Parameter reason: the error, with names and offsets but no values.
    case compactionFailed(store: String, reason: String)
    /// A part of a checkpoint could not be read while the store was open. The log was replayed instead and has
    /// everything: nothing is lost, and no answer is incomplete. The next checkpoint replaces this one. Sent once.
    /// - Parameter reason: what could not be read, with offsets but no values.
    case checkpointUnreadable(store: String, reason: String)
    /// A checkpoint was not written, or could not be read back and did not replace the old one. The log has everything,
    /// and another one is tried later. Sent once for consecutive failures.
    /// - Parameter reason: the error, with names and offsets but no values.
    case checkpointFailed(store: String, reason: String)
    /// Another process has changed a store that is open here. Sent once for several changes in quick succession.
    case remoteChange(store: String)
    /// A read-only store can no longer follow its writer, and stays at its version: the schema has changed, the writer saves
    /// under another than the reader's, or what is there cannot be read. A store that is one file goes on once the file can be
    /// read; others have to be opened again. Sent once for each cause.
    /// - Parameter reason: why it cannot follow, with offsets but no values.
    case readerLeftBehind(store: String, reason: String)
    /// A store holds data that the program's schema lacks. Sent at opening, without a copy, and again when the first
    /// write under that schema drops the data.
    /// - Parameter copy: the path of the copy of the store from before that write.
    case schemaLoss(store: String, loss: SchemaLoss, copy: String?)
    /// A batch changed more records than the context that records its changes can keep: neither it nor what that context had changed
    /// before it can be undone.
    case undoForgotten(entity: String, records: Int)
    /// A holder of history is lost: transactions that it has not seen were dropped, because it was further behind than its largest lag
    /// allows, or because their deletion was forced.
    /// - Parameter holder: the name of the holder.
    case historyHolderLost(store: String, holder: String)
}

/// The events of all stores of the process.
public enum StoreEvents {
    /// A function by itself would be wrapped once more at each access to the mutex, until the stack does not suffice for a call.
    private struct Handler {
        let call: @Sendable (StoreEvent) -> Void
    }

    private static let state = Mutex<Handler?>(nil)
    private static let observed = Atomic(false)

    /// Whether a handler is installed. Check it before measuring anything for an event.
    public static var isObserved: Bool { observed.load(ordering: .relaxed) }

    /// Sends every event from now on to a handler, which replaces the previous one; nil removes it.
    ///
    /// The handler is called on the thread of the event, by several threads at once, and must not use the store.
    public static func observe(_ handler: (@Sendable (StoreEvent) -> Void)?) {
        state.withLock { $0 = handler.map(Handler.init) }
        observed.store(handler != nil, ordering: .relaxed)
    }

    /// Sends an event to the handler, if one is installed.
    public static func emit(_ event: @autoclosure () -> StoreEvent) {
        guard isObserved, let handler = state.withLock({ $0 }) else { return }
        handler.call(event())
    }
}
