import Foundation
import MortiseCore
import Synchronization

extension ReferenceWork {
    /// Saves a request. `enforces` says whether uniqueness and references are checked here.
    func save(
        _ request: DataStoreSaveChangesRequest<DefaultSnapshot>, enforces: Bool = false
    ) throws -> DataStoreSaveChangesResult<DefaultSnapshot> {
        try checkOpen()
        steps.beforeSaving(storage, request)
        if let stale = steps.readBeforeLocking(storage) {
            return try store(request, enforces: enforces, on: stale)
        }
        return try store(request, enforces: enforces, on: nil)
    }

    /// Saves on top of the latest state, or on top of `read` if that is not nil: a state read before the lock was
    /// taken.
    private func store(
        _ request: DataStoreSaveChangesRequest<DefaultSnapshot>, enforces: Bool, on read: ReferenceStorage.State?
    ) throws -> DataStoreSaveChangesResult<DefaultSnapshot> {
        try storage.state.withLock { state in
            if let base = request.baseVersion, base != state.version, steps.checksBase { throw VersionSuperseded() }
            if steps.numbersRecords {
                let superseded = steps.superseded(request) { record in
                    guard let number = record.sequenceNumber, state.records[number] != nil else { return nil }
                    return state.recordVersions[number] ?? 0
                }
                if !superseded.isEmpty { throw RecordsSuperseded(superseded) }
            }
            return try store(request, enforces: enforces, on: read, in: &state)
        }
    }

    /// Saves into a state. `isBatch` says that the store chose the records itself, so that no context has cleared
    /// references to them.
    func store(
        _ request: DataStoreSaveChangesRequest<DefaultSnapshot>, enforces: Bool,
        on read: ReferenceStorage.State? = nil, in state: inout ReferenceStorage.State, isBatch: Bool = false
    ) throws -> DataStoreSaveChangesResult<DefaultSnapshot> {
        let before = read ?? state
        var next = before
        let remapped: [PersistentIdentifier: PersistentIdentifier]
        if steps.announcesRequests { announce(request) }
        do {
            remapped = try apply(steps.accept(request), to: &next)
            let gone = request.deleted.map(\.persistentIdentifier)
            if isBatch {
                steps.clearAllReferences(gone, &next)
                steps.afterBatch(&next)
            } else {
                try steps.clearReferences(gone, &next)
            }
            try steps.finish(before, &next)
            if enforces { try enforce(next, request) }
        } catch {
            if steps.writesHistoryFirst {
                state.history.append(
                    ReferenceTransaction(
                        number: (state.history.last?.number ?? 0) + 1, timestamp: .now, author: nil, changes: []))
            }
            if steps.keepsHalves, request.inserted.count > steps.keepsHalvesBeyond ?? -1 { state = next }
            if steps.writesBeforeChecking { try write(from: state, to: next) }
            if steps.swallowsErrors { return DataStoreSaveChangesResult(for: identifier) }
            throw (error as? ReferenceStoreError).map(steps.explain) ?? error
        }
        next.version = steps.nextVersion(state.version)
        if steps.numbersRecords { steps.numberRecords(of: &next, after: state) }
        next.history = state.history
        next.lastTransaction = state.lastTransaction
        var transaction = steps.transaction(transaction(request, remapped, before, next))
        if isBatch { transaction = steps.batchTransaction(transaction) }
        if let transaction {
            next.history.append(transaction)
            next.lastTransaction = max(next.lastTransaction, transaction.number)
        }
        do {
            if !isBatch || steps.writesBatches { try write(from: state, to: next) }
        } catch {
            if steps.keepsUnwritten { state = next }
            if steps.closesOnFailure { try close() }
            if !steps.swallowsFailedWrites { throw (error as? ReferenceStoreError).map(steps.explain) ?? error }
        }
        let last = state
        state = next
        let isSilent = isBatch && (!steps.announcesBatches || request.deleted.isEmpty && !steps.announcesBatchUpdates)
        if !isSilent { announce(from: last, to: next) }
        return DataStoreSaveChangesResult(
            for: identifier, remappedIdentifiers: steps.pairs(remapped),
            snapshotsToReregister: steps.reregistered(next, request))
    }

    private func apply(
        _ request: DataStoreSaveChangesRequest<DefaultSnapshot>, to state: inout ReferenceStorage.State
    ) throws -> [PersistentIdentifier: PersistentIdentifier] {
        var remapped: [PersistentIdentifier: PersistentIdentifier] = [:]
        for snapshot in request.inserted {
            let number = steps.number(snapshot.persistentIdentifier.entityName, &state)
            remapped[snapshot.persistentIdentifier] = steps.identify(
                number, identifier, snapshot.persistentIdentifier.entityName)
        }
        for snapshot in request.inserted {
            guard let permanent = remapped[snapshot.persistentIdentifier], let number = permanent.sequenceNumber else {
                throw ReferenceStoreError.noSuchRecord(snapshot.persistentIdentifier)
            }
            state.records[number] = kept(steps.remapInserted(snapshot, permanent, remapped))
        }
        for snapshot in request.deleted {
            let identifier = snapshot.persistentIdentifier
            guard let number = identifier.sequenceNumber, state.records[number] != nil else {
                if steps.passesOverMissing { continue }
                throw ReferenceStoreError.noSuchRecord(identifier)
            }
            steps.delete(number, &state)
        }
        for (place, snapshot) in request.updated.enumerated() {
            let identifier = snapshot.persistentIdentifier
            guard let number = identifier.sequenceNumber, let old = state.records[number] else {
                if steps.insertsMissing, let number = identifier.sequenceNumber {
                    state.records[number] = kept(steps.remapUpdated(snapshot, remapped))
                    continue
                }
                if steps.passesOverMissing { continue }
                throw ReferenceStoreError.noSuchRecord(identifier)
            }
            let slots = place < request.changedSlots.count ? request.changedSlots[place] : nil
            state.records[number] = kept(steps.merge(old, steps.remapUpdated(snapshot, remapped), slots))
        }
        return remapped
    }

    private func kept(_ snapshot: DefaultSnapshot) -> DefaultSnapshot {
        var values = snapshot.values
        for (place, slot) in snapshot.layout.slots.enumerated() where slot.role != .toManyDerived {
            values[place] = steps.keep(values[place], slot)
        }
        return DefaultSnapshot(
            persistentIdentifier: snapshot.persistentIdentifier, layout: snapshot.layout, values: values)
    }

    // MARK: Constraints

    private func enforce(
        _ state: ReferenceStorage.State, _ request: DataStoreSaveChangesRequest<DefaultSnapshot>
    ) throws {
        if request.inserted.isEmpty, request.updated.isEmpty, request.deleted.isEmpty { return }
        var seen: Set<[StoredValue]> = []
        for record in state.records.values {
            let layout = record.layout
            let references = outline(of: layout).references
            if references.isEmpty, layout.uniqueConstraints.isEmpty { continue }
            for (number, slots) in layout.uniqueConstraints.enumerated() where steps.enforcesUnique(layout, number) {
                let values = slots.map { record.values[$0] }
                if values.contains(where: \.isNeverUnique) { continue }
                let key = [.string(layout.entityName), .integer(Int64(number))] + values.map(steps.uniqueKey)
                if !seen.insert(key).inserted {
                    throw ReferenceStoreError.notUnique(
                        entity: layout.entityName, properties: slots.map { layout.slots[$0].name })
                }
            }
            for place in references {
                let targets = Self.targets(record.values[place])
                if targets.isEmpty { continue }
                let slot = layout.slots[place]
                for target in targets where steps.enforcesReference(slot) {
                    guard let number = target.sequenceNumber, state.records[number] != nil else {
                        throw ReferenceStoreError.missingTarget(
                            record: record.persistentIdentifier, property: slot.name, target: target)
                    }
                }
            }
        }
    }

    private static func targets(_ value: StoredValue) -> [PersistentIdentifier] {
        switch value {
        case .identifier(let target): [target]
        case .identifiers(let targets): targets
        default: []
        }
    }

    // MARK: Writing

    /// Writes a state: one operation for each record that changed, and one that makes them count.
    private func write(from old: ReferenceStorage.State, to new: ReferenceStorage.State) throws {
        try storage.medium.withLock { medium in
            // Most records of a large store stay as they are.
            let written = new.records.filter { old.records[$0.key]?.values != $0.value.values }.keys
            let gone = old.records.keys.filter { new.records[$0] == nil }
            for number in (written + gone).sorted() {
                let after = new.records[number]
                try medium.operate { durable in
                    if steps.writesInPlace { durable.records[number] = after }
                }
            }
            try medium.operate { durable in steps.commit(old, new, &durable) }
        }
    }

    // MARK: Erasing and deleting

    func erase() throws {
        try checkOpen()
        try change { state in
            if state.records.isEmpty, steps.failsWithoutRecords { throw ReferenceStoreError.refused }
            steps.erase(&state)
        }
    }

    /// Deletes all records of an entity.
    func deleteAll(of entity: String, includingSubentities: Bool) throws {
        try checkOpen()
        let family = steps.batchFamily(entity, includingSubentities, schema.stored)
        try storage.state.withLock { state in
            let gone = state.ordered.map(\.value)
                .filter { family.contains($0.persistentIdentifier.entityName) }
            if gone.isEmpty, steps.failsWithoutRecords { throw ReferenceStoreError.refused }
            if gone.isEmpty, steps.hangsWithoutRecords { Self.hang() }
            let request = DataStoreSaveChangesRequest(deleted: gone, editingState: EditingState())
            _ = try store(request, enforces: false, in: &state, isBatch: true)
        }
    }

    /// Never returns: what a lock that is never given back makes of a store.
    private static func hang() {
        while true { Thread.sleep(forTimeInterval: 3_600) }
    }

    private func change(_ body: (inout ReferenceStorage.State) throws -> Void) throws {
        try storage.state.withLock { state in
            var next = state
            try body(&next)
            next.version = steps.nextVersion(state.version)
            try storage.medium.withLock { medium in
                try medium.operate { durable in steps.commitErasure(next, &durable) }
            }
            let last = state
            state = next
            announce(from: last, to: next, isErasure: true)
        }
    }

    // MARK: History

    private func transaction(
        _ request: DataStoreSaveChangesRequest<DefaultSnapshot>,
        _ remapped: [PersistentIdentifier: PersistentIdentifier], _ before: ReferenceStorage.State,
        _ after: ReferenceStorage.State
    ) -> ReferenceTransaction? {
        var changes: [ReferenceTransaction.Change] = []
        for snapshot in request.inserted {
            if let permanent = remapped[snapshot.persistentIdentifier] {
                changes.append(.init(kind: .insert, record: permanent))
            }
        }
        var updated: [ReferenceTransaction.Change] = []
        for (place, snapshot) in request.updated.enumerated() {
            let slots = place < request.changedSlots.count ? request.changedSlots[place] : nil
            let names = snapshot.layout.slots.indices.filter { slots?.contains($0) ?? true }
                .map { snapshot.layout.slots[$0].name }
            updated.append(.init(kind: .update, record: snapshot.persistentIdentifier, properties: names))
        }
        changes += updated.sorted { $0.record < $1.record }
        var deleted: [ReferenceTransaction.Change] = []
        for snapshot in request.deleted {
            let stored = snapshot.persistentIdentifier.sequenceNumber.flatMap { before.records[$0] }
            let old = steps.preservesRequests ? snapshot : stored ?? snapshot
            let preserved = zip(old.layout.slots, old.values).filter { slot, _ in
                slot.property.attribute?.options.contains(.preserveValueOnDeletion) == true
            }
            deleted.append(
                .init(
                    kind: .delete, record: snapshot.persistentIdentifier,
                    preserved: preserved.map { ($0.name, $1) }))
        }
        changes += deleted.sorted { $0.record < $1.record }
        if changes.isEmpty { return nil }
        return ReferenceTransaction(
            number: max(before.lastTransaction, before.history.last?.number ?? 0) + 1, timestamp: .now,
            author: request.editingState.author,
            changes: changes)
    }

    /// The transactions that a descriptor asks for.
    func history(
        _ descriptor: HistoryDescriptor<DefaultHistoryTransaction>
    ) throws -> [DefaultHistoryTransaction] {
        var found = history()
        if steps.limitsHistoryFirst, descriptor.fetchLimit > 0 {
            found = Array(found.prefix(Int(clamping: descriptor.fetchLimit)))
        }
        found = try found.filter {
            try steps.ignoresHistoryPredicates || descriptor.predicate?.evaluate($0) ?? true
        }
        if !descriptor.sortBy.isEmpty, !steps.ignoresHistoryOrder { found.sort(using: descriptor.sortBy) }
        let limit = steps.historyLimit(descriptor.fetchLimit)
        return limit == 0 ? found : Array(found.prefix(Int(clamping: limit)))
    }

    func deleteHistory(_ descriptor: HistoryDescriptor<DefaultHistoryTransaction>) throws {
        forget(Set(try history(descriptor).map(\.transactionIdentifier)))
    }

    private func history() -> [DefaultHistoryTransaction] {
        let history = storage.state.withLock { $0.history }
        return steps.history(history).map { transaction in
            let number = steps.transactionOfChanges(transaction.number)
            var last: Int64 = 0
            let changes = transaction.changes.compactMap { change -> HistoryChange? in
                last += 1
                let place = steps.changeNumber(last)
                switch change.kind {
                case .insert: return schema.insertion(of: change.record, change: place, transaction: number)
                case .update:
                    return schema.update(
                        of: change.record, properties: change.properties, change: place, transaction: number)
                case .delete:
                    return schema.deletion(
                        of: change.record, preserved: change.preserved, change: place, transaction: number)
                }
            }
            return DefaultHistoryTransaction(
                transactionIdentifier: transaction.number, timestamp: transaction.timestamp, changes: changes,
                token: DefaultHistoryToken([steps.storeOfTokens(identifier): steps.token(transaction.number)]),
                storeIdentifier: steps.storeOfHistory(identifier), bundleIdentifier: "", processIdentifier: "",
                author: transaction.author)
        }
    }

    private func forget(_ numbers: Set<Int64>) {
        storage.state.withLock { steps.forget(numbers, &$0) }
    }
}
