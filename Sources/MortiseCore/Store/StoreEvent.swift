import Synchronization

/// Something that happens in a store and that an operator may want to count. Names and numbers, never values of records.
public enum StoreEvent: Sendable, Hashable {
    /// A fetch was carried out.
    /// - Parameters:
    ///   - store: the name of its configuration.
    ///   - scanned: how many rows were looked at.
    case fetch(
        entity: String, store: String, duration: Duration, scanned: Int, returned: Int, isFullScan: Bool)
    /// Opening a store, or taking in what other processes have written, put something right that a crash had left behind.
    /// - Parameter bytes: how many bytes were set aside, none of which were acknowledged.
    case recovery(store: String, bytes: Int64)
    /// A store was made smaller.
    /// - Parameter dropped: how many transactions of its history went.
    case compaction(store: String, dropped: Int, duration: Duration)
    /// A compaction in the background failed: the store is as it was, and another is tried later. Told once for all that
    /// fail in a row.
    /// - Parameter reason: the error, which names places and no values.
    case compactionFailed(store: String, reason: String)
    /// Another process has changed a store that is open here. Once for several changes that come close together.
    case remoteChange(store: String)
    /// A store that only reads can follow its writer no further, and stays at what it has until it is opened anew. Told
    /// once.
    /// - Parameter reason: what keeps it from going on, with places and no values.
    case readerLeftBehind(store: String, reason: String)
}

/// Where the events of all stores of the process go.
public enum StoreEvents {
    private static let state = Mutex<(@Sendable (StoreEvent) -> Void)?>(nil)
    private static let observed = Atomic(false)

    /// Whether anybody wants to know. Whoever has to measure for an event asks this first.
    public static var isObserved: Bool { observed.load(ordering: .relaxed) }

    /// Hands every event from here on to a handler, in the place of the one before; nil ends that.
    ///
    /// It is called on the thread on which the event happened, by several at once, and must not use the store.
    public static func observe(_ handler: (@Sendable (StoreEvent) -> Void)?) {
        state.withLock { $0 = handler }
        observed.store(handler != nil, ordering: .relaxed)
    }

    /// Tells the handler, where there is one.
    public static func emit(_ event: @autoclosure () -> StoreEvent) {
        guard isObserved, let handler = state.withLock({ $0 }) else { return }
        handler(event())
    }
}

/// A store that can say what opening it put right.
public protocol RecoveryReporting: DataStore {
    /// In one line, with places and numbers and without values; nil where there was nothing to put right. A container logs
    /// it when it opens the store.
    var recoveryDescription: String? { get }
}

/// A store that tells its container what happens in it while it is open.
public protocol EventReportingDataStore: DataStore {
    /// Hands every event of this store from here on to a handler, in the place of the one before. A container sets one
    /// that logs compactions.
    ///
    /// The handler is called on the thread on which the event happened, by several at once, and does not use the store.
    func reportEvents(to handler: @escaping @Sendable (StoreEvent) -> Void)
}
