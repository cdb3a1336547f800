/// Looks for what is in the way of a revert, until what is left over is in nobody's way.
struct ReversalConflicts {
    private let reversal: Reversal
    private(set) var found: [RevertConflict] = []
    /// The values that do not come back.
    private(set) var dropped: Set<Reversal.Place> = []
    /// The inserted records that stay.
    private(set) var kept: Set<PersistentIdentifier> = []
    /// The deleted records that do not come back.
    private(set) var lost: Set<PersistentIdentifier> = []
    private var claims: StoredClaims
    private var told: Set<RevertConflict> = []
    private var isChanged = false

    init(_ reversal: Reversal) {
        self.reversal = reversal
        claims = StoredClaims(of: [])
    }

    private var state: ContextState { reversal.state }

    mutating func run() throws {
        let updates = reversal.updates.sorted { ($0.key.record, $0.key.slot) < ($1.key.record, $1.key.slot) }
        let removals = reversal.removals.sorted { $0.key < $1.key }
        let returns = reversal.returns.sorted { $0.key < $1.key }
        repeat {
            isChanged = false
            for (place, update) in updates where !dropped.contains(place) { look(at: update, place) }
            for (record, removal) in removals where !kept.contains(record) {
                look(at: record, removal.model, removal.wrote)
            }
            for (record, entry) in returns where !lost.contains(record) { look(at: record, entry) }
            for name in reversal.referring { look(at: name) }
            try lookForUniqueValues()
        } while isChanged
    }

    // MARK: What was found

    private mutating func note(_ record: PersistentIdentifier, _ property: String?, _ reason: RevertConflict.Reason)
        -> Bool
    {
        let conflict = RevertConflict(record: record, property: property, reason: reason)
        if told.insert(conflict).inserted { found.append(conflict) }
        return reversal.policy != .force || !reason.canBeForced
    }

    private mutating func note(_ place: Reversal.Place, _ layout: ModelLayout, _ reason: RevertConflict.Reason) {
        if note(place.record, layout.record.slots[place.slot].name, reason), dropped.insert(place).inserted {
            isChanged = true
        }
    }

    private mutating func keep(_ record: PersistentIdentifier, _ property: String?, _ reason: RevertConflict.Reason) {
        if note(record, property, reason), kept.insert(record).inserted { isChanged = true }
    }

    private mutating func lose(_ record: PersistentIdentifier, _ property: String?, _ reason: RevertConflict.Reason) {
        if note(record, property, reason), lost.insert(record).inserted { isChanged = true }
    }

    // MARK: What will be

    private func isRemoved(_ record: PersistentIdentifier) -> Bool {
        reversal.removals[record] != nil && !kept.contains(record)
    }

    private func returns(_ record: PersistentIdentifier) -> Bool {
        reversal.returns[record] != nil && !lost.contains(record)
    }

    /// Whether a record will be there, to be led to.
    private func willBeThere(_ record: PersistentIdentifier) -> Bool {
        if returns(record) { return true }
        return reversal.model(record) != nil && !isRemoved(record)
    }

    /// What a slot of a record that is there will have.
    private func future(_ model: any PersistentModel, _ slot: Int, _ layout: ModelLayout) -> StoredValue {
        let place = Reversal.Place(record: model.persistentModelID, slot: slot)
        if let update = reversal.updates[place], !dropped.contains(place) { return update.old }
        return reversal.value(of: model, at: slot, layout)
    }

    // MARK: Updates

    private mutating func look(at update: Reversal.Update, _ place: Reversal.Place) {
        let now = reversal.value(of: update.model, at: update.slot, update.layout)
        // Without the value that was written nobody knows whether it is still there.
        if update.wrote.map({ !$0.isSame(as: now) }) ?? true { note(place, update.layout, .changedSince) }
        guard case .identifier(let target) = update.old else { return }
        if !willBeThere(target) {
            if !update.layout.record.slots[update.slot].property.isOptional { note(place, update.layout, .targetGone) }
            return
        }
        if isTaken(target, by: place.record, update.slot, update.layout) { note(place, update.layout, .changedSince) }
    }

    /// Whether the target of a one-to-one relationship has another partner, who does not let go of it.
    private func isTaken(
        _ target: PersistentIdentifier, by owner: PersistentIdentifier, _ slot: Int, _ layout: ModelLayout
    ) -> Bool {
        guard let model = reversal.model(target), let theirs = model._table?.layout,
            let inverse = layout.inverse(of: slot, towards: theirs), theirs.record.slots[inverse].role == .toOne,
            case .identifier(let partner) = future(model, inverse, theirs), partner != owner,
            let other = reversal.model(partner), !isRemoved(partner)
        else { return false }
        guard let layout = other._table?.layout, let back = theirs.inverse(of: inverse, towards: layout) else {
            return true
        }
        return future(other, back, layout).targets.contains(target)
    }

    // MARK: Records that were inserted

    private mutating func look(
        at record: PersistentIdentifier, _ model: any PersistentModel, _ wrote: [Int: StoredValue]
    ) {
        guard let layout = model._table?.layout else { return }
        for slot in layout.record.keptInHistory {
            guard let written = wrote[slot] else {
                keep(record, layout.record.slots[slot].name, .valueNotKept)
                continue
            }
            let now = reversal.value(of: model, at: slot, layout)
            if written.isSame(as: now) || written.isNull && now.isDefault(of: layout.record.slots[slot]) { continue }
            keep(record, layout.record.slots[slot].name, .changedSince)
        }
        for slot in layout.record.slots.indices {
            guard let relationship = layout.record.slots[slot].property.relationship else { continue }
            let related =
                relationship.isToMany
                ? RelationshipEditor(model).members(at: slot)
                : RelationshipEditor(model).target(at: slot).map { [$0] } ?? []
            for other in related where other !== model && !isRemoved(other.persistentModelID) {
                let isTaken = relationship.deleteRule.deletesRelated || relationship.deleteRule.refusesDeletion
                let isReferring = refers(other, slot, layout, record)
                // What the transaction itself has led here goes back to where it was.
                if isReferring ?? isTaken { keep(record, layout.record.slots[slot].name, .takesOthers) }
            }
        }
    }

    /// Whether another record will refer to one in what it keeps itself; nil if it keeps nothing of the relationship.
    private func refers(
        _ other: any PersistentModel, _ slot: Int, _ layout: ModelLayout, _ record: PersistentIdentifier
    ) -> Bool? {
        guard let theirs = other._table?.layout, let inverse = layout.inverse(of: slot, towards: theirs),
            theirs.record.slots[inverse].role != .toManyDerived
        else { return nil }
        return future(other, inverse, theirs).targets.contains(record)
    }

    /// Looks at a reference of which the record that it leads to knows nothing.
    private mutating func look(at name: RecordReferenceName) {
        guard let model = reversal.model(name.record), !isRemoved(name.record), let layout = model._table?.layout,
            let slot = layout.record.slot(named: name.property)
        else { return }
        for target in future(model, slot, layout).targets where isRemoved(target) {
            if layout.record.slots[slot].role == .toManyDerived { continue }
            guard let other = reversal.model(target)?._table?.layout,
                layout.inverse(of: slot, towards: other) == nil
            else { continue }
            keep(target, nil, .takesOthers)
        }
    }

    // MARK: Records that were deleted

    private mutating func look(at record: PersistentIdentifier, _ entry: Reversal.Return) {
        for slot in entry.layout.record.slots.indices {
            guard case .identifier(let target)? = entry.values[slot] else { continue }
            let property = entry.layout.record.slots[slot].property
            if !willBeThere(target) {
                if !property.isOptional { lose(record, property.name, .targetGone) }
            } else if isTaken(target, by: record, slot, entry.layout) {
                lose(record, property.name, .changedSince)
            }
        }
    }

    // MARK: Unique values

    private struct Owner {
        let claim: UniqueClaim
        let record: PersistentIdentifier
        let slots: [Int]
        let layout: ModelLayout
    }

    private mutating func lookForUniqueValues() throws {
        var owners: [UniqueClaim: Owner] = [:]
        var touched = Set<PersistentIdentifier>()
        for (place, update) in reversal.updates.sorted(by: { $0.key.record < $1.key.record })
        where !dropped.contains(place) && touched.insert(place.record).inserted {
            let layout = update.layout
            let values = ContiguousArray(
                layout.record.slots.indices.map {
                    layout.record.slots[$0].role.isToMany ? .null : future(update.model, $0, layout)
                })
            for (index, slots) in layout.record.uniqueConstraints.enumerated()
            where slots.contains(where: { isUpdated(place.record, $0) }) {
                guard let claim = UniqueClaim(values, slots, layout) else { continue }
                try look(at: Owner(claim: claim, record: place.record, slots: slots, layout: layout), index, &owners)
            }
        }
        for (record, entry) in reversal.returns.sorted(by: { $0.key < $1.key }) where !lost.contains(record) {
            let layout = entry.layout
            let values = ContiguousArray(layout.record.slots.indices.map { entry.values[$0] ?? .null })
            for (index, slots) in layout.record.uniqueConstraints.enumerated() {
                guard let claim = UniqueClaim(values, slots, layout) else { continue }
                try look(at: Owner(claim: claim, record: record, slots: slots, layout: layout), index, &owners)
            }
        }
    }

    private func isUpdated(_ record: PersistentIdentifier, _ slot: Int) -> Bool {
        let place = Reversal.Place(record: record, slot: slot)
        return reversal.updates[place] != nil && !dropped.contains(place)
    }

    private mutating func look(at owner: Owner, _ constraint: Int, _ owners: inout [UniqueClaim: Owner]) throws {
        let isTwice = owners[owner.claim] != nil
        owners[owner.claim] = owners[owner.claim] ?? owner
        let stored = try storedOwner(of: owner, constraint)
        let isTaken = stored.map { hasClaim($0, owner) } ?? false || pendingOwner(of: owner)
        guard isTwice || isTaken else { return }
        if reversal.returns[owner.record] != nil {
            lose(owner.record, owner.layout.record.slots[owner.slots[0]].name, .notUnique)
        } else {
            for slot in owner.slots where isUpdated(owner.record, slot) {
                note(Reversal.Place(record: owner.record, slot: slot), owner.layout, .notUnique)
            }
        }
    }

    private mutating func storedOwner(of owner: Owner, _ constraint: Int) throws -> PersistentIdentifier? {
        guard let table = state.table(named: owner.layout.entityName) else { return nil }
        if let version = table.session.version {
            return version.identifier(
                ofEntity: owner.layout.entityName, constraint: constraint, values: owner.claim.values)
        }
        return try claims.owner(of: owner.claim, owner.slots, table)
    }

    private func pendingOwner(of owner: Owner) -> Bool {
        for model in Array(state.changed) + Array(state.inserted)
        where hasClaim(model.persistentModelID, owner) { return true }
        return false
    }

    /// Whether another record will have the values of a claim.
    private func hasClaim(_ record: PersistentIdentifier, _ owner: Owner) -> Bool {
        guard record != owner.record, !isRemoved(record), let model = reversal.model(record),
            let layout = model._table?.layout, layout.record.uniqueConstraints.contains(owner.slots)
        else { return false }
        let values = ContiguousArray(
            layout.record.slots.indices.map {
                layout.record.slots[$0].role.isToMany ? .null : future(model, $0, layout)
            })
        return UniqueClaim(values, owner.slots, layout) == owner.claim
    }
}

extension StoredValue {
    /// Whether it is what a store writes for a required value that is not given.
    fileprivate func isDefault(of slot: RecordLayout.Slot) -> Bool {
        guard !slot.property.isOptional, let value = slot.property.attribute?.defaultValue else { return false }
        return isIdentical(to: value)
    }
}
