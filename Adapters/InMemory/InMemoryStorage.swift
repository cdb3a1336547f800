public import MortiseCore
import MortiseEngine
import Foundation
import Synchronization

/// What stores in memory keep when they are closed, as a file would: a later container with the same storage finds the records
/// again. So an app's restart, and the second version of its models, can be tested without files.
///
/// Containers that have a storage open at the same time see each other's saves. They need the same schema.
public final class InMemoryStorage: Sendable {
    private struct State {
        var version: EngineVersion?
        /// The engine of the stores that are open, how many there are, and what it began with.
        var open: (engine: Engine, count: Int, initial: EngineVersion)?
        var isMigrating = false
        var history: HistoryRecorder?
    }
    private let state = Mutex(State())

    /// A storage that holds nothing yet.
    public init() {}

    /// The schema of the records; nil before the first opening.
    public var schema: StoredSchema? { state.withLock { ($0.open?.engine.version ?? $0.version)?.catalog.schema } }

    /// - Throws: `EngineError.openWithOtherOptions` where stores with another schema are open, or a migration runs;
    ///   `EngineError.schemaMismatch`; `MigrationError.newerStore`, `.unnamedEntities`.
    func open(
        _ schema: StoredSchema, named name: String, identifier: String, keeping retention: HistoryRetention
    ) throws -> (Engine, HistoryRecorder) {
        try whileNothingCloses(named: name) { state in
            if state.isMigrating { throw EngineError.openWithOtherOptions(path: name) }
            if let open = state.open {
                guard open.engine.catalog.schema == schema else { throw EngineError.openWithOtherOptions(path: name) }
                state.open?.count += 1
                return (open.engine, Self.history(of: open.engine, named: name, in: &state, keeping: retention))
            }
            let version: EngineVersion
            if let stored = state.version {
                version = stored.catalog.schema == schema ? stored : try Self.map(stored, to: schema, name)
            } else {
                version = .empty(Catalog(schema: schema, storeIdentifier: identifier))
            }
            let engine = Engine(version)
            state.open = (engine, 1, version)
            let history = Self.history(of: engine, named: name, in: &state, keeping: retention)
            // Nothing was saved since they were brought to a schema, and they are as they were before.
            history.takeBack(after: Int64(clamping: version.number))
            // What brought the records to another schema changed no value, and is in no commit.
            if Int64(clamping: version.number) > history.bounds.last { history.record([version.migration()]) }
            if retention != .none { engine.feed.record(into: history) }
            return (engine, history)
        }
    }

    private static func history(
        of engine: Engine, named name: String, in state: inout State, keeping retention: HistoryRetention
    ) -> HistoryRecorder {
        if let history = state.history { return history }
        let history = HistoryRecorder(
            ofStore: engine.catalog.storeIdentifier, numbering: .ofCommits, keeping: retention,
            reportingLost: { StoreEvents.emit(.historyHolderLost(store: name, holder: $0)) })
        state.history = history
        return history
    }

    /// The last store that closes waits for its saves; what comes then begins with all of them.
    /// - Throws: `EngineError.openWithOtherOptions` if that takes ten seconds; what the body throws.
    private func whileNothingCloses<R: Sendable>(
        named name: String, _ body: (inout sending State) throws -> sending R
    ) throws -> R {
        let end = ContinuousClock.now + .seconds(10)
        while true {
            let found: R? = try state.withLock { state in
                if let open = state.open, open.count == 0 { return nil }
                return try body(&state)
            }
            if let found { return found }
            if ContinuousClock.now > end { throw EngineError.openWithOtherOptions(path: name) }
            Thread.sleep(forTimeInterval: 0.000_2)
        }
    }

    private static func map(_ version: EngineVersion, to schema: StoredSchema, _ name: String) throws -> EngineVersion {
        try version.catalog.schema.checkIsNotNewer(than: schema, store: name)
        var result = version
        let migration = EngineMigration(
            of: version, named: name,
            EngineMigration.Adapter(
                note: { _ in }, prepare: { outcome in .init(commit: { result = outcome.result }) }, release: {}))
        let loss = try migration.adapt(to: schema, converting: [:])
        try loss.check(dropping: [], store: name)
        try loss.checkOrigins(from: version.catalog.schema, to: schema, dropping: [], store: name)
        try migration.prepare(keepingCopy: false, atMost: nil)
        try migration.commit()
        return result
    }

    func close(_ engine: Engine) throws {
        let isLast = state.withLock { state in
            guard let open = state.open, open.engine === engine else { return false }
            state.open?.count -= 1
            return open.count == 1
        }
        guard isLast else { return }
        // Saves that run are waited for.
        defer {
            state.withLock { state in
                if let open = state.open, open.engine === engine, open.count == 0 {
                    // As with files, the first save brings the records to another schema, and not the opening.
                    if engine.version !== open.initial { state.version = engine.version }
                    state.open = nil
                }
            }
        }
        try engine.close()
    }

    /// - Throws: `MigrationError.openElsewhere`.
    func beginMigration(named name: String) throws -> any StoreMigration {
        let version = try whileNothingCloses(named: name) { state in
            guard state.open == nil, !state.isMigrating else { throw MigrationError.openElsewhere(store: name) }
            guard let version = state.version else { throw MigrationError.storeGone(store: name) }
            state.isMigrating = true
            return version
        }
        let number = Int64(clamping: version.number)
        // Of what its code changes before the last schema only the records that result are kept.
        let isWhole = Mutex(true)
        return EngineMigration(
            of: version, named: name,
            EngineMigration.Adapter(
                note: { step in
                    if case .changes = step { isWhole.withLock { $0 = false } }
                },
                prepare: { outcome in
                    let changed = try outcome.changes.changeSet()
                    return .init(commit: {
                        let history = self.state.withLock { state in
                            state.version = outcome.result
                            return state.history
                        }
                        var changes = outcome.result.migration()
                        changes.inserted = changed.inserted
                        changes.updated = changed.updated
                        changes.deleted = changed.deleted
                        changes.isIncomplete = !isWhole.withLock { $0 }
                        // What openings have noted that saved nothing.
                        history?.takeBack(after: number)
                        history?.record([changes])
                    })
                },
                release: { self.state.withLock { $0.isMigrating = false } }))
    }

    func preview(named name: String) throws -> any StoreMigration {
        guard let version = state.withLock({ $0.open?.engine.version ?? $0.version }) else {
            throw MigrationError.storeGone(store: name)
        }
        return EngineMigration(previewing: version, named: name) {}
    }
}

extension InMemoryStorage: Hashable {
    /// Two storages are equal if they are the same object.
    public static func == (lhs: InMemoryStorage, rhs: InMemoryStorage) -> Bool { lhs === rhs }
    /// Consistent with `==`.
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

extension InMemoryConfiguration: MigratableConfiguration {
    /// The schema of the storage's records; nil without a storage.
    public func storedSchema() throws -> StoredSchema? { storage?.schema }
    /// Whether there is a storage: without one, a store begins empty.
    public var allowsMigration: Bool { storage != nil }

    /// Keeps stores from opening the storage until the migration ends.
    /// - Throws: `MigrationError.openElsewhere`, `.storeGone`.
    public func beginMigration() throws -> any StoreMigration {
        guard let storage else { throw MigrationError.storeGone(store: name) }
        return try storage.beginMigration(named: name)
    }

    /// Looks at the records as they are now.
    /// - Throws: `MigrationError.storeGone`.
    public func previewMigration() throws -> any StoreMigration {
        guard let storage else { throw MigrationError.storeGone(store: name) }
        return try storage.preview(named: name)
    }
}

extension EngineVersion {
    /// The transaction that has brought the store to its schema and made this version, without changes.
    fileprivate func migration() -> ChangeSet {
        var changes = ChangeSet()
        changes.commit = .init(
            number: number, timestamp: Date(), process: ProcessInfo.processInfo.processName, mark: HistoryMark.next())
        return changes
    }
}
