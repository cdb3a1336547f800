extension ContextState {
    /// Checks the changes before a save.
    /// - Throws: `ModelValidationError` for the first fault.
    func validate() throws {
        for model in inserted { try validate(model, onlyChanged: false) }
        for model in changed { try validate(model, onlyChanged: true) }
        for model in deleted { try validateDeletion(of: model) }
    }

    private func validate(_ model: any PersistentModel, onlyChanged: Bool) throws {
        guard let layout = model._table?.layout, let draft = model._draft else { return }
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
                        ? try lacksTarget(description, at: slot, model, layout)
                        : model._storedValue(at: slot).isNull
                            && description.property.attribute?.options.contains(.ephemeral) != true
                }
            if isMissing {
                throw ModelValidationError.missingValue(
                    entity: layout.entityName, property: description.name, model: model.persistentModelID)
            }
        }
    }

    /// Whether a required to-one relationship has no target, or one that was deleted before it was ever saved or that has left
    /// its context with its record.
    /// - Throws: `ModelValidationError.refersToDeleted` where this save deletes the target.
    private func lacksTarget(
        _ description: RecordLayout.Slot, at slot: Int, _ model: any PersistentModel, _ layout: ModelLayout
    ) throws -> Bool {
        guard let target = RelationshipEditor(model).target(at: slot) else { return true }
        guard target._flags.contains(.isDeleted) else { return false }
        guard target._table != nil else { return true }
        throw ModelValidationError.refersToDeleted(
            entity: layout.entityName, property: description.name, model: model.persistentModelID,
            deleted: target.persistentModelID)
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
        guard let layout = model._table?.layout else { return }
        for (slot, description) in layout.record.slots.enumerated() {
            guard let relationship = description.property.relationship,
                relationship.deleteRule.keepsReferences
            else { continue }
            let related =
                (relationship.isToMany
                ? RelationshipEditor(model).members(at: slot)
                : RelationshipEditor(model).target(at: slot).map { [$0] } ?? [])
                // What others have stored there may have another partner here.
                .filter {
                    !$0._flags.contains(.isDeleted)
                        && RelationshipEditor(model).isMutual(with: $0, at: slot, layout)
                }
            if related.isEmpty { continue }
            if relationship.deleteRule.refusesDeletion {
                throw ModelValidationError.deletionDenied(
                    entity: layout.entityName, property: description.name, model: model.persistentModelID,
                    count: related.count)
            }
            for other in related {
                guard let inverse = layout.inverse(of: slot, towards: other), other._refers(to: model, at: inverse),
                    let theirs = other._table?.layout
                else { continue }
                throw ModelValidationError.refersToDeleted(
                    entity: layout.destinations[slot]?.entityName ?? theirs.entityName,
                    property: theirs.properties[inverse].name,
                    model: other.persistentModelID, deleted: model.persistentModelID)
            }
        }
    }
}
