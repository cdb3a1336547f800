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

    /// Takes the lock of the log and reads it. One frame is appended to the log in the end, with the schemas that the migration leads
    /// through and what its code has changed; the transactions before it stay, and so do history tokens. Where the new
    /// schema lacks something that the store holds, a copy of the store is kept beside it as `NAME.schema-VERSION-NUMBER`.
    /// - Throws: `MigrationError.openElsewhere`; `EngineError.schemaMismatch` for a log that others share; as opening the store
    ///   does.
    public func beginMigration() throws -> any StoreMigration {
        guard let stored = try storedSchema() else { throw FileError(.notFound, operation: .open, path: path) }
        if sharing == .shared {
            throw EngineError.schemaMismatch(
                store: name, differences: ["a shared log cannot be migrated; open it unshared once"])
        }
        var configuration = self
        configuration.schema = Schema(stored: stored)
        configuration.isMigrating = true
        // They would write what is about to be another version.
        configuration.checkpoints = .onCall
        configuration.compaction = .onCall
        let log: OpenLog
        do {
            log = try OpenLogs.shared.open(configuration, schema: stored)
        } catch EngineError.openWithOtherOptions {
            throw MigrationError.openElsewhere(store: name)
        }
        let writesCheckpoint = checkpoints == .automatic
        return EngineMigration(of: log.engine.version, named: name) { outcome in
            guard let sink = log.sink else { throw DataStoreError.unsupportedFeature }
            if let copy = try sink.migrate(with: outcome, writingCheckpoint: writesCheckpoint) {
                StoreEvents.emit(.schemaLoss(store: name, loss: outcome.loss, copy: copy))
            }
        } release: {
            try? OpenLogs.shared.close(log)
        }
    }
}

extension AppendLog {
    /// Appends the frame of a migration and waits until it is on the disk. Nothing can be saved here afterwards.
    /// - Returns: the path of the copy that was kept of the store as it was; nil if nothing is lost.
    /// - Throws: `EngineError.latched`; `AppendLogError` for a schema or value that the log cannot take; `FileError`.
    func migrate(
        with outcome: EngineMigration.Outcome, writingCheckpoint writesCheckpoint: Bool
    ) throws -> String? {
        guard case .changes(let changes, let before, let result)? = outcome.steps.last else {
            throw DataStoreError.unsupportedFeature
        }
        var current = catalog
        var parts: [(kind: FrameKind, payload: [UInt8])] = []
        try AppendLogError.naming(path) {
            for step in outcome.steps.dropLast() {
                switch step {
                case .schema(let schema):
                    current = LogCatalog(schema, store: catalog.store, external: catalog.external)
                    parts.append((.schema, try current.schemaPayload()))
                case .changes(let changes, let before, let after):
                    var payload = ByteWriter()
                    payload.mostParts = configuration.mostParts
                    try payload.transaction(changes, from: before, to: after, catalog: current)
                    parts.append((.transactionWithFiles, payload.bytes))
                }
            }
        }
        var copy: String?
        if !outcome.loss.isEmpty {
            copy = try SchemaChangeover.keepCopy(
                of: path, version: catalog.schema.version, in: fileSystem, backUp: backUp)
        }
        let append = try write(changes, from: before, to: result, current, behind: [], including: parts)
        try writer.sync(upTo: append)
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
        return copy
    }
}
