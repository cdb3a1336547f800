import Synchronization

/// Keeps a session from letting go of rows while somebody refers to them by number.
final class RowHold: Sendable {
    private let holds: RowHolds

    init(_ session: StoreSession) {
        holds = session.rowHolds
        holds.count.add(1, ordering: .relaxed)
    }

    deinit { holds.count.subtract(1, ordering: .relaxed) }
}

/// How many hold the rows of a session. Apart from it, because they may outlive it on another thread.
final class RowHolds: Sendable {
    let count = Atomic(0)
}

extension StoreSession {
    /// Runs a body during which rows that are read need to stay only as long as a model has them. The body calls what it is
    /// given whenever it refers to no row by number, to let go of those that no model has.
    func streaming<R>(_ body: (_ letGo: () -> Void) throws -> R) rethrows -> R {
        // Within another one, that one lets go.
        if isStreaming { return try body({}) }
        isStreaming = true
        for rows in read.values { rows.beginNoting() }
        defer {
            isStreaming = false
            for rows in read.values { rows.endNoting() }
        }
        return try body {
            if rowHolds.count.load(ordering: .relaxed) > 0 { return }
            for (name, rows) in read { rows.letGo { observer.hasModel(ofRow: $0, entity: name, in: rows) } }
        }
    }
}
