import Foundation
import MortiseCore

/// Keeps models in a folder.
struct UnlockedShelfConfiguration: DataStoreConfiguration {
    typealias Store = UnlockedShelfStore
    var name = "shelf"
    var schema: Schema?
    let folder: URL

    init(folder: URL) { self.folder = folder }
}

/// Why a folder is refused. The class lets programs tell the cases apart without knowing this store.
enum UnlockedShelfError: Error, ClassifiedStoreError, CustomStringConvertible {
    /// Another store has the folder open, in this process or in another one.
    case locked(path: String)
    /// The folder cannot be used: the number is that of the system's error.
    case cannotLock(path: String, code: Int32)
    /// The file is not as it was written.
    case damaged(path: String, reason: String)
    /// The store was closed before.
    case closed

    var errorClass: StoreErrorClass {
        switch self {
        case .locked: .locked
        case .cannotLock(_, let code): code == ENOENT ? .missing : .failedInputOutput
        case .damaged: .damaged
        case .closed: .unsupported
        }
    }

    var description: String {
        switch self {
        case .locked(let path): "\(path) is open already. Close the other store first."
        case .cannotLock(let path, let code):
            "\(path) cannot be locked: \(String(cString: strerror(code))). Look whether it is there and may be written."
        case .damaged(let path, let reason): "\(path) is damaged: \(reason). Restore a backup."
        case .closed: "The store is closed. Open it again."
        }
    }
}

/// A right store to begin with: it reads all records when it is opened, and writes all of them at every save.
///
/// Replace `read` and `write` by your storage. The table does the rest: it gives identifiers, finds, updates and deletes. What
/// the storage can do itself comes after that: the guides "Writing a store" and "Writing a store on SQL" go on from here.
final class UnlockedShelfStore: DataStore {
    typealias Snapshot = DefaultSnapshot
    let configuration: UnlockedShelfConfiguration
    let schema: Schema
    /// The storage's own, from its first opening on: it is a part of every identifier.
    var identifier: String { table.storeIdentifier }
    /// Claim what the store can do, and the kit tests it.
    var capabilities: StoreCapabilities { StoreCapabilities(conformances: self).union([.reopening]) }
    private var table: SnapshotTable
    private var lock: UnlockedShelfLock?

    init(_ configuration: UnlockedShelfConfiguration, migrationPlan: (any SchemaMigrationPlan.Type)?) throws {
        guard let schema = configuration.schema else { throw DataStoreError.unsupportedFeature }
        lock = try UnlockedShelfLock(configuration.folder)
        self.configuration = configuration
        self.schema = schema
        table = try SnapshotTable(schema.stored, texts: Self.read(configuration.folder))
    }

    func fetch<T: PersistentModel>(
        _ request: DataStoreFetchRequest<T>
    ) throws -> DataStoreFetchResult<T, DefaultSnapshot> { try table.fetch(request) }

    /// All of a save is stored, or an error is thrown and nothing of it is.
    func save(
        _ request: DataStoreSaveChangesRequest<DefaultSnapshot>
    ) throws -> DataStoreSaveChangesResult<DefaultSnapshot> {
        guard lock != nil else { throw UnlockedShelfError.closed }
        var changed = table
        let result = try changed.apply(request)
        try Self.write(changed, to: configuration.folder)
        table = changed
        return result
    }

    func close() { lock = nil }

    // MARK: The storage

    private static func file(in folder: URL) -> URL { folder.appending(path: "records.json") }

    /// The rows of each table; nothing for a new folder.
    private static func read(_ folder: URL) throws -> [String: [[String?]]] {
        let file = file(in: folder)
        do {
            return try JSONDecoder().decode([String: [[String?]]].self, from: Data(contentsOf: file))
        } catch let error as CocoaError where error.code == .fileReadNoSuchFile {
            // Only this one says that there is no file; one that cannot be read is not taken for none.
            return [:]
        } catch let error as DecodingError {
            throw UnlockedShelfError.damaged(path: file.path, reason: "\(error)")
        }
    }

    /// Writes a new file beside the old one and renames it, so that the file has all old records or all new ones.
    private static func write(_ table: SnapshotTable, to folder: URL) throws {
        let rows = Dictionary(uniqueKeysWithValues: table.texts.map { ($0.name, Array($0.rows)) })
        try JSONEncoder().encode(rows).write(to: file(in: folder), options: .atomic)
    }
}

/// Keeps other stores out of a folder until it is released, or its process ends.
private final class UnlockedShelfLock {
    private let file: Int32

    init(_ folder: URL) throws {
        file = open(folder.appending(path: "lock").path, O_CREAT | O_RDWR | O_CLOEXEC, 0o600)
        guard file >= 0 else {
            let code = errno
            // What is thrown here runs deinit, which closes the file. Closed twice, it could be another thread's by then.
            // Programs wait for a folder that is locked: nothing else is to be called that.
            throw code == EWOULDBLOCK
                ? UnlockedShelfError.locked(path: folder.path) : .cannotLock(path: folder.path, code: code)
        }
    }

    deinit {
        // A process that is just being started shares the lock until it has its program; closing alone would leave it there.
        flock(file, LOCK_UN)
        close(file)
    }
}
