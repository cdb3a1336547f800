import CustomStore
import Foundation
import MortiseAppendLog
public import MortiseConformance
import MortiseEngine
import MortiseInMemory
import MortiseJSONFile
#if PostgreSQL
import MortiseCore
import MortisePostgreSQL
#endif
#if SQLite
import MortiseSQLite
#endif
import Synchronization
import MortiseTestSupport

/// The stores of this package, as the conformance kit takes them: with what each says of itself, and no exclusion.
public enum PackageSubjects {
    /// In memory, and the file stores on a simulated disk that can be made to fail.
    public static let simulated: [ConformanceSubject] = [memory, storage, json, log]
    /// The file stores on the real disk, where processes can be killed.
    public static let onDisk: [ConformanceSubject] = {
        #if SQLite
        [jsonOnDisk(), logOnDisk(), csv, sqliteOnDisk(), pinnedSQLiteOnDisk()]
        #else
        [jsonOnDisk(), logOnDisk(), csv]
        #endif
    }()
    public static let all = simulated + onDisk

    public static let memory = ConformanceSubject("InMemory") { SubjectStorage(open: { InMemoryConfiguration() }) }

    /// In memory, and still there when it is opened again.
    public static let storage = ConformanceSubject("InMemory storage") {
        let storage = InMemoryStorage()
        return SubjectStorage(open: { InMemoryConfiguration(storage: storage) })
    }

    public static let json = ConformanceSubject("JSONFile") {
        try SimulatedStorage.make { JSONFileConfiguration("store", path: "/data/store.json", in: $0) }
    }

    public static let log = ConformanceSubject("AppendLog") {
        try SimulatedStorage.make { disk in
            var configuration = AppendLogConfiguration("store", path: "/data/store.log", in: disk)
            // A simulated disk remembers every byte.
            configuration.allocationStep = 4_096
            return configuration
        }
    }

    /// The store of the sample.
    public static let csv = ConformanceSubject("CSV folder", folder: { CSVConfiguration(folder: $0) })

    public static func jsonOnDisk(_ name: String = "JSONFile on disk", in base: URL? = nil) -> ConformanceSubject {
        onDisk(name, base) { JSONFileConfiguration("store", path: path($0, "store.json")) }
    }

    public static func logOnDisk(_ name: String = "AppendLog on disk", in base: URL? = nil) -> ConformanceSubject {
        onDisk(name, base) { AppendLogConfiguration("store", path: path($0, "store.log")) }
    }

    #if SQLite
    public static func sqliteOnDisk(_ name: String = "SQLite on disk", in base: URL? = nil) -> ConformanceSubject {
        onDisk(name, base) { SQLiteConfiguration("store", path: path($0, "store.sqlite")) }
    }

    /// The same, where each context reads one state.
    public static func pinnedSQLiteOnDisk(in base: URL? = nil) -> ConformanceSubject {
        onDisk("SQLite on disk, reads pinned", base) {
            var configuration = SQLiteConfiguration("store", path: path($0, "store.sqlite"))
            configuration.pinsReads = true
            return configuration
        }
    }
    #endif

    #if PostgreSQL
    /// A schema of its own in a server's database for each storage. A crash ends all sessions of the storage.
    /// - Parameter url: the server, as `postgres://user@host/database`.
    public static func postgreSQL(_ url: String) -> ConformanceSubject {
        ConformanceSubject(StoreRegistry(.postgres).redacted(url)) {
            let name = "kit_" + UUID().uuidString.lowercased().replacing("-", with: "")
            let options = (url.contains("?") ? "&" : "?") + "schema=\(name)&name=store"
            let made = try StoreRegistry(.postgres).configuration(for: url + options)
            guard var configuration = made as? PostgreSQLConfiguration else { throw DataStoreError.unsupportedFeature }
            configuration.session = name
            let opened = configuration
            return SubjectStorage(
                open: { opened }, cleanUp: { try opened.removeNamespace() }, crash: { try opened.endSessions() })
        }
    }
    #endif

    private static func onDisk(
        _ name: String, _ base: URL?, _ configuration: @escaping @Sendable (URL) throws -> any DataStoreConfiguration
    ) -> ConformanceSubject {
        ConformanceSubject(name, base: base, folder: configuration)
    }

    private static func path(_ folder: URL, _ name: String) -> String {
        folder.appending(path: name).path(percentEncoded: false)
    }

    /// By the scheme of a store URL; what follows the colon is the folder in which storages are made.
    public static let stores: [String: @Sendable (String) throws -> ConformanceSubject] = {
        var stores: [String: @Sendable (String) throws -> ConformanceSubject] = [
            "memory": { _ in memory },
            "json": { jsonOnDisk("json:\($0)", in: folder($0)) },
            "log": { logOnDisk("log:\($0)", in: folder($0)) },
        ]
        #if SQLite
        stores["sqlite"] = { sqliteOnDisk("sqlite:\($0)", in: folder($0)) }
        #endif
        #if PostgreSQL
        stores["postgres"] = { postgreSQL("postgres:\($0)") }
        #endif
        return stores
    }()

    private static func folder(_ path: String) -> URL? { path.isEmpty ? nil : URL(fileURLWithPath: path) }
}

/// A folder on a simulated disk.
private enum SimulatedStorage {
    static func make(
        _ configuration: @escaping @Sendable (any FileSystem) -> any DataStoreConfiguration
    ) throws -> SubjectStorage {
        let first = SimulatedFileSystem(seed: 1)
        try first.install(.directory, at: "/data")
        let disk = Mutex(first)
        func now() -> SimulatedFileSystem { disk.withLock { $0 } }
        return SubjectStorage(
            open: { configuration(now()) },
            crash: { disk.withLock { $0 = $0.crashed(after: .max, losing: .unsynced) } },
            faults: StorageFaults(
                operationCount: { now().operationCount },
                failOperation: { number in
                    now().removeFaults()
                    if let number { now().inject(.fail(.io), at: number) }
                }, crash: { operation in disk.withLock { $0 = $0.crashed(after: operation, losing: .unsynced) } }))
    }
}
