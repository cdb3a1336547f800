#if Inspector
import MortiseCore

extension InspectedStore {
    /// How often others may save in between before saving is given up.
    private static let attempts = 10

    /// The record as it is now, as JSON, to tell whether it changes before it is deleted.
    static func text(_ record: InspectedRecord) -> String {
        let slots = record.layout.slots.indices.filter { record.layout.slots[$0].role != .toManyDerived }
        return slots.map { ValueText.json(record.values[$0].value) }.joined(separator: ",")
    }

    /// Checks a staged edit against the store.
    /// - Returns: what has changed in the store since the values were shown.
    /// - Throws: `StagingFault` for a value that cannot be stored; what reading throws.
    package func check(_ edit: StagedChanges.Edit) throws -> [StagedConflict] {
        var staged = StagedChanges()
        staged.stage(edit)
        return try read { try $0.draft(staged).conflicts }
    }

    /// What saving would come to, with a text that differs for all other changes.
    /// - Throws: `StagingFault`; `ModelValidationError.deletionDenied`; what reading throws.
    package func preview(
        _ staged: StagedChanges
    ) throws -> (changes: ChangeSet, conflicts: [StagedConflict], digest: String) {
        try read {
            let draft = try $0.draft(staged)
            return (draft.changes, draft.conflicts, draft.changes.previewDigest)
        }
    }

    /// Saves all staged changes as one transaction, or nothing: where a record has changed since it was shown, where a value cannot
    /// be stored, where a rule of the schema forbids it, and where it comes to something else than was shown.
    /// - Parameters:
    ///   - staged: the changes.
    ///   - shown: the digest that `preview(_:)` gave with what was shown.
    /// - Returns: whether all was saved, and if not, why.
    /// - Throws: `StagingFault`; `ModelValidationError`; `ModelContextError.notUnique`; what the store throws.
    package func save(_ staged: StagedChanges, shown: String) throws -> StagedOutcome {
        try write { reading in
            var attempt = 1
            while true {
                let draft = try reading.draft(staged)
                if !draft.conflicts.isEmpty { return .conflicts(draft.conflicts) }
                guard draft.changes.previewDigest == shown else { return .otherThanShown }
                if draft.changes.isEmpty { return .saved }
                do {
                    try reading.save(draft)
                    return .saved
                } catch let error where error is VersionSuperseded || error is RecordsSuperseded {
                    let own = Set(draft.changes.updated.map(\.record) + draft.changes.deleted.map(\.record))
                    if let error = error as? RecordsSuperseded, let other = error.identifiers.first,
                        let record = draft.changes.updated.first?.record,
                        !error.identifiers.contains(where: own.contains)
                    {
                        throw ModelContextError.notUnique(
                            entity: record.entityName, properties: [], values: [], model: record, other: other)
                    }
                    if attempt == Self.attempts { throw error }
                    attempt += 1
                    reading.store.refresh()
                }
            }
        }
    }
}

/// Staged changes as they come to pass.
struct StagedDraft {
    var changes = ChangeSet(author: StagedChanges.author)
    var conflicts: [StagedConflict] = []
    let reader: RecordReader
    let version: any StoreVersion
}

extension InspectedStore.Reading {
    func draft(_ staged: StagedChanges) throws -> StagedDraft {
        let entity = staged.edits.first?.record.entityName ?? store.schema.entities.first?.name ?? ""
        let identifiers = staged.edits.map { QueryExpression.constant(.identifier($0.record)) }
        // Others are read by their identifiers from the same state.
        let run = try StoreQueryRun(
            StoreQuery(entity, conjuncts: [.contains(.list(identifiers), .identifier(.variable(0)))]), in: store)
        let reader = run.reader
        var draft = StagedDraft(reader: reader, version: run.version)
        var updates = EditDraft(reader)
        var deleted: [RecordReference] = []
        for edit in staged.edits {
            guard let record = reader.record(edit.record) else {
                draft.conflicts.append(
                    StagedConflict(record: edit.record, property: nil, base: nil, wanted: nil, now: nil))
                continue
            }
            if edit.isDeletion {
                let now = text(record, reader)
                if now != edit.base {
                    draft.conflicts.append(
                        StagedConflict(record: edit.record, property: nil, base: edit.base, wanted: nil, now: now))
                }
                deleted.append(record)
            } else {
                for assignment in edit.assignments {
                    draft.conflicts += try apply(assignment, to: record, edit.record, &updates)
                }
            }
        }
        let deletion = try Deletion(of: deleted, reader).changes
        let gone = Set(deletion.deleted.map(\.record))
        let asked = Set(staged.edits.filter(\.isDeletion).map(\.record))
        let lost = updates.changes.updated.first { gone.contains($0.record) && !asked.contains($0.record) }
        if let lost {
            throw StagingFault(
                property: lost.properties.first ?? "",
                reason: "its record would be deleted with another; save this change first, then delete")
        }
        for holder in deletion.updated { try clear(gone, from: holder, &updates) }
        draft.changes.updated = updates.changes.updated.filter { !gone.contains($0.record) }
        draft.changes.deleted = deletion.deleted
        try run.version.check()
        return draft
    }

    func text(_ record: RecordReference, _ reader: RecordReader) -> String {
        let slots = reader.tables[record.table].layout.slots
        return slots.indices.filter { slots[$0].role != .toManyDerived }
            .map { ValueText.json(reader.value(record, slot: $0)) }.joined(separator: ",")
    }

    /// - Returns: the conflict, if the value is another one than was shown.
    private func apply(
        _ assignment: StagedChanges.Assignment, to record: RecordReference, _ identifier: PersistentIdentifier,
        _ updates: inout EditDraft
    ) throws -> [StagedConflict] {
        let layout = updates.reader.tables[record.table].layout
        guard let place = layout.slot(named: assignment.property) else {
            throw StagingFault(property: assignment.property, reason: "the entity has no such property any more")
        }
        let now = ValueText.json(updates.reader.value(record, slot: place))
        do {
            if layout.slots[place].role.isRelationship {
                try relate(assignment.text, layout, place, updates.reader).apply(to: record, &updates)
            } else {
                let value = try Self.value(assignment.text, layout.slots[place])
                if !value.isIdentical(to: updates.value(record, place)) { updates.set(record, place, value) }
            }
        } catch let error as BadLine {
            throw StagingFault(property: assignment.property, reason: error.reason)
        } catch ToolError.usage(let reason) {
            throw StagingFault(property: assignment.property, reason: reason)
        }
        if now == assignment.base { return [] }
        return [
            StagedConflict(
                record: identifier, property: assignment.property, base: assignment.base,
                wanted: assignment.text ?? "nil", now: now)
        ]
    }

    private static func value(_ text: String?, _ slot: RecordLayout.Slot) throws -> StoredValue {
        guard let text else {
            guard slot.property.isOptional else { throw BadLine(reason: "it is not optional") }
            return .null
        }
        if slot.property.attribute?.options.contains(.ephemeral) == true { throw BadLine(reason: "it is not stored") }
        let value = try RecordReading.storedValue(CSVLines.Field(text: text, isQuoted: true), slot)
        if value.isNull, !slot.property.isOptional { throw BadLine(reason: "it is not optional") }
        return value
    }

    private func relate(
        _ text: String?, _ layout: RecordLayout, _ place: Int, _ reader: RecordReader
    ) throws -> RelationshipEdit {
        let destination = layout.slots[place].property.relationship?.destination ?? ""
        let members = try (text ?? "").split { $0.isWhitespace || $0 == "," }.map { key in
            guard let number = UInt64(key) else {
                throw BadLine(reason: "expected the numbers of records, found \"\(String(key).shown())\"")
            }
            for entity in store.schema.subtree(of: destination) {
                let found = PersistentIdentifier.numbered(
                    number, storeIdentifier: store.store.identifier, entityName: entity)
                if reader.record(found) != nil { return found }
            }
            throw BadLine(reason: "there is no \(destination) with the number \(number)")
        }
        return try RelationshipEdit(layout, place, .replace, members, store.layouts)
    }

    /// Takes deleted records out of a relationship of another.
    private func clear(
        _ gone: Set<PersistentIdentifier>, from holder: ChangeSet.Update, _ updates: inout EditDraft
    ) throws {
        guard let record = updates.reader.record(holder.record) else { return }
        for slot in holder.slots.slots {
            if case .identifiers(let members) = updates.value(record, slot) {
                updates.set(record, slot, .identifiers(members.filter { !gone.contains($0) }))
                continue
            }
            // It leads to another record by then.
            if case .identifier(let target) = updates.value(record, slot), !gone.contains(target) { continue }
            guard holder.layout.slots[slot].property.isOptional else {
                throw ModelValidationError.missingValue(
                    entity: holder.record.entityName, property: holder.layout.slots[slot].name, model: holder.record)
            }
            updates.set(record, slot, .null)
        }
    }

    fileprivate func save(_ draft: StagedDraft) throws {
        let changes = draft.changes
        func snapshot(_ record: PersistentIdentifier, _ update: ChangeSet.Update?) throws -> DefaultSnapshot {
            guard let found = draft.reader.record(record) else {
                throw ToolError.changedMeanwhile(record: "\(record)")
            }
            let layout = draft.reader.tables[found.table].layout
            let values = layout.slots.indices.map {
                update?.value(at: $0) ?? draft.reader.value(found, slot: $0)
            }
            var snapshot = DefaultSnapshot(
                persistentIdentifier: record, layout: layout, values: ContiguousArray(values))
            if let answer = draft.version as? AnswerVersion {
                snapshot.recordVersion = answer.snapshot(of: record)?.recordVersion ?? 0
            }
            return snapshot
        }
        let updated = try changes.updated.map { try snapshot($0.record, $0) }
        let deleted = try changes.deleted.map { try snapshot($0.record, nil) }
        guard let answer = draft.version as? AnswerVersion else {
            _ = try store.save(
                updated: updated, deleted: deleted, changedSlots: changes.updated.map(\.slots),
                baseVersion: draft.version.number)
            return
        }
        let capabilities = store.queryable.capabilities
        guard (updated + deleted).allSatisfy({ $0.recordVersion != 0 }),
            deleted.isEmpty || capabilities.contains(.referentialIntegrity)
        else { throw ToolError.unsupported(store: store.name, what: "carry out this change without models") }
        try answer.check()
        answer.endState()
        _ = try store.save(
            updated: updated, deleted: deleted, changedSlots: changes.updated.map(\.slots),
            updatedVersions: updated.map(\.recordVersion), deletedVersions: deleted.map(\.recordVersion))
    }
}
#endif
