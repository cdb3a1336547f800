#if SQLite
import Foundation
import Synchronization

/// The stores that are open in this process: a migration finds out by it whether anybody has saved since it opened its store.
enum OpenStores {
    private struct Entry {
        weak var store: SQLiteStore?
        let lastTransaction: Int64
    }

    private static let entries = Mutex<[String: [Entry]]>([:])

    static func add(_ store: SQLiteStore, lastTransaction: Int64) {
        let path = store.configuration.path
        entries.withLock { entries in
            entries[path] = (entries[path] ?? []).filter { $0.store != nil }
            entries[path, default: []].append(Entry(store: store, lastTransaction: lastTransaction))
        }
    }

    static func remove(_ store: SQLiteStore) {
        let path = store.configuration.path
        entries.withLock { entries in
            entries[path] = entries[path]?.filter { $0.store != nil && $0.store !== store }
            if entries[path]?.isEmpty == true { entries[path] = nil }
        }
    }

    /// The last transaction of the file when the store was opened that is still open and was opened first; nil if none is.
    static func lastTransaction(path: String) -> Int64? {
        entries.withLock { $0[path]?.first { $0.store != nil }?.lastTransaction }
    }
}
#endif
