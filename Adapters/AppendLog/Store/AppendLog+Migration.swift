public import MortiseCore
import MortiseEngine

extension AppendLogConfiguration: MigratableConfiguration {
    /// Whether the configuration allows saving.
    public var allowsMigration: Bool { allowsSave }

    /// Reads the log, without its lock.
    /// - Throws: as opening the store for reading does.
    public func previewMigration() throws -> any StoreMigration {
        guard let stored = try storedSchema() else { throw FileError(.notFound, operation: .open, path: path) }
        var configuration = readOnly()
        configuration.schema = Schema(stored: stored)
        let store = try AppendLogStore(configuration, migrationPlan: nil)
        return EngineMigration(previewing: store.engine.version, named: name) { try? store.close() }
    }

    /// The frame, and a copy of the store where one stays: how much code changes is not known.
    public func migrationSpace(keepingCopy keepsCopy: Bool) throws -> MigrationSpace? {
        MigrationSpace(
            needed: (keepsCopy ? try storeFiles().reduce(0) { $0 + $1.bytes } : 0) + 65_536,
            free: try fileSystem.freeSpace(at: path))
    }

    /// Takes the lock of the log and reads it. One frame is appended to the log in the end, with the schemas that the migration leads
    /// through and what its code has changed; the transactions before it stay, and so do history tokens. What is prepared is all of that
    /// frame but its header, at which a reader begins, with the room for it; the switch is the header. Where the new
    /// schema lacks something that the store holds, a copy of the store is kept beside it as `NAME.schema-VERSION-NUMBER`.
    /// - Throws: `MigrationError.openElsewhere`, `.sharedElsewhere`; as opening the store does.
    public func beginMigration() throws -> any StoreMigration { try beginMigration(MigrationRequest()) }

    /// As `beginMigration()`. Until the end, a file beside the log says which process migrates it.
    /// - Throws: as `beginMigration()`.
    public func beginMigration(_ request: MigrationRequest) throws -> any StoreMigration {
        if sharing == .shared { throw MigrationError.sharedElsewhere(store: name) }
        let log = try openingUnderStoredSchema { stored in
            var configuration = self
            configuration.schema = Schema(stored: stored)
            configuration.isMigrating = true
            // They would write what is about to be another version.
            configuration.checkpoints = .onCall
            configuration.compaction = .onCall
            do {
                let log = try OpenLogs.shared.open(configuration, schema: stored)
                if log.sink?.hasOtherSchema != true { return log }
                try? OpenLogs.shared.close(log)
                return nil
            } catch EngineError.openWithOtherOptions {
                throw MigrationError.openElsewhere(store: name)
            }
        }
        // The container opens a log that is whole already.
        if let recovery = log.recovery {
            StoreEvents.emit(.recovery(store: name, bytes: recovery.droppedBytes))
        }
        let advice = MigrationAdvice(forStoreAt: log.path, in: fileSystem)
        do {
            let migration = MigrationUnderWay(from: log.engine.version.catalog.schema.version, to: request.target)
            // Only now: who held the lock until then may have failed, and then removed its own.
            advice.write(try migration.following(advice.current, store: name), permissions: newFilePermissions)
        } catch {
            advice.clear()
            try? OpenLogs.shared.close(log)
            throw error
        }
        let migration = log.sink.map { LogMigration(of: $0, writesCheckpoint: checkpoints == .automatic) }
        let adapter = EngineMigration.Adapter(
            note: { try migration?.note($0) },
            prepare: { outcome in
                guard let migration else { throw DataStoreError.unsupportedFeature }
                let (copy, frame) = try migration.prepare(outcome)
                return .init(
                    copy: copy,
                    commit: {
                        try migration.commit(frame, outcome, keeping: copy)
                        if let copy, !outcome.loss.isEmpty {
                            StoreEvents.emit(.schemaLoss(store: name, loss: outcome.loss, copy: copy))
                        }
                        if let most = outcome.mostCopies {
                            SchemaChangeover.removeCopies(of: log.path, except: most, newest: copy, in: fileSystem)
                        }
                    },
                    discard: {
                        frame.abandon()
                        if let copy { SchemaChangeover.removeCopy(copy, in: fileSystem) }
                    })
            },
            scratch: { [fileSystem, newFilePermissions] in
                try ScratchFile.open(beside: log.path, permissions: newFilePermissions, in: fileSystem)
            },
            release: {
                advice.remove()
                try? OpenLogs.shared.close(log)
            })
        return EngineMigration(of: log.engine.version, named: name, adapter)
    }

    /// Reads the file beside the log that says so.
    public func migrationUnderWay() -> MigrationUnderWay? {
        guard let path = try? fileSystem.resolvingLinks(path) else { return nil }
        return MigrationAdvice(forStoreAt: path, in: fileSystem).current
    }
}

/// The parts of the frame that a migration appends to a log.
private final class LogMigration {
    private let log: AppendLog
    private let writesCheckpoint: Bool
    private var catalog: LogCatalog
    private var parts: [(kind: FrameKind, payload: WaitingPayloads.Payload)] = []
    private let waiting: WaitingPayloads

    init(of log: AppendLog, writesCheckpoint: Bool) {
        self.log = log
        let configuration = log.configuration
        waiting = WaitingPayloads(pieceSize: configuration.pieceSize, path: log.path) { [path = log.path] in
            try ScratchFile.open(
                beside: path, permissions: configuration.newFilePermissions, in: configuration.fileSystem)
        }
        self.writesCheckpoint = writesCheckpoint
        catalog = log.catalog
    }

    /// - Throws: `AppendLogError` for a schema or value that the log cannot take.
    func note(_ step: EngineMigration.Step) throws {
        try AppendLogError.naming(log.path) {
            switch step {
            case .schema(let schema):
                catalog = LogCatalog(schema, store: catalog.store, external: catalog.external)
                parts.append((.schema, try waiting.finish(try catalog.schemaPayload())))
            case .changes(let changes):
                var payload = ByteWriter(to: waiting)
                payload.mostParts = log.configuration.mostParts
                try payload.transaction(changes, catalog: catalog)
                parts.append((.transactionWithFiles, try waiting.finish(payload.bytes)))
            }
        }
    }

    /// - Returns: the path of the copy that was kept of the store as it was, nil where none has to be; and the frame, which is on the
    ///   disk but for its header.
    /// - Throws: `EngineError.latched`; `AppendLogError` for a schema or value that the log cannot take; `FileError`.
    func prepare(_ outcome: EngineMigration.Outcome) throws -> (copy: String?, FrameStream) {
        defer { parts = [] }
        return try log.prepare(outcome, parts, of: waiting, under: catalog)
    }

    /// - Throws: `EngineError.latched`; `FileError`.
    func commit(_ frame: FrameStream, _ outcome: EngineMigration.Outcome, keeping copy: String?) throws {
        try log.commit(frame, outcome, keeping: copy, writingCheckpoint: writesCheckpoint)
    }
}

extension AppendLog {
    fileprivate func prepare(
        _ outcome: EngineMigration.Outcome, _ parts: [(kind: FrameKind, payload: WaitingPayloads.Payload)],
        of waiting: WaitingPayloads, under catalog: LogCatalog
    ) throws -> (copy: String?, FrameStream) {
        var copy: String?
        if !outcome.loss.isEmpty || outcome.keepsCopy {
            copy = try SchemaChangeover.keepCopy(
                of: path, version: self.catalog.schema.version, in: fileSystem, backUp: backUp)
        }
        let frame = FrameStream(to: writer, behind: [], pieceSize: configuration.pieceSize)
        do {
            var payload = ByteWriter(to: frame)
            payload.mostParts = configuration.mostParts
            payload.varint(parts.count)
            for part in parts {
                payload.byte(part.kind.rawValue)
                payload.varint(part.payload.count)
                try waiting.copy(part.payload, to: &payload)
            }
            do {
                try AppendLogError.naming(path) {
                    try payload.transaction(outcome.changes, catalog: catalog)
                }
            } catch {
                throw frame.abandon() ?? error
            }
            try frame.prepare(payload.bytes, .migration, transaction: outcome.result.number)
        } catch {
            // Each attempt would leave another copy of a log that is what it was.
            if let copy { SchemaChangeover.removeCopy(copy, in: fileSystem) }
            throw error
        }
        return (copy, frame)
    }

    /// Makes the frame of a migration valid and waits until that is on the disk. Nothing can be saved here afterwards.
    fileprivate func commit(
        _ frame: FrameStream, _ outcome: EngineMigration.Outcome, keeping copy: String?,
        writingCheckpoint writesCheckpoint: Bool
    ) throws {
        do {
            try writer.sync(upTo: try frame.commit())
        } catch {
            // Where nothing was written each attempt would leave another copy.
            if let copy, (try? writer.checkWritable()) != nil { SchemaChangeover.removeCopy(copy, in: fileSystem) }
            throw error
        }
        let (header, position) = writer.state
        if writesCheckpoint, position.end >= configuration.leastReplay {
            // So that the next opening need not bring each record to the schema again; the log has everything.
            _ = try? maintaining(MaintenanceProgress(isStopped: { false })) {
                try self.write(
                    checkpointWriter(outcome.result, MaintenanceProgress(isStopped: { false })),
                    [.init(log: header.file, position: position)])
            }
        }
        // What is open here is the version before.
        writer.end(because: "the log was brought to another version of the schema")
    }
}
