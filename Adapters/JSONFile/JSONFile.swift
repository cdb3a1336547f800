import Foundation
import MortiseCore
import MortiseEngine
import Synchronization

/// The file behind a JSON store: read once at opening, replaced by every commit.
///
/// @unchecked Sendable: what changes is behind `writing`.
final class JSONFile: CommitSink, @unchecked Sendable {
    /// The path with links at its end resolved, and as it was given.
    let path: String
    var location: String? { path }
    private let givenPath: String
    private let largestFile: Int64
    private let catalog: Catalog
    private let replacement: DurableReplacement
    private let fileSystem: any FileSystem
    private let lock: FileLock?
    /// The file itself, locked, so that no process writes it under another of its names.
    private var claim: (any OpenFile)?
    /// The file as it was read or last written; nil before there is one.
    private var identity: FileIdentity? {
        get { known.withLock(\.identity) }
        set { known.withLock { $0.identity = newValue } }
    }
    /// The error after which the content of the disk is unknown.
    private var failure: String? {
        get { known.withLock(\.failure) }
        set { known.withLock { $0.failure = newValue } }
    }
    /// Held while the file is written or its next write is scheduled.
    private let writing = NSLock()
    /// Changed while `writing` is held, and looked at also without it.
    private let known: Mutex<Known>

    private struct Known {
        var identity: FileIdentity?
        var failure: String?
        /// Whether another file is being given the name, and how often that was begun.
        var isReplacing = false
        var replacements = 0
    }
    /// Follows the file; nil for a store that writes it, because nobody else can.
    let reader: JSONFileReader?
    /// Keeps the file as it was, before the first save under a schema that lacks what it holds.
    let changeover: SchemaChangeover?
    /// Whether the file has its records under another schema than the one that it was opened with.
    let isUnderOtherSchema: Bool
    /// Makes a complete copy of the store at a path where nothing exists.
    private let backUp: @Sendable (_ path: String) throws -> Void
    /// The stores that are open on the file.
    let observers = EventObservers()
    /// Nil if none is kept.
    let history: JSONHistory?
    /// The records as they were last saved.
    private var last: EngineVersion
    private let name: String
    /// The threads whose saves are to be written later, and how often they asked; the last version that was not written.
    private var deferrals: [ObjectIdentifier: Int] = [:]
    private var deferred: EngineVersion?

    private init(
        _ configuration: JSONFileConfiguration, path: String, initial: EngineVersion, lock: FileLock?,
        claim: (any OpenFile)?, identity: FileIdentity?, key: DocumentKey?, loss: SchemaLoss?, isUnderOtherSchema: Bool
    ) {
        self.path = path
        last = initial
        let catalog = initial.catalog
        history =
            configuration.history == .none
            ? nil
            : JSONHistory(
                of: path, store: catalog.storeIdentifier, catalog.schema, configuration, key: key,
                reportingTo: { [observers] in observers.post($0) })
        self.isUnderOtherSchema = isUnderOtherSchema
        name = configuration.name
        self.catalog = catalog
        self.lock = lock
        self.claim = claim
        known = Mutex(Known(identity: identity))
        fileSystem = configuration.fileSystem
        givenPath = OpenPlace.absolute(configuration.path)
        largestFile = configuration.largestFile
        reader = lock == nil ? JSONFileReader(configuration, path: path, identity: identity) : nil
        replacement = DurableReplacement(
            of: path, newFilePermissions: configuration.newFilePermissions, in: configuration.fileSystem)
        let backUp: @Sendable (String) throws -> Void = { _ = try configuration.backUpStore(to: $0) }
        self.backUp = backUp
        changeover = loss.map { SchemaChangeover($0, of: path, in: configuration.fileSystem, backUp: backUp) }
        reader?.history = history
    }

    static func open(
        _ configuration: JSONFileConfiguration, at path: String, schema: StoredSchema
    ) throws -> Engine {
        let fileSystem = configuration.fileSystem
        let files = try StoreFiles(path, in: fileSystem)
        let lock =
            configuration.allowsSave
            ? try FileLock(forStoreAt: path, permissions: configuration.newFilePermissions, in: fileSystem) : nil
        do {
            let external = ExternalFiles(
                beside: path, permissions: configuration.newFilePermissions, in: fileSystem)
            let claim = try lock.flatMap { _ in try Self.claim(path, in: fileSystem) }
            let content = try read(path, configuration)
            if content == nil {
                try external.refuseData(withoutStoreAt: files.main)
                try JSONHistory.refuseHistory(withoutStoreAt: files.main, in: fileSystem)
            }
            var stored = schema
            let loaded = try content.map { content in
                try EngineError.naming(path) {
                    try JSONFileError.naming(path) {
                        try load(content.bytes, configuration.integrity, schema: schema, external) { found in
                            try found.checkIsNotNewer(than: schema, store: path)
                            stored = found
                        }
                    }
                }
            }
            try loaded?.loss?.check(dropping: configuration.dropping, store: path)
            try loaded?.loss?.checkOrigins(
                from: stored, to: schema, dropping: configuration.dropping, store: path)
            // From here on the store is this program's to change.
            if let lock {
                try files.sweepOrphans(holding: lock, in: fileSystem)
                SchemaChangeover.removeRemains(of: path, in: fileSystem, keepingNotice: configuration.isMigrating)
                external.removeUnfinishedMarks()
            }
            let version =
                loaded?.version
                ?? .empty(Catalog(schema: schema, storeIdentifier: UUID().uuidString, external: external))
            external.identify(version.catalog.storeIdentifier)
            // What was edited by hand may name less than was saved, and so may the first save under another schema.
            if lock != nil, let loaded, !loaded.isUnderOtherSchema, configuration.integrity == .required {
                sweep(external, keeping: version, path, fileSystem)
            }
            let file = JSONFile(
                configuration, path: path, initial: version, lock: lock, claim: claim, identity: content?.identity,
                key: configuration.history == .none ? nil : content.map { DocumentKey(of: $0.bytes) },
                loss: loaded?.loss,
                isUnderOtherSchema: loaded?.isUnderOtherSchema ?? false)
            if loaded == nil { external.makeStoreFirst { [weak file] in try file?.begin(with: version) } }
            return Engine(version, sink: file)
        } catch {
            lock?.abandon(in: fileSystem)
            throw error
        }
    }

    /// The file, locked against opening under another of its names; nil if it does not exist yet.
    /// - Throws: `FileError`: `openUnderAnotherName`; `permissionDenied` where the user may not write it.
    static func claim(_ path: String, in fileSystem: any FileSystem) throws(FileError) -> (any OpenFile)? {
        guard let info = try fileSystem.infoIfPresent(path, followingLinks: false) else { return nil }
        // A save replaces the file, which needs no permission to write to it, and would pass over that it is read-only.
        let mode: OpenMode = info.kind == .regular ? .readWrite : .read
        let file = try retryingInterrupts { () throws(FileError) in try fileSystem.open(path, mode: mode) }
        guard try retryingInterrupts({ () throws(FileError) in try file.tryLock(.exclusive) }) else {
            throw FileError(.openUnderAnotherName, operation: .open, path: path)
        }
        return file
    }

    /// Removes the files of values that no record names any more. What has been read is all there is, because of the lock.
    private static func sweep(
        _ external: ExternalFiles, keeping version: EngineVersion, _ path: String, _ fileSystem: any FileSystem
    ) {
        let names = external.present()
        // The process that wrote the file may have died before its name was durable: the one before may come back.
        if names.isEmpty || (try? fileSystem.syncDirectory(PathText.directory(of: path))) == nil { return }
        external.sweep(names) { version }
    }

    /// The file's content; nil if it may be missing and is.
    private static func read(
        _ path: String, _ configuration: JSONFileConfiguration
    ) throws(FileError) -> (bytes: [UInt8], identity: FileIdentity)? {
        do {
            return try configuration.fileSystem.readWhole(path, limit: configuration.largestFile)
        } catch {
            if configuration.allowsSave, error.reason == .notFound, try configuration.fileSystem.isMissing(path) {
                return nil
            }
            throw error
        }
    }

    /// The records of a text, under a schema or under its own.
    struct Loaded {
        let version: EngineVersion
        /// What the schema lacks; nil if it lacks nothing that the text holds.
        let loss: SchemaLoss?
        let isUnderOtherSchema: Bool
    }

    /// Reads a document. Passes the document's own schema to `check` before it reads any record.
    /// - Throws: `StoreDocumentError`; `EngineError.schemaMismatch`; what the check throws.
    static func load(
        _ bytes: [UInt8], _ integrity: JSONFileIntegrity, schema: StoredSchema? = nil, _ external: ExternalFiles,
        check: (StoredSchema) throws -> Void = { _ in }
    ) throws -> Loaded {
        try bytes.withUnsafeBytes { buffer in
            let reader = StoreDocumentReader(buffer, integrity: integrity)
            var loader: EngineLoader?
            var catalog: Catalog?
            var mapping: SchemaMapping?
            var released: ReleasedLinks?
            var pairs: PairedLinks?
            var tally = SchemaTally()
            let header = try reader.read { header in
                try check(header.schema)
                let made = Catalog(
                    schema: schema?.keepingNames(of: header.schema) ?? header.schema,
                    storeIdentifier: header.storeIdentifier, external: external)
                catalog = made
                loader = EngineLoader(made)
                if let schema, header.schema != schema {
                    mapping = try SchemaMapping(from: header.schema, to: schema, store: header.storeIdentifier)
                    released = mapping.map(ReleasedLinks.init)
                    pairs = mapping.map(PairedLinks.init)
                }
            } record: { layout, sequence, values in
                if let mapping {
                    mapping.count(values, ofEntity: layout.entityName, in: &tally)
                    let current = mapping.currentName(ofEntity: layout.entityName)
                    guard let target = catalog?.layouts[current],
                        let mapped = mapping.map(values, ofEntity: layout.entityName, defaults: target)
                    else { return }
                    let owners = IdentifierNamespace(
                        storeIdentifier: catalog?.storeIdentifier ?? "", entityName: layout.entityName)
                    released?.note(values, of: owners[sequence])
                    pairs?.note(mapped, of: owners[sequence])
                    try loader?.append(entity: current, sequence: sequence, mapped)
                } else {
                    try loader?.append(entity: layout.entityName, sequence: sequence, values)
                }
            }
            guard let loader else {
                let empty = EngineVersion.empty(
                    Catalog(
                        schema: schema?.keepingNames(of: header.schema) ?? header.schema,
                        storeIdentifier: header.storeIdentifier, external: external))
                return Loaded(version: empty, loss: nil, isUnderOtherSchema: false)
            }
            if let released { try loader.take(released) }
            if let pairs { try loader.complete(pairs) }
            let loss = try mapping?.loss(tally)
            do {
                func finish() throws -> EngineVersion {
                    try loader.finish(number: 0, nextSequence: header.nextSequence)
                }
                return Loaded(
                    version: try mapping?.completing(finish) ?? finish(),
                    loss: loss?.isEmpty == true ? nil : loss, isUnderOtherSchema: mapping != nil)
            } catch EngineError.notUnique(let entity, let properties, let record, let other) {
                throw try reader.error(
                    ofRecord: record.sequenceNumber ?? 0, entity: entity, properties: properties,
                    other: other.sequenceNumber ?? 0)
            }
        }
    }

    // MARK: Committing

    func commit(_ result: EngineVersion, changes: ChangeSet) throws {
        try writing.withLock {
            if let failure { throw EngineError.latched(store: path, cause: failure) }
            let noted = history?.noted ?? 0
            try history?.stage(changes, from: last, to: result)
            // Only a caller that asked for it learns before the file is written that a save is done.
            if deferrals[Self.thread] != nil {
                deferred = result
                last = result
                return
            }
            do {
                try replace(with: result)
            } catch {
                // What other threads have deferred is still to be written.
                history?.abandon(after: noted)
                throw error
            }
            last = result
            // The file holds those before it, too.
            deferred = nil
        }
    }

    /// Writes the file of a store that is still empty, unless there is one.
    private func begin(with empty: EngineVersion) throws {
        try writing.withLock {
            if let failure { throw EngineError.latched(store: path, cause: failure) }
            if identity == nil { try replace(with: empty) }
        }
    }

    /// Writes the file of a migration's outcome beside this one, and a copy of it as it is. `isWhole` says whether the outcome names all
    /// that code has changed.
    /// - Returns: the path of the copy, and what `commit` takes.
    func prepare(
        _ outcome: EngineMigration.Outcome, isWhole: Bool
    ) throws -> (copy: String, NewDocument) {
        try writing.withLock {
            if let failure { throw EngineError.latched(store: path, cause: failure) }
            try checkUntouched()
            let copy = try SchemaChangeover.keepCopy(
                of: path, version: catalog.schema.version, in: fileSystem, backUp: backUp)
            var unused: NewDocument?
            do {
                var prepared = try prepare(outcome.result)
                unused = prepared
                var changes = try outcome.changes.changeSet()
                changes.commit =
                    changes.commit
                    ?? .init(number: outcome.result.number, timestamp: Date(), mark: HistoryMark.next())
                try history?.stage(
                    changes, from: outcome.changes.before, to: outcome.result, .migration, isWhole: isWhole)
                // The switch must need no more space: other stores may have switched before it.
                try latching { try history?.write(for: prepared.key) }
                prepared.isInHistory = true
                return (copy, prepared)
            } catch {
                unused?.file.discard()
                history?.takeBack()
                // Each attempt would leave another copy.
                SchemaChangeover.removeCopy(copy, in: fileSystem)
                throw error
            }
        }
    }

    /// Replaces the file by one under another schema. Nothing can be saved here afterwards.
    func commit(_ prepared: NewDocument, keeping copy: String) throws {
        try writing.withLock {
            do {
                if let failure { throw EngineError.latched(store: path, cause: failure) }
                try checkUntouched()
                try put(prepared)
            } catch {
                prepared.file.discard()
                // The file is what it was: each attempt would leave another copy of it.
                if failure == nil {
                    history?.takeBack()
                    SchemaChangeover.removeCopy(copy, in: fileSystem)
                }
                throw error
            }
            failure = "it was brought to another version of the schema"
        }
    }

    /// Removes what `prepare` has written.
    func discard(_ prepared: NewDocument, copy: String) {
        prepared.file.discard()
        history?.takeBack()
        SchemaChangeover.removeCopy(copy, in: fileSystem)
    }

    private static var thread: ObjectIdentifier { ObjectIdentifier(Thread.current) }

    /// From now on the saves of this thread are written by `flush`, and by whatever else writes the file.
    func beginDeferring() { writing.withLock { deferrals[Self.thread, default: 0] += 1 } }

    func endDeferring() throws {
        try writing.withLock {
            let count = deferrals[Self.thread] ?? 0
            deferrals[Self.thread] = count > 1 ? count - 1 : nil
            try writeDeferred()
        }
    }

    /// Writes what was saved and deferred.
    func flush() throws { try writing.withLock { try writeDeferred() } }

    /// Looks at the file, or at what a reader has found there. Waits for no save.
    /// - Throws: `EngineError.latched`; `FileError`, `locked` where the lock file was removed or replaced; why a reader cannot
    ///   take the file in.
    func checkHealth() throws {
        guard let lock else {
            try reader?.checkHealth()
            return
        }
        var attempts = 0
        while true {
            let seen = known.withLock { $0 }
            if let failure = seen.failure { throw EngineError.latched(store: path, cause: failure) }
            do {
                if try !lock.isIntact(in: fileSystem) {
                    throw FileError(.locked(holder: nil), operation: .lock, path: lock.path)
                }
                if !seen.isReplacing { try checkUntouched(since: seen.identity) }
                return
            } catch {
                attempts += 1
                // A save that came meanwhile has put another file there.
                guard known.withLock({ $0.replacements != seen.replacements }), attempts < 100 else { throw error }
            }
        }
    }

    /// Runs a body between two saves: one that is under way has appended to the history what counts only once the file has its name.
    /// - Throws: `EngineError.latched`; what the body throws.
    func whileNothingIsWritten(_ body: () throws -> Void) throws {
        try writing.withLock {
            if let failure { throw EngineError.latched(store: path, cause: failure) }
            try body()
        }
    }

    private func writeDeferred() throws {
        if let failure { throw EngineError.latched(store: path, cause: failure) }
        guard let version = deferred else { return }
        deferred = nil
        do {
            try replace(with: version)
        } catch {
            // Memory is ahead of the disk now, and no later save may build on it.
            failure = "\(error)"
            throw error
        }
    }

    private func replace(with result: EngineVersion) throws {
        try checkUntouched()
        if let changeover, let copy = try changeover.keepCopy() {
            observers.post(.schemaLoss(store: name, loss: changeover.loss, copy: copy))
        }
        try put(try prepare(result))
    }

    /// A new content of the file, without its name.
    struct NewDocument {
        let file: DurableReplacement.Prepared
        let key: DocumentKey
        /// Whether the history has its frames already.
        var isInHistory = false
    }

    /// Writes the file, and gives it no name yet.
    private func prepare(_ result: EngineVersion) throws -> NewDocument {
        var key = DocumentKey()
        let isCounted = history != nil
        let file = try latching {
            try replacement.prepare(isNew: identity == nil) { writer in
                try self.write(result) { bytes in
                    // What could not be read again is not written.
                    let size = writer.offset + Int64(bytes.count)
                    guard size <= self.largestFile else {
                        let reason = FileError.Reason.exceedsLimit(size: size, limit: self.largestFile)
                        throw FileError(reason, operation: .replace, path: self.path)
                    }
                    if isCounted { key.update(bytes) }
                    try writer.append(bytes)
                }
            }
        }
        return NewDocument(file: file, key: key)
    }

    private func put(_ prepared: NewDocument) throws {
        known.withLock {
            $0.isReplacing = true
            $0.replacements += 1
        }
        defer { known.withLock { $0.isReplacing = false } }
        do {
            if !prepared.isInHistory { try latching { try history?.write(for: prepared.key) } }
        } catch {
            prepared.file.discard()
            throw error
        }
        identity = try latching { try prepared.file.commit(expecting: identity) }
        history?.confirm()
        // The save is done. If the new file gets another name meanwhile, opening it by that name finds out.
        claim = try? Self.claim(path, in: fileSystem)
    }

    /// Lets nothing more be written after an error that leaves open what the disk has.
    private func latching<R>(_ body: () throws -> R) throws -> R {
        do {
            return try body()
        } catch let error as FileError where error.outcomeIsUnknown {
            failure = error.description
            throw error
        }
    }

    /// A file of another program is never overwritten, whether it was changed or newly created.
    private func checkUntouched() throws { try checkUntouched(since: identity) }

    private func checkUntouched(since identity: FileIdentity?) throws {
        if let lock, try !lock.isIntact(in: fileSystem) {
            throw FileError(.changed(.replaced), operation: .lock, path: lock.path)
        }
        // A link at the path may lead somewhere else by now; what it leads to is what the next opening would show.
        guard try fileSystem.resolvingLinks(givenPath) == path else {
            throw FileError(.changed(.replaced), operation: .replace, path: givenPath)
        }
        if let identity {
            if let change = try identity.change(at: path, in: fileSystem) {
                throw FileError(.changed(change), operation: .replace, path: path)
            }
        } else if try fileSystem.infoIfPresent(path, followingLinks: true) != nil {
            throw FileError(.alreadyExists, operation: .replace, path: path)
        }
    }

    private func write(_ version: EngineVersion, to sink: @escaping JSONWriter.Sink) throws {
        let schema = version.catalog.schema
        var document = try StoreDocumentWriter(
            storeIdentifier: catalog.storeIdentifier, schema: schema, nextSequence: version.nextSequence,
            hasReferences: try version.hasReferences(), sink: sink)
        for entity in schema.entities {
            guard let table = version.tables[entity.name] else { continue }
            try document.begin(entity: entity.name)
            for row in 0..<table.endRow where table.contains(row: row) {
                try document.write(row: row, of: table)
            }
        }
        try document.finish()
    }

    func close() throws {
        defer {
            writing.withLock { claim = nil }
            history?.close()
            lock?.release()
        }
        // Without the lock nothing may be written any more.
        try writing.withLock { if failure == nil { try writeDeferred() } }
    }
}
