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
        /// A value whose `encode(to:)` failed: readable, but no save gets past it.
        case unencodable(Any)
        /// The last target of a required to-one relationship that was cleared: readable, but no save gets past it.
        case lost(any PersistentModel)
        case model((any PersistentModel)?)
        /// The target of a to-one relationship that was set from the other side, before either model has a context: the
        /// other side keeps this model, and both would live for ever if this one kept the other.
        case implied(WeakModel)
        case models(MemberChanges)
    }

    private(set) var values: ContiguousArray<Value> = []
    /// The slots that a save has to write.
    var changed = SlotSet()
    /// The slots of which nobody has said anything, and that have their default: another record does not take them over.
    var defaults = SlotSet()
    /// The identity of a model that has no row: temporary, or what it was before it was deleted.
    var identifier: PersistentIdentifier?
    /// The record as it was when this draft was begun; nil for a model that is not stored.
    var base: BaseRow?
    /// Where a deleted model reads what it has not set itself: its row as it last was.
    var frozen: FrozenRow?
    /// The model that took this one's place when both claimed the same unique values.
    var survivor: (any PersistentModel)?

    deinit {
        var held: [any PersistentModel] = []
        for value in values {
            switch value {
            case .model(let model?), .lost(let model): held.append(model)
            case .models(let changes): changes.surrender(to: &held)
            default: break
            }
        }
        values = []
        Releasing.release(&held)
    }

    subscript(slot: Int) -> Value {
        get { slot < values.count ? values[slot] : .unset }
        set {
            if slot == values.count {
                // A new model's values come one after the other, and most models have a few.
                if slot == 0 { values.reserveCapacity(10) }
                values.append(newValue)
                return
            }
            if slot > values.count { values += repeatElement(.unset, count: slot + 1 - values.count) }
            values[slot] = newValue
        }
    }

    /// An attribute's value that is there; nil for everything else.
    @inline(__always)
    func plainValue(at slot: Int) -> StoredValue? {
        guard slot < values.count, case .value(let value) = values[slot], !value.isNull else { return nil }
        return value
    }

    @inline(__always)
    func hasPlainValue(at slot: Int) -> Bool {
        guard slot < values.count else { return false }
        return switch values[slot] {
        case .value(.null): false
        case .value: true
        default: false
        }
    }

    /// Takes over what another draft has set; values that are set in both become the other's.
    func merge(_ other: Draft) {
        for slot in other.values.indices {
            if case .unset = other.values[slot] { continue }
            self[slot] = other.values[slot]
        }
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
