extension ModelContext {
    /// Takes back a past transaction of any context or process: as unsaved changes of this context, which its next save stores under this context's
    /// author.
    ///
    ///     try context.revert(token)
    ///     try context.save()
    ///
    /// The context first moves to the latest version of every store. Then, of what the transaction
    /// - updated, each property that still has the value that the transaction wrote gets the value before. Others are in conflict;
    /// - inserted, each record that is as it was inserted is deleted, if delete rules neither delete nor clear anything that the
    ///   transaction did not insert. Others are in conflict;
    /// - deleted, each record is inserted again with its values: under its old identifier in a store that claims `restoresIdentifiers` and
    ///   still has room for it, under a new one in any other, and the old one leads to it in this context. References to records that are
    ///   gone are nil; where one is required, the record is in conflict.
    ///
    /// A unique value that another record has by now is a conflict, and never an upsert. What is already as it was before is left alone.
    /// Unsaved changes of this context count as changed since.
    ///
    /// Old values come from the history. That of a log has new values alone: old ones are looked for in its earlier transactions, as far back as
    /// needed. SQLite keeps no values, so that everything is in conflict there.
    /// - Parameters:
    ///   - token: the transaction's token. One that names several stores stands for a transaction in each.
    ///   - policy: what happens to what is in conflict.
    /// - Returns: what was reverted, and what was in the way.
    /// - Throws: `RevertError`; `SwiftDataError.historyTokenExpired` if the transaction is no longer in the history;
    ///   `DataStoreError.unsupportedFeature` if a store has no history of change sets; what a fetch throws. Nothing has changed then.
    @discardableResult
    public func revert(
        _ token: DefaultHistoryToken, onConflict policy: RevertPolicy = .refuse
    ) throws -> RevertReport {
        try reverting(token, policy) { archive, token in
            let store = archive.historyStore
            let number = token.tokenValue?[store] ?? 0
            let entry = try archive.entry(number, mark: token.marks[store])
            if entry == nil || entry?.kind == .stub {
                let bounds = try archive.historyBounds()
                throw SwiftDataError.historyTokenExpired(
                    store: archive.historyLocation, after: number, oldest: bounds.horizon + 1,
                    because: number > bounds.horizon
                        ? "\(number) is not in it any more" : "it begins after \(bounds.horizon)")
            }
            return number...number
        }
    }

    /// Takes back all that came after a point in the history, as if it were one transaction: what came and went in between counts for
    /// nothing. Everything else is as for `revert(_:onConflict:)`.
    /// - Parameters:
    ///   - token: what stays; stores that it does not name stay as they are.
    ///   - policy: what happens to what is in conflict.
    /// - Returns: what was reverted, and what was in the way.
    /// - Throws: as `revert(_:onConflict:)`; `SwiftDataError.historyTokenExpired` if some of what came after the token is gone.
    @discardableResult
    public func revert(
        after token: DefaultHistoryToken, onConflict policy: RevertPolicy = .refuse
    ) throws -> RevertReport {
        try reverting(token, policy) { archive, token in
            try archive.checkReadable(after: token.narrowed(to: archive.historyStore))
            let last = try archive.historyBounds().last
            let first = (token.tokenValue?[archive.historyStore] ?? 0) + 1
            return first <= last ? first...last : nil
        }
    }

    private func reverting(
        _ token: DefaultHistoryToken, _ policy: RevertPolicy,
        _ range: (any HistoryArchive, DefaultHistoryToken) throws -> ClosedRange<Int64>?
    ) throws -> RevertReport {
        if state.readsPast { throw ModelContextError.readsPast }
        try state.prepare()
        try refresh()
        let names = Set((token.tokenValue ?? [:]).keys)
        let stores = container.stores.filter { names.contains($0.identifier) }
        if stores.isEmpty { throw RevertError.noStore(token) }
        var reversal = Reversal(state, policy)
        for store in stores {
            let isThere = try store.withArchive { archive in
                guard let numbers = try range(archive, token) else { return }
                var folded = try archive.fold(numbers, under: container.schema)
                if let barrier = folded.barrier {
                    throw RevertError.notRevertible(
                        store: store.location, transaction: barrier.number, kind: barrier.kind)
                }
                let unknown = folded.withoutOld
                if !unknown.isEmpty {
                    folded.complete(
                        try archive.values(of: unknown, after: numbers.lowerBound - 1, under: container.schema))
                }
                let new = Set(folded.records.lazy.filter { !$0.value.wasThere }.map(\.key))
                let last = try archive.historyBounds().last
                let referring =
                    new.isEmpty || last <= numbers.upperBound
                    ? [] : try archive.references(to: new, in: numbers.upperBound + 1...last)
                reversal.take(folded, referring)
            }
            if !isThere { throw DataStoreError.unsupportedFeature }
        }
        try reversal.findConflicts()
        if policy == .refuse, !reversal.conflicts.isEmpty { throw RevertError.conflicts(reversal.conflicts) }
        autosave.begin()
        defer { autosave.end() }
        return reversal.carryOut(in: self)
    }
}

extension HistoryArchive {
    /// The entry of a transaction; nil if the history does not have it any more.
    /// - Throws: `SwiftDataError.historyTokenExpired` if the transaction is still to come, or is another one than the mark says; why the
    ///   history cannot be read.
    func entry(_ number: Int64, mark: UInt64?) throws -> HistoryEntry? {
        let bounds = try historyBounds()
        func expired(_ why: String) -> SwiftDataError {
            .historyTokenExpired(store: historyLocation, after: number, oldest: bounds.horizon + 1, because: why)
        }
        if number > bounds.last { throw expired("its last transaction is \(bounds.last)") }
        var found: HistoryEntry?
        if number > bounds.horizon {
            try readHistory(number...number, from: nil) { entry, _ in
                found = entry
                return false
            }
        }
        let kept = number == bounds.horizon ? bounds.horizonMark : found?.mark
        if number > 0, let mark, let kept, kept != mark {
            throw expired("\(number) is another transaction in it; the store was restored, copied or salvaged")
        }
        return found
    }

    /// The records and properties that transactions have made to lead to some records.
    fileprivate func references(
        to records: Set<PersistentIdentifier>, in numbers: ClosedRange<Int64>
    ) throws -> [RecordReferenceName] {
        var found = Set<RecordReferenceName>()
        func look(_ record: PersistentIdentifier, _ layout: RecordLayout, _ values: ContiguousArray<StoredValue>) {
            for (slot, value) in zip(layout.slots.indices, values)
            where value.targets.contains(where: records.contains) {
                found.insert(RecordReferenceName(record: record, property: layout.slots[slot].name))
            }
        }
        try readChangeSets(numbers) { entry, changes in
            if entry.kind == .stub { return true }
            let changes = try changes()
            for update in changes.updated { look(update.record, update.layout, update.values) }
            for snapshot in changes.inserted.values {
                look(snapshot.persistentIdentifier, snapshot.layout, snapshot.values)
            }
            return true
        }
        return Array(found)
    }
}

/// A property of a record.
struct RecordReferenceName: Hashable {
    let record: PersistentIdentifier
    let property: String
}
