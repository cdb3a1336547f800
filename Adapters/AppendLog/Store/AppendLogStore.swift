import Foundation
public import MortiseCore
public import MortiseEngine
import Synchronization

/// The engine over an append log.
///
/// Opened for writing it holds the lock of the log against other processes; opened again in this process with equal
/// options it is the same store. What is damaged or not understood is a typed error, and the files stay as they are.
public final class AppendLogStore: EngineDataStore {
    /// Snapshots by slot.
    public typealias Snapshot = DefaultSnapshot
    /// The configuration that opens the store.
    public typealias Configuration = AppendLogConfiguration

    /// The configuration that opened the store.
    public let configuration: AppendLogConfiguration
    /// The models that the store keeps.
    public let schema: Schema
    /// The engine that holds the records.
    public var engine: Engine { opened.engine }
    /// Whether the configuration allows saving.
    public var allowsSave: Bool { configuration.allowsSave }
    /// What opening left out or repaired; nil if nothing.
    public var recovery: AppendLogRecovery? { opened.recovery }
    let opened: OpenLog
    let isClosed = Atomic(false)
    private let remoteChanges = Mutex<(changes: RemoteChanges, listener: ChangeFeed.Listener)?>(nil)
    /// With what is sent once and came before anybody listened.
    // A function in a tuple would be wrapped once more at each access.
    private struct EventHandling {
        var handler: (@Sendable (StoreEvent) -> Void)?
        var missed: StoreEvent?
    }
    private let eventHandler = Mutex(EventHandling())

    /// - Throws: `FileError` (`locked` with the holder's process where another one writes the log), `AppendLogError` for
    ///   what is wrong with the files, `EngineError.schemaMismatch`, `EngineError.openWithOtherOptions`,
    ///   `DataStoreError.unsupportedFeature` without a schema,
    ///   `MigrationError` where the plan has code to run before this file is of the schema, where the log is of a newer
    ///   schema, and where it holds records of entities that the schema lacks.
    public init(_ configuration: AppendLogConfiguration, migrationPlan: (any SchemaMigrationPlan.Type)?) throws {
        guard let schema = configuration.schema else { throw DataStoreError.unsupportedFeature }
        self.configuration = configuration
        self.schema = schema
        try configuration.checkStages(of: migrationPlan)
        opened = try OpenLogs.shared.open(configuration, schema: schema.stored)
        opened.sink?.observers.add(self) { [weak self] in self?.handle($0) }
        if opened.sink == nil {
            opened.fallback?.observe { [weak self] fault in
                guard let self else { return }
                post(.checkpointUnreadable(store: configuration.name, reason: "\(fault)"))
            }
        }
        if let recovery = opened.recovery {
            post(.recovery(store: configuration.name, bytes: recovery.droppedBytes))
        }
        if let schemaLoss { post(.schemaLoss(store: configuration.name, loss: schemaLoss, copy: nil)) }
        if announcesOtherProcesses {
            let listener = engine.feed.listen { [weak self] in
                guard let self else { return }
                NotificationCenter.default.post(name: Self.remoteChange, object: self)
                post(.remoteChange(store: configuration.name))
            }
            let changes = RemoteChanges(of: self)
            remoteChanges.withLock { $0 = (changes, listener) }
        }
    }

    deinit { try? close() }

    func post(_ event: StoreEvent) {
        StoreEvents.emit(event)
        handle(event)
    }

    private func handle(_ event: StoreEvent) {
        let handler = eventHandler.withLock { state in
            if state.handler == nil, case .readerLeftBehind = event { state.missed = event }
            return state.handler
        }
        handler?(event)
    }

    /// What an engine can do, and durability if the configuration asks for all of it.
    public var capabilities: StoreCapabilities {
        engineCapabilities.union([configuration.durability == .full ? .durability : .reopening])
    }

    /// Looks at the log as it is now, without reading it; of a store that follows a writer, at whether it still can.
    /// - Throws: what is wrong.
    public func checkHealth() throws {
        try engine.version.check()
        try engine.checkHealth()
        try opened.tail?.checkHealth()
    }

    /// Releases the log, unless another store of this process has it open too. Closing twice does nothing.
    public func close() throws {
        guard !isClosed.exchange(true, ordering: .acquiringAndReleasing) else { return }
        if let (changes, listener) = remoteChanges.withLock({ $0.take() }) {
            listener.cancel()
            changes.stop()
        }
        // Closing may have something to tell.
        defer { opened.sink?.observers.remove(self) }
        try OpenLogs.shared.close(opened)
    }
}

extension AppendLogStore {
    /// What the store holds that the schema it was opened with lacks; nil if nothing.
    public var schemaLoss: SchemaLoss? { opened.schemaLoss }

    /// Reports events of the store to a handler, which replaces the one before.
    public func reportEvents(to handler: @escaping @Sendable (StoreEvent) -> Void) {
        let missed = eventHandler.withLock { state in
            defer { state = EventHandling(handler: handler) }
            return state.missed
        }
        if let missed { handler(missed) }
    }
}

/// What opening a log dropped or repaired.
public struct AppendLogRecovery: Hashable, Sendable {
    /// The offset at which the log was cut, in bytes; nil if nothing was cut off. Nothing after it was acknowledged as being
    /// on the disk. In a store opened for reading, it may be where a writer has begun a long transaction.
    public var tornAt: Int64?
    /// The number of bytes after that offset.
    public var droppedBytes: Int64 = 0
    /// The file that holds those bytes now; nil for a reader, which leaves the log as it is.
    public var keptAside: String?
    /// Why the checkpoint was not used and the whole log was replayed; nil if it was used or is missing.
    public var ignoredCheckpoint: LogFault?
    /// The number of the last transaction in the store; 0 if it has none.
    public var lastTransaction: UInt64 = 0
}
