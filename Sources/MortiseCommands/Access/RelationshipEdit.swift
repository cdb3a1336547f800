#if Tool
import MortiseCore

/// What `mortise set` does to a relationship with an inverse, or to a to-many one: both sides are those of the records that keep it.
struct RelationshipEdit {
    enum Operation: String {
        case replace = "="
        case add = "+="
        case remove = "-="
    }

    let slot: Int
    let operation: Operation
    let members: [PersistentIdentifier]
    private let name: String
    /// The side that keeps the relationship, where that is not the record's own: a slot of the members.
    private let inverse: (role: RecordLayout.Role, isOptional: Bool, name: String)?

    /// - Parameters:
    ///   - layout: of the entity whose records are changed.
    ///   - place: the relationship.
    ///   - operation: what happens to its members.
    ///   - members: the records that are set, added or removed.
    ///   - layouts: of all entities.
    /// - Throws: `BadLine` for a relationship that cannot be set so.
    init(
        _ layout: RecordLayout, _ place: Int, _ operation: Operation, _ members: [PersistentIdentifier],
        _ layouts: [String: RecordLayout]
    ) throws {
        let slot = layout.slots[place]
        guard let relationship = slot.property.relationship else { throw BadLine(reason: "it is no relationship") }
        self.slot = place
        self.operation = operation
        self.members = members
        name = slot.name
        let other = layouts[relationship.destination]
        let opposite = relationship.inverse.flatMap { name in other?.slots.first { $0.name == name } }
        for side in [slot, opposite].compactMap({ $0?.property.relationship })
        where side.minimumCount != nil || side.maximumCount != nil {
            throw BadLine(reason: "it has a limit to its number of records, which only models check")
        }
        if !slot.role.isToMany {
            guard operation == .replace, members.count < 2 else {
                throw BadLine(
                    reason: "it is a to-one relationship; write \(name)= and the number of one record, or none")
            }
            if members.isEmpty, !slot.property.isOptional { throw BadLine(reason: "it is not optional") }
            if let opposite, !opposite.role.isToMany {
                throw BadLine(reason: "its inverse is a to-one relationship, too; only models change both")
            }
        }
        inverse =
            try slot.role == .toManyDerived
            ? opposite.map { ($0.role, $0.property.isOptional, $0.name) }
                ?? { throw BadLine(reason: "the schema lacks its inverse") }() : nil
    }

    /// Whether a member can be a member of one record only, so that several records cannot all get it.
    var isExclusive: Bool { inverse?.role == .toOne && operation != .remove && !members.isEmpty }

    /// - Throws: `ToolError.usage` for a record that would lose what it has to have.
    func apply(to record: RecordReference, _ draft: inout EditDraft) throws {
        let old = draft.value(record, slot).members
        let new =
            switch operation {
            case .replace: members
            case .add: old + members.filter { !old.contains($0) }
            case .remove: old.filter { !members.contains($0) }
            }
        guard let inverse else {
            let isToMany = draft.reader.tables[record.table].layout.slots[slot].role.isToMany
            let value: StoredValue = isToMany ? .identifiers(new) : new.first.map { .identifier($0) } ?? .null
            if Set(old) != Set(new) { draft.set(record, slot, value) }
            return
        }
        let own = draft.identifier(record)
        for member in new where !old.contains(member) { try change(member, inverse, own, isAdded: true, &draft) }
        for member in old where !new.contains(member) { try change(member, inverse, own, isAdded: false, &draft) }
    }

    private func change(
        _ member: PersistentIdentifier, _ inverse: (role: RecordLayout.Role, isOptional: Bool, name: String),
        _ own: PersistentIdentifier, isAdded: Bool, _ draft: inout EditDraft
    ) throws {
        guard let record = draft.reader.record(member),
            let slot = draft.reader.tables[record.table].layout.slot(named: inverse.name)
        else { return }
        if inverse.role.isToMany {
            let others = draft.value(record, slot).members.filter { $0 != own }
            draft.set(record, slot, .identifiers(isAdded ? others + [own] : others))
        } else if isAdded {
            draft.set(record, slot, .identifier(own))
        } else {
            guard inverse.isOptional else {
                throw ToolError.usage(
                    "\(name.shown()): \(inverse.name.shown()) of \(member.entityName.shown())/\(ValueText.key(member)) is not "
                        + "optional; set it to another record, or delete the record")
            }
            draft.set(record, slot, .null)
        }
    }
}

extension StoredValue {
    fileprivate var members: [PersistentIdentifier] {
        switch self {
        case .identifier(let identifier): [identifier]
        case .identifiers(let identifiers): identifiers
        default: []
        }
    }
}

/// Updates of records while they are worked out.
struct EditDraft {
    let reader: RecordReader
    private var order: [PersistentIdentifier] = []
    private var updates: [PersistentIdentifier: ChangeSet.Update] = [:]

    init(_ reader: RecordReader) { self.reader = reader }

    func identifier(_ record: RecordReference) -> PersistentIdentifier {
        reader.tables[record.table].rows.identifier(ofRow: record.row)
    }

    /// What a record has by now.
    func value(_ record: RecordReference, _ slot: Int) -> StoredValue {
        let update = updates[identifier(record)]
        if let update, update.slots.contains(slot) { return update.values[slot] }
        return reader.value(record, slot: slot)
    }

    mutating func set(_ record: RecordReference, _ slot: Int, _ value: StoredValue) {
        let identifier = identifier(record)
        let layout = reader.tables[record.table].layout
        let empty = ContiguousArray<StoredValue>(repeating: .null, count: layout.slots.count)
        var update =
            updates[identifier]
            ?? ChangeSet.Update(record: identifier, layout: layout, slots: SlotSet(), values: empty, oldValues: empty)
        if updates[identifier] == nil { order.append(identifier) }
        if !update.slots.contains(slot) { update.oldValues[slot] = reader.value(record, slot: slot) }
        update.values[slot] = value
        update.slots.insert(slot)
        updates[identifier] = update
    }

    /// All updates, in the order in which records were first changed.
    var changes: ChangeSet {
        var changes = ChangeSet(author: "mortise")
        changes.updated = order.compactMap { updates[$0] }
        return changes
    }
}
#endif
