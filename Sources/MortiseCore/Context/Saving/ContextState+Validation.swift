extension ContextState {
    /// Checks the changes before a save.
    /// - Throws: `ModelValidationError` for the first fault.
    func validate() throws {
        for model in inserted { try validate(model, onlyChanged: false) }
        for model in changed { try validate(model, onlyChanged: true) }
        for model in deleted { try validateDeletion(of: model) }
    }

    private func validate(_ model: any PersistentModel, onlyChanged: Bool) throws {
        guard let layout = model._modelState.table?.layout, let draft = model._modelState.draft else { return }
        if !onlyChanged, draft.present.isSuperset(of: layout.record.checkedSlots), draft.hasOnlyRelationshipsBeside {
            return
        }
        for slot in layout.record.slots.indices {
            if draft.hasPlainValue(at: slot) || (onlyChanged && !draft.changed.contains(slot)) { continue }
            let description = layout.record.slots[slot]
            var isEncodable = true
            switch draft[slot] {
            case .unencodable: isEncodable = false
            case .transformable(let value): isEncodable = layout.transformed(value, at: slot) != nil
            default: break
            }
            if !isEncodable {
                throw ModelValidationError.unencodableValue(
                    entity: layout.entityName, property: description.name, model: model.persistentModelID)
            }
            if description.role.isToMany {
                try validateCount(of: description, at: slot, in: model, layout)
                continue
            }
            guard !description.property.isOptional else { continue }
            let isMissing =
                switch draft[slot] {
                case .requiredButCleared: true
                case .transformable: false
                default:
                    description.role == .toOne
                        ? RelationshipEditor(model).target(at: slot).map(hasNoRecord) ?? true
                        : model._modelState.storedValue(at: slot).isNull
                            && description.property.attribute?.options.contains(.ephemeral) != true
                }
            if isMissing {
                throw ModelValidationError.missingValue(
                    entity: layout.entityName, property: description.name, model: model.persistentModelID)
            }
        }
    }

    /// Whether a model was deleted before it was ever saved, or has left its context with its record.
    private func hasNoRecord(_ model: any PersistentModel) -> Bool {
        model._modelState.flags.contains(.isDeleted) && model._modelState.table == nil
    }

    private func validateCount(
        of description: RecordLayout.Slot, at slot: Int, in model: any PersistentModel, _ layout: ModelLayout
    ) throws {
        guard let relationship = description.property.relationship,
            relationship.minimumCount != nil || relationship.maximumCount != nil
        else { return }
        let count = RelationshipEditor(model).members(at: slot).count
        if let minimum = relationship.minimumCount, count < minimum {
            throw ModelValidationError.tooFew(
                entity: layout.entityName, property: description.name, model: model.persistentModelID, count: count,
                minimum: minimum)
        }
        if let maximum = relationship.maximumCount, count > maximum {
            throw ModelValidationError.tooMany(
                entity: layout.entityName, property: description.name, model: model.persistentModelID, count: count,
                maximum: maximum)
        }
    }

    private func validateDeletion(of model: any PersistentModel) throws {
        guard let layout = model._modelState.table?.layout else { return }
        for (slot, description) in layout.record.slots.enumerated() {
            guard let relationship = description.property.relationship,
                relationship.deleteRule == .deny || relationship.deleteRule == .noAction
            else { continue }
            let related =
                (relationship.isToMany
                ? RelationshipEditor(model).members(at: slot)
                : RelationshipEditor(model).target(at: slot).map { [$0] } ?? [])
                // What others have stored there may have another partner here.
                .filter {
                    !$0._modelState.flags.contains(.isDeleted)
                        && RelationshipEditor(model).isMutual(with: $0, at: slot, layout)
                }
            if related.isEmpty { continue }
            if relationship.deleteRule == .deny {
                throw ModelValidationError.deletionDenied(
                    entity: layout.entityName, property: description.name, model: model.persistentModelID,
                    count: related.count)
            }
            for other in related {
                guard let inverse = layout.inverse(of: slot, towards: other), other._refers(to: model, at: inverse),
                    let theirs = other._modelState.table?.layout
                else { continue }
                throw ModelValidationError.refersToDeleted(
                    entity: layout.destinations[slot]?.entityName ?? theirs.entityName,
                    property: theirs.properties[inverse].name,
                    model: other.persistentModelID, deleted: model.persistentModelID)
            }
        }
    }
}

extension PersistentModel {
    /// Whether the record of a member of a to-many relationship leads to this model's: the members need not all be read for
    /// that. Nil where the member's record does not say.
    private func _isStoredOwner(of other: any PersistentModel, at slot: Int) -> Bool? {
        guard _modelState.row >= 0, other._modelState.row >= 0, let table = _modelState.table,
            let theirs = other._modelState.table, theirs.state === table.state,
            table.layout.record.slots[slot].role == .toManyDerived,
            let inverse = table.layout.inverse(of: slot, towards: theirs.layout),
            theirs.layout.record.slots[inverse].role == .toOne
        else { return nil }
        guard case .identifier(let owner) = other._modelState.rowValue(at: inverse) else { return false }
        return owner == persistentModelID
    }

    /// Whether a relationship of this model refers to another model, deleted or not.
    func _refers(to other: any PersistentModel, at slot: Int) -> Bool {
        switch _modelState.draft?[slot] {
        case .model(let target)?: return target === other
        case .inferred(from: let target)?: return target.model === other
        case .requiredButCleared?: return false
        case .models(let changes)?:
            if changes.isRemoved(other) { return false }
            if changes.isAdded(other) { return true }
        default: break
        }
        if let refers = _isStoredOwner(of: other, at: slot) ?? _isStored(other, at: slot) { return refers }
        switch _modelState.storedValue(at: slot) {
        case .identifier(let identifier): return identifier == other.persistentModelID
        case .identifiers(let identifiers):
            return identifiers.contains(other.persistentModelID)
        default: return false
        }
    }

    /// Whether this model's record has another one among the members of a relationship; nil where that has to be read
    /// anew each time.
    func _isStored(_ member: any PersistentModel, at slot: Int) -> Bool? {
        guard _modelState.row >= 0, let table = _modelState.table, table.session.version != nil,
            table.layout.record.slots[slot].role.isToMany
        else { return nil }
        return table.state.storedMembers.contains(member.persistentModelID, in: table, _modelState.row, slot)
    }
}

/// The members of the records that were asked last, for those who ask it of each of many members: a list of them would be
/// made and gone through every time.
struct StoredMembers {
    private struct Entry {
        let table: ObjectIdentifier
        let row: Int
        let slot: Int
        /// Nil after the first question: a single one is not worth a set.
        var members: Set<PersistentIdentifier>?
    }
    /// As many as there may be relationships that share an inverse, on both sides of a move.
    private static let most = 8
    private var entries: [Entry] = []
    private var next = 0

    mutating func contains(
        _ member: PersistentIdentifier, in table: ModelTable, _ row: Int, _ slot: Int
    ) -> Bool {
        let known = entries.firstIndex { $0.row == row && $0.slot == slot && $0.table == ObjectIdentifier(table) }
        if let known, let members = entries[known].members { return members.contains(member) }
        guard case .identifiers(let identifiers) = table.source.value(row: row, slot: slot) else { return false }
        if let known {
            let members = Set(identifiers)
            entries[known].members = members
            return members.contains(member)
        }
        let entry = Entry(table: ObjectIdentifier(table), row: row, slot: slot)
        if entries.count < Self.most {
            entries.append(entry)
        } else {
            entries[next] = entry
            next = (next + 1) % Self.most
        }
        return identifiers.contains(member)
    }
}
