#if Metrics
import Metrics
import MortiseCore

/// Counts what happens in stores, through swift-metrics.
///
/// | metric | kind | dimensions |
/// |---|---|---|
/// | `mortise.fetch.duration` | timer | `store`, `entity` |
/// | `mortise.fetch.scanned` | recorder, rows looked at | `store`, `entity` |
/// | `mortise.fetch.slow` | counter, fetches above the limit | `store`, `entity` |
/// | `mortise.fetch.full_scans` | counter | `store`, `entity` |
/// | `mortise.recoveries` | counter, of repairs after a crash | `store` |
/// | `mortise.compactions` | counter | `store` |
/// | `mortise.compaction.duration` | timer | `store` |
/// | `mortise.checkpoint.unreadable` | counter, of checkpoints for which a log was replayed while open | `store` |
/// | `mortise.checkpoint.failures` | counter, of checkpoints not written or not read back, once for all in a row | `store` |
/// | `mortise.compaction.failures` | counter, of compactions in the background, once for all in a row | `store` |
/// | `mortise.readers_left_behind` | counter, of stores that can follow their writer no further | `store` |
/// | `mortise.remote_changes` | counter, of changes by other processes, once for those close together | `store` |
/// | `mortise.undo.forgotten` | counter, of batches too large to be undone | `entity` |
///
/// The dimensions are names of configurations and entities; no value of a record is ever among them.
///
/// The module needs the trait `Metrics`: `.package(url: …, traits: ["Metrics"])`.
public enum StoreMetrics {
    /// Sends the events of all stores of this process to the metrics system. Replaces the handler of `StoreEvents`.
    /// - Parameter limit: a fetch that takes longer counts as slow.
    public static func start(slowFetchLimit limit: Duration = .milliseconds(100)) {
        StoreEvents.observe { event in record(event, limit) }
    }

    private static func record(_ event: StoreEvent, _ limit: Duration) {
        switch event {
        case .fetch(let entity, let store, let duration, let scanned, _, let isFullScan):
            let dimensions = [("store", store), ("entity", entity)]
            Timer(label: "mortise.fetch.duration", dimensions: dimensions).recordNanoseconds(duration.nanoseconds)
            Recorder(label: "mortise.fetch.scanned", dimensions: dimensions).record(scanned)
            if duration > limit { Counter(label: "mortise.fetch.slow", dimensions: dimensions).increment() }
            if isFullScan { Counter(label: "mortise.fetch.full_scans", dimensions: dimensions).increment() }
        case .recovery(let store, _):
            Counter(label: "mortise.recoveries", dimensions: [("store", store)]).increment()
        case .compaction(let store, _, let duration):
            Counter(label: "mortise.compactions", dimensions: [("store", store)]).increment()
            Timer(label: "mortise.compaction.duration", dimensions: [("store", store)])
                .recordNanoseconds(duration.nanoseconds)
        case .compactionFailed(let store, _):
            Counter(label: "mortise.compaction.failures", dimensions: [("store", store)]).increment()
        case .checkpointUnreadable(let store, _):
            Counter(label: "mortise.checkpoint.unreadable", dimensions: [("store", store)]).increment()
        case .checkpointFailed(let store, _):
            Counter(label: "mortise.checkpoint.failures", dimensions: [("store", store)]).increment()
        case .readerLeftBehind(let store, _):
            Counter(label: "mortise.readers_left_behind", dimensions: [("store", store)]).increment()
        case .schemaLoss(let store, _, let copy):
            if copy != nil { Counter(label: "mortise.schema_losses", dimensions: [("store", store)]).increment() }
        case .remoteChange(let store):
            Counter(label: "mortise.remote_changes", dimensions: [("store", store)]).increment()
        case .undoForgotten(let entity, _):
            Counter(label: "mortise.undo.forgotten", dimensions: [("entity", entity)]).increment()
        case .historyHolderLost(let store, _):
            Counter(label: "mortise.history.holders_lost", dimensions: [("store", store)]).increment()
        }
    }
}

extension Duration {
    fileprivate var nanoseconds: Int64 {
        let (seconds, attoseconds) = components
        return seconds * 1_000_000_000 + attoseconds / 1_000_000_000
    }
}
#endif
