import Foundation
import Synchronization

/// A container's connection to an open store, whose type it hides. Serializes the calls, unless the store promises that it
/// need not be. Contexts ask the store through sessions, which the connection makes.
///
/// @unchecked Sendable: a `DataStore` need not be Sendable; every call on it happens under `lock`.
class StoreConnection: @unchecked Sendable {
    let identifier: String
    let configurationName: String
    let schema: Schema
    /// What the store can do, as it said when it was opened.
    let capabilities: StoreCapabilities
    /// The store itself, for code that knows its type.
    let underlying: any DataStore
    /// Held through a whole save, from reading the latest version to taking over the new one; of a save that the store
    /// defers, to handing it over.
    let saveLock = NSRecursiveLock()
    /// The store's feed, or one for what the container's contexts commit.
    let feed: ChangeFeed
    private let announcesItself: Bool
    /// The number of the last transaction that was announced in place of the store.
    private let lastNumber = Atomic<UInt64>(0)

    init(_ store: any DataStore, _ capabilities: StoreCapabilities, configurationName: String) {
        underlying = store
        identifier = store.identifier
        schema = store.schema
        self.configurationName = configurationName
        self.capabilities = capabilities
        let own = store.changeFeed
        announcesItself = own != nil
        feed = own ?? ChangeFeed()
    }

    /// Posts what a context has committed, unless the store does so itself. Called in the order of the commits.
    func announce(_ body: () -> ChangeSet) {
        if announcesItself { return }
        let number = version?.number ?? lastNumber.add(1, ordering: .relaxed).newValue
        guard feed.isFollowed else { return }
        var changes = body()
        if changes.isEmpty { return }
        changes.commit = changes.commit ?? .init(number: number, timestamp: Date(), process: Self.process)
        feed.post([changes])
    }

    private static let process = ProcessInfo.processInfo.processName

    /// The latest version of the store; nil for a store without versions.
    var version: (any StoreVersion)? { nil }

    /// A context's way to the store.
    func makeSession(_ schema: Schema, observer: any StoreSessionObserver) -> StoreSession {
        StoreSession(self, schema, observer: observer)
    }

    var allowsSave: Bool { true }
    func erase() throws { throw DataStoreError.unsupportedFeature }
    /// Closes the store and releases its files and locks.
    /// - Throws: the store's error. It counts as closed all the same.
    func close() throws {}
    func begin(_ editingState: EditingState) {}
    func end(_ editingState: EditingState) {}
    func history<H: HistoryTransaction>(_ descriptor: HistoryDescriptor<H>) throws -> [H]? { nil }
    func deleteHistory<H: HistoryTransaction>(_ descriptor: HistoryDescriptor<H>) throws -> Bool { false }
    /// The token in the store's history of the transaction that made a version; nil if the store keeps no history.
    func historyToken(ofVersion number: UInt64) -> (any HistoryToken)? { nil }
}
