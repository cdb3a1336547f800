import Foundation
import MortiseCore

/// Opens the kit's store in a folder.
struct FolderConfiguration: DataStoreConfiguration {
    typealias Store = FolderStore
    var name = "folder"
    var schema: Schema?
    let folder: URL
    let fault: StoreFault?

    static func == (lhs: Self, rhs: Self) -> Bool { lhs.folder == rhs.folder && lhs.fault == rhs.fault }
    func hash(into hasher: inout Hasher) { hasher.combine(folder) }
}

/// Why the kit's store in a folder refuses.
enum FolderStoreError: Error, Hashable, ClassifiedStoreError {
    /// Another opening has the folder.
    case locked
    /// As `locked`, by a faulty store that does not say so.
    case busy
    /// The file of that name is not as it was written.
    case damaged(String)
    case closed
    /// The lock cannot be taken, for the reason of that number.
    case cannotLock(Int32)

    var errorClass: StoreErrorClass {
        switch self {
        case .locked: .locked
        case .busy, .cannotLock: .failedInputOutput
        case .closed: .unsupported
        case .damaged: .damaged
        }
    }

    var description: String {
        switch self {
        case .locked, .busy: "The folder is open elsewhere. Close it there first."
        case .damaged(let name): "\(name) is not as it was written. Restore the folder from a backup."
        case .closed: "The store was closed. Open its folder again."
        case .cannotLock(let code): "The folder cannot be locked: error \(code). Look whether it is there."
        }
    }
}

/// A correct store on files: one for each entity, of one line for each record, and one for the history, in a folder for each
/// save. The folder with the highest number counts. A list of the files' lengths goes with them, so that a file that was cut
/// is noticed.
///
/// What it does is right, and every step of it can be exchanged for a wrong one: the faulty stores for what happens to files
/// and processes.
final class FolderStore: DataStore {
    typealias Snapshot = DefaultSnapshot
    let configuration: FolderConfiguration
    let schema: Schema
    var identifier: String { content.table.storeIdentifier }
    var capabilities: StoreCapabilities { [.reopening, .closing, .erase, .history] }
    private let steps: FolderSteps
    private let folder: URL
    private(set) var content: Content
    private var lock: FolderLock?
    private var isClosed = false

    /// What the folder with the highest number holds.
    struct Content {
        var generation: Int
        var table: SnapshotTable
        var history = FolderHistory()
    }

    init(_ configuration: FolderConfiguration, migrationPlan: (any SchemaMigrationPlan.Type)?) throws {
        guard let schema = configuration.schema else { throw DataStoreError.unsupportedFeature }
        self.configuration = configuration
        self.schema = schema
        var steps = FolderSteps()
        configuration.fault?.changeFolder(&steps)
        self.steps = steps
        folder = try steps.place(configuration.folder)
        let early = steps.readsFirst ? try Self.generation(in: folder) : nil
        // Long enough for another to come.
        if steps.readsFirst { Thread.sleep(forTimeInterval: 0.003) }
        let lock = try steps.lock?(folder)
        do {
            content = try Self.load(folder, early ?? Self.generation(in: folder), schema, steps)
        } catch {
            lock?.release()
            steps.refused(folder)
            throw error
        }
        self.lock = lock
        steps.opened(self, folder)
    }

    private static func generation(in folder: URL) throws -> Int {
        try FileManager.default.contentsOfDirectory(atPath: folder.path).compactMap { Int($0) }.max() ?? 0
    }

    private static func load(
        _ folder: URL, _ generation: Int, _ schema: Schema, _ steps: FolderSteps
    ) throws -> Content {
        try steps.check(FileManager.default.contentsOfDirectory(atPath: folder.path))
        if generation == 0 { return Content(generation: 0, table: try SnapshotTable(schema.stored, texts: [:])) }
        let files = folder.appending(path: "\(generation)")
        var texts: [String: [[String?]]] = [:]
        guard let list = try steps.read(files.appending(path: "lengths")) else {
            return Content(generation: generation, table: try SnapshotTable(schema.stored, texts: [:]))
        }
        guard let lengths = try? JSONDecoder().decode([String: Int].self, from: list) else {
            throw FolderStoreError.damaged("lengths")
        }
        var history = FolderHistory()
        for (name, length) in lengths {
            let isHistory = name == FolderHistory.name
            guard
                let data = try isHistory
                    ? Data(contentsOf: files.appending(path: name))
                    : steps.read(
                        files.appending(path: "\(name).rows"))
            else { continue }
            if !steps.fits(data.count, length), steps.checksLengths, !isHistory || steps.checksHistory {
                throw FolderStoreError.damaged(name)
            }
            if isHistory {
                do {
                    history = try JSONDecoder().decode(FolderHistory.self, from: data)
                } catch {
                    if steps.checksHistory { throw FolderStoreError.damaged(name) }
                }
            } else {
                texts[name] = try steps.parse(data)
            }
        }
        texts = texts.filter { steps.keepsTable($0.key, schema.stored) }
        return Content(generation: generation, table: try table(of: texts, schema, steps), history: history)
    }

    private static func table(
        of texts: [String: [[String?]]], _ schema: Schema, _ steps: FolderSteps
    ) throws -> SnapshotTable {
        var texts = texts
        while true {
            do {
                return try SnapshotTable(schema.stored, texts: texts)
            } catch {
                guard !steps.checksValues, let misfit = misfit(error, texts) else { throw error }
                texts[misfit.entity]?[misfit.row][misfit.column] = nil
            }
        }
    }

    /// The cell that an error is about.
    private static func misfit(
        _ error: SnapshotTableError, _ texts: [String: [[String?]]]
    ) -> (entity: String, row: Int, column: Int)? {
        guard case .doesNotFit(let entity, let property, let row, _?) = error,
            let column = texts[entity]?.first?.firstIndex(of: property)
        else { return nil }
        return (entity, row - 1, column)
    }

    func fetch<T: PersistentModel>(
        _ request: DataStoreFetchRequest<T>
    ) throws -> DataStoreFetchResult<T, DefaultSnapshot> {
        if isClosed { throw steps.closedError }
        let found: DataStoreFetchResult<T, DefaultSnapshot> = try content.table.fetch(request)
        return DataStoreFetchResult(
            descriptor: found.descriptor, fetchedSnapshots: found.fetchedSnapshots.map { Self.mapping($0, steps.show) })
    }

    private static func mapping(
        _ snapshot: DefaultSnapshot, _ change: (StoredValue) -> StoredValue
    ) -> DefaultSnapshot {
        DefaultSnapshot(
            persistentIdentifier: snapshot.persistentIdentifier, layout: snapshot.layout,
            values: ContiguousArray(snapshot.values.map(change)))
    }

    func save(
        _ request: DataStoreSaveChangesRequest<DefaultSnapshot>
    ) throws -> DataStoreSaveChangesResult<DefaultSnapshot> {
        if isClosed { throw steps.closedError }
        var changed = content
        let kept = DataStoreSaveChangesRequest(
            inserted: request.inserted.map { Self.mapping($0, steps.keep) },
            updated: request.updated.map { Self.mapping($0, steps.keep) }, deleted: request.deleted,
            editingState: request.editingState, changedSlots: request.changedSlots)
        let result = try changed.table.apply(kept)
        changed.history.add(kept, result.remappedIdentifiers, before: content.table)
        try write(changed, .save)
        return result
    }

    func erase() throws {
        if isClosed { throw steps.closedError }
        var changed = content
        changed.table.removeAll()
        try write(changed, .erasure)
    }

    /// Makes what has changed the content, in the files and in memory.
    func write(_ new: Content, _ change: FolderChange) throws {
        if isClosed { throw steps.closedError }
        let old = content
        if steps.remembersFirst.contains(change) {
            content = new
        } else if change == .save, steps.remembersFirst.contains(.history) {
            content.history = new.history
        }
        var new = new
        try write(&new)
        if steps.removesOld {
            try? FileManager.default.removeItem(at: folder.appending(path: "\(old.generation)"))
        }
        content = new
        content.generation = old.generation + 1
    }

    private func write(_ changed: inout Content) throws {
        let generation = changed.generation
        let files = FileManager.default
        let (old, next) = (folder.appending(path: "\(generation)"), folder.appending(path: "\(generation + 1)"))
        let new = folder.appending(path: "\(generation + 1).new")
        if steps.replacesFirst { try? files.removeItem(at: old) }
        do {
            if files.fileExists(atPath: new.path) { try files.removeItem(at: new) }
            try files.createDirectory(at: new, withIntermediateDirectories: false)
            var lengths: [String: Int] = [:]
            for (name, rows) in changed.table.texts {
                var data = Data()
                for row in rows { data += try JSONEncoder().encode(row) + [UInt8(ascii: "\n")] }
                lengths[name] = data.count
                try steps.write(data, new.appending(path: "\(name).rows"))
            }
            let history = try changed.history.file()
            lengths[FolderHistory.name] = history.count
            try steps.write(history, new.appending(path: FolderHistory.name))
            try steps.write(JSONEncoder().encode(lengths), new.appending(path: "lengths"))
            if files.fileExists(atPath: next.path) { try files.removeItem(at: next) }
            try files.moveItem(at: new, to: next)
        } catch {
            if !(error is PassedOver), !steps.passesOverFailures { throw error }
        }
    }

    func close() throws {
        isClosed = true
        if steps.releasesLock { lock?.release() }
        lock = nil
    }

    deinit { if steps.releasesLock { lock?.release() } }
}

/// What a faulty store throws to itself, to pass over that it could not write.
struct PassedOver: Error {}
