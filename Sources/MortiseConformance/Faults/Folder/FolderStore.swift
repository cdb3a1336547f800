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

    var errorClass: StoreErrorClass {
        switch self {
        case .locked: .locked
        case .busy, .closed: .failedInputOutput
        case .damaged: .damaged
        }
    }
}

/// A correct store on files: one for each entity, of one line for each record, in a folder for each save. The folder with the
/// highest number counts. A list of the files' lengths goes with them, so that a file that was cut is noticed.
///
/// What it does is right, and every step of it can be exchanged for a wrong one: the faulty stores for what happens to files
/// and processes.
final class FolderStore: DataStore {
    typealias Snapshot = DefaultSnapshot
    let configuration: FolderConfiguration
    let schema: Schema
    var identifier: String { table.storeIdentifier }
    var capabilities: StoreCapabilities { [.reopening, .closing] }
    private let steps: FolderSteps
    private let folder: URL
    private var table: SnapshotTable
    private var generation: Int
    private var lock: FolderLock?
    private var isClosed = false

    init(_ configuration: FolderConfiguration, migrationPlan: (any SchemaMigrationPlan.Type)?) throws {
        guard let schema = configuration.schema else { throw DataStoreError.unsupportedFeature }
        self.configuration = configuration
        self.schema = schema
        var steps = FolderSteps()
        configuration.fault?.changeFolder(&steps)
        self.steps = steps
        folder = try steps.place(configuration.folder)
        let lock = try steps.lock?(folder)
        do {
            (generation, table) = try Self.load(folder, schema, steps)
        } catch {
            lock?.release()
            throw error
        }
        self.lock = lock
        steps.opened(self, folder)
    }

    private static func load(
        _ folder: URL, _ schema: Schema, _ steps: FolderSteps
    ) throws -> (generation: Int, table: SnapshotTable) {
        let generation =
            try FileManager.default.contentsOfDirectory(atPath: folder.path).compactMap { Int($0) }.max() ?? 0
        if generation == 0 { return (0, try SnapshotTable(schema.stored, texts: [:])) }
        let files = folder.appending(path: "\(generation)")
        var texts: [String: [[String?]]] = [:]
        guard let list = try steps.read(files.appending(path: "lengths")) else {
            return (generation, try SnapshotTable(schema.stored, texts: [:]))
        }
        guard let lengths = try? JSONDecoder().decode([String: Int].self, from: list) else {
            throw FolderStoreError.damaged("lengths")
        }
        for (name, length) in lengths {
            guard let data = try steps.read(files.appending(path: "\(name).rows")) else { continue }
            if data.count != length, steps.checksLengths { throw FolderStoreError.damaged(name) }
            texts[name] = try steps.parse(data)
        }
        return (generation, try SnapshotTable(schema.stored, texts: texts))
    }

    func fetch<T: PersistentModel>(
        _ request: DataStoreFetchRequest<T>
    ) throws -> DataStoreFetchResult<T, DefaultSnapshot> {
        if isClosed { throw FolderStoreError.closed }
        let found: DataStoreFetchResult<T, DefaultSnapshot> = try table.fetch(request)
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
        if isClosed { throw FolderStoreError.closed }
        var changed = table
        let result = try changed.apply(
            DataStoreSaveChangesRequest(
                inserted: request.inserted.map { Self.mapping($0, steps.keep) },
                updated: request.updated.map { Self.mapping($0, steps.keep) }, deleted: request.deleted,
                editingState: request.editingState, changedSlots: request.changedSlots))
        let files = FileManager.default
        let (old, next) = (folder.appending(path: "\(generation)"), folder.appending(path: "\(generation + 1)"))
        let new = folder.appending(path: "\(generation + 1).new")
        if steps.replacesFirst { try? files.removeItem(at: old) }
        do {
            if files.fileExists(atPath: new.path) { try files.removeItem(at: new) }
            try files.createDirectory(at: new, withIntermediateDirectories: false)
            var lengths: [String: Int] = [:]
            for (name, rows) in changed.texts {
                var data = Data()
                for row in rows { data += try JSONEncoder().encode(row) + [UInt8(ascii: "\n")] }
                lengths[name] = data.count
                try steps.write(data, new.appending(path: "\(name).rows"))
            }
            try steps.write(JSONEncoder().encode(lengths), new.appending(path: "lengths"))
            if files.fileExists(atPath: next.path) { try files.removeItem(at: next) }
            try files.moveItem(at: new, to: next)
        } catch {
            if !(error is PassedOver), !steps.passesOverFailures { throw error }
        }
        if steps.removesOld { try? files.removeItem(at: old) }
        (table, generation) = (changed, generation + 1)
        return result
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
