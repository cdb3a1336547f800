import Foundation
import MortiseCore
import Synchronization

/// The stores that are open on one log, to be told what happens to it in the background.
final class LogObservers: Sendable {
    private struct State {
        var events: [ObjectIdentifier: @Sendable (StoreEvent) -> Void] = [:]
        var progress: [ObjectIdentifier: @Sendable (AppendLogProgress) throws -> Void] = [:]
    }

    private let state = Mutex(State())

    func add(_ store: AppendLogStore, _ tell: @escaping @Sendable (StoreEvent) -> Void) {
        let key = ObjectIdentifier(store)
        state.withLock { $0.events[key] = tell }
    }

    func remove(_ store: AppendLogStore) {
        let key = ObjectIdentifier(store)
        state.withLock {
            $0.events[key] = nil
            $0.progress[key] = nil
        }
    }

    func setProgress(_ store: AppendLogStore, _ handler: (@Sendable (AppendLogProgress) throws -> Void)?) {
        let key = ObjectIdentifier(store)
        state.withLock { $0.progress[key] = handler }
    }

    /// Tells the process's observer and those of the stores.
    func tell(_ event: StoreEvent) {
        StoreEvents.emit(event)
        for tell in state.withLock({ Array($0.events.values) }) { tell(event) }
    }

    /// - Throws: `CancellationError` where one wants the work to end.
    func report(_ progress: AppendLogProgress) throws {
        for report in state.withLock({ Array($0.progress.values) }) {
            do {
                try report(progress)
            } catch {
                throw CancellationError()
            }
        }
    }
}
