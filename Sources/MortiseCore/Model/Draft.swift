/// The values of a model that its store does not have: all of a new model's, the changed ones of a fetched model's, the
/// last known ones of a deleted model's.
@usableFromInline
final class Draft {
    enum Value {
        /// The store's value counts.
        case unset
        case value(StoredValue)
        /// A transformable attribute's value from an initialiser, where the transformer is not known yet.
        case transformable(Any)
        /// A value whose `encode(to:)` failed, or wrote what its type does not read: readable, but no save gets past it.
        case unencodable(Any)
        /// The last target of a required to-one relationship that was cleared: readable, but no save gets past it.
        case lost(any PersistentModel)
        case model((any PersistentModel)?)
        /// The target of a to-one relationship that was set from the other side, before either model has a context: the
        /// other side keeps this model, and both would live for ever if this one kept the other.
        case implied(WeakModel)
        case models(MemberChanges)

        fileprivate var isRelationship: Bool {
            switch self {
            case .model, .models: true
            default: false
            }
        }
    }

    /// The value of a slot that is no stored value.
    struct Other {
        let slot: Int
        var value: Value
    }

    /// The attributes' values by slot; null where there is none, and where `others` has it.
    // Unchecked as in a model's state: what reads and writes the values calls no other code meanwhile.
    @exclusivity(unchecked) private(set) var values: ContiguousArray<StoredValue> = []
    /// The slots that have their value in `values`, and those of them whose value is not null.
    @exclusivity(unchecked) private var plain = SlotSet()
    @exclusivity(unchecked) private(set) var present = SlotSet()
    /// What is no stored value. Most models have none or one, which takes no allocation of its own.
    @exclusivity(unchecked) private var other: Other?
    @exclusivity(unchecked) private var more: [Other] = []
    /// The slots of `other` and `more`: asking an enum with a payload whether it is there copies it.
    @exclusivity(unchecked) private var held = SlotSet()
    /// The slots that a save has to write.
    @exclusivity(unchecked) var changed = SlotSet()
    /// The slots of which nobody has said anything, and that have their default: another record does not take them over.
    var defaults = SlotSet()
    /// The identity of a model that has no row: temporary, or what it was before it was deleted.
    @exclusivity(unchecked) var identifier: PersistentIdentifier?
    /// The record as it was when this draft was begun; nil for a model that is not stored.
    var base: BaseRow?
    /// Where a deleted model reads what it has not set itself: its row as it last was.
    var frozen: FrozenRow?
    /// The model that took this one's place when both claimed the same unique values.
    var survivor: (any PersistentModel)?

    deinit {
        if held.isEmpty { return }
        var target = takeOnlyTarget()
        if target != nil { Releasing.release(&target) }
        if other == nil { return }
        var models = takeModels()
        Releasing.release(&models)
    }

    // Never inlined, these two: nothing but their result may hold a model when it is released.

    /// The target of the one relationship that there is; nil where there is more than that.
    @inline(never)
    private func takeOnlyTarget() -> (any PersistentModel)? {
        guard more.isEmpty, case .model(let target)? = other?.value else { return nil }
        other = nil
        return target
    }

    @inline(never)
    private func takeModels() -> [any PersistentModel] {
        var models: [any PersistentModel] = []
        for held in others {
            switch held.value {
            case .model(let model?), .lost(let model): models.append(model)
            case .models(let changes): changes.surrender(to: &models)
            default: break
            }
        }
        other = nil
        more = []
        return models
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
        guard held.contains(slot), let other else { return nil }
        if other.slot == slot { return other.value }
        return more.first { $0.slot == slot }?.value
    }

    private func setOther(_ value: Value, at slot: Int) {
        let isFirst = held.isEmpty
        held.insert(slot)
        if isFirst || other?.slot == slot {
            other = Other(slot: slot, value: value)
        } else if let place = more.firstIndex(where: { $0.slot == slot }) {
            more[place].value = value
        } else {
            more.append(Other(slot: slot, value: value))
        }
    }

    private func removeOther(_ slot: Int) {
        held.remove(slot)
        if other?.slot == slot {
            other = more.popLast()
        } else {
            more.removeAll { $0.slot == slot }
        }
    }

    /// What is no stored value, by slot in ascending order.
    var others: [Other] {
        guard let other else { return [] }
        return more.isEmpty ? [other] : ([other] + more).sorted { $0.slot < $1.slot }
    }

    /// Whether what is no stored value is a relationship that may be saved as it is.
    var hasOnlyRelationshipsBeside: Bool {
        guard let other else { return true }
        return other.value.isRelationship && more.allSatisfy { $0.value.isRelationship }
    }

    /// The one relationship that is set, where nothing else is beside the attributes.
    var onlyOther: Other? { more.isEmpty ? other : nil }
    var hasOthers: Bool { !held.isEmpty }

    /// An attribute's value, null included; nil for everything else.
    @inline(__always)
    func stored(at slot: Int) -> StoredValue? { plain.contains(slot) ? values[slot] : nil }

    /// An attribute's value that is there; nil for everything else.
    @inline(__always)
    func plainValue(at slot: Int) -> StoredValue? { present.contains(slot) ? values[slot] : nil }

    @inline(__always)
    func hasPlainValue(at slot: Int) -> Bool { present.contains(slot) }

    /// The values of all of a record's slots, for a snapshot: those that are no stored values as they are given. The memory
    /// is the draft's own.
    func record(of count: Int, _ given: (slot: Int, value: StoredValue)? = nil) -> ContiguousArray<StoredValue> {
        if values.count < count { values += repeatElement(.null, count: count - values.count) }
        if let given { values[given.slot] = given.value }
        return values
    }

    /// Takes over what another draft has set; values that are set in both become the other's.
    func merge(_ other: Draft) {
        for slot in other.values.indices where other.plain.contains(slot) { set(other.values[slot], at: slot) }
        for held in other.others { self[held.slot] = held.value }
        changed.formUnion(other.changed)
    }
}

/// A row of a version that a deleted model keeps.
final class FrozenRow {
    let table: ModelTable
    let source: RowSource
    let row: Int
    /// The version that has the row; nil for a store without versions.
    private let version: (any StoreVersion)?
    /// Whether relationships lead to models that show what is stored, and not to the registered ones.
    let staysStored: Bool

    init(
        table: ModelTable, source: RowSource, row: Int, version: (any StoreVersion)? = nil, staysStored: Bool = false
    ) {
        self.table = table
        self.source = source
        self.row = row
        self.version = version
        self.staysStored = staysStored
    }

    /// The model that the row refers to by that identifier: the registered one, else one that left the context as the
    /// row's own model did, else one that shows the record as this version has it.
    func model(for identifier: PersistentIdentifier) -> (any PersistentModel)? {
        let state = table.state
        if let model = state.model(for: identifier) ?? state.departed[identifier] { return model }
        guard let table = state.table(named: identifier.entityName) else { return nil }
        let place: (source: RowSource, row: Int)?
        if let source = version?.rows(ofEntity: identifier.entityName) {
            place = source.row(of: identifier).map { (source, $0) }
        } else {
            let rows = table.source as? SnapshotRows
            place = rows?.lastRow(of: identifier).map { (table.source, $0) }
        }
        guard let place else { return nil }
        let frozen = FrozenRow(table: table, source: place.source, row: place.row, version: version)
        return state.departed.add(table.makeDeparted(frozen), identifier)
    }
}

/// Models that have left their context, as long as somebody holds them.
struct DepartedModels {
    private struct Reference { weak var model: AnyObject? }
    private var references: [PersistentIdentifier: Reference] = [:]
    private var limit = 64

    subscript(identifier: PersistentIdentifier) -> (any PersistentModel)? {
        references[identifier]?.model as? any PersistentModel
    }

    @discardableResult
    mutating func add(_ model: any PersistentModel, _ identifier: PersistentIdentifier) -> any PersistentModel {
        if references.count >= limit {
            references = references.filter { $0.value.model != nil }
            limit = max(64, references.count * 2)
        }
        references[identifier] = Reference(model: model)
        return model
    }
}
