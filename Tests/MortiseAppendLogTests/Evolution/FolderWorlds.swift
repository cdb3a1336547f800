import CustomStore
import Foundation
import MortiseCore

#if SQLite
import MortiseSQLite
#endif

/// A folder of CSV files, which is copied.
struct CopiedWorld: PairWorld {
    let folder: URL
    var needsPlans: Bool { false }

    func files() throws -> [String: [UInt8]] {
        var found: [String: [UInt8]] = [:]
        for path in try FileManager.default.subpathsOfDirectory(atPath: folder.path) {
            found[path] = (try? Data(contentsOf: folder.appending(path: path))).map(Array.init) ?? []
        }
        return found
    }

    func open(_ schema: Schema, _ plan: (any SchemaMigrationPlan.Type)?) throws -> ModelContainer {
        try ModelContainer(for: schema, migrationPlan: plan, configurations: [CSVConfiguration(folder: folder)])
    }

    func store(under schema: StoredSchema) throws -> any DataStore {
        var configuration = CSVConfiguration(folder: folder)
        configuration.schema = Schema(stored: schema)
        return try CSVStore(configuration, migrationPlan: nil)
    }
}

#if SQLite
/// A file of SQLite, which changes itself where no code is due, and is copied otherwise.
struct SQLiteWorld: PairWorld {
    let folder: URL
    var needsPlans: Bool { false }

    private var path: String { folder.appending(path: "pairs.sqlite").path(percentEncoded: false) }

    func isRefusal(_ error: any Error, _ refusal: RandomStage.Refusal) -> Bool {
        switch (refusal, (error as? SQLiteError)?.fault) {
        case (.duplicates, .notUnique?), (.missing, .misfit?): true
        // Where a store is opened without a plan, its index finds them.
        case (.duplicates, .misfit(let text)?): text.contains("which has to be unique")
        default: false
        }
    }

    /// What is beside the file belongs to connections.
    func files() throws -> [String: [UInt8]] { ["pairs.sqlite": Array(try Data(contentsOf: URL(filePath: path)))] }

    func open(_ schema: Schema, _ plan: (any SchemaMigrationPlan.Type)?) throws -> ModelContainer {
        try ModelContainer(for: schema, migrationPlan: plan, configurations: [SQLiteConfiguration(path: path)])
    }

    func store(under schema: StoredSchema) throws -> any DataStore {
        try SQLiteStore(SQLiteConfiguration(schema: Schema(stored: schema), path: path), migrationPlan: nil)
    }
}
#endif
