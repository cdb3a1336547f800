#if Inspector
import MortiseCore

/// What taking back a transaction would come to, in the store as it is now.
package struct InspectedUndo: Sendable {
    /// Why a part of it would not be taken back.
    package struct Obstacle: Hashable, Sendable {
        package let record: PersistentIdentifier
        /// Nil where it is about the record as a whole.
        package let property: String?
        package let reason: String
    }

    /// What would be saved, with what follows from it.
    package var changes = ChangeSet()
    /// The same as changes that can be staged. Deleted records are not among them: only models insert records.
    package var edits: [StagedChanges.Edit] = []
    package var obstacles: [Obstacle] = []
    /// The records that the transaction has deleted.
    package var returns: [PersistentIdentifier] = []
}

extension InspectedStore {
    /// How many records of a transaction are looked at.
    package static let mostUndone = 1_000

    /// What taking back a transaction would come to.
    /// - Returns: nil where the store does not have the transaction, or not what it changed, or where it has more than `mostUndone` records.
    /// - Throws: what reading throws.
    package func undo(of number: UInt64) throws -> InspectedUndo? {
        guard number > 0, let transaction = try transaction(number), !transaction.isErasure, !transaction.isIncomplete,
            transaction.count <= Self.mostUndone
        else { return nil }
        return try read { try $0.undo(transaction, number) }
    }
}

extension InspectedStore.Reading {
    fileprivate func undo(_ transaction: ChangeSet, _ number: UInt64) throws -> InspectedUndo {
        let records = transaction.updated.map(\.record) + transaction.inserted.records
        let now = try reader(of: records)
        let (before, after) = (past(number - 1), past(number))
        var undo = InspectedUndo()
        undo.returns = transaction.deleted.map(\.record)
        for update in transaction.updated {
            var edit = StagedChanges.Edit(record: update.record)
            guard let record = now.record(update.record) else {
                undo.obstacles.append(.init(record: update.record, property: nil, reason: "it was deleted since"))
                continue
            }
            let layout = now.tables[record.table].layout
            for slot in update.slots.slots where update.layout.slots.indices.contains(slot) {
                let name = update.layout.slots[slot].name
                guard let place = layout.slot(named: name), layout.slots[place].role != .toManyDerived else { continue }
                let stored = now.value(record, slot: place)
                let old = update.oldValue(at: slot) ?? Self.value(of: update.record, name, before)
                let wrote = update.value(at: slot) ?? Self.value(of: update.record, name, after)
                if let old, stored.isIdentical(to: old) { continue }
                guard let old, let wrote else {
                    undo.obstacles.append(
                        .init(record: update.record, property: name, reason: "the history does not have the value"))
                    continue
                }
                guard stored.isIdentical(to: wrote) else {
                    undo.obstacles.append(.init(record: update.record, property: name, reason: "it was changed since"))
                    continue
                }
                edit.assignments.append(
                    .init(
                        property: name, text: old.isNull ? nil : ValueText.plain(old), base: ValueText.json(stored)))
            }
            if !edit.assignments.isEmpty { undo.edits.append(edit) }
        }
        let inserted = transaction.inserted.hasValues ? Array(transaction.inserted.values) : []
        for (place, identifier) in transaction.inserted.records.enumerated() {
            guard let record = now.record(identifier) else { continue }
            let snapshot = inserted.isEmpty ? nil : inserted[place]
            let layout = now.tables[record.table].layout
            let changed = layout.slots.indices.first { slot in
                if layout.slots[slot].role == .toManyDerived { return false }
                let name = layout.slots[slot].name
                let wrote =
                    snapshot.flatMap { found in found.layout.slot(named: name).map { found.values[$0] } }
                    ?? Self.value(of: identifier, name, after)
                return !(wrote?.isIdentical(to: now.value(record, slot: slot)) ?? false)
            }
            if let changed {
                undo.obstacles.append(
                    .init(
                        record: identifier, property: layout.slots[changed].name,
                        reason: "it was changed since the record was inserted"))
                continue
            }
            var edit = StagedChanges.Edit(record: identifier)
            edit.isDeletion = true
            edit.base = text(record, now)
            undo.edits.append(edit)
        }
        try changes(of: &undo)
        return undo
    }

    private func changes(of undo: inout InspectedUndo) throws {
        var staged = StagedChanges()
        for edit in undo.edits { staged.stage(edit) }
        if staged.isEmpty { return }
        do {
            undo.changes = try draft(staged).changes
        } catch let fault as StagingFault {
            undo.obstacles.append(
                .init(record: undo.edits[0].record, property: fault.property, reason: fault.reason))
        } catch let error as ModelValidationError {
            undo.obstacles.append(.init(record: undo.edits[0].record, property: nil, reason: "\(error)"))
        }
    }

    /// A reader that has these records, and others by their identifiers, from one state.
    func reader(of records: [PersistentIdentifier]) throws -> RecordReader {
        let entity = records.first?.entityName ?? store.schema.entities.first?.name ?? ""
        let identifiers = records.map { QueryExpression.constant(.identifier($0)) }
        return try StoreQueryRun(
            StoreQuery(entity, conjuncts: [.contains(.list(identifiers), .identifier(.variable(0)))]), in: store
        ).reader
    }

    /// The records after a transaction; nil for a store that does not have them any more, or never has.
    func past(_ number: UInt64) -> RecordReader? {
        guard number > 0, let number = Int64(exactly: number),
            let version = try? PastPoint.number(number).version(of: store)
        else { return nil }
        return PastReader(schema: store.schema, layouts: store.layouts) { version.rows(ofEntity: $0) }
    }

    static func value(of identifier: PersistentIdentifier, _ name: String, _ reader: RecordReader?) -> StoredValue? {
        guard let reader, let record = reader.record(identifier),
            let slot = reader.tables[record.table].layout.slot(named: name)
        else { return nil }
        return reader.value(record, slot: slot)
    }
}
#endif
