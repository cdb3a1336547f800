import MortiseCore
import Synchronization

/// How the reference store with versions carries out batches: as a save of what they change.
extension ReferenceWork {
    func execute(_ batch: StoreBatch) throws -> StoreBatchResult {
        try checkOpen()
        return try storage.state.withLock { state in
            if let base = batch.baseVersion, base != state.version, steps.checksBatchBase { throw VersionSuperseded() }
            let before = state
            let selected = steps.batchSelection(try selection(batch.selection, in: state))
            switch batch.change {
            case .delete:
                let gone = selected.compactMap { $0.sequenceNumber.flatMap { before.records[$0] } }
                try store(batch, deleted: gone, in: &state)
            case .update(let assignments): try update(selected, assignments, batch, &state)
            }
            let updated = before.records.filter { number, record in
                state.records[number].map { $0.values != record.values } ?? false
            }
            let deleted = before.records.filter { state.records[$0.key] == nil }
            var changes = ChangeSet(author: batch.author)
            changes.updated = updated.sorted { $0.key < $1.key }.map { number, old in
                let new = state.records[number] ?? old
                return .init(
                    record: old.persistentIdentifier, layout: old.layout,
                    slots: SlotSet(old.values.indices.filter { old.values[$0] != new.values[$0] }), values: new.values,
                    oldValues: old.values)
            }
            changes.deleted = deleted.sorted { $0.key < $1.key }.map {
                .init(record: $1.persistentIdentifier, layout: $1.layout)
            }
            return steps.batchResult(StoreBatchResult(count: selected.count, changes: changes))
        }
    }

    private func selection(
        _ selection: StoreBatch.Selection, in state: ReferenceStorage.State
    ) throws -> [PersistentIdentifier] {
        switch selection {
        case .query(let query):
            let version = ReferenceVersion(state, self, isLatest: true)
            let found = try rows(for: plan(query), in: version)
            let sources = found.entities.map { version.rows(ofEntity: $0) }
            return found.rows.compactMap { sources[$0.table]?.identifier(ofRow: $0.row) }
        case .records(let identifiers):
            for identifier in identifiers where identifier.sequenceNumber.flatMap({ state.records[$0] }) == nil {
                if !steps.passesOverMissingInBatches { throw steps.explain(.noSuchRecord(identifier)) }
            }
            return identifiers.filter { $0.sequenceNumber.flatMap { state.records[$0] } != nil }
        }
    }

    private func update(
        _ selected: [PersistentIdentifier], _ assignments: [StoreBatch.Assignment], _ batch: StoreBatch,
        _ state: inout ReferenceStorage.State
    ) throws {
        var working = state
        do {
            for assignment in assignments {
                let version = ReferenceVersion(steps.assignsInTurn ? working : state, self, isLatest: true)
                let reader = RecordReader(schema: schema.stored, layouts: layouts) { version.rows(ofEntity: $0) }
                for identifier in selected {
                    guard let number = identifier.sequenceNumber, let record = working.records[number],
                        let reference = reader.record(identifier)
                    else { continue }
                    var values = record.values
                    values[assignment.property.slot] = try assignment.value(for: reference, in: reader)
                    working.records[number] = DefaultSnapshot(
                        persistentIdentifier: identifier, layout: record.layout, values: values)
                }
            }
        } catch {
            if steps.keepsHalfBatches {
                try store(batch, updated: changed(selected, from: state, to: working), assignments, in: &state)
            }
            throw error
        }
        try store(batch, updated: changed(selected, from: state, to: working), assignments, in: &state)
    }

    private func changed(
        _ selected: [PersistentIdentifier], from old: ReferenceStorage.State, to new: ReferenceStorage.State
    ) -> [DefaultSnapshot] {
        selected.compactMap(\.sequenceNumber).filter { old.records[$0]?.values != new.records[$0]?.values }
            .compactMap { new.records[$0] }
    }

    private func store(
        _ batch: StoreBatch, updated: [DefaultSnapshot] = [], _ assignments: [StoreBatch.Assignment] = [],
        deleted: [DefaultSnapshot] = [], in state: inout ReferenceStorage.State
    ) throws {
        let slots = SlotSet(assignments.map(\.property.slot))
        let request = DataStoreSaveChangesRequest(
            updated: updated, deleted: deleted, editingState: EditingState(author: batch.author),
            changedSlots: updated.map { _ in slots })
        _ = try store(request, enforces: steps.enforcesBatches, in: &state, isBatch: true)
    }
}
