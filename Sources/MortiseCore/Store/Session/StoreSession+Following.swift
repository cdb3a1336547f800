import Synchronization

/// A session's place in its store's feed, for a store without versions: the records that others have changed.
final class SessionFollowing: Sendable {
    /// Beyond this many, it is cheaper to assume that everything changed.
    static let limit = 10_000

    let records = ChangedRecords(limit: SessionFollowing.limit)
    private let place = Mutex<Place>(.notYet)
    /// What was taken while a cursor was open, which may hand out records as they were before.
    private let streamed = ChangedRecords(limit: SessionFollowing.limit)

    private enum Place {
        case notYet
        case at(ChangeFeed.Follower)
        case ended
    }

    /// Begins to follow, unless this has begun or ended already. What is read afterwards cannot change unnoticed.
    func begin(in feed: ChangeFeed) {
        place.withLock { place in
            if case .notYet = place { place = .at(feed.follow(into: records)) }
        }
    }

    /// Ends following. May be called on any thread.
    func end() {
        // Not released under the lock.
        let last = place.withLock { place in
            defer { place = .ended }
            return place
        }
        if case .at(let follower) = last { follower.cancel() }
    }

    var isActive: Bool {
        place.withLock { if case .at = $0 { true } else { false } }
    }

    fileprivate func noteStreamed(_ found: ChangedRecords.Found) { streamed.putBack(found) }

    /// Has the records read again that a cursor may have handed out as they were before.
    func endStreaming() {
        if !streamed.isEmpty { records.putBack(streamed.take()) }
    }
}

extension StoreSession {
    /// Reads those records again that have a model here and that others have changed since the last call, and forgets what
    /// else was read of them. Models of records that are gone leave the context.
    /// - Returns: whether there was anything.
    /// - Throws: the store's error; the next call tries again.
    func takeInOthersChanges() throws -> Bool {
        let found = following.records.take()
        if found.records.isEmpty, !found.isEverything { return false }
        if isStreaming { following.noteStreamed(found) }
        do {
            for (name, rows) in read {
                guard let layout = schema.layouts[name] else { continue }
                try reread(shownRows(of: found, ofEntity: name, rows), of: layout, rows)
            }
        } catch {
            following.records.putBack(found)
            throw error
        }
        return true
    }

    /// The records among those found that something shows. The others are read when they are asked for.
    private func shownRows(
        of found: ChangedRecords.Found, ofEntity name: String, _ rows: SessionRows
    ) -> [PersistentIdentifier] {
        let isHeld = rowHolds.count.load(ordering: .relaxed) > 0
        var shown: [PersistentIdentifier] = []
        func look(at row: Int) {
            // A row that was discarded may have a model too.
            if observer.hasModel(ofRow: row, entity: name, in: rows) || (isHeld && rows.contains(row: row)) {
                shown.append(rows.identifier(ofRow: row))
            } else {
                rows.discard(row: row)
            }
        }
        if found.isEverything {
            for row in 0..<rows.endRow { look(at: row) }
        } else {
            for record in found.records.sorted() where record.entityName == name {
                if let row = rows.lastRow(of: record) { look(at: row) }
            }
        }
        return shown
    }

    private func reread(_ records: [PersistentIdentifier], of layout: ModelLayout, _ rows: SessionRows) throws {
        if records.isEmpty { return }
        let present = try load(records, as: layout.type)
        for record in records where !present.contains(record) {
            if let row = rows.lastRow(of: record) { observer.rowIsGone(row, ofEntity: layout.entityName, in: rows) }
            forget(record)
        }
        // Somebody has seen these lists, and may observe them.
        var outdated: [Int: [Int]] = [:]
        for record in present {
            guard let row = rows.row(of: record) else { continue }
            for slot in rows.outdatedSlots(row: row) { outdated[slot, default: []].append(row) }
        }
        for (slot, places) in outdated {
            // It stays unread: the next read of it throws again.
            do { try rows.readDeferred(places, slot: slot) } catch { observer.latch(error) }
        }
    }

    /// Runs a commit of this session. A store that announces itself may name it among the changes of others.
    func committing<R>(_ body: () throws -> R, knowing own: (R) -> ChangeSet) rethrows -> R {
        guard version == nil, connection.announcesItself, following.isActive else { return try body() }
        following.records.beginCommit()
        var result: R?
        defer { following.records.endCommit { result.map(own) } }
        let outcome = try body()
        result = outcome
        return outcome
    }
}

extension StoreSession {
    /// Gives a commit its place among those that are posted in place of the store.
    func takeTurn(_ outcome: inout SaveOutcome) {
        guard let turn = connection.beginAnnouncement() else { return }
        outcome.turn = turn
        if let version = outcome.version { turn.version.store(version.number, ordering: .relaxed) }
        guard let finish = outcome.finish else { return }
        outcome.finish = {
            let version = try finish()
            if let version { turn.version.store(version.number, ordering: .relaxed) }
            return version
        }
    }
}
