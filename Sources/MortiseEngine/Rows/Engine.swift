import Foundation
public import MortiseCore
import Synchronization

/// Makes a committed transaction durable, before anybody sees it.
public protocol CommitSink: Sendable {
    /// Returns when the result is as durable as the store promises. Throwing leaves the engine as it was.
    func commit(_ result: EngineVersion, changes: CommittedChanges) throws
    /// Gives files and locks free; no commit follows.
    func close() throws
}

/// What a transaction did, for a sink that writes changes rather than states.
public struct CommittedChanges: Sendable {
    public var inserted: [PersistentIdentifier] = []
    public var updated: [(record: PersistentIdentifier, slots: SlotSet)] = []
    public var deleted: [PersistentIdentifier] = []
    public var author: String?
    /// Everything was removed.
    public var isErasure = false
}

/// Records in memory, in versions: readers hold one and are never disturbed; one writer at a time makes the next.
public final class Engine: Sendable {
    public let catalog: Catalog
    private let sink: (any CommitSink)?
    private let published: Mutex<EngineVersion>
    private let writing = NSLock()
    private let isClosed = Atomic(false)

    /// An engine over records that are already there (or none), whose commits go to the sink.
    public init(_ initial: EngineVersion, sink: (any CommitSink)? = nil) {
        self.catalog = initial.catalog
        self.sink = sink
        self.published = Mutex(initial)
    }

    /// The latest version.
    public var version: EngineVersion { published.withLock { $0 } }

    /// Carries out a save as one transaction: all of it, durable as the sink promises, or nothing.
    /// - Returns: the permanent identifiers of inserted records by their temporary ones.
    /// - Throws: `EngineError`; `VersionSuperseded`; what the sink throws.
    public func save(
        _ request: DataStoreSaveChangesRequest<DefaultSnapshot>
    ) throws -> [PersistentIdentifier: PersistentIdentifier] {
        try write { transaction in
            if let base = request.baseVersion, base != transaction.baseNumber { throw VersionSuperseded() }
            transaction.changes.author = request.editingState.author
            return try transaction.apply(request)
        }
    }

    /// Removes all records of an entity, those of its subentities on request, and every reference to them.
    public func deleteAll(ofEntity name: String, includingSubentities: Bool, author: String?) throws {
        try write { transaction in
            transaction.changes.author = author
            try transaction.deleteAll(ofEntity: name, includingSubentities: includingSubentities)
        }
    }

    /// Removes all records. Their numbers are not used again.
    public func erase() throws {
        try write { $0.erase() }
    }

    public func close() throws {
        guard !isClosed.exchange(true, ordering: .acquiringAndReleasing) else { return }
        try writing.withLock { try sink?.close() }
    }

    private func write<R>(_ body: (EngineTransaction) throws -> R) throws -> R {
        try writing.withLock {
            if isClosed.load(ordering: .acquiring) { throw EngineError.closed(store: catalog.storeIdentifier) }
            let base = version
            let transaction = EngineTransaction(base)
            let result = try body(transaction)
            guard let next = transaction.finished() else { return result }
            try sink?.commit(next, changes: transaction.changes)
            published.withLock { $0 = next }
            return result
        }
    }
}

extension EngineVersion {
    /// A version without records.
    public static func empty(_ catalog: Catalog) -> EngineVersion {
        EngineVersion(number: 0, nextSequence: 1, tables: [:], catalog: catalog)
    }
}
