#if Tool
import MortiseCore

/// How far a store's history reaches back.
struct HistoryReach {
    /// The number of the last transaction that is gone; 0 if the history has everything.
    let horizon: UInt64

    /// - Throws: why the history cannot be read.
    init(_ store: any DataStore) throws {
        guard let archive = store.historyArchive else {
            horizon = 0
            return
        }
        do {
            horizon = UInt64(clamping: try archive.historyBounds().horizon)
        } catch DataStoreError.unsupportedFeature {
            horizon = 0
        }
    }

    /// Says on the standard error what is gone.
    /// - Throws: `ToolError.output`.
    func tell() throws {
        let errors = ToolContext.current.errors
        try errors.line("transactions up to \(horizon) are gone")
        try errors.flush()
    }
}
#endif
