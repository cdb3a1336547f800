import MortiseAppendLog
public import MortiseCore
import MortiseInMemory
import MortiseJSONFile
#if PostgreSQL
import MortisePostgreSQL
#endif
#if SQLite
import MortiseSQLite
#endif

extension StoreRegistry {
    /// The stores of this package: `memory:`, `json:PATH` and `log:PATH`, with the trait `SQLite` also `sqlite:PATH`, and with the trait
    /// `PostgreSQL` also `postgres://…`, with the options that `StoreScheme.json`, `.log`, `.sqlite` and `.postgres` list.
    public static let standard: StoreRegistry = {
        var registry = StoreRegistry(.memory, .json, .log)
        #if SQLite
        registry.register(.sqlite)
        #endif
        #if PostgreSQL
        registry.register(.postgres)
        #endif
        return registry
    }()
}
