import Foundation
import MortiseCore
import MortiseEngine
import Synchronization

/// The stores that are open on one log, which are notified of events in the background.
final class LogObservers: Sendable {
    private let events = EventObservers()
    private let progress = Mutex<[ObjectIdentifier: @Sendable (AppendLogProgress) throws -> Void]>([:])

    func add(_ store: AppendLogStore, _ handler: @escaping @Sendable (StoreEvent) -> Void) {
        events.add(store, handler)
    }

    func remove(_ store: AppendLogStore) {
        events.remove(store)
        setProgress(store, nil)
    }

    func setProgress(_ store: AppendLogStore, _ handler: (@Sendable (AppendLogProgress) throws -> Void)?) {
        let key = ObjectIdentifier(store)
        progress.withLock { $0[key] = handler }
    }

    /// Tells the process's observer and those of the stores.
    func post(_ event: StoreEvent) { events.post(event) }

    /// - Throws: `CancellationError` where one wants the work to end.
    func report(_ progress: AppendLogProgress) throws {
        for report in self.progress.withLock({ Array($0.values) }) {
            do {
                try report(progress)
            } catch {
                throw CancellationError()
            }
        }
    }
}
