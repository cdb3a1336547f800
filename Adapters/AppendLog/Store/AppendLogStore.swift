public import MortiseCore
public import MortiseEngine
import Synchronization

/// The engine over an append log.
///
/// Opened for writing it holds the lock of the log against other processes; opened again in this process with equal
/// options it is the same store. What is damaged or not understood is a typed error, and the files stay as they are.
public final class AppendLogStore: EngineDataStore {
    public typealias Snapshot = DefaultSnapshot
    public typealias Configuration = AppendLogConfiguration

    public let configuration: AppendLogConfiguration
    public let schema: Schema
    public var engine: Engine { opened.engine }
    public var allowsSave: Bool { configuration.allowsSave }
    /// What opening had to leave out or put right; nil where nothing.
    public var recovery: AppendLogRecovery? { opened.recovery }
    let opened: OpenLog
    let isClosed = Atomic(false)
    private let remoteChanges = Mutex<RemoteChanges?>(nil)
    private let eventHandler = Mutex<(@Sendable (StoreEvent) -> Void)?>(nil)

    /// - Throws: `FileError` (`locked` with the holder's process where another one writes the log), `AppendLogError` for
    ///   what is wrong with the files, `EngineError.schemaMismatch`, `EngineError.openWithOtherOptions`,
    ///   `DataStoreError.unsupportedFeature` without a schema,
    ///   `MigrationError` where the plan has code to run before this file is of the schema.
    public init(_ configuration: AppendLogConfiguration, migrationPlan: (any SchemaMigrationPlan.Type)?) throws {
        guard let schema = configuration.schema else { throw DataStoreError.unsupportedFeature }
        self.configuration = configuration
        self.schema = schema
        try configuration.checkStages(of: migrationPlan)
        opened = try OpenLogs.shared.open(configuration, schema: schema.stored)
        opened.sink?.observers.add(self) { [weak self] in self?.handle($0) }
        if let recovery = opened.recovery {
            tell(.recovery(store: configuration.name, bytes: recovery.droppedBytes))
        }
        let follows = configuration.allowsSave ? configuration.sharing == .shared : opened.tail != nil
        if follows {
            let changes = RemoteChanges(self)
            remoteChanges.withLock { $0 = changes }
        }
    }

    deinit { try? close() }

    func tell(_ event: StoreEvent) {
        StoreEvents.emit(event)
        handle(event)
    }

    private func handle(_ event: StoreEvent) { eventHandler.withLock { $0 }?(event) }

    public var capabilities: StoreCapabilities {
        engineCapabilities.union([configuration.durability == .full ? .durability : .reopening])
    }

    /// Gives the log free, unless another store of this process has it open too. Closing twice does nothing.
    public func close() throws {
        guard !isClosed.exchange(true, ordering: .acquiringAndReleasing) else { return }
        remoteChanges.withLock { $0.take() }?.stop()
        opened.sink?.observers.remove(self)
        try OpenLogs.shared.close(opened)
    }
}

extension AppendLogStore: EventReportingDataStore {
    public func reportEvents(to handler: @escaping @Sendable (StoreEvent) -> Void) {
        eventHandler.withLock { $0 = handler }
    }
}

/// What opening a log had to leave out or put right.
public struct AppendLogRecovery: Hashable, Sendable {
    /// Where the log was cut, and how many bytes were behind; none of them were acknowledged as being on the disk. A reader
    /// may see the beginning of a long transaction there that is being written.
    public var tornAt: Int64?
    public var droppedBytes: Int64 = 0
    /// The file that holds those bytes now; nil for a reader, which leaves the log as it is.
    public var keptAside: String?
    /// Why the checkpoint was left aside and the whole log replayed.
    public var ignoredCheckpoint: LogFault?
    /// The number of the last transaction that is there.
    public var lastTransaction: UInt64 = 0
}
