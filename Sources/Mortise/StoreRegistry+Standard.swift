import MortiseAppendLog
public import MortiseCore
import MortiseInMemory
import MortiseJSONFile
#if SQLite
import MortiseSQLite
#endif

extension StoreRegistry {
    /// The stores of this package: `memory:`, `json:PATH` and `log:PATH`, and with the trait `SQLite` also `sqlite:PATH`, with the
    /// options that `StoreScheme.json`, `StoreScheme.log` and `StoreScheme.sqlite` list.
    public static let standard: StoreRegistry = {
        #if SQLite
        StoreRegistry(.memory, .json, .log, .sqlite)
        #else
        StoreRegistry(.memory, .json, .log)
        #endif
    }()
}
