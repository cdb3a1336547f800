import Foundation
import MortiseCore
import MortiseEngine
import Synchronization

/// The log behind a store: takes commits in, and answers for what is in it.
///
/// @unchecked Sendable: what changes is behind the engine's writer lock, under which commits come, or behind its own.
final class AppendLog: CommitSink, @unchecked Sendable {
    let configuration: AppendLogConfiguration
    let path: String
    var location: String? { path }
    let writer: LogWriter
    let catalog: LogCatalog
    private let clock: @Sendable () -> Date
    var now: Date { clock() }
    var nextMark: UInt64 { configuration.nextMark() }
    private let timer: BatchedSync?
    private let state = NSLock()
    /// The last version that was appended.
    private var last: EngineVersion
    /// Whether the log's last schema is another than the store's.
    private var needsSchema: Bool
    /// What opening under that other schema has completed, and the first save writes with its own changes.
    private let completed: [ChangeSet.Update]
    /// Keeps the store as it was, before the first write under a schema that lacks what it holds.
    let changeover: SchemaChangeover?
    /// Makes a complete copy of the store at a path where nothing exists.
    let backUp: @Sendable (_ path: String) throws -> Void
    /// Where the log goes on behind the last checkpoint, and how long that is.
    private var checkpointed: (end: Int64, size: Int64) = (0, 0)
    /// Whether the checkpoint cannot be read, so that another one is wanted whatever has come behind it.
    private var isCheckpointSpoilt = false
    private var turn: WriteTurn?
    /// Takes in what other processes have saved; set once, before anybody uses the log.
    var catchUp: @Sendable () -> Void = {}
    /// Where the log's transactions are; set once, before anybody uses the log.
    var history: LogHistory?
    private let maintenance = NSLock()
    let checkpoints = BackgroundWork()
    let compactions: BackgroundWork
    /// Whom to tell how far a compaction in the background is, and of events.
    let observers = LogObservers()
    private let stopping = Atomic(false)

    init(
        _ configuration: AppendLogConfiguration, path: String, writer: LogWriter, catalog: LogCatalog,
        initial: EngineVersion, needsSchema: Bool, loss: SchemaLoss? = nil,
        completed: [ChangeSet.Update] = [],
        now: @escaping @Sendable () -> Date = { Date() }
    ) {
        self.configuration = configuration
        self.path = path
        self.writer = writer
        self.catalog = catalog
        self.last = initial
        self.needsSchema = needsSchema
        self.completed = completed
        clock = now
        let backUp: @Sendable (String) throws -> Void = { _ = try configuration.backUpStore(to: $0) }
        self.backUp = backUp
        changeover = loss.map { SchemaChangeover($0, of: path, in: configuration.fileSystem, backUp: backUp) }
        compactions = BackgroundWork(leastAfterFailure: configuration.leastGarbage)
        if case .batched(let interval) = configuration.durability {
            timer = BatchedSync(writer, every: interval)
        } else {
            timer = nil
        }
    }

    var fileSystem: any FileSystem { configuration.fileSystem }
    /// Whether the log is being closed, so that what takes long is to end.
    @Sendable func isStopping() -> Bool { stopping.load(ordering: .acquiring) }
    var checkpointPath: String { StoreFiles(resolved: path).checkpoint }

    /// Runs one checkpoint, compaction or backup at a time.
    /// - Throws: what the body throws; what ends the work while it waits for another.
    func maintaining<R>(_ progress: MaintenanceProgress, _ body: () throws -> R) throws -> R {
        while !maintenance.try() {
            try progress.check()
            Thread.sleep(forTimeInterval: 0.001)
        }
        defer { maintenance.unlock() }
        try progress.check()
        return try body()
    }

    func takeTurn() throws {
        let turn = try WriteTurn(
            forLogAt: path, permissions: configuration.newFilePermissions, in: fileSystem)
        state.withLock { self.turn = turn }
    }

    func checkHealth() throws { try writer.checkHealth() }

    func end() {
        let turn = state.withLock { self.turn.take() }
        turn?.giveBack()
    }

    var lastCheckpoint: (end: Int64, size: Int64) { state.withLock { checkpointed } }
    var hasOtherSchema: Bool { state.withLock { needsSchema } }
    func setCheckpoint(_ last: (end: Int64, size: Int64)) {
        state.withLock {
            checkpointed = last
            isCheckpointSpoilt = false
        }
    }
    var hasSpoiltCheckpoint: Bool { state.withLock { isCheckpointSpoilt } }
    func setCheckpointSpoilt() { state.withLock { isCheckpointSpoilt = true } }

    func noteFollowed(_ version: EngineVersion) {
        state.withLock { last = version }
    }

    func commit(_ result: EngineVersion, changes: ChangeSet) throws {
        try append(result, changes: changes)?.wait()
    }

    func append(_ result: EngineVersion, changes: ChangeSet) throws -> (any CommitTicket)? {
        let (base, needsSchema) = state.withLock { (last, self.needsSchema) }
        var frames: [(kind: FrameKind, payload: [UInt8])] = []
        var changes = changes
        if needsSchema {
            // Those that the save has deleted need nothing any more.
            changes.updated += completed.filter { result.tables[$0.record.entityName]?.row(of: $0.record) != nil }
            try keepCopy()
            frames.append((.schema, try catalog.schemaPayload()))
        }
        let sequence = try write(changes, from: base, to: result, catalog, behind: frames)
        state.withLock {
            last = result
            self.needsSchema = false
        }
        let end = writer.state.position.end
        checkpoints.noteAppended(upTo: end)
        compactions.noteAppended(upTo: end)
        if isShared {
            // Before the turn is given back: others build on what they find.
            if configuration.durability != .none { try writer.sync(upTo: sequence) }
            return nil
        }
        switch configuration.durability {
        case .full: return Ticket(writer: writer, sequence: sequence)
        case .batched:
            timer?.noteAppended()
            return nil
        case .none: return nil
        }
    }

    /// Writes the frame of a transaction, and others before it.
    /// - Returns: the number of the append, to wait for.
    /// - Throws: as `LogWriter.append`; `AppendLogError` for what the log cannot take.
    private func write(
        _ changes: ChangeSet, from base: EngineVersion, to result: EngineVersion, _ catalog: LogCatalog,
        behind frames: [(kind: FrameKind, payload: [UInt8])]
    ) throws -> UInt64 {
        let stream = stream(for: changes, behind: frames)
        var payload = stream.map { ByteWriter(to: $0) } ?? ByteWriter(capacity: 512)
        payload.mostParts = configuration.mostParts
        do {
            try AppendLogError.naming(path) {
                try payload.transaction(changes, from: base, to: result, catalog: catalog)
            }
        } catch {
            throw stream?.abandon() ?? error
        }
        let kind: FrameKind = payload.hasFiles ? .transactionWithFiles : .transaction
        if let stream = stream?.hasBegun == true ? stream : streamOfLong(payload, behind: frames) {
            return try stream.finish(payload.bytes, kind, transaction: result.number)
        }
        return try writer.append(frames + [(kind, payload.bytes)], transaction: result.number)
    }

    /// - Throws: what keeps the copy from being made; nothing may be written then.
    private func keepCopy() throws {
        guard let changeover, let copy = try changeover.keepCopy() else { return }
        observers.post(.schemaLoss(store: configuration.name, loss: changeover.loss, copy: copy))
    }

    /// Writes the payload of many changes while it is encoded; nil if the payload will be short.
    private func stream(
        for changes: ChangeSet, behind frames: [(kind: FrameKind, payload: [UInt8])]
    ) -> FrameStream? {
        // A record that is changed or deleted takes ten bytes or so, a new one a hundred.
        let count = changes.inserted.count + changes.updated.count + changes.deleted.count
        let pieceSize = configuration.pieceSize
        return count > pieceSize / 64 ? FrameStream(to: writer, behind: frames, pieceSize: pieceSize) : nil
    }

    /// What writes a payload that turned out to be long, so that it need not be copied behind its header.
    private func streamOfLong(
        _ payload: ByteWriter, behind frames: [(kind: FrameKind, payload: [UInt8])]
    ) -> FrameStream? {
        let pieceSize = configuration.pieceSize
        return payload.count > pieceSize ? FrameStream(to: writer, behind: frames, pieceSize: pieceSize) : nil
    }

    /// The last version that was appended, with the place behind it, all of it synced. Until the first save under another
    /// schema than the log's, the records are as the log has them, under its schema.
    /// - Throws: `EngineError.latched`; `AppendLogError`; `FileError`, also where the log is not the one at the path any more: a checkpoint of it
    ///   would not fit the one that is.
    func snapshot(_ progress: MaintenanceProgress) throws -> (
        version: EngineVersion, position: LogPosition, header: FileHeader
    ) {
        // Frames of other processes may have to be written again, which requires the turn.
        let turn =
            isShared
            ? try WriteTurn(
                forLogAt: path, permissions: configuration.newFilePermissions, in: fileSystem,
                isCancelled: { progress.isCancelled }) : nil
        defer { turn?.giveBack() }
        try writer.checkWritable()
        // Version and place are taken apart; a commit in between shows in the numbers.
        while true {
            if hasOtherSchema {
                if let stored = try storedSnapshot() { return stored }
                try progress.check()
                Thread.sleep(forTimeInterval: 0.001)
                continue
            }
            let version = state.withLock { last }
            let (header, position) = writer.state
            if position.transaction == version.number {
                try writer.settle()
                return (version, position, header)
            }
            if position.transaction < version.number {
                throw EngineError.latched(store: path, cause: "its log lacks transactions that its records contain")
            }
            Thread.sleep(forTimeInterval: 0.000_1)
        }
    }

    /// The records as the log has them, read once more; nil if a save comes meanwhile.
    private func storedSnapshot() throws -> (version: EngineVersion, position: LogPosition, header: FileHeader)? {
        let (header, position) = writer.state
        let external =
            catalog.external
            ?? ExternalFiles(beside: path, permissions: configuration.newFilePermissions, in: fileSystem)
        let content = try LogContent.read(
            try writer.currentFile(checkingName: true), path: path, external: external, in: fileSystem)
        guard hasOtherSchema, content.position == position else { return nil }
        let version = try content.records.version(position.transaction, for: content.schema).version
        try writer.settle()
        return (version, position, header)
    }

    func close() throws {
        timer?.stop()
        stopping.store(true, ordering: .releasing)
        checkpoints.stop()
        compactions.stop()
        // One that runs notices and ends; what it has written is a temporary.
        maintenance.withLock {}
        // Savers that wait for a sync are promised it; if it fails, they report it.
        if case .full = configuration.durability { try? writer.syncAll() }
        let result = Result { if case .batched = configuration.durability { try writer.syncAll() } }
        if case .success = result { checkpointInClosing() }
        writer.close()
        try result.get()
    }

    private final class Ticket: CommitTicket {
        private let writer: LogWriter
        private let sequence: UInt64
        init(writer: LogWriter, sequence: UInt64) {
            self.writer = writer
            self.sequence = sequence
        }
        func wait() throws { try writer.sync(upTo: sequence) }
    }
}

extension LogCatalog {
    /// - Throws: `LogFault` for a schema that no reader would take.
    func schemaPayload() throws -> [UInt8] {
        try schema.checkForLog()
        var writer = ByteWriter(capacity: 1024)
        try writer.schema(schema, store: store)
        writer.byte(payloadEnd)
        return writer.bytes
    }
}

extension StoredSchema {
    /// - Throws: `LogFault` for a schema that no reader would take.
    func checkForLog() throws(LogFault) {
        let properties = entities.reduce(0) { $0 + $1.properties.count }
        guard entities.count <= ByteReader.mostEntities, properties <= ByteReader.mostProperties else {
            throw .schemaTooLarge(entities: entities.count, properties: properties)
        }
        do throws(StoredSchemaFault) {
            try check(.log)
        } catch {
            throw .invalidSchema(error)
        }
    }
}

/// Syncs a log in the background, at most once in an interval and only after appends.
///
/// @unchecked Sendable: what changes is behind the lock.
final class BatchedSync: @unchecked Sendable {
    private let writer: LogWriter
    private let interval: DispatchTimeInterval
    private let lock = NSLock()
    private var isScheduled = false
    private var isStopped = false

    init(_ writer: LogWriter, every interval: Duration) {
        self.writer = writer
        let (seconds, attoseconds) = interval.components
        let nanoseconds = min(max(seconds, 0), 3_600) * 1_000_000_000 + attoseconds / 1_000_000_000
        self.interval = .nanoseconds(Int(max(nanoseconds, 0)))
    }

    func noteAppended() {
        let starts = lock.withLock {
            defer { isScheduled = true }
            return !isScheduled && !isStopped
        }
        guard starts else { return }
        DispatchQueue.global().asyncAfter(deadline: .now() + interval) { [weak self] in self?.run() }
    }

    func stop() { lock.withLock { isStopped = true } }

    private func run() {
        let goesOn = lock.withLock {
            isScheduled = false
            return !isStopped
        }
        // A failure latches the writer, and the next save tells.
        if goesOn { try? writer.syncAll() }
    }
}
