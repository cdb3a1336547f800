#if PostgreSQL
import Foundation
public import MortiseCore
import MortiseSQL
import Synchronization

/// What a save leaves in the store.
struct SaveTrace: Sendable {
    let key: UUID
    /// The number of the transaction.
    let number: Int64
    /// The first number of those that it gives to records.
    let first: Int64
    /// When it is, as the history has it.
    let date: Double
}

/// A save of which it is not known whether it was committed.
struct UnsettledSave: Sendable {
    let trace: SaveTrace
    /// The context that saved: nobody else knows what it was going to save.
    let context: UUID
    /// The identifiers that new records have in their context, in the order of their numbers.
    let inserted: [PersistentIdentifier]
    /// The versions of the changed records: those that they had, and those that they get.
    let updated: [PersistentIdentifier: (before: UInt64, after: UInt64)]
    let deleted: Set<PersistentIdentifier>
}

extension PostgreSQLStore {
    /// Carries out all changes in one transaction, which takes five round trips at most.
    /// - Throws: `RecordsSuperseded` if others have changed or deleted the records since they were read, or have taken a unique
    ///   value; `PostgreSQLError`, which names the record at fault. Nothing was changed then, unless its fault is `outcomeUnknown`; with `outcomeForgotten`,
    ///   an earlier save of the context may be there.
    public func save(
        _ request: DataStoreSaveChangesRequest<DefaultSnapshot>
    ) throws -> DataStoreSaveChangesResult<DefaultSnapshot> {
        guard allowsSave else { throw error(.readOnly) }
        return try saveLock.withLock {
            let settled = try settle(request)
            let requested = settled.changes
            let result: DataStoreSaveChangesResult<DefaultSnapshot> = try committing(
                author: request.editingState.author, of: request.editingState.id
            ) { writer in
                try writer.begin(numbers: requested.inserted.count, requested)
                let superseded = settled.request.superseded { writer.versions[$0] }
                if !superseded.isEmpty { throw RecordsSuperseded(superseded) }
                try writer.number(requested.inserted.map(\.persistentIdentifier))
                return requested
            } failing: { error, writer in
                try explained(error, requested, writer)
            } result: { writer, transaction in
                var changes = ChangeSet(author: request.editingState.author)
                let permanent = writer.permanent.merging(settled.permanent) { own, _ in own }
                if following.feed.isFollowed {
                    changes.inserted = ChangeSet.Insertions(
                        requested.inserted.map {
                            $0.copy(
                                persistentIdentifier: permanent[$0.persistentIdentifier] ?? $0.persistentIdentifier,
                                remappedIdentifiers: permanent)
                        })
                }
                return (
                    DataStoreSaveChangesResult(
                        for: identifier, remappedIdentifiers: permanent,
                        historyToken: DefaultHistoryToken(
                            transaction, mark: writer.isEmpty ? nil : writer.mark, store: identifier)), changes,
                    requested.updated
                )
            }
            // Until then the context asks once more, and needs to know what was there.
            unsettled.withLock { $0.removeAll { settled.keys.contains($0.trace.key) } }
            return result
        }
    }

    /// Removes all records. Numbers go on, and so does the history.
    /// - Throws: `PostgreSQLError`.
    public func erase() throws {
        guard allowsSave else { throw error(.readOnly) }
        try saveLock.withLock {
            try committing(author: nil) { writer in
                try writer.begin(numbers: 0)
                writer.erase()
                return RequestedChanges()
            } result: { _, _ in
                ((), ChangeSet(), [])
            }
        }
    }

    /// New records above this number are written by COPY.
    static let mostListed = 1_000

    /// One transaction that changes something: carries it out, writes the history, and posts what was changed. One that changes
    /// nothing leaves no trace.
    ///
    /// `begin` starts the transaction, and says what is to be changed. `explain` finds out why the server has refused it, once the
    /// transaction is gone. `make` makes the result, the part of what is posted that has values, and the records that were given new ones.
    func committing<R>(
        author: String?, of context: UUID? = nil, _ begin: (SaveWriter) throws -> RequestedChanges,
        failing explain: (PostgreSQLError, SaveWriter) throws -> any Error = { error, _ in error },
        result make: (SaveWriter, Int64) throws -> (R, ChangeSet, [DefaultSnapshot])
    ) throws -> R {
        let deadline = ContinuousClock.now + configuration.retryFor
        var pause = Backoff()
        // One address may lead to another server by now; several do.
        var leaders = configuration.server.host.contains(",") ? Int.max : 1
        while true {
            var writer: SaveWriter?
            var isEnding = false
            let connection: PostgreSQLConnection
            do {
                connection = try pool.take()
            } catch let error as PostgreSQLError {
                guard case .unreachable = error.fault, .now < deadline else { throw error }
                pause.wait()
                continue
            }
            do {
                let new = SaveWriter(self, connection)
                writer = new
                let requested = try begin(new)
                let number = try write(requested, new, author: author, ending: { isEnding = true })
                return try finished(new, number, connection, author: author, make)
            } catch let error as PostgreSQLError {
                connection.rollBack()
                let isUsable = connection.isUsable
                // The next one finds the leader.
                if error.state == "25006" {
                    connection.close()
                    pool.closeIdle()
                }
                pool.put(connection)
                if isEnding, !isUsable || error.state == "40003", let writer {
                    // Committed or not: the server knows.
                    if let number = try outcome(of: writer, context, deadline) {
                        // It is there, whatever becomes of the connection.
                        return try finished(writer, number, try? pool.take(), author: author, make)
                    }
                    guard .now < deadline else { throw error }
                    pause.wait()
                    continue
                }
                if error.canBeRepeated(onAnother: leaders > 0), .now < deadline {
                    if error.state == "25006" { leaders -= 1 }
                    pause.wait()
                    continue
                }
                guard let writer, let state = error.state, ["23505", "23503", "54000"].contains(state) else {
                    throw error
                }
                throw try explain(error, writer)
            } catch {
                connection.rollBack()
                pool.put(connection)
                throw error
            }
        }
    }

    /// Sends all statements, and ends the transaction.
    /// - Returns: the number of the transaction; nil for one that changes nothing.
    private func write(
        _ requested: RequestedChanges, _ writer: SaveWriter, author: String?, ending: () -> Void
    ) throws -> Int64? {
        let connection = writer.connection
        try writer.delete(requested.deleted)
        try writer.update(requested)
        let inserted = try writer.insert(requested.inserted)
        // The largest table is copied, and a save stays within its round trips.
        let copied = inserted.indices.max { inserted[$0].values.rows.count < inserted[$1].values.rows.count }
            .flatMap { inserted[$0].values.rows.count > Self.mostListed ? $0 : nil }
        for (place, (table, values)) in inserted.enumerated() where place != copied { writer.add(table, values) }
        if writer.isEmpty {
            connection.rollBack()
            return nil
        }
        if let copied {
            if !writer.statements.isEmpty { _ = try connection.run(writer.statements) }
            writer.statements = []
            let (table, values) = inserted[copied]
            let names = values.columns.map { SQLName.quoted($0.name) }.joined(separator: ", ")
            let bytes: [UInt8]
            do {
                bytes = try values.copied()
            } catch {
                throw self.error(.unfitValue(record: "a record of \(table)", property: "a value"))
            }
            try connection.copy("COPY \(SQLName.quoted(table)) (\(names)) FROM STDIN (FORMAT binary)", bytes)
        }
        writer.addLinks()
        let number = writer.finish(
            author: author, notifies: configuration.notifies, inserted: requested.inserted.count)
        ending()
        _ = try connection.run(writer.statements)
        return number
    }

    private func finished<R>(
        _ writer: SaveWriter, _ number: Int64?, _ connection: PostgreSQLConnection?, author: String?,
        _ make: (SaveWriter, Int64) throws -> (R, ChangeSet, [DefaultSnapshot])
    ) throws -> R {
        defer { if let connection { pool.put(connection) } }
        guard let number else { return try make(writer, following.lastPosted).0 }
        if writer.holdsNaN { knownNaN.withLock { $0 = true } }
        var (result, changes, updated) = try make(writer, number)
        let othersAreTold = connection.map { (try? takeInOthers($0, before: number)) != nil } ?? false
        if !othersAreTold { following.postUnknown(upTo: number - 1) }
        fill(&changes, number, author: author, updated, writer)
        following.post(changes, number: number)
        return result
    }

    /// What a transaction of this process has changed, as the feed gets it.
    private func fill(
        _ changes: inout ChangeSet, _ number: Int64, author: String?, _ updated: [DefaultSnapshot], _ writer: SaveWriter
    ) {
        let named = changeSet(writer, number, author: author)
        changes.commit = named.commit
        changes.isErasure = named.isErasure
        if !changes.inserted.hasValues { changes.inserted = named.inserted }
        changes.updated = named.updated
        changes.deleted = named.deleted
        guard following.feed.isFollowed else { return }
        let values = Dictionary(updated.map { ($0.persistentIdentifier, $0) }, uniquingKeysWith: { first, _ in first })
        for place in changes.updated.indices {
            guard let snapshot = values[changes.updated[place].record],
                snapshot.layout === changes.updated[place].layout
            else { continue }
            var new = snapshot.values
            for slot in new.indices { new[slot].remapIdentifiers(writer.permanent) }
            changes.updated[place].values = new
        }
    }

    /// What a writer has changed, by name.
    func changeSet(_ writer: SaveWriter, _ number: Int64, author: String?) -> ChangeSet {
        naming.changeSet(
            of: writer.changes, number, at: Date(), author: author, process: ProcessInfo.processInfo.processName,
            bundle: Bundle.main.bundleIdentifier ?? "", mark: writer.mark, withOwners: true)
    }

    // MARK: Outcomes

    /// Asks whether a transaction was committed whose connection was lost.
    /// - Returns: its number; nil if it was not.
    /// - Throws: `PostgreSQLError` with the fault `outcomeUnknown` if nobody answers in time.
    private func outcome(
        of writer: SaveWriter, _ context: UUID?, _ deadline: ContinuousClock.Instant
    ) throws -> Int64? {
        do {
            switch try asked(writer.trace, until: deadline) {
            case .committed(let number, _): return number
            case .absent: return nil
            case .forgotten: break
            }
        } catch is PostgreSQLError {
            // Whatever keeps the server from saying so: the save may be there.
        }
        if let context {
            let save = UnsettledSave(
                trace: writer.trace, context: context,
                inserted: writer.permanent.sorted { $0.value < $1.value }.map(\.key),
                updated: writer.raisedVersions, deleted: writer.gone)
            unsettled.withLock { $0.append(save) }
        }
        throw error(.outcomeUnknown)
    }

    /// What has become of a transaction.
    private enum Outcome {
        /// It is there: its number, and the first of those that it gave to records.
        case committed(number: Int64, first: Int64)
        case absent
        /// Neither the keys nor the history reach back so far.
        case forgotten
    }

    /// Asks for a transaction as `committed` does, again and again while no server answers.
    /// - Throws: the last error, at the deadline or where waiting is of no use.
    private func asked(
        _ trace: SaveTrace, until deadline: ContinuousClock.Instant
    ) throws -> Outcome {
        var pause = Backoff()
        while true {
            do {
                return try pool.using { connection in
                    do { return try committed(trace, connection) } catch let error as PostgreSQLError {
                        // The server was the leader, and another one is now.
                        if error.state == "25006" {
                            connection.close()
                            pool.closeIdle()
                        }
                        throw error
                    }
                }
            } catch let error as PostgreSQLError {
                switch error.fault {
                case .unreachable, .timedOut, .noConnection: break
                case .engine where error.errorClass == .busy || ["25006", "40003"].contains(error.state): break
                default: throw error
                }
                guard .now < deadline else { throw error }
                pause.wait()
            }
        }
    }

    /// What has become of a transaction. The lock of the store is held until a transaction ends, so that nothing is on its way when it has
    /// been waited for.
    private func committed(_ trace: SaveTrace, _ connection: PostgreSQLConnection) throws -> Outcome {
        try connection.transaction {
            let results = try connection.run([
                .init("SELECT s.\"lastTransaction\" FROM mortise_store s FOR UPDATE"),
                .init("SELECT s.n, s.first FROM mortise_saves s WHERE s.key = $1::uuid", [.uuid(trace.key)]),
                .init("SELECT h.at FROM mortise_history h WHERE h.n = $1::int8", [.integer(trace.number)]),
            ])
            if let row = results[1].rows.first { return .committed(number: row.integer(0), first: row.integer(1)) }
            // The keys of the last saves are there.
            guard let last = results[0].rows.first?.integer(0), last > trace.number + SaveWriter.mostSaves else {
                return .absent
            }
            // A transaction of that number is this one, or one that was committed instead.
            guard let row = results[2].rows.first else { return .forgotten }
            return row.value(0) == .real(trace.date) ? .committed(number: trace.number, first: trace.first) : .absent
        }
    }

    /// A request without what an earlier save has done whose outcome was not known then.
    private struct SettledRequest {
        var request: DataStoreSaveChangesRequest<DefaultSnapshot>
        var changes: RequestedChanges
        var permanent: [PersistentIdentifier: PersistentIdentifier] = [:]
        /// The saves that were there.
        var keys: Set<UUID> = []
    }

    private func settle(_ request: DataStoreSaveChangesRequest<DefaultSnapshot>) throws -> SettledRequest {
        var settled = SettledRequest(
            request: request,
            changes: RequestedChanges(
                inserted: request.inserted, updated: request.updated, changedSlots: request.changedSlots,
                deleted: request.deleted.map(\.persistentIdentifier)))
        for save in unsettled.withLock({ $0 }) where save.context == request.editingState.id {
            switch try asked(save.trace, until: .now + configuration.retryFor) {
            case .committed(_, let first):
                take(save, first: first, into: &settled)
                settled.keys.insert(save.trace.key)
            case .forgotten:
                // New records may be there already. All else is decided by the versions of the records.
                let doubtful = Set(save.inserted)
                if request.inserted.contains(where: { doubtful.contains($0.persistentIdentifier) }) {
                    throw error(.outcomeForgotten)
                }
                fallthrough
            case .absent: unsettled.withLock { $0.removeAll { $0.trace.key == save.trace.key } }
            }
        }
        return settled
    }

    /// Takes out of a request what was committed: new records become known ones, and versions are those that it has made, unless the
    /// context has read the records since.
    private func take(_ save: UnsettledSave, first: Int64, into settled: inout SettledRequest) {
        for (place, record) in save.inserted.enumerated() {
            settled.permanent[record] = .numbered(
                UInt64(clamping: first + Int64(place)), storeIdentifier: identifier, entityName: record.entityName)
        }
        var request = settled.request
        func versions(_ records: [PersistentIdentifier], _ read: [UInt64]) -> [UInt64] {
            records.enumerated().map { place, record in
                let version = place < read.count ? read[place] : 0
                guard version > 0, let known = save.updated[record], known.before == version else { return version }
                return known.after
            }
        }
        var updated = request.updated.map {
            $0.copy(persistentIdentifier: $0.persistentIdentifier, remappedIdentifiers: settled.permanent)
        }
        var slots = request.changedSlots
        var updatedVersions = versions(updated.map(\.persistentIdentifier), request.updatedVersions)
        var inserted: [DefaultSnapshot] = []
        for snapshot in request.inserted {
            guard let known = settled.permanent[snapshot.persistentIdentifier] else {
                inserted.append(
                    snapshot.copy(
                        persistentIdentifier: snapshot.persistentIdentifier, remappedIdentifiers: settled.permanent))
                continue
            }
            while slots.count < updated.count {
                slots.append(SlotSet(updated[slots.count].layout.slots.indices))
            }
            updated.append(snapshot.copy(persistentIdentifier: known, remappedIdentifiers: settled.permanent))
            slots.append(SlotSet(snapshot.layout.slots.indices))
            updatedVersions.append(0)
        }
        let kept = request.deleted.filter { !save.deleted.contains($0.persistentIdentifier) }
        let deletedVersions = versions(
            request.deleted.map(\.persistentIdentifier), request.deletedVersions)
        let left = zip(request.deleted, deletedVersions).filter { !save.deleted.contains($0.0.persistentIdentifier) }
        request = DataStoreSaveChangesRequest(
            inserted: inserted, updated: updated, deleted: kept, editingState: request.editingState,
            changedSlots: slots, updatedVersions: updatedVersions, deletedVersions: left.map(\.1))
        settled.request = request
        settled.changes = RequestedChanges(
            inserted: inserted, updated: updated, changedSlots: slots, deleted: kept.map(\.persistentIdentifier))
    }
}

extension PostgreSQLError {
    /// Whether a transaction that ended with the error can be tried again: nothing of it was committed.
    fileprivate func canBeRepeated(onAnother hasOthers: Bool) -> Bool {
        switch fault {
        case .unreachable: true
        case .engine("40001", _, _, _, _), .engine("40P01", _, _, _, _), .engine("0A000", _, _, _, _): true
        // The server was the leader, and another one is now.
        case .engine("25006", _, _, _, _): hasOthers
        default: false
        }
    }
}

extension PostgreSQLError.Fault {
    /// The store takes no changes.
    static var readOnly: Self {
        .engine(
            state: "25006", message: "the store is open for reading only", table: nil, column: nil, constraint: nil)
    }
}
#endif
