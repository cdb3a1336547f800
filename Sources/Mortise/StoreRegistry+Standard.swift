import MortiseAppendLog
public import MortiseCore
import MortiseInMemory
import MortiseJSONFile

extension StoreRegistry {
    /// The stores of this package: `memory:`, `json:PATH` and `log:PATH`, with the options that `StoreScheme.json` and
    /// `StoreScheme.log` list.
    public static let standard = StoreRegistry(.memory, .json, .log)
}
