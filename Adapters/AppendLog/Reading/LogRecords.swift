import MortiseCore
import MortiseEngine

/// The records of a store while its log is read.
///
/// Behind a checkpoint they are its version with what the log changes laid over it, all of it still in the file. Without one they
/// go into columns as they come; where the schema changes on the way, these are brought to the next.
struct LogRecords {
    // One of them at most; each is taken out while it changes, so that it is not copied.
    private var load: LogLoad?
    private var version: EngineVersion?
    private var replay: VersionReplay?
    private var tail: TailReplay?
    let store: String
    /// The log's, for errors.
    private let path: String
    private let external: ExternalFiles
    /// Whether `version` is a checkpoint's, of which nobody has read anything.
    private var isUnread: Bool

    init(_ checkpoint: EngineVersion?, store: String, path: String = "", external: ExternalFiles) {
        self.external = external
        self.store = store
        self.path = path
        version = checkpoint
        isUnread = checkpoint != nil
    }

    /// Begins with a checkpoint that is read whole while the log is applied to it, so that nothing is left to be found later.
    init(replaying checkpoint: EngineVersion, store: String, external: ExternalFiles) {
        self.init(checkpoint, store: store, external: external)
        isUnread = false
    }

    /// The schema that was last read; nil before any.
    var schema: StoredSchema? {
        load?.catalog.schema ?? version?.catalog.schema ?? replay?.base.catalog.schema ?? tail?.catalog.schema
    }

    mutating func apply(_ frame: ScannedFrame) throws {
        switch frame.header.kind {
        case .schema: try apply(try frame.reading { try $0.schema() }, frame)
        case .transaction, .transactionWithFiles: try applyTransaction(frame)
        default: throw LogFault.malformed(part: .frame, offset: frame.position.offset, what: "is not one of a log")
        }
    }

    private mutating func apply(_ schema: StoredSchema, _ frame: ScannedFrame) throws {
        if self.schema == nil {
            load = LogLoad(LogCatalog(schema, store: store, external: external))
        } else if schema != self.schema {
            // A schema's frame alone completes no pairs, because earlier programs did not.
            version = try takeVersion(upTo: frame.position.transaction, isWhole: true)?
                .mapped(to: schema, completingPairs: false).version
        }
    }

    private mutating func applyTransaction(_ frame: ScannedFrame) throws {
        if let base = version.take() {
            if isUnread { tail = TailReplay(base, ofLog: path) }
            if tail == nil { replay = VersionReplay(base) }
            isUnread = false
        }
        if var current = load.take() {
            let catalog = current.catalog
            try frame.reading { try $0.transaction(catalog, to: &current) }
            load = current
        } else if var current = replay.take() {
            let catalog = current.catalog
            try frame.reading { reader in
                try reader.transaction(catalog, to: &current)
                try current.endTransaction(frame.header.transaction)
            }
            replay = current
        } else if var current = tail.take() {
            let catalog = current.catalog
            try frame.reading { reader in
                try reader.transaction(catalog, to: &current)
                try current.endTransaction(frame.header.transaction)
            }
            tail = current
        } else {
            throw LogFault.malformed(part: .frame, offset: frame.position.offset, what: "has no schema before it")
        }
    }

    /// The records after a transaction, of which nothing is left here. With `isWhole` none of them waits to be put together.
    /// - Throws: `EngineError.notUnique`; `AppendLogError` of a checkpoint that cannot be read.
    private mutating func takeVersion(upTo transaction: UInt64, isWhole: Bool) throws -> EngineVersion? {
        isUnread = false
        if let load = load.take() { return try load.finish(transaction) }
        if let replay = replay.take() { return try replay.finish(transaction) }
        if let tail = tail.take() { return try tail.finish(transaction, isWhole: isWhole) }
        return version.take()
    }

    /// The records under a schema of the store's user.
    /// - Throws: `EngineError.schemaMismatch`, `EngineError.notUnique`; `AppendLogError` of a checkpoint.
    func version(_ transaction: UInt64, for schema: StoredSchema) throws -> Converted {
        var records = self
        let isOther = records.schema != schema
        guard let found = try records.takeVersion(upTo: transaction, isWhole: isOther) else {
            return Converted(version: .empty(Catalog(schema: schema, storeIdentifier: store, external: external)))
        }
        let version =
            found.number == transaction ? found : found.numbered(transaction, nextSequence: found.nextSequence)
        if version.catalog.schema == schema { return Converted(version: version) }
        // The first save records what is completed.
        let mapped = try version.mapped(to: schema, completingPairs: true)
        return Converted(
            version: mapped.version, loss: mapped.loss.isEmpty ? nil : mapped.loss, completed: mapped.completed)
    }

    /// The records under a schema of the store's user.
    struct Converted {
        let version: EngineVersion
        /// What the schema lacks; nil if it lacks nothing that the store holds.
        var loss: SchemaLoss?
        /// The records, with their slots, that the log does not have so.
        var completed: [ChangeSet.Update] = []
    }
}

/// Brings a version forward by a log's transactions.
struct VersionReplay: TransactionVisitor {
    let base: EngineVersion
    let catalog: LogCatalog
    private let replay: EngineReplay
    private(set) var nextSequence: UInt64
    /// Collects the transaction under way; nil if nobody wants to know what changes.
    private var collector: ChangeCollector?
    /// What the transactions have changed, oldest first; empty if nobody wants to know.
    private(set) var changes: [ChangeSet] = []

    /// Begins with the version; `begun` is the replay where some of the transactions have been applied already.
    init(
        _ base: EngineVersion, for feed: ChangeFeed? = nil, begun: (replay: EngineReplay, nextSequence: UInt64)? = nil
    ) {
        self.base = base
        catalog = LogCatalog(
            base.catalog.schema, store: base.catalog.storeIdentifier, external: base.catalog.external)
        replay = begun?.replay ?? EngineReplay(base)
        nextSequence = begun?.nextSequence ?? base.nextSequence
        if let feed, feed.isFollowed || feed.isFollowedForRecords || feed.isFollowedRemotely {
            collector = ChangeCollector(catalog: catalog, keepsValues: feed.isFollowed)
        }
    }

    /// What cannot be read of the checkpoint is the reason, whatever it looks like.
    private func explaining(_ what: String, _ body: () throws -> Void) throws {
        do {
            try body()
        } catch let error as EngineError {
            if let damage = base.damage { throw damage }
            throw PayloadFault(offset: 0, what: "\(what): \(error)")
        }
    }

    mutating func begin(_ origin: TransactionOrigin, isErasure: Bool, nextSequence: UInt64) throws {
        guard nextSequence >= self.nextSequence else {
            throw PayloadFault(offset: 0, what: "lowers the next record number")
        }
        self.nextSequence = nextSequence
        if isErasure { replay.erase() }
        collector?.begin(origin, isErasure: isErasure, nextSequence: nextSequence)
    }

    mutating func deleted(_ entity: Int, _ sequence: UInt64, preserved: [(slot: Int, value: StoredValue)]) throws {
        try explaining("has an invalid deletion") { try replay.delete(entity: entity, sequence: sequence) }
        collector?.deleted(entity, sequence, preserved: preserved)
    }

    mutating func updated(_ entity: Int, _ sequence: UInt64, _ changes: [(slot: Int, value: StoredValue)]) throws {
        try explaining("has an invalid update") {
            try replay.update(entity: entity, sequence: sequence, changes)
        }
        collector?.updated(entity, sequence, changes)
    }

    mutating func inserted(_ entity: Int, _ sequence: UInt64, _ values: ContiguousArray<StoredValue>) throws {
        guard sequence < nextSequence else {
            throw PayloadFault(offset: 0, what: "inserts a record whose number was used before")
        }
        try explaining("has an invalid insertion") {
            try replay.insert(entity: entity, sequence: sequence, values)
        }
        collector?.inserted(entity, sequence, values)
    }

    mutating func endTransaction(_ number: UInt64) throws {
        try explaining("breaks a rule of the schema") { try replay.endTransaction() }
        if let found = collector?.takeTransaction(number) { changes.append(found) }
    }

    func finish(_ transaction: UInt64) throws -> EngineVersion {
        try replay.finish(number: transaction, nextSequence: nextSequence)
    }

    /// The version after the last transaction, with what has led to it.
    func followed(_ transaction: UInt64) throws -> FollowedVersion {
        let version = try finish(transaction)
        return FollowedVersion(version, changes: changes.map { $0.resolvingExternalValues(in: version) })
    }
}
