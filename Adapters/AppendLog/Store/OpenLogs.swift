import Foundation
import MortiseCore
import MortiseEngine

/// A log that is open in this process.
final class OpenLog: Sendable {
    let path: String
    let engine: Engine
    /// Nil for a reader.
    let sink: AppendLog?
    let recovery: AppendLogRecovery?
    /// What the schema lacks that the log held when it was opened.
    private let loss: SchemaLoss?
    /// For a reader that follows a writer.
    let tail: ReaderTail?
    /// What replaces an unreadable checkpoint; nil if nothing does.
    let fallback: CheckpointFallback?
    /// Where its transactions are.
    let history: LogHistory

    init(
        path: String, engine: Engine, sink: AppendLog?, recovery: AppendLogRecovery?,
        loss: SchemaLoss? = nil, tail: ReaderTail? = nil, fallback: CheckpointFallback? = nil
    ) {
        self.loss = loss
        self.tail = tail
        self.fallback = fallback
        self.path = path
        self.engine = engine
        self.sink = sink
        self.recovery = recovery
        history = LogHistory(path)
        sink?.history = history
    }

    /// What the first write drops, or a reader does not show; nil once it was dropped.
    var schemaLoss: SchemaLoss? { sink.map { $0.changeover?.pendingLoss } ?? loss }
}

/// The logs that are open in this process: a file has one engine, however often it is opened.
final class OpenLogs: Sendable {
    static let shared = OpenLogs()

    private let logs = OpenStores<OpenLog, AppendLogConfiguration>()

    func open(_ configuration: AppendLogConfiguration, schema: StoredSchema) throws -> OpenLog {
        let place = try OpenPlace(of: configuration.path, in: configuration.givenFileSystem)
        return try logs.open(
            place, options: configuration, areEqual: { $0.hasSameOptions(as: $1) },
            // A reader disturbs no writer; one that follows and one that does not are two.
            areApart: {
                $0.allowsSave != $1.allowsSave || (!$0.allowsSave && $0.followsWriter != $1.followsWriter)
            },
            // One that was left behind is to be opened again.
            isUsable: { $0.tail?.reasonForStopping == nil }
        ) {
            let files = try StoreFiles.log(place.place.path, in: configuration.fileSystem)
            return try LogOpening(configuration, path: files.main, schema: schema).open()
        }
    }

    /// How many threads wait to open the log of a configuration.
    func waiting(for configuration: AppendLogConfiguration) throws -> Int {
        logs.waiting(at: try OpenPlace(of: configuration.path, in: configuration.givenFileSystem))
    }

    /// Closes the engine when its last user does.
    func close(_ log: OpenLog) throws { try logs.close(log) { try log.engine.close() } }
}
