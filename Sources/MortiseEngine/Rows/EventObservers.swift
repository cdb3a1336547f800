import MortiseCore
import Synchronization

/// The stores that are open on one file, which are notified of its events.
package final class EventObservers: Sendable {
    private let handlers = Mutex<[ObjectIdentifier: @Sendable (StoreEvent) -> Void]>([:])

    package init() {}

    package func add(_ store: any DataStore, _ handler: @escaping @Sendable (StoreEvent) -> Void) {
        let key = ObjectIdentifier(store)
        handlers.withLock { $0[key] = handler }
    }

    package func remove(_ store: any DataStore) {
        let key = ObjectIdentifier(store)
        handlers.withLock { $0[key] = nil }
    }

    /// Tells the process's observer and those of the stores.
    package func post(_ event: StoreEvent) {
        StoreEvents.emit(event)
        for handler in handlers.withLock({ Array($0.values) }) { handler(event) }
    }
}
