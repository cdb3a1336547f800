#if Tool
@testable import MortiseCommands
import MortiseCore
import MortiseInMemory
import PackageTestSupport
#if SQLite
import MortiseSQLite
#endif

/// Stores whose records `mortise set` and `delete` change without disturbing others: by the version of the store, or by those of
/// its records.
enum EditedStore: CaseIterable {
    case memory
    #if SQLite
    case sqlite
    #endif

    /// Opens a new store.
    func open(_ schema: StoredSchema, in folder: ToolFolder) throws -> OpenStore {
        switch self {
        case .memory: try OpenStore(InMemoryConfiguration("edited"), schema: schema, name: "edited")
        #if SQLite
        case .sqlite:
            try OpenStore(
                SQLiteConfiguration(path: folder.path("edited.sqlite")), schema: schema, name: "edited")
        #endif
        }
    }
}
#endif
