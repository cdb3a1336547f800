import Foundation
public import MortiseCore
import Synchronization

// A save, from what a store is asked to the sink that makes it durable.

extension EngineDataStore {
    /// Saves as one transaction.
    /// - Throws: `EngineError`; what the store's log throws. Nothing was saved then.
    public func save(
        _ request: DataStoreSaveChangesRequest<DefaultSnapshot>
    ) throws -> DataStoreSaveChangesResult<DefaultSnapshot> {
        try checkWritable()
        return DataStoreSaveChangesResult(for: identifier, new: try engine.apply(request))
    }

    /// Saves without waiting for durability; `DeferredSave.finish()` waits.
    /// - Throws: `EngineError`; what the store's log throws. Nothing was saved then.
    public func beginSave(_ request: DataStoreSaveChangesRequest<DefaultSnapshot>) throws -> DeferredSave? {
        try checkWritable()
        let (new, finish) = try engine.begin(request)
        return DeferredSave(DataStoreSaveChangesResult(for: identifier, new: new)) { try finish() }
    }
}

extension Engine {
    /// Carries out a save as one transaction: all of it, durable as the sink promises, or nothing.
    /// - Returns: the permanent identifiers of inserted records by their temporary ones.
    /// - Throws: `EngineError`; `VersionSuperseded`; what the sink throws.
    package func save(
        _ request: DataStoreSaveChangesRequest<DefaultSnapshot>
    ) throws -> [PersistentIdentifier: PersistentIdentifier] { try apply(request).pairs }

    /// As `save`, without making a table of identifiers.
    func apply(_ request: DataStoreSaveChangesRequest<DefaultSnapshot>) throws -> NewIdentifiers {
        let started = try start(request, isStrict: true)
        try started.finish()
        return started.result
    }

    /// As `apply`, but may return before the save is durable and published. It need not have been made for the latest
    /// version, as long as it would have been the same for that.
    /// - Returns: the identifiers, and a function that returns once the save is durable and published, with the version
    ///   that it made (nil if nothing changed). The function must be called.
    func begin(
        _ request: DataStoreSaveChangesRequest<DefaultSnapshot>
    ) throws -> (new: NewIdentifiers, finish: @Sendable () throws -> EngineVersion?) {
        let started = try start(request, isStrict: false)
        let (version, finish) = (started.version, started.finish)
        return (
            started.result,
            {
                try finish()
                return version
            }
        )
    }

    private func start(
        _ request: DataStoreSaveChangesRequest<DefaultSnapshot>, isStrict: Bool
    ) throws -> Started<NewIdentifiers> {
        try settling {
            try start { transaction in
                transaction.changes.author = request.editingState.author
                let latest = transaction.baseNumber
                guard let base = request.baseVersion, base != latest else { return try transaction.apply(request) }
                guard !isStrict, recent.withLock({ $0.allow(request, madeFor: base, onTopOf: latest) }) else {
                    throw VersionSuperseded()
                }
                do {
                    return try transaction.apply(request)
                } catch {
                    // Its author sees what conflicts, and may find a way round.
                    throw VersionSuperseded()
                }
            } note: { recent, transaction in
                recent.append(transaction.baseNumber + 1, request, transaction.changes)
            }
        }
    }

    /// Carries out changes as one transaction and returns what the body returns. `base` is the version that the changes
    /// were made for; nil for any.
    /// - Throws: `VersionSuperseded` if the engine has moved on since; what the body and the sink throw.
    func write<R>(
        onTopOf base: UInt64?, author: String?, _ body: (EngineTransaction) throws -> R
    ) throws -> R {
        try settling {
            try write { transaction in
                if let base, base != transaction.baseNumber { throw VersionSuperseded() }
                transaction.changes.author = author
                return try body(transaction)
            }
        }
    }

    private func settling<R>(_ body: () throws -> R) throws -> R {
        do {
            return try body()
        } catch let superseded as VersionSuperseded {
            // What superseded it may not be published yet; the caller would read the same version again.
            if let pending = appended.withLock({ $0 }) { try publish(pending.version, after: pending.ticket) }
            throw superseded
        }
    }

    /// A transaction that the sink has taken in.
    struct Started<R> {
        let result: R
        /// Nil if nothing changed.
        let version: EngineVersion?
        /// Returns when the transaction is durable and published.
        let finish: @Sendable () throws -> Void
    }

    func write<R>(_ body: (EngineTransaction) throws -> R) throws -> R {
        let started = try start(body) { $0.append($1.baseNumber + 1) }
        // Outside the lock, so that others append meanwhile and share the wait.
        try started.finish()
        return started.result
    }

    /// Runs the body in a new transaction and hands the result to the sink. `note` records what the transaction has
    /// touched.
    private func start<R>(
        _ body: (EngineTransaction) throws -> R, note: (inout RecentChanges, EngineTransaction) -> Void
    ) throws -> Started<R> {
        try writing.withLock {
            if isClosed.load(ordering: .acquiring) { throw EngineError.closed(store: name) }
            let current = appended.withLock { $0?.version } ?? version
            let followed = try sink?.begin(current, for: feed)
            defer { sink?.end() }
            if let followed { publish(followed) }
            let start = followed?.version ?? current
            let transaction = EngineTransaction(start)
            let result: R
            do {
                result = try body(transaction)
                try transaction.base.check()
                // Before any record can name them.
                if !transaction.outside.isEmpty { try catalog.external?.makeDurable() }
            } catch {
                catalog.external?.discard(transaction.outside)
                // What could not be read is the reason, whatever it looked like.
                try transaction.base.check()
                throw error
            }
            let outside = transaction.outside
            guard let next = try transaction.finished() else {
                catalog.external?.discard(outside)
                return Started(result: result, version: nil) {}
            }
            transaction.changes.baseVersion = start.number
            let mark = sink?.nextMark ?? HistoryMark.next()
            transaction.changes.commit = .init(
                number: next.number, timestamp: sink?.now ?? Date(), process: Self.process, bundle: Self.bundle,
                mark: mark)
            // If this fails the content of the disk is unknown: the files stay, as part of it.
            let ticket = try sink?.append(next, changes: transaction.changes)
            recent.withLock {
                note(&$0, transaction)
                $0.note(mark, of: next.number)
            }
            let isRetired = ticket != nil && transaction.isShortInsertion
            // The one before goes here, where the device is at work already.
            _ = retired.withLock { retired in
                defer { retired = isRetired ? start : nil }
                return retired.take()
            }
            guard let ticket else {
                publish(next)
                if feed.isFollowed || feed.isRecorded {
                    feed.post([
                        transaction.changes.withValues(from: start, to: next, keepingDeleted: feed.isRecorded)
                    ])
                } else if feed.isFollowedForRecords {
                    feed.post([transaction.changes.withoutValues])
                }
                catalog.external?.settle(outside)
                return Started(result: result, version: next) {}
            }
            appended.withLock { $0 = (next, ticket) }
            // The version before is kept no longer than it has to be.
            let waiting = Unpublished(
                changes: transaction.changes, before: feed.isFollowed || feed.isRecorded ? start : nil, after: next)
            unpublished.withLock { $0.append(waiting) }
            return Started(result: result, version: next) { [self] in
                try publish(next, after: ticket)
                catalog.external?.settle(outside)
            }
        }
    }

    /// The mark of the transaction that made a version; nil if that is not one of this engine's latest.
    package func mark(ofVersion number: UInt64) -> UInt64? { recent.withLock { $0.mark(of: number) } }

    static let process = ProcessInfo.processInfo.processName
    static let bundle = Bundle.main.bundleIdentifier ?? ""
}
