/// The records of a batch while they are filled, one after the other.
@usableFromInline
struct BatchFilling<Model: PersistentModel> {
    private let insertion: BatchInsertion<Model>
    @usableFromInline let defaults: ContiguousArray<StoredValue>
    @usableFromInline var records: FilledRecords
    /// The one that is being filled.
    @usableFromInline var record: BatchRecord<Model>

    /// - Throws: `ModelContextError.unknownModel`, `.readOnly`, `.containerClosed`; an error that the context has kept.
    @usableFromInline
    init(
        _ model: Model.Type, in context: ModelContext, onConflict policy: UniqueConflictPolicy? = nil, capacity: Int
    ) throws {
        try context.state.prepare()
        insertion = try BatchInsertion(model, in: context.state, onConflict: policy)
        defaults = insertion.defaults
        record = insertion.record()
        records = insertion.records(capacity)
    }

    /// Ends the record that is being filled, and begins the next.
    @inlinable
    mutating func take() {
        let (values, assigned) = record.take(defaults)
        records.append(values, assigned)
    }

    @usableFromInline
    func insert() throws -> [PersistentIdentifier] { try insertion.run(records) }
}

/// What the records of a batch were given, in the form in which a store takes them: copying it for each of many would cost
/// more than all else that is done here.
@usableFromInline
struct FilledRecords {
    private(set) var snapshots: [DefaultSnapshot] = []
    /// For each, the slots that were set.
    private(set) var assigned: [SlotSet] = []
    private let layout: RecordLayout
    private let namespace: UInt32

    init(_ table: ModelTable, capacity: Int) {
        layout = table.layout.record
        namespace = table.temporaryNamespace
        snapshots.reserveCapacity(capacity)
        assigned.reserveCapacity(capacity)
    }

    @usableFromInline
    mutating func append(_ values: consuming ContiguousArray<StoredValue>, _ assigned: SlotSet) {
        snapshots.append(
            DefaultSnapshot(persistentIdentifier: .temporary(namespace: namespace), layout: layout, values: values))
        self.assigned.append(assigned)
    }
}

/// One batch of new records.
struct BatchInsertion<Model: PersistentModel> {
    private let state: ContextState
    private let table: ModelTable
    let defaults: ContiguousArray<StoredValue>
    private let slots: BatchSlots
    /// Nil is what the context does.
    private let policy: UniqueConflictPolicy?
    private var session: StoreSession { table.session }
    private var layout: ModelLayout { table.layout }

    /// - Throws: `ModelContextError.unknownModel`, `.readOnly`, `.readsPast`.
    init(_ model: Model.Type, in state: ContextState, onConflict policy: UniqueConflictPolicy?) throws {
        guard let table = state.table(for: model) else { throw ModelContextError.unknownModel(type: "\(model)") }
        self.state = state
        self.table = table
        self.policy = policy
        slots = BatchSlots(table.layout, in: state.container.schema)
        if state.readsPast { throw ModelContextError.readsPast }
        try table.session.checkWritable()
        defaults = ContiguousArray(
            table.layout.record.slots.map { slot in
                slot.role.isToMany ? .identifiers([]) : slot.property.attribute?.defaultValue ?? .null
            })
    }

    func record() -> BatchRecord<Model> { BatchRecord(slots, defaults) }

    func records(_ capacity: Int) -> FilledRecords { FilledRecords(table, capacity: capacity) }

    func run(_ records: FilledRecords) throws -> [PersistentIdentifier] {
        if records.snapshots.isEmpty { return [] }
        if state.hasChanges { return try insertModels(records).map(\.persistentModelID) }
        if let unsaved = slots.unsaved.keys.first { throw ModelContextError.noSuchModel(unsaved) }
        if state.recordsBatch(of: layout.entityName, { records.snapshots.count }) {
            return try state.asUndoStep { try saveModels(records) }
        }
        return try savesRows ? insertRows(records) : saveModels(records)
    }

    private func saveModels(_ records: FilledRecords) throws -> [PersistentIdentifier] {
        do {
            let models = try insertModels(records)
            try state.save()
            return models.map(\.persistentModelID)
        } catch {
            state.rollback()
            throw error
        }
    }

    /// Whether the store can be given the records as they are: nothing follows from them in other records, or the store
    /// sees to that itself.
    private var savesRows: Bool {
        guard session.takesDefaultSnapshots else { return false }
        let relationships = layout.properties.indices.filter { layout.record.slots[$0].role.isRelationship }
        if relationships.contains(where: layout.hasBounds) { return false }
        // What falls out of a relationship may have to be deleted.
        if effectivePolicy == .replace, !relationships.isEmpty, !layout.record.uniqueConstraints.isEmpty {
            return false
        }
        return session.version != nil || (relationships.isEmpty && layout.record.uniqueConstraints.isEmpty)
    }

    private var effectivePolicy: UniqueConflictPolicy { policy ?? state.context?.uniqueConflictPolicy ?? .update }

    // MARK: Rows

    private func insertRows(_ records: FilledRecords) throws -> [PersistentIdentifier] {
        try state.changing(session) { saved in
            var attempts = SaveAttempts()
            while true {
                try state.refresh(session)
                var changes = ChangeSet(baseVersion: session.version?.number, author: state.editingState.author)
                var inserted = records.snapshots
                var owners: [PersistentIdentifier]?
                if !layout.record.uniqueConstraints.isEmpty {
                    var upsert = BatchUpsert(state, table, effectivePolicy, capacity: records.snapshots.count)
                    for (snapshot, assigned) in zip(records.snapshots, records.assigned) {
                        try upsert.add(snapshot, assigned)
                    }
                    if !upsert.isPlain {
                        inserted = upsert.inserted
                        changes.updated = upsert.updated
                        owners = upsert.owners
                    }
                }
                try checkComplete(inserted)
                changes.inserted = ChangeSet.Insertions(inserted)
                let outcome: SaveOutcome
                do {
                    outcome = try session.commit(ModelChanges(changes: changes), mayDefer: false)
                } catch is VersionSuperseded {
                    try attempts.note(session, on: changes.baseVersion)
                    continue
                } catch let superseded as RecordsSuperseded {
                    try state.reread(superseded.identifiers, in: session)
                    try attempts.note(superseded, session, on: changes.baseVersion)
                    continue
                }
                saved.append(changes, by: session, outcome, outcome.historyToken)
                try state.refresh(session)
                let permanent = try permanent(inserted, outcome)
                guard let owners else { return permanent }
                let pairs = Dictionary(
                    zip(inserted.lazy.map(\.persistentIdentifier), permanent),
                    uniquingKeysWith: { first, _ in first })
                return owners.map { pairs[$0] ?? $0 }
            }
        }
    }

    /// - Throws: `ModelValidationError.missingValue`.
    private func checkComplete(_ records: [DefaultSnapshot]) throws {
        let required = layout.record.slots.indices.filter { slot in
            let description = layout.record.slots[slot]
            return !description.role.isToMany && !description.property.isOptional
                && description.property.attribute?.options.contains(.ephemeral) != true
        }
        for place in records.indices {
            for slot in required where records[place].values[slot].isNull {
                throw ModelValidationError.missingValue(
                    entity: layout.entityName, property: layout.properties[slot].name,
                    model: records[place].persistentIdentifier)
            }
        }
    }

    /// - Throws: `ModelContextError.storeContract` where the store left a record without a permanent identifier.
    private func permanent(_ inserted: [DefaultSnapshot], _ outcome: SaveOutcome) throws -> [PersistentIdentifier] {
        var identifiers: [PersistentIdentifier] = []
        identifiers.reserveCapacity(inserted.count)
        for place in inserted.indices {
            let temporary = inserted[place].persistentIdentifier
            guard let permanent = outcome.identifier(of: temporary, at: place), !permanent.isTemporary else {
                throw ModelContextError.storeContract(
                    store: session.location,
                    fault: "Its save returned no permanent identifier for \(temporary).")
            }
            identifiers.append(permanent)
        }
        return identifiers
    }

    // MARK: Models

    private func insertModels(_ records: FilledRecords) throws -> [Model] {
        // All drafts first: nothing is inserted where one leads nowhere.
        try zip(records.snapshots, records.assigned).map { try draft($0.values, $1) }.map { draft in
            let model = Materializing.make(Model.self, ModelState(draft))
            state.tracker?.insert(model, isRequested: true, onConflict: policy)
            return model
        }
    }

    private func draft(_ values: ContiguousArray<StoredValue>, _ assigned: SlotSet) throws -> Draft {
        let draft = Draft()
        for (slot, description) in layout.record.slots.enumerated() {
            switch (description.role, values[slot]) {
            case (.attribute, let value): draft[slot] = .value(value)
            case (.toOne, .identifier(let target)): draft[slot] = .model(try model(target))
            case (.toOne, _): draft[slot] = .model(nil)
            case (_, .identifiers(let members)):
                let changes = MemberChanges()
                for member in members { changes.add(try model(member)) }
                draft[slot] = .models(changes)
            default: continue
            }
            draft.changed.insert(slot)
            if !assigned.contains(slot) {
                draft.defaults.insert(slot)
            } else if description.role.isRelationship {
                draft.assigned.insert(slot)
            }
        }
        draft.tellsDefaults = true
        return draft
    }

    private func model(_ identifier: PersistentIdentifier) throws -> any PersistentModel {
        guard let model = slots.unsaved[identifier] ?? state.model(for: identifier) else {
            throw ModelContextError.noSuchModel(identifier)
        }
        return model
    }
}

/// Sorts new records into those that are new and those that update one with the same unique values: the first of a kind
/// stays, and takes what was set in the others where their policy is to update.
private struct BatchUpsert {
    private let state: ContextState
    private let table: ModelTable
    private let layout: ModelLayout
    private let policy: UniqueConflictPolicy
    private let version: (any StoreVersion)?
    private var new: [(identifier: PersistentIdentifier, values: ContiguousArray<StoredValue>)] = []
    private(set) var updated: [ChangeSet.Update] = []
    private var places: [PersistentIdentifier: Int] = [:]
    private var claims: [UniqueClaim: PersistentIdentifier] = [:]
    /// For each record that was added, the identifier of the record that now has its values.
    private(set) var owners: [PersistentIdentifier] = []

    /// Whether every added record is a new one.
    var isPlain: Bool { new.count == owners.count }

    init(_ state: ContextState, _ table: ModelTable, _ policy: UniqueConflictPolicy, capacity: Int) {
        self.policy = policy
        self.state = state
        self.table = table
        layout = table.layout
        version = table.session.version
        new.reserveCapacity(capacity)
        owners.reserveCapacity(capacity)
    }

    mutating func add(_ record: DefaultSnapshot, _ assigned: SlotSet) throws {
        let identifier = record.persistentIdentifier
        let values = record.values
        var owner: PersistentIdentifier?
        for (constraint, slots) in layout.record.uniqueConstraints.enumerated() {
            guard let claim = UniqueClaim(values, slots, layout),
                let found = try self.owner(of: claim, constraint, claimedBy: identifier),
                found != owner
            else { continue }
            if owner != nil || policy == .fail { throw notUnique(claim, owner ?? identifier, found) }
            owner = found
        }
        if let owner {
            if policy != .keep { merge(values, assigned, into: owner) }
        } else {
            places[identifier] = new.count
            new.append((identifier, values))
        }
        let holder = owner ?? identifier
        owners.append(holder)
        for slots in layout.record.uniqueConstraints {
            if let claim = claim(of: holder, slots) { claims[claim] = holder }
        }
    }

    /// The new records.
    var inserted: [DefaultSnapshot] {
        new.map { DefaultSnapshot(persistentIdentifier: $0.identifier, layout: layout.record, values: $0.values) }
    }

    private mutating func owner(
        of claim: UniqueClaim, _ constraint: Int, claimedBy newcomer: PersistentIdentifier
    ) throws -> PersistentIdentifier? {
        if let owner = claims[claim], self.claim(of: owner, claim.slots) == claim { return owner }
        guard
            let owner = version?.identifier(
                ofEntity: layout.entityName, constraint: constraint, values: claim.values),
            self.claim(of: owner, claim.slots) == claim
        else { return nil }
        if policy == .fail { return owner }
        guard let other = state.table(of: owner)?.layout, other.isSame(as: layout) else {
            throw notUnique(claim, newcomer, owner)
        }
        return owner
    }

    private func notUnique(
        _ claim: UniqueClaim, _ model: PersistentIdentifier, _ other: PersistentIdentifier
    ) -> ModelContextError {
        .notUnique(
            entity: layout.entityName, properties: claim.slots.map { layout.properties[$0].name }, values: claim.values,
            model: model, other: other)
    }

    /// What a record claims as far as this batch has come.
    private func claim(of owner: PersistentIdentifier, _ slots: [Int]) -> UniqueClaim? {
        if owner.isTemporary { return places[owner].flatMap { UniqueClaim(new[$0].values, slots, layout) } }
        guard let table = state.table(of: owner), let row = table.source.row(of: owner) else { return nil }
        let update = places[owner].map { updated[$0] }
        let values = ContiguousArray(
            table.layout.properties.indices.map { slot -> StoredValue in
                guard slots.contains(slot) else { return .null }
                if let update, update.slots.contains(slot) { return update.values[slot] }
                return table.source.value(row: row, slot: slot)
            })
        return UniqueClaim(values, slots, table.layout)
    }

    private mutating func merge(
        _ values: ContiguousArray<StoredValue>, _ assigned: SlotSet, into owner: PersistentIdentifier
    ) {
        if owner.isTemporary, let place = places[owner] {
            for slot in assigned.slots { new[place].values[slot].absorb(values[slot]) }
            return
        }
        guard let table = state.table(of: owner), let row = table.source.row(of: owner) else { return }
        let place = places[owner] ?? updated.count
        if place == updated.count {
            places[owner] = place
            updated.append(
                ChangeSet.Update(
                    record: owner, layout: table.layout.record, slots: SlotSet(),
                    values: ContiguousArray(repeating: .null, count: table.layout.properties.count)))
        }
        for slot in assigned.slots {
            if !updated[place].slots.contains(slot) {
                updated[place].values[slot] = table.source.value(row: row, slot: slot)
                updated[place].slots.insert(slot)
            }
            updated[place].values[slot].absorb(values[slot])
        }
    }
}

extension StoredValue {
    /// Takes a later value over; members of relationships are united.
    fileprivate mutating func absorb(_ other: StoredValue) {
        if case .identifiers(let mine) = self, case .identifiers(let others) = other {
            let known = Set(mine)
            self = .identifiers(mine + others.filter { !known.contains($0) })
        } else {
            self = other
        }
    }
}
