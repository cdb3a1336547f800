/// The values of a model that its store does not have: all of a new model's, the changed ones of a fetched model's, the
/// last known ones of a deleted model's.
final class Draft: UnsavedValues {
    enum Value {
        /// Not set: the store's value applies.
        case unset
        case value(StoredValue)
        /// A transformable attribute's value from an initializer, when the transformer is not yet known.
        case transformable(Any)
        /// A value whose `encode(to:)` failed, or wrote something that its type does not decode: readable, but a save
        /// throws.
        case unencodable(Any)
        /// The last target of a required to-one relationship that was cleared: readable, but a save throws.
        case requiredButCleared(last: any PersistentModel)
        case model((any PersistentModel)?)
        /// The target of a to-one relationship of a model that its context released unsaved; weak, because both models
        /// would retain each other for ever.
        case inferred(from: FindableModel)
        case models(MemberChanges)

        var isRelationship: Bool {
            switch self {
            case .model, .models: true
            default: false
            }
        }

        /// Whether it is a relationship with a model at its other end. What an initializer left empty may be a default.
        var leadsSomewhere: Bool {
            switch self {
            case .model(let target): target != nil
            case .models(let changes): !changes.isEmpty
            default: false
            }
        }

        /// Whether the value may hold other models, and the model gets on without it.
        fileprivate var isLendable: Bool {
            switch self {
            case .model, .models, .inferred: true
            default: false
            }
        }
    }

    /// The value of a slot with a relationship or a transformable property.
    struct Other {
        let slot: Int
        var value: Value
    }

    /// The attributes' values by slot; null for an attribute without a value, and for one that `others` has.
    // Unchecked as in a model's state: what reads and writes the values calls no other code meanwhile.
    @exclusivity(unchecked) private(set) var values: ContiguousArray<StoredValue> = []
    /// The slots that have their value in `values`, and those of them whose value is not null.
    @exclusivity(unchecked) private var plain = SlotSet()
    @exclusivity(unchecked) private(set) var present = SlotSet()
    /// Relationship and transformable values that the draft keeps itself.
    @exclusivity(unchecked) private var own: DraftRelations?
    /// The relationships that the context keeps for one of its models, so that they are released with the context.
    @exclusivity(unchecked) private var lent: Unmanaged<DraftRelations>?
    @exclusivity(unchecked) private var keeper: ChangeTracker.Reference?
    /// The slots that the draft keeps itself although the context keeps the others: a required relationship has to lead
    /// somewhere as long as the model is there.
    @exclusivity(unchecked) private var required = SlotSet()
    /// The slots of what is no stored value: asking an enum with a payload whether it is there copies it.
    @exclusivity(unchecked) private var held = SlotSet()
    /// The slots that a save has to write.
    @exclusivity(unchecked) var changed = SlotSet()
    /// The slots in `changed` that only the deletion of a related model has changed.
    @exclusivity(unchecked) var released = SlotSet()
    /// The to-one relationships that were emptied because their target has a partner here whom others do not know: nobody
    /// has set them, and what others save later may make it needless.
    @exclusivity(unchecked) var settled = SlotSet()
    /// The slots that were never set and have their default: another record does not take these values over.
    var defaults = SlotSet()
    /// The relationships that were set on this model itself, and did not follow from what another one was given.
    @exclusivity(unchecked) var assigned = SlotSet()
    /// What the program wants of a new model whose unique values another one has; nil for what its context wants.
    var conflictPolicy: UniqueConflictPolicy?
    /// Whether the program has inserted a new model itself, and not only something that leads to it.
    var isNamed = false
    /// The identity of a model that has no row: temporary, or what it was before it was deleted.
    @exclusivity(unchecked) var identifier: PersistentIdentifier?
    /// Whether the values that are not in `defaults` were all set by name, nil included; an initializer's nil tells nothing.
    var tellsDefaults = false
    /// The record as it was when this draft was begun; nil for a model that was never stored.
    var base: BaseRow?
    /// The last row of a deleted model, from which it reads what it has not set itself.
    var frozen: FrozenRow?
    /// Whether the model has left its context, so that it does not retain the models that it is related to.
    var isLetGo = false
    /// The model that survived when both had the same unique values.
    var survivor: (any PersistentModel)?

    deinit {
        if lent != nil { takeLent() }
    }

    override func modelIsGone() {
        if frozen != nil { Going.end() }
    }

    subscript(slot: Int) -> Value {
        get {
            if plain.contains(slot) { return .value(values[slot]) }
            return self.other(at: slot) ?? .unset
        }
        set {
            switch newValue {
            case .value(let value): set(value, at: slot)
            case .unset:
                forget(slot)
                if held.contains(slot) { removeOther(slot) }
            default:
                forget(slot)
                setOther(newValue, at: slot)
            }
        }
    }

    /// Sets an attribute's value.
    func set(_ value: StoredValue, at slot: Int) {
        if held.contains(slot) { removeOther(slot) }
        if slot == values.count {
            // A new model's values come one after the other, and most models have a few.
            if slot == 0 { values.reserveCapacity(10) }
            values.append(value)
        } else {
            if slot > values.count { values += repeatElement(.null, count: slot + 1 - values.count) }
            values[slot] = value
        }
        plain.insert(slot)
        if value.isNull { present.remove(slot) } else { present.insert(slot) }
    }

    /// Drops an attribute's value.
    private func forget(_ slot: Int) {
        if slot == values.count { values.append(.null) }
        guard plain.contains(slot) else { return }
        values[slot] = .null
        plain.remove(slot)
        present.remove(slot)
    }

    private func other(at slot: Int) -> Value? {
        guard held.contains(slot) else { return nil }
        return own?[slot] ?? lentRelations?[slot]
    }

    private func setOther(_ value: Value, at slot: Int) {
        held.insert(slot)
        if value.isLendable, keeper?.tracker != nil, !required.contains(slot) {
            own?.remove(slot)
            if let lentRelations {
                lentRelations.set(value, at: slot)
            } else {
                let relations = DraftRelations()
                relations.set(value, at: slot)
                lend(relations)
            }
            return
        }
        if lent != nil { lentRelations?.remove(slot) }
        let relations = own ?? DraftRelations()
        relations.set(value, at: slot)
        own = relations
    }

    private func removeOther(_ slot: Int) {
        held.remove(slot)
        own?.remove(slot)
        if lent != nil { lentRelations?.remove(slot) }
    }

    /// Relationship, transformable and failed values, by slot in ascending order.
    var others: [Other] {
        guard !held.isEmpty else { return [] }
        let mine = own?.all ?? []
        guard let lentRelations else { return mine.count > 1 ? mine.sorted { $0.slot < $1.slot } : mine }
        return (mine + lentRelations.all).sorted { $0.slot < $1.slot }
    }

    /// Whether all values that are not stored attributes are relationships that can be saved.
    var hasOnlyRelationshipsBeside: Bool {
        held.isEmpty || (own?.hasOnlyRelationships ?? true) && (lentRelations?.hasOnlyRelationships ?? true)
    }

    /// The only relationship that is set, if there is nothing else apart from attributes.
    var onlyOther: Other? {
        let mine = own?.only
        if lent == nil { return mine }
        guard let lentRelations else { return nil }
        return own?.isEmpty ?? true ? lentRelations.only : nil
    }
    var hasOthers: Bool { !held.isEmpty }

    /// An attribute's value, including null; nil if the slot is not a set attribute.
    @inline(__always)
    func stored(at slot: Int) -> StoredValue? { plain.contains(slot) ? values[slot] : nil }

    /// An attribute's value that is not null; nil otherwise.
    @inline(__always)
    func plainValue(at slot: Int) -> StoredValue? { present.contains(slot) ? values[slot] : nil }

    @inline(__always)
    func hasPlainValue(at slot: Int) -> Bool { present.contains(slot) }

    /// The values of all slots of a record, for a snapshot, with a given value for a slot that is not an attribute.
    /// Shares the draft's memory.
    func record(of count: Int, _ given: (slot: Int, value: StoredValue)? = nil) -> ContiguousArray<StoredValue> {
        if values.count < count { values += repeatElement(.null, count: count - values.count) }
        if let given { values[given.slot] = given.value }
        return values
    }

    private func takeOthers() -> [Other] {
        takeBack()
        held = SlotSet()
        return own?.takeAll() ?? []
    }

    /// Takes over what another draft has set; if both have set a value, the other's wins.
    func merge(_ other: Draft) {
        for slot in other.values.indices where other.plain.contains(slot) { set(other.values[slot], at: slot) }
        // Taken, because a draft that goes lets go of all members that it still has.
        for held in other.takeOthers() { self[held.slot] = held.value }
        changed.formUnion(other.changed)
        assigned.formUnion(other.assigned)
    }
}

// MARK: - Copies

extension Draft {
    /// What a draft holds at one time. The models that it relates to are retained.
    struct Content {
        fileprivate let values: ContiguousArray<StoredValue>
        fileprivate let plain: SlotSet
        fileprivate let present: SlotSet
        fileprivate let keeper: ChangeTracker.Reference?
        fileprivate let required: SlotSet
        fileprivate let changed: SlotSet
        fileprivate let released: SlotSet
        fileprivate let settled: SlotSet
        fileprivate let assigned: SlotSet
        fileprivate let conflictPolicy: UniqueConflictPolicy?
        fileprivate let isNamed: Bool
        fileprivate let defaults: SlotSet
        fileprivate let tellsDefaults: Bool
        fileprivate let identifier: PersistentIdentifier?
        fileprivate let base: BaseRow?
        fileprivate let frozen: FrozenRow?
        fileprivate let isLetGo: Bool
        fileprivate let survivor: (any PersistentModel)?
        let others: [Other]
    }

    /// A copy of all that the draft holds now.
    var content: Content {
        Content(
            values: values, plain: plain, present: present, keeper: keeper, required: required, changed: changed,
            released: released, settled: settled, assigned: assigned, conflictPolicy: conflictPolicy,
            isNamed: isNamed, defaults: defaults, tellsDefaults: tellsDefaults,
            identifier: identifier, base: base,
            frozen: frozen, isLetGo: isLetGo, survivor: survivor,
            others: others.map { other in
                guard case .models(let changes) = other.value else { return other }
                return Other(slot: other.slot, value: .models(changes.copy()))
            })
    }

    /// Becomes what it was. A content serves once, because the draft goes on changing its lists.
    func restore(_ content: Content) {
        takeBack()
        own = nil
        held = SlotSet()
        values = content.values
        plain = content.plain
        present = content.present
        keeper = content.keeper
        required = content.required
        changed = content.changed
        released = content.released
        settled = content.settled
        assigned = content.assigned
        conflictPolicy = content.conflictPolicy
        isNamed = content.isNamed
        defaults = content.defaults
        tellsDefaults = content.tellsDefaults
        identifier = content.identifier
        base = content.base
        frozen = content.frozen
        isLetGo = content.isLetGo
        survivor = content.survivor
        for other in content.others { setOther(other.value, at: other.slot) }
    }
}

// MARK: - Who keeps the relationships

extension Draft {
    /// The relationships that the context keeps; nil if the context has been released. Safe on any thread, because they
    /// exist as long as the context's unsaved models do.
    private var lentRelations: DraftRelations? {
        guard let lent, let tracker = keeper?.tracker else { return nil }
        return withExtendedLifetime(tracker) { lent.takeUnretainedValue() }
    }

    private func lend(_ relations: DraftRelations) {
        lent = .passUnretained(relations)
        keeper?.tracker?.keep(relations)
    }

    /// Takes back what the context keeps.
    @discardableResult
    private func takeLent() -> DraftRelations? {
        let relations = lentRelations
        if let relations { keeper?.tracker?.giveBack(relations) }
        lent = nil
        return relations
    }

    /// Moves the relationships that are set, now and from now on, to a context's store of unsaved models. The slots in
    /// `required` stay with the draft.
    func lend(to keeper: ChangeTracker.Reference, required: SlotSet) {
        guard self.keeper !== keeper else { return }
        self.keeper = keeper
        self.required = required
        guard let own, !own.isEmpty else { return }
        let (staying, leaving) = own.split { $0.value.isLendable && !required.contains($0.slot) }
        self.own = staying
        if let leaving { lend(leaving) }
    }

    /// Takes back the relationships that the context keeps, and retains their models.
    func takeBack() {
        if let relations = takeLent() {
            for other in relations.takeAll() {
                let mine = own ?? DraftRelations()
                mine.set(other.value, at: other.slot)
                own = mine
            }
        }
        keeper = nil
    }

    /// Takes back the relationships that the context keeps, without retaining their models: models and draft would
    /// retain each other for ever.
    func takeBackWeakly() {
        takeBack()
        isLetGo = true
        holdWeakly { _ in true }
    }

    /// Holds models weakly from now on, but for those in the slots in `required`.
    func takeBackWeakly(
        required: SlotSet, where isWeak: (any PersistentModel) -> Bool = { _ in true }
    ) {
        self.required = required
        takeBack()
        holdWeakly(where: isWeak)
    }

    private func holdWeakly(where isWeak: (any PersistentModel) -> Bool) {
        guard let own else { return }
        for other in own.all where !required.contains(other.slot) {
            switch other.value {
            case .model(let target?) where isWeak(target):
                own.set(.inferred(from: FindableModel(target)), at: other.slot)
            case .models(let changes) where changes.retains(where: isWeak): changes.imply()
            default: break
            }
        }
    }
}
