import Foundation

/// One batch update or delete: by the store where it does that, else by the framework.
struct BatchRun<Model: PersistentModel> {
    let state: ContextState
    let session: StoreSession
    private let tables: [ModelTable]
    private let layout: ModelLayout
    private let descriptor: FetchDescriptor<Model>
    private let includesSubclasses: Bool

    /// - Throws: `ModelContextError.unknownModel`, `.readOnly`, `.readsPast`.
    init(
        _ model: Model.Type, where predicate: Predicate<Model>?, includesSubclasses: Bool,
        fullScanPolicy: FullScanPolicy?, in state: ContextState
    ) throws {
        self.state = state
        self.includesSubclasses = includesSubclasses
        layout = ModelLayout.of(model)
        tables = try state.tables(under: model)
        guard let session = tables.first?.session else { throw ModelContextError.unknownModel(type: "\(model)") }
        self.session = session
        if state.readsPast { throw ModelContextError.readsPast }
        try session.checkWritable()
        var descriptor = FetchDescriptor(predicate: predicate)
        descriptor.fullScanPolicy = fullScanPolicy
        self.descriptor = descriptor
    }

    // MARK: Updates

    func update(_ update: BatchUpdate<Model>) throws -> Int {
        if state.hasChanges { return try updateModels(update) }
        if let unsaved = update.unsaved.keys.first { throw ModelContextError.noSuchModel(unsaved) }
        if try isRecorded() { return try state.asUndoStep { try savingModels { try updateModels(update) } } }
        let slots = update.assignments.map(\.property.slot)
        let isBounded = slots.contains(where: layout.hasBounds)
        if !isBounded, session.capabilities.contains(.batchUpdate),
            let count = try push(.update(update.assignments), purpose: .update)
        {
            return count
        }
        if !isBounded, isPlain(slots), session.takesDefaultSnapshots {
            return try updateRows(update.assignments)
        }
        return try savingModels { try updateModels(update) }
    }

    /// Whether the batch can be undone, and so goes through models.
    private func isRecorded() throws -> Bool {
        try state.recordsBatch(of: layout.entityName) {
            matches(of: try QueryRun(descriptor, purpose: .identifiers, in: state)).count
        }
    }

    /// Whether writing the slots changes nothing else, so that it can be done row by row.
    private func isPlain(_ slots: [Int]) -> Bool {
        let unique = Set(tables.flatMap { $0.layout.record.uniqueConstraints.flatMap { $0 } })
        return slots.allSatisfy { slot in
            !unique.contains(slot) && (session.version != nil || !layout.record.slots[slot].role.isRelationship)
        }
    }

    private func updateModels(_ update: BatchUpdate<Model>) throws -> Int {
        let run = try QueryRun(descriptor, in: state)
        let records = matches(of: run)
        // All values come first: what is calculated from other models must not see them half changed.
        let values = try records.map { record in
            try update.assignments.map { try $0.value(for: record, in: run.reader) }
        }
        try state.throwReadFailures()
        // All targets too: nothing is changed where one of them is not there.
        let targets = try targets(of: update, values)
        for (record, values) in zip(records, values) {
            guard let model = run.reader.model(record), let layout = model._table?.layout else { continue }
            for (assignment, value) in zip(update.assignments, values) {
                set(value, at: assignment.property.slot, of: model, layout, targets)
            }
        }
        return records.count
    }

    /// The models that a batch sets relationships to.
    private func targets(
        of update: BatchUpdate<Model>, _ values: [[StoredValue]]
    ) throws -> [PersistentIdentifier: any PersistentModel] {
        var targets = update.unsaved
        for (place, assignment) in update.assignments.enumerated()
        where layout.record.slots[assignment.property.slot].role == .toOne {
            for values in values {
                guard case .identifier(let identifier) = values[place], targets[identifier] == nil else { continue }
                guard let target = state.model(for: identifier) else {
                    throw ModelContextError.noSuchModel(identifier)
                }
                targets[identifier] = target
            }
        }
        return targets
    }

    private func set(
        _ value: StoredValue, at slot: Int, of model: any PersistentModel, _ layout: ModelLayout,
        _ targets: [PersistentIdentifier: any PersistentModel]
    ) {
        let role = layout.record.slots[slot].role
        if model._pendingValue(at: slot, role: role, in: layout).isIdentical(to: value) { return }
        guard role == .toOne else { return model._replace(.value(value), at: slot, layout) }
        var target: (any PersistentModel)?
        if case .identifier(let identifier) = value { target = targets[identifier] }
        let change = ValueChange(settingSlot: slot, of: model, layout: layout)
        change?.willSet()
        RelationshipEditor(model).setTarget(target, at: slot)
        change?.didSet()
    }

    /// Reads the records and saves what they become, all at once and without models.
    private func updateRows(_ assignments: [StoreBatch.Assignment]) throws -> Int {
        try state.changing(session) { saved in
            var attempts = SaveAttempts()
            while true {
                session.beginSettling()
                let run = try QueryRun(descriptor, purpose: .identifiers, in: state)
                let records = matches(of: run)
                var changes = ChangeSet(baseVersion: session.version?.number, author: state.editingState.author)
                for record in records {
                    if let row = try changedRow(record, run.reader, assignments) { changes.updated.append(row) }
                }
                try state.throwReadFailures()
                if changes.isEmpty { return records.count }
                do {
                    let outcome = try session.commit(ModelChanges(changes: changes), mayDefer: false)
                    saved.append(changes, by: session, outcome, outcome.historyToken)
                    try takeOver(changes, outcome)
                } catch is VersionSuperseded {
                    try attempts.note(session, on: changes.baseVersion)
                    continue
                } catch let superseded as RecordsSuperseded {
                    try state.reread(superseded.identifiers, in: session)
                    try attempts.note(superseded, session, on: changes.baseVersion)
                    continue
                }
                return records.count
            }
        }
    }

    private func changedRow(
        _ record: RecordReference, _ reader: RecordReader, _ assignments: [StoreBatch.Assignment]
    ) throws -> ChangeSet.Update? {
        guard let table = state.table(named: reader.tables[record.table].entityName) else { return nil }
        let rows = session.version == nil ? table.source as? SessionRows : nil
        // What the store has left out stays as it is there.
        var values = ContiguousArray(
            table.layout.properties.indices.map { slot in
                guard let rows, !rows.isUnread(row: record.row, slot: slot) else { return StoredValue.null }
                return reader.value(record, slot: slot)
            })
        var changed = SlotSet()
        for assignment in assignments {
            let value = try assignment.value(for: record, in: reader)
            let slot = assignment.property.slot
            if value.isIdentical(to: reader.value(record, slot: slot)) { continue }
            values[slot] = value
            changed.insert(slot)
        }
        if changed.isEmpty { return nil }
        return ChangeSet.Update(
            record: reader.identifier(record), layout: table.layout.record, slots: changed, values: values)
    }

    private func takeOver(_ changes: ChangeSet, _ outcome: SaveOutcome) throws {
        if session.version != nil { return try state.refresh(session) }
        for update in changes.updated {
            try session.put(update.record, update.values, version: 0, isWritten: true)
        }
        for snapshot in outcome.reregistered {
            try session.put(
                snapshot.persistentIdentifier, snapshot.values, version: snapshot.recordVersion, isWritten: true)
        }
    }

    // MARK: Deletion

    func delete() throws {
        if state.hasChanges { return try deleteModels() }
        if try isRecorded() { return try state.asUndoStep { try savingModels(deleteModels) } }
        if session.capabilities.contains(.batchUpdate),
            mayDelete(followingRules: session.followsDeleteRules),
            try push(.delete, purpose: .delete) != nil
        {
            return
        }
        if mayDelete(followingRules: false), try deleteByDescriptor() { return }
        try savingModels(deleteModels)
    }

    /// Whether the store may delete the family's records and those that go with them without asking models: there is
    /// nothing that only they are asked.
    private func mayDelete(followingRules: Bool) -> Bool {
        (tables.map(\.layout) + cascaded).allSatisfy { layout in
            layout.record.slots.enumerated().allSatisfy { slot, description in
                guard let relationship = description.property.relationship else { return true }
                return (followingRules || relationship.deleteRule.onlyClearsReferences) && !layout.hasBounds(slot)
            }
        }
    }

    /// The layouts of the records that delete rules may take along.
    private var cascaded: [ModelLayout] {
        var found: [ModelLayout] = []
        var seen: Set<String> = []
        var pending = tables.map(\.layout)
        while let layout = pending.popLast() {
            for slot in layout.record.slots {
                guard let relationship = slot.property.relationship, relationship.deleteRule.deletesRelated else {
                    continue
                }
                for name in state.container.schema.stored.subtree(of: relationship.destination) {
                    guard seen.insert(name).inserted, let reached = state.container.schema.layouts[name] else {
                        continue
                    }
                    found.append(reached)
                    pending.append(reached)
                }
            }
        }
        return found
    }

    /// Whether a cascade may also delete records that do not match.
    var cascadesIntoFamily: Bool { cascaded.contains { layout in tables.contains { $0.layout === layout } } }

    /// Asks a store of Apple's shape.
    private func deleteByDescriptor() throws -> Bool {
        guard session.capabilities.contains(.batchDelete) else { return false }
        return try state.changing(session) { saved in
            let isDone = try session.batchDelete(descriptor, includeSubclasses: includesSubclasses)
            if isDone {
                var changes = ChangeSet(author: state.editingState.author)
                changes.isIncomplete = true
                saved.append(changes, by: session)
                try state.takeOverChanges(of: session)
            }
            return isDone
        }
    }

    private func deleteModels() throws {
        let run = try QueryRun(descriptor, in: state)
        for record in matches(of: run) {
            if let model = run.reader.model(record) { state.tracker?.delete(model) }
        }
    }

    // MARK: The store's work

    /// - Returns: how many records matched; nil if the store leaves it to the framework.
    private func push(_ change: StoreBatch.Change, purpose: StoreQuery.Purpose) throws -> Int? {
        do {
            return try state.changing(session) { saved in
                let check = state.container.verifiesPushDown ? try BatchCheck(self, change) : nil
                let result = try execute(change, purpose)
                saved.append(result.changes, by: session)
                try state.takeOverChanges(of: session)
                try check?.verify(result)
                return result.count
            }
        } catch DataStoreError.unsupportedFeature {
            return nil
        }
    }

    private func execute(_ change: StoreBatch.Change, _ purpose: StoreQuery.Purpose) throws -> StoreBatchResult {
        var query = PreparedQuery(descriptor, purpose: purpose, under: state.container.schema).query
        query.includesSubentities = includesSubclasses
        query.avoidsFullScan = state.refusesFullScans(descriptor.fullScanPolicy)
        var attempts = SaveAttempts()
        while true {
            try state.refresh(session)
            var batch = StoreBatch(.query(query), change, author: state.editingState.author)
            var plan = try session.plan(query)
            if let exact = plan, exact.isExact {
                try state.checkPolicy(exact, query, descriptor.fullScanPolicy)
            } else {
                plan = nil
                let run = try QueryRun(descriptor, purpose: .identifiers, in: state)
                batch.selection = .records(matches(of: run).map(run.reader.identifier))
                batch.baseVersion = session.version?.number
            }
            do {
                let result = try session.execute(batch)
                // It is done, and can no longer be refused.
                if var plan, let report = result.report {
                    plan.note(report)
                    state.log(plan, query, scanned: report.scanned, descriptor.fullScanPolicy)
                }
                return result
            } catch is VersionSuperseded {
                try attempts.note(session, on: session.version?.number)
                continue
            } catch let superseded as RecordsSuperseded {
                try state.reread(superseded.identifiers, in: session)
                try attempts.note(superseded, session, on: session.version?.number)
                continue
            }
        }
    }

    /// The records of a run that the batch changes.
    func matches(of run: QueryRun<Model>) -> [RecordReference] {
        if includesSubclasses { return run.records }
        return run.records.filter { run.reader.tables[$0.table].entityName == layout.entityName }
    }

    /// The matches, found without the store's help.
    func unaided() throws -> QueryRun<Model> {
        try QueryRun(descriptor, purpose: .identifiers, in: state, isUnaided: true)
    }

    /// Changes models of a context without unsaved changes, and saves: all of it, or nothing and the context is as it was.
    private func savingModels<R>(_ body: () throws -> R) throws -> R {
        do {
            let result = try body()
            try state.save()
            return result
        } catch {
            state.rollback()
            throw error
        }
    }
}
