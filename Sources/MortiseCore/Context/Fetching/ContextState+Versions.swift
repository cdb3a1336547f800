import Observation

extension ContextState {
    /// The common beginning of every call that may throw.
    func prepare() throws {
        try container.checkOpen()
        try throwLatched()
        propagateDeletes()
        live?.deliver()
        try throwLatched()
    }

    /// Moves to the latest version of a store; of a store without versions, takes in what its feed has named. Models whose
    /// rows are gone keep their last values and leave the context.
    ///
    /// Observers of models whose values differ are notified once all tables are at the new version and, in a save, once
    /// the stores are unlocked: what they then read or fetch is of that version, even in notifications that precede a
    /// change.
    /// - Throws: `ModelContextError.invalidStoredValue` if the new version holds a value that its property's type does
    ///   not know; what reading records throws.
    func refresh(_ session: StoreSession) throws {
        if let latest = session.latest {
            try refresh(session, to: latest)
        } else {
            session.moveOn()
            live?.takeMail(of: session)
            if !session.following.records.isEmpty {
                try notifications.deferred {
                    if try session.takeInOthersChanges() {
                        live?.noteUnknownChanges(of: session)
                        if !isTakingOver { try unrecorded { try settleSnapshots() } }
                    }
                }
            }
        }
        if let live, !isTakingOver { live.deliver() }
    }

    /// Moves to a version of a store that is not older than the context's.
    ///
    /// `isOwn` says that the new version differs only by what this context has just saved, with no deletion among it:
    /// the context's models already show that, and their observers have been notified.
    /// - Throws: the error of a record that has a model and that cannot be read in the new version. The context then
    ///   stays at its version.
    func refresh(_ session: StoreSession, to latest: any StoreVersion, isOwn: Bool = false) throws {
        guard latest.number != session.version?.number else { return }
        // What a model shows from here on has to be known before it does.
        for table in tables.values where table.session === session && !isOwn && table.hasModels {
            guard let source = latest.rows(ofEntity: table.layout.entityName), source !== table.source,
                table.layout.needsVerification, source.needsVerification(for: table.layout.propertyChecks)
            else { continue }
            var verified = 0..<0
            for row in table.registeredRows(in: source.rowsThatMayDiffer(from: table.source))
            where !verified.contains(row) && source.contains(row: row) {
                verified = try source.verifyRows(around: row, table.layout)
            }
        }
        move(session, to: latest, isOwn: isOwn)
    }

    /// Checks that records whose models are about to be returned have only values that their properties' types know.
    /// - Throws: `ModelContextError.invalidStoredValue`; the error of a record that cannot be read.
    func verify(_ records: [RecordReference], in reader: ContextReader) throws {
        guard tables.values.contains(where: \.verifiesRows) else { return }
        var (number, verified) = (-1, 0..<0)
        var table: ModelTable?
        // How many records of each table were looked at.
        var counts: [Int: Int] = [:]
        do {
            for record in records where record.row >= 0 {
                if record.table != number {
                    number = record.table
                    table = self.table(named: reader.tables[number].entityName)
                    verified = 0..<0
                }
                guard let table, table.verifiesRows else { continue }
                counts[number, default: 0] += 1
                if verified.contains(record.row) { continue }
                verified = try table.source.verifyRows(around: record.row, table.layout)
            }
        } catch {
            // What cannot be read looks like a value that nobody knows.
            try checkVersions()
            throw error
        }
        for (number, count) in counts {
            // Nothing finds a record twice.
            guard let table = self.table(named: reader.tables[number].entityName), table.source.count == count else {
                continue
            }
            table.source.noteVerified(for: table.layout.propertyChecks)
            table.verifiesRows = false
        }
    }

    /// Checks that what was just read from the pinned versions is complete.
    /// - Throws: what `StoreVersion.check()` throws.
    func checkVersions() throws {
        for session in sessions { try session.version?.check() }
    }

    private func move(_ session: StoreSession, to latest: any StoreVersion, isOwn: Bool) {
        let previous = session.version
        let journal = tracker?.journal
        var differing: [ValueChange] = []
        var sources: [(table: ModelTable, source: RowSource)] = []
        var moved: [any PersistentModel] = []
        for table in tables.values where table.session === session {
            let source = latest.rows(ofEntity: table.layout.entityName) ?? RowSource()
            guard source !== table.source else { continue }
            sources.append((table, source))
            // Which rows differ is not asked for nobody.
            if isOwn || !table.hasModels { continue }
            for (row, model) in table.registeredModels(in: source.rowsThatMayDiffer(from: table.source)) {
                if !source.contains(row: row) {
                    detach(model, table: table, lastIn: previous)
                    continue
                }
                if model._flags.contains(.isChanged), !table.indexedSlots.isEmpty { moved.append(model) }
                journal?.noteForeign(
                    model,
                    table.layout.record.slots.indices.filter { slot in
                        guard case .unset = model._draft?[slot] ?? .unset else { return false }
                        return !table.source.storedForm(row: row, slot: slot).isIdentical(
                            to: source.storedForm(row: row, slot: slot))
                    })
                if let change = ValueChange(
                    of: model, layout: table.layout, { table.source.storedForm(row: row, slot: $0) },
                    { source.storedForm(row: row, slot: $0) })
                {
                    differing.append(change)
                }
            }
        }
        session.move(to: latest)
        if let live, let previous { live.noteMove(of: session, from: previous, to: latest) }
        if !sources.isEmpty { storedMembers = StoredMembers() }
        for (table, source) in sources {
            table.source = source
            table.verifiesRows =
                table.layout.needsVerification && source.needsVerification(for: table.layout.propertyChecks)
        }
        for model in moved { tracker?.noteRowValues(of: model) }
        if let tracker, !tracker.deleted.isEmpty { tracker.hasStaleDeletions = true }
        if !isTakingOver { unrecorded { settlePartners(in: session) } }
        for change in differing { change.willSet() }
        for change in differing { change.didSet() }
    }

    /// Makes both sides of relationships agree where others have set one and this context the other.
    func settlePartners(in session: StoreSession) {
        for model in Array(changed) where model._table?.session === session {
            RelationshipEditor(model).forgetSettled()
        }
        for model in Array(changed) + Array(deleted) {
            guard let table = model._table, table.session === session else { continue }
            RelationshipEditor(model).settlePartners(in: table.layout)
        }
    }

    /// Detaches a model whose record is gone: it keeps its values and its identity, and belongs to no context.
    /// `version` is the last one that had the record; nil for a store without versions.
    func detach(_ model: any PersistentModel, table: ModelTable, lastIn version: (any StoreVersion)? = nil) {
        tracker?.journal?.noteForeignDeletion(of: model)
        beginDetaching(model, table: table, lastIn: version)?.takeBackWeakly()
    }

    /// As `detach`, while models that it refers to are about to be stored, so that their identifiers are not known yet.
    /// - Returns: the model's values, which take back their relationships weakly then.
    func beginDetaching(
        _ model: any PersistentModel, table: ModelTable, lastIn version: (any StoreVersion)?
    ) -> Draft? {
        let row = model._row
        guard row >= 0 else { return nil }
        let draft = model._modelState.ensureDraft()
        let identifier = table.source.identifier(ofRow: row)
        draft.identifier = identifier
        draft.frozen = FrozenRow(table: table, source: table.source, row: row, version: version)
        detachedModels.add(model, identifier)
        if model._flags.contains(.isChanged) {
            // No change is lost if only the deletion of another model had changed it.
            let isReleased = draft.released.isSuperset(of: draft.changed)
            if isReleased { tracker?.changed.remove(model) } else { tracker?.noteDeletedElsewhere(model) }
        }
        if isTakingOver { tracker?.forgetDeletion(of: model) } else { tracker?.noteGone(model) }
        model._modelState.flags = .isDeleted
        model._modelState.row = -1
        table.forget(row: row, generation: model._generation)
        model._modelState.generation = 0
        model._modelState.table = nil
        return draft
    }

    func replaceRow(
        _ row: Int, ofEntity name: String, in rows: SessionRows, with values: ContiguousArray<StoredValue>,
        _ body: () -> Void
    ) {
        var change: ValueChange?
        let table = table(named: name)
        let model = table?.source === rows ? table?.registered(row: row) : nil
        if let table, let model {
            tracker?.journal?.noteForeign(
                model,
                values.indices.filter { slot in
                    guard case .unset = model._draft?[slot] ?? .unset, !rows.mayDefer(slot) else { return false }
                    return !rows.storedForm(row: row, slot: slot).isIdentical(to: values[slot])
                })
            change = ValueChange(
                of: model, layout: table.layout, { rows.storedForm(row: row, slot: $0) },
                { values[$0].isNull && rows.mayDefer($0) ? rows.storedForm(row: row, slot: $0) : values[$0] })
        }
        change?.willSet()
        body()
        if let model { tracker?.noteRowValues(of: model) }
        change?.didSet()
    }

    /// Runs a body whose changes nobody has made, so that nobody undoes them.
    func unrecorded<R>(_ body: () throws -> R) rethrows -> R {
        guard let journal = tracker?.journal else { return try body() }
        return try journal.suspended(body)
    }

    func deferringNotifications<R>(_ body: () throws -> R) rethrows -> R { try notifications.deferred(body) }

    func hasModel(ofRow row: Int, entity name: String, in rows: SessionRows) -> Bool {
        guard let table = table(named: name), table.source === rows else { return false }
        return table.isOccupied(row: row)
    }

    func rowIsGone(_ row: Int, ofEntity name: String, in rows: SessionRows) {
        guard let table = table(named: name), table.source === rows, let model = table.registered(row: row) else {
            return
        }
        detach(model, table: table)
    }
}
