import Foundation

/// A connection to a store of a known type.
///
/// @unchecked Sendable: as `StoreConnection`.
final class TypedConnection<Store: DataStore>: StoreConnection, @unchecked Sendable {
    private let store: Store
    /// Nil for a store that may be called from several threads at once. Recursive for the reason that `saveLock` is.
    let lock: NSRecursiveLock?
    let versioned: (any VersionedDataStore)?
    let queryable: (any QueryableDataStore)?
    let batching: (any DataStoreBatching)?
    private let historian: (any HistoryProviding)?

    init(_ store: Store, configurationName: String) {
        self.store = store
        let conformances = StoreConformances(store)
        versioned = conformances.versions
        queryable = conformances.queries
        batching = conformances.batches
        historian = conformances.history
        // Once: what the store says may depend on when it is asked.
        let capabilities = store.capabilities
        lock = capabilities.contains(.concurrency) ? nil : NSRecursiveLock()
        super.init(store, capabilities, configurationName: configurationName)
    }

    func locked<R>(_ body: (Store) throws -> R) rethrows -> R {
        lock?.lock()
        defer { lock?.unlock() }
        return try body(store)
    }

    override func calling<R>(_ body: (any DataStore) throws -> R) rethrows -> R { try locked { try body($0) } }

    override var version: (any StoreVersion)? { versioned?.currentVersion }
    override var allowsSave: Bool { store.allowsSave }

    override func makeSession(_ schema: Schema, observer: any StoreSessionObserver) -> StoreSession {
        TypedSession(self, schema, observer: observer)
    }

    override func erase() throws { try locked { try $0.erase() } }
    override func close() throws { try locked { try $0.close() } }
    override func begin(_ editingState: EditingState) { locked { $0.initializeState(for: editingState) } }
    override func end(_ editingState: EditingState) { locked { $0.invalidateState(for: editingState) } }

    // MARK: History

    override func history<H: HistoryTransaction>(_ descriptor: HistoryDescriptor<H>) throws -> [H]? {
        if let recorder {
            guard let own = descriptor as? HistoryDescriptor<DefaultHistoryTransaction> else { return nil }
            return try RecordedHistory(recorder: recorder, schema: schema, historyLocation: location).transactions(
                matching: own) as? [H]
        }
        guard let provider = historian else { return nil }
        do {
            return try locked { try Self.history(of: provider, narrowed(descriptor, in: $0)) }
        } catch DataStoreError.unsupportedFeature {
            // A store that forwards to others may keep a history or not.
            return nil
        }
    }

    override func withArchive(_ body: (any HistoryArchive) throws -> Void) throws -> Bool {
        if recorder != nil { return try super.withArchive(body) }
        return try locked { store in
            guard let archive = store.historyArchive else { return false }
            try body(archive)
            return true
        }
    }

    private static func history<P: HistoryProviding, H: HistoryTransaction>(
        of provider: P, _ descriptor: HistoryDescriptor<H>
    ) throws -> [H]? {
        guard let descriptor = descriptor as? HistoryDescriptor<P.HistoryType> else { return nil }
        return try provider.fetchHistory(descriptor) as? [H]
    }

    override func deleteHistory<H: HistoryTransaction>(_ descriptor: HistoryDescriptor<H>) throws -> Bool {
        if let recorder {
            guard let own = descriptor as? HistoryDescriptor<DefaultHistoryTransaction> else { return false }
            _ = try RecordedHistory(recorder: recorder, schema: schema, historyLocation: location).deleteTransactions(
                matching: own)
            return true
        }
        guard let provider = historian else { return false }
        do {
            return try locked { try Self.deleteHistory(of: provider, narrowed(descriptor, in: $0)) }
        } catch DataStoreError.unsupportedFeature {
            return false
        }
    }

    private static func deleteHistory<P: HistoryProviding, H: HistoryTransaction>(
        of provider: P, _ descriptor: HistoryDescriptor<H>
    ) throws -> Bool {
        guard let descriptor = descriptor as? HistoryDescriptor<P.HistoryType> else { return false }
        try provider.deleteHistory(descriptor)
        return true
    }

    /// The descriptor as it is for this store: of each token, what it says of the store. An archive does so itself.
    private func narrowed<H: HistoryTransaction>(
        _ descriptor: HistoryDescriptor<H>, in store: Store
    ) -> HistoryDescriptor<H> {
        guard store.historyArchive == nil, let own = descriptor as? HistoryDescriptor<DefaultHistoryTransaction>
        else { return descriptor }
        return own.narrowed(to: store.identifier) as? HistoryDescriptor<H> ?? descriptor
    }

    override func historyToken(ofVersion number: UInt64) -> (any HistoryToken)? {
        recorder == nil ? locked { $0.historyToken(ofVersion: number) } : super.historyToken(ofVersion: number)
    }
}
