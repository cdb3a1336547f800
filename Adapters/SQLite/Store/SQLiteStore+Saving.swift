#if SQLite
import Foundation
public import MortiseCore
import MortiseSQL

extension SQLiteStore {
    /// Carries out all changes in one transaction.
    /// - Throws: `RecordsSuperseded` if others have changed or deleted the records since they were read, or have taken a unique
    ///   value; `SQLiteError`, which names the record at fault. Nothing was changed then.
    public func save(
        _ request: DataStoreSaveChangesRequest<DefaultSnapshot>
    ) throws -> DataStoreSaveChangesResult<DefaultSnapshot> {
        try committing(author: request.editingState.author) { writer in
            let superseded = try request.superseded { try writer.version(of: $0) }
            if !superseded.isEmpty { throw RecordsSuperseded(superseded) }
            do {
                try writer.number(request.inserted.map(\.persistentIdentifier))
                try writer.delete(request.deleted.map(\.persistentIdentifier))
                try writer.update(request.updated, request.changedSlots)
                try writer.insert(request.inserted)
            } catch let error as SQLiteError {
                guard case .notUnique(_, _, _, let other) = error.fault else { throw error }
                let own = request.inserted.map(\.persistentIdentifier) + request.updated.map(\.persistentIdentifier)
                if own.contains(where: { (writer.permanent[$0] ?? $0) == other }) { throw error }
                // The context has looked for it before, and found nothing.
                throw RecordsSuperseded([other])
            }
            return writer
        } explaining: { error, writer in
            try explained(error, request, writer)
        } result: { writer, transaction in
            var changes = ChangeSet(author: request.editingState.author)
            if following.feed.isFollowed {
                changes.inserted = ChangeSet.Insertions(
                    request.inserted.map {
                        $0.copy(
                            persistentIdentifier: writer.permanent[$0.persistentIdentifier] ?? $0.persistentIdentifier,
                            remappedIdentifiers: writer.permanent)
                    })
            }
            return (
                DataStoreSaveChangesResult(
                    for: identifier, remappedIdentifiers: writer.permanent,
                    historyToken: DefaultHistoryToken(
                        transaction, mark: writer.isEmpty ? nil : writer.mark, store: identifier)), changes,
                request
            )
        }
    }

    /// Removes all records. Numbers go on, and so does the history.
    /// - Throws: `SQLiteError`.
    public func erase() throws {
        try committing(author: nil) { writer in
            try writer.erase()
            return writer
        } result: { _, _ in
            ((), ChangeSet(), nil)
        }
    }

    /// One transaction that changes something: carries it out, writes the history, and posts what was changed. One that changes
    /// nothing leaves no trace.
    ///
    /// `explain` finds out why a reference leads nowhere, once the transaction is gone. `make` makes the result, and the part of what is
    /// posted that has values.
    func committing<R>(
        author: String?, _ body: (inout SaveWriter) throws -> SaveWriter,
        explaining explain: (SQLiteError, SaveWriter) throws -> any Error = { error, _ in error },
        result make: (SaveWriter, Int64) throws -> (R, ChangeSet, DataStoreSaveChangesRequest<DefaultSnapshot>?)
    ) throws -> R {
        try pool.writing { connection in
            var finished: (writer: SaveWriter, number: Int64?)?
            do {
                try connection.transaction(writes: true) {
                    let moment = try check(connection)
                    var writer = SaveWriter(self, connection, moment)
                    writer = try body(&writer)
                    finished = (writer, nil)
                    if writer.isEmpty { return }
                    let number = try writer.finish(moment, author: author)
                    finished = (writer, number)
                }
            } catch let error as SQLiteError where error.isMissingTarget {
                guard let finished else { throw error }
                throw try explain(error, finished.writer)
            }
            guard let (writer, number) = finished else { throw error(.closed) }
            guard let number else { return try make(writer, following.lastPosted).0 }
            var (result, changes, request) = try make(writer, number)
            do {
                try takeInOthers(connection, before: number)
            } catch {
                following.postUnknown(upTo: number - 1)
            }
            fill(&changes, with: writer.changes, number, author: author, request, writer)
            following.post(changes, number: number)
            return result
        }
    }

    /// What a transaction of this process has changed, as the feed gets it.
    private func fill(
        _ changes: inout ChangeSet, with history: HistoryChanges, _ number: Int64, author: String?,
        _ request: DataStoreSaveChangesRequest<DefaultSnapshot>?, _ writer: SaveWriter
    ) {
        let named = changeSet(
            of: history, writer.entry(number, author: author), withOwners: true)
        changes.commit = named.commit
        changes.isErasure = named.isErasure
        if !changes.inserted.hasValues { changes.inserted = named.inserted }
        changes.updated = named.updated
        changes.deleted = named.deleted
        guard following.feed.isFollowed, let request else { return }
        let values = Dictionary(
            request.updated.map { ($0.persistentIdentifier, $0) }, uniquingKeysWith: { first, _ in first })
        for place in changes.updated.indices {
            guard let snapshot = values[changes.updated[place].record],
                snapshot.layout === changes.updated[place].layout
            else { continue }
            var new = snapshot.values
            for slot in new.indices { new[slot].remapIdentifiers(writer.permanent) }
            changes.updated[place].values = new
        }
    }

    /// Says which record refers to a missing one, where SQLite says only that there is such a record.
    private func explained(
        _ error: SQLiteError, _ request: DataStoreSaveChangesRequest<DefaultSnapshot>, _ writer: SaveWriter
    ) throws -> any Error {
        // The transaction is gone: the records are as they were before it.
        let deleted = request.deleted.map(\.persistentIdentifier)
        let gone = Set(deleted)
        for snapshot in request.inserted + request.updated {
            for (slot, value) in zip(snapshot.layout.slots, snapshot.values) {
                let targets: [PersistentIdentifier] =
                    switch value {
                    case .identifier(let target): [target]
                    case .identifiers(let members) where slot.role == .toManyStored: members
                    default: []
                    }
                for target in targets where writer.permanent[target] == nil {
                    if try !gone.contains(target) && writer.version(of: target) != nil { continue }
                    return self.error(
                        .missingTarget(
                            record: "\(snapshot.persistentIdentifier)", property: slot.name, target: "\(target)"))
                }
            }
        }
        let known = gone.union(request.updated.lazy.map(\.persistentIdentifier))
        // No context knows who refers to a record by a relationship without an inverse.
        let required = try writer.requiring(deleted, except: known) {
            $0.slot.property.relationship?.inverse == nil
        }
        if let required { return required }
        for record in deleted {
            // Others have made them since: the context looks at its delete rules again.
            let holders = try writer.holders(of: record, except: known)
            if !holders.isEmpty { return RecordsSuperseded(holders) }
        }
        return deleted.first.map { self.error(.stillReferred(record: "\($0)")) } ?? error
    }
}

extension SQLiteError {
    /// Whether a record would refer to a missing one.
    fileprivate var isMissingTarget: Bool {
        if case .engine(let code, _) = fault { code == 787 } else { false }
    }
}

extension SaveWriter {
    /// Removes all records.
    mutating func erase() throws {
        for (owner, place) in store.linkSlots {
            if case .links(let table) = owner.slots[place].place {
                try connection.run("DELETE FROM \(SQLName.quoted(table))")
            }
        }
        for table in Set(mapping.catalog.entities.map(\.table)).sorted() {
            try connection.run("DELETE FROM \(SQLName.quoted(table))")
        }
        noteErasure()
    }
}
#endif
