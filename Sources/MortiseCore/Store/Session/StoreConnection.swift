import Foundation
import Synchronization

/// A container's connection to an open store, whose type it hides. Serializes the calls, unless the store promises that it
/// need not be. Contexts ask the store through sessions, which the connection makes.
///
/// @unchecked Sendable: a `DataStore` need not be Sendable; every call on it happens under `lock`.
class StoreConnection: @unchecked Sendable {
    let identifier: String
    let configurationName: String
    /// What errors call the store: where it is, or the name of its configuration.
    let location: String
    let schema: Schema
    /// What the store can do, as it said when it was opened.
    let capabilities: StoreCapabilities
    /// The store itself, for code that knows its type.
    let underlying: any DataStore
    /// Held through a whole save, from reading the latest version to taking over the new one; of a save that the store
    /// defers, to handing it over. Recursive, as is the lock of the calls: code of the app's runs under both, such as observers of
    /// what a save settles, coded values and stores that ask a container themselves, and it may fetch and save again.
    let saveLock = NSRecursiveLock()
    /// The store's feed, or one for what the container's contexts commit.
    let feed: ChangeFeed
    /// Whether the store posts what it commits.
    let announcesItself: Bool
    /// What this container records of a store that keeps no history; nil for one that does.
    let recorder: HistoryRecorder?
    /// How many transactions of such a store are kept.
    static let mostRecorded = 4_096
    /// What is posted in place of the store.
    private let announcements: Announcements

    init(_ store: any DataStore, _ capabilities: StoreCapabilities, configurationName: String) {
        underlying = store
        identifier = store.identifier
        schema = store.schema
        self.configurationName = configurationName
        location = store.configuration.locationOrName
        let own = store.changeFeed
        announcesItself = own != nil
        feed = own ?? ChangeFeed()
        let isRecorded = !capabilities.contains(.history)
        self.capabilities = isRecorded ? capabilities.union([.recordedHistory]) : capabilities
        recorder =
            isRecorded
            ? HistoryRecorder(
                ofStore: store.identifier, numbering: .ofSession,
                keeping: HistoryRetention(transactions: Self.mostRecorded),
                reportingLost: { StoreEvents.emit(.historyHolderLost(store: configurationName, holder: $0)) }) : nil
        if let recorder { feed.record(into: recorder) }
        announcements = Announcements(feed, recorder: recorder)
    }

    // The feed may be shared, and stay when this container has gone.
    deinit { if let recorder { feed.stopRecording(into: recorder) } }

    /// Calls the store itself, as every call on it is made: while nobody else calls it, unless it may be called from several threads
    /// at once.
    func calling<R>(_ body: (any DataStore) throws -> R) rethrows -> R { try body(underlying) }

    /// The place of a commit among those that are posted in place of the store; nil if it posts them itself. Called in the order
    /// of the commits.
    func beginAnnouncement() -> Announcements.Turn? { announcesItself ? nil : announcements.begin() }

    /// Posts what a context has committed, unless the store does so itself. The body is told whether anyone needs values.
    /// - Parameters:
    ///   - turn: the commit's place; nil for a commit after which no other one has begun.
    ///   - own: who knows the changes already.
    ///   - body: makes the change set.
    /// - Returns: the place of the commit in what is recorded; nil if nothing is, or it is not known.
    @discardableResult
    func announce(
        at turn: Announcements.Turn? = nil, except own: ChangedRecords? = nil,
        _ body: (_ needsValues: Bool) -> ChangeSet
    ) -> (any HistoryToken)? {
        guard let turn = turn ?? beginAnnouncement() else { return nil }
        let made = turn.version.load(ordering: .relaxed)
        let number = made != 0 ? made : version?.number
        let needsValues = feed.isFollowed || feed.isRecorded
        var changes = ChangeSet()
        if needsValues || feed.isFollowedForRecords {
            changes = body(needsValues)
            if changes.count > ChangeFeed.valueLimit { changes.dropValues() }
        }
        // Counted also where nobody follows.
        return announcements.tell(changes, number: number, at: turn, except: own)
    }

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

    /// What deleting by a descriptor takes, of an archive without changes; nil where the store has no such history.
    final func deletableHistory<H: HistoryTransaction>(_ descriptor: HistoryDescriptor<H>) throws -> [H]? {
        guard let own = descriptor as? HistoryDescriptor<DefaultHistoryTransaction> else {
            return try history(descriptor)
        }
        var found: [DefaultHistoryTransaction]?
        do {
            guard try withArchive({ found = try $0.deletable(matching: own) }) else { return try history(descriptor) }
        } catch DataStoreError.unsupportedFeature {
            return nil
        }
        return found as? [H]
    }
    func deleteHistory<H: HistoryTransaction>(_ descriptor: HistoryDescriptor<H>) throws -> Bool { false }
    /// Runs a body with the store's history, or what is recorded of it.
    /// - Returns: whether there is one that can be asked in this way.
    func withArchive(_ body: (any HistoryArchive) throws -> Void) throws -> Bool {
        guard let recorder else { return false }
        try body(RecordedHistory(recorder: recorder, schema: schema, historyLocation: location))
        return true
    }
    /// The token of the transaction that made a version, in the store's history or in what is recorded; nil if it is not known.
    func historyToken(ofVersion number: UInt64) -> (any HistoryToken)? {
        // The others number their commits themselves.
        announcesItself ? recorder?.token(ofCommit: number) : nil
    }
}
