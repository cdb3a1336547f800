public import Foundation
public import MortiseCore

/// Keeps models in a folder of CSV files, one for each entity, which any spreadsheet opens.
public struct CSVConfiguration: DataStoreConfiguration {
    public typealias Store = CSVStore
    public var name = "csv"
    public var schema: Schema?
    public let folder: URL
    public var allowsSave = true

    public init(folder: URL) { self.folder = folder }
}

/// Why a folder of CSV files is refused.
public enum CSVError: Error, ClassifiedStoreError {
    /// Another store has the folder open, in this process or in another one.
    case locked
    /// The folder cannot be used; the number is that of the system's error.
    case cannotLock(Int32)
    /// The file of that name is not as it was written.
    case damaged(String)
    /// The store was closed, or was opened for reading alone.
    case closed

    public var errorClass: StoreErrorClass {
        switch self {
        case .locked: .locked
        case .cannotLock: .failedInputOutput
        case .damaged: .damaged
        case .closed: .unsupported
        }
    }
    public var description: String {
        switch self {
        case .cannotLock(let code): "The folder cannot be locked: \(String(cString: strerror(code)))."
        case .closed: "The store was closed, or reads alone. Open the folder again for saving."
        case .locked: "The folder is open elsewhere. Close it there first."
        case .damaged(let name): "\(name) is not as it was written. Restore the folder from a backup."
        }
    }
}

/// Keeps other stores out of a folder until it is released, or its process ends.
private final class FolderLock {
    private let file: Int32

    init(_ folder: URL) throws {
        file = open(folder.appending(path: "lock").path, O_CREAT | O_RDWR | O_CLOEXEC, 0o600)
        guard file >= 0, flock(file, LOCK_EX | LOCK_NB) == 0 else {
            let code = errno
            // What is thrown here runs deinit, which closes the file. Closed twice, it could be another thread's by then.
            throw code == EWOULDBLOCK ? CSVError.locked : .cannotLock(code)
        }
    }

    deinit {
        // A process that is just being started shares the lock until it has its program; closing alone would leave it there.
        flock(file, LOCK_UN)
        close(file)
    }
}

/// A store that reads the whole folder when it is opened and writes the whole folder at every save.
///
/// A save writes the files of the next generation into a folder of their own, which counts as soon as it has its name:
/// the folders are numbered, and the highest number is the latest. A save is thus there whole or not at all, also after
/// the process was killed. It does not wait for the disk, so that it does not claim to be durable. The length of each
/// file is kept in one of its own, so that a file that was cut is not taken for a shorter one.
public final class CSVStore: DataStore {
    public typealias Snapshot = DefaultSnapshot
    public let configuration: CSVConfiguration
    public let schema: Schema
    public var identifier: String { table.storeIdentifier }
    public var capabilities: StoreCapabilities {
        StoreCapabilities(conformances: self).union([.reopening, .restoring, .erase])
    }
    private(set) var table: SnapshotTable
    private var generation: Int
    private var lock: FolderLock?

    public init(_ configuration: CSVConfiguration, migrationPlan: (any SchemaMigrationPlan.Type)?) throws {
        guard let schema = configuration.schema else { throw DataStoreError.unsupportedFeature }
        self.configuration = configuration
        self.schema = schema
        lock = configuration.allowsSave ? try FolderLock(configuration.folder) : nil
        generation = try Self.latest(in: configuration.folder)
        let folder = configuration.folder.appending(path: "\(generation)")
        var texts: [String: [[String?]]] = [:]
        for (name, length) in generation == 0 ? [:] : try Self.lengths(in: folder) {
            let data = try Data(contentsOf: folder.appending(path: "\(name).csv"))
            if data.count != length { throw CSVError.damaged("\(name).csv") }
            texts[name] = try CSV.rows(of: data, named: name)
        }
        table = try SnapshotTable(schema.stored, texts: texts)
    }

    /// The number of the latest save; 0 before any.
    static func latest(in folder: URL) throws -> Int {
        try FileManager.default.contentsOfDirectory(atPath: folder.path).compactMap { Int($0) }.filter { $0 > 0 }.max()
            ?? 0
    }

    /// The first row says how many there are.
    static func lengths(in folder: URL) throws -> [String: Int] {
        let rows = try CSV.rows(of: Data(contentsOf: folder.appending(path: "lengths")), named: "lengths")
        guard rows.first == ["files", "\(rows.count - 1)"] else { throw CSVError.damaged("lengths") }
        return try Dictionary(
            rows.dropFirst().map { row in
                guard row.count == 2, let name = row[0], let length = row[1].flatMap({ Int($0) }) else {
                    throw CSVError.damaged("lengths")
                }
                return (name, length)
            }, uniquingKeysWith: { _, _ in throw CSVError.damaged("lengths") })
    }

    public func fetch<T: PersistentModel>(
        _ request: DataStoreFetchRequest<T>
    ) throws -> DataStoreFetchResult<T, DefaultSnapshot> { try table.fetch(request) }

    public func save(
        _ request: DataStoreSaveChangesRequest<DefaultSnapshot>
    ) throws -> DataStoreSaveChangesResult<DefaultSnapshot> { try write { try $0.apply(request) } }

    func write<R>(_ change: (inout SnapshotTable) throws -> R) throws -> R {
        guard lock != nil else { throw CSVError.closed }
        guard generation < .max else { throw CSVError.damaged("\(generation)") }
        var changed = table
        let result = try change(&changed)
        let (files, folder) = (FileManager.default, configuration.folder)
        let new = folder.appending(path: "\(generation + 1).new")
        if files.fileExists(atPath: new.path) { try files.removeItem(at: new) }
        try files.createDirectory(at: new, withIntermediateDirectories: false)
        var lengths: [[String?]] = []
        for (name, rows) in changed.texts {
            let data = CSV.data(rows)
            try data.write(to: new.appending(path: "\(name).csv"))
            lengths.append([name, "\(data.count)"])
        }
        try CSV.data([["files", "\(lengths.count)"]] + lengths).write(to: new.appending(path: "lengths"))
        try files.moveItem(at: new, to: folder.appending(path: "\(generation + 1)"))
        // What is left of older ones is in nobody's way.
        try? files.removeItem(at: folder.appending(path: "\(generation)"))
        (table, generation) = (changed, generation + 1)
        return result
    }

    public func erase() throws { try write { $0.removeAll() } }

    public func close() { lock = nil }
}
