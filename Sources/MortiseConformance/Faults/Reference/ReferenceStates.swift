import Foundation
import MortiseCore
import Synchronization

/// What each context reads from until it moves on.
final class ReferenceStates: Sendable {
    private struct Kept {
        var states: [UUID: (scope: ReadScope, version: ReferenceVersion)] = [:]
        /// The contexts, the one whose state is the oldest first.
        var order: [UUID] = []
    }
    private let work: ReferenceWork
    private let kept = Mutex(Kept())

    init(_ work: ReferenceWork) { self.work = work }

    /// The state of a scope: of the latest version if the scope is new.
    func version(for scope: ReadScope?) -> ReferenceVersion {
        guard let scope = scope.flatMap(work.steps.scope) else { return work.version }
        return kept.withLock { kept in
            if let known = kept.states[scope.context], known.scope == scope { return known.version }
            let version = work.version
            kept.states[scope.context] = (scope, version)
            kept.order.removeAll { $0 == scope.context }
            kept.order.append(scope.context)
            if let limit = work.steps.statesKept, kept.order.count > limit {
                kept.states[kept.order.removeFirst()] = nil
            }
            return version
        }
    }

    func end(_ context: UUID) {
        if work.steps.endsEveryState { return endAll() }
        kept.withLock { kept in
            kept.states[context] = nil
            kept.order.removeAll { $0 == context }
        }
    }

    func endAll() { kept.withLock { $0 = Kept() } }
}
