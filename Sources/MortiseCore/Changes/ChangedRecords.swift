import Synchronization

/// The records that a feed has named since they were last taken: identifiers alone, up to a limit, beyond which it may be any
/// record.
///
/// A feed adds them while it posts: once a commit has returned, its records are here.
final class ChangedRecords: Sendable {
    /// Records that others have changed or deleted.
    struct Found: Sendable {
        var records: Set<PersistentIdentifier> = []
        /// Whether any record may have changed.
        var isEverything = false

        mutating func formUnion(_ other: Found, atMost limit: Int) {
            isEverything = isEverything || other.isEverything || records.count + other.records.count > limit
            if isEverything { records = [] } else { records.formUnion(other.records) }
        }
    }

    private struct State {
        var found = Found()
        /// What was posted since a commit of the owner began; nil if none is under way.
        var meanwhile: [ChangeSet]?
    }

    private let limit: Int
    private let state = Mutex(State())
    private let hasAny = Atomic(false)

    init(limit: Int) { self.limit = limit }

    /// Whether nothing was named. Any commit that the caller can know of is included.
    var isEmpty: Bool { !hasAny.load(ordering: .relaxed) }

    /// What was named since the last call.
    func take() -> Found {
        state.withLock { state in
            defer { state.found = Found() }
            hasAny.store(false, ordering: .relaxed)
            return state.found
        }
    }

    /// Adds what was taken and could not be used.
    func putBack(_ found: Found) {
        if found.records.isEmpty, !found.isEverything { return }
        state.withLock { state in
            state.found.formUnion(found, atMost: limit)
            hasAny.store(true, ordering: .relaxed)
        }
    }

    func note(_ changes: [ChangeSet]) {
        state.withLock { state in
            if state.meanwhile != nil {
                state.meanwhile?.append(contentsOf: changes)
            } else {
                for changes in changes { take(changes, &state) }
            }
        }
    }

    /// The owner's own commit begins. The store may post it before it returns.
    func beginCommit() { state.withLock { $0.meanwhile = [] } }

    /// The owner's commit has ended.
    /// - Parameter own: what it has changed, which the owner knows; nil if it has failed.
    func endCommit(_ own: () -> ChangeSet?) {
        state.withLock { state in
            guard let meanwhile = state.meanwhile.take(), !meanwhile.isEmpty else { return }
            // Once each: what is named twice was changed by another one too.
            var known: Set<PersistentIdentifier> = []
            if let own = own() { known = Set(own.updated.lazy.map(\.record)).union(own.deleted.lazy.map(\.record)) }
            for changes in meanwhile { take(changes, &state) { known.remove($0) != nil } }
        }
    }

    /// New records are left out: nobody has known them.
    private func take(
        _ changes: ChangeSet, _ state: inout State, except isKnown: (PersistentIdentifier) -> Bool = { _ in false }
    ) {
        var found = state.found
        state.found = Found()
        if changes.isErasure || changes.isIncomplete { found.isEverything = true }
        func add(_ record: PersistentIdentifier) {
            if found.isEverything || isKnown(record) { return }
            found.records.insert(record)
            if found.records.count > limit { found.isEverything = true }
        }
        for update in changes.updated where !found.isEverything { add(update.record) }
        for deletion in changes.deleted where !found.isEverything { add(deletion.record) }
        if found.isEverything { found.records = [] }
        if found.isEverything || !found.records.isEmpty { hasAny.store(true, ordering: .relaxed) }
        state.found = found
    }
}
