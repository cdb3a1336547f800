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
    /// Runs a body, which reads by one cursor, and during which rows that are read need to stay only as long as a model has
    /// them. The body calls what it is given whenever it refers to no row by number, to let go of those that no model has.
    func streaming<R>(_ body: (_ letGo: () -> Void) throws -> R) rethrows -> R {
        isStreaming = true
        for rows in read.values { rows.beginNoting() }
        defer {
            isStreaming = false
            letGo(isLast: true)
            for rows in read.values { rows.endNoting() }
            following.endStreaming()
        }
        return try body { letGo(isLast: false) }
    }

    /// Lets go of rows that no model has, if there are many, unless somebody refers to rows by number.
    func sweep() {
        if isStreaming || rowHolds.count.load(ordering: .relaxed) > 0 { return }
        for (name, rows) in read { rows.sweep { observer.hasModel(ofRow: $0, entity: name, in: rows) } }
    }

    private func letGo(isLast: Bool) {
        if rowHolds.count.load(ordering: .relaxed) > 0 { return }
        for (name, rows) in read {
            rows.letGo(isLast: isLast) { observer.hasModel(ofRow: $0, entity: name, in: rows) }
        }
    }

    /// Takes the values of a record that the cursor has handed out, unless this context has read or written it since.
    /// - Returns: the record's row; nil if this context has learned since that the record is gone.
    func putPassing(
        _ identifier: PersistentIdentifier, _ values: ContiguousArray<StoredValue>, version recordVersion: UInt64
    ) throws -> Int? {
        let rows = rows(ofEntity: identifier.entityName)
        let row: Int
        if let newer = rows.newerRow(of: identifier) {
            guard let newer else { return nil }
            row = newer
        } else {
            row = try put(identifier, values, version: recordVersion)
        }
        rows.notePassed(row)
        return row
    }

    /// Reads those of a portion's records again whose entities a batch of this context has changed since the cursor was made.
    /// - Returns: for each of them its row; nil if it is gone.
    func rereadStale(_ records: [PersistentIdentifier]) throws -> [PersistentIdentifier: Int?] {
        var found: [PersistentIdentifier: Int?] = [:]
        for (name, records) in Dictionary(grouping: records, by: \.entityName) {
            guard let rows = read[name], rows.isStale, let layout = schema.layouts[name] else { continue }
            let present = try load(records, of: layout)
            for record in records {
                let row = present.contains(record) ? rows.row(of: record) : nil
                if let row { rows.notePassed(row) }
                found[record] = .some(row)
            }
        }
        return found
    }
}
