import Foundation

/// The values of one new record, for `ModelContext.insert(_:from:_:)`.
///
/// What is not set has its default from the schema, or nil. No initialiser is called.
public struct BatchRecord<Model: PersistentModel> {
    /// By slot.
    private(set) var values: ContiguousArray<StoredValue>
    private(set) var assigned = SlotSet()
    /// The models that relationships are set to and that are not saved yet.
    private(set) var unsaved: [PersistentIdentifier: any PersistentModel] = [:]
    private let slots: BatchSlots
    var layout: ModelLayout { slots.layout }

    init(_ slots: BatchSlots, _ defaults: ContiguousArray<StoredValue>) {
        self.slots = slots
        values = defaults
    }

    /// Sets an attribute.
    /// - Throws: `BatchError`.
    @_disfavoredOverload
    public mutating func set<Value: Codable>(_ property: ReferenceWritableKeyPath<Model, Value>, to value: Value) throws
    {
        let slot = try slot(property)
        if layout.isTransformable(slot) { return try setTransformable(value, slot) }
        guard case .value(let stored) = PropertyAccess.draft(value) else { throw fault(slot, .unencodable) }
        put(stored, slot)
    }

    /// Sets an attribute of a scalar type.
    /// - Throws: `BatchError`.
    public mutating func set<Value: PersistentScalar>(
        _ property: ReferenceWritableKeyPath<Model, Value>, to value: Value
    ) throws {
        let slot = try slot(property)
        if layout.isTransformable(slot) { return try setTransformable(value, slot) }
        put(value.storedValue, slot)
    }

    /// Sets an optional attribute of a scalar type.
    /// - Throws: `BatchError`.
    public mutating func set<Value: PersistentScalar>(
        _ property: ReferenceWritableKeyPath<Model, Value?>, to value: Value?
    ) throws {
        let slot = try slot(property)
        if layout.isTransformable(slot) { return try setTransformable(value as Any, slot) }
        put(value?.storedValue ?? .null, slot)
    }

    private mutating func setTransformable(_ value: Any, _ slot: Int) throws {
        guard let stored = layout.transformed(value, at: slot) else { throw fault(slot, .unencodable) }
        put(stored, slot)
    }

    /// Sets a to-one relationship.
    /// - Throws: `BatchError`.
    public mutating func set<Target: PersistentModel>(
        _ property: ReferenceWritableKeyPath<Model, Target?>, to target: Target?
    ) throws {
        let slot = try slot(property)
        let value: StoredValue = if let target { reference(to: target) } else { .null }
        put(value, slot)
    }

    /// Sets a to-one relationship that is required.
    /// - Throws: `BatchError`.
    public mutating func set<Target: PersistentModel>(
        _ property: ReferenceWritableKeyPath<Model, Target>, to target: Target
    ) throws {
        let slot = try slot(property)
        put(reference(to: target), slot)
    }

    /// Sets a to-one relationship to the record with an identifier, without reading it.
    /// - Throws: `BatchError`.
    public mutating func set<Target: PersistentModel>(
        _ property: ReferenceWritableKeyPath<Model, Target?>, to target: PersistentIdentifier
    ) throws {
        let slot = try slot(property)
        put(.identifier(target), slot)
    }

    /// Sets a to-many relationship that has no inverse, or a to-many inverse.
    /// - Throws: `BatchError`, also for one that follows from a to-one relationship: set that.
    public mutating func set<Target: PersistentModel>(
        _ property: ReferenceWritableKeyPath<Model, [Target]>, to members: [Target]
    ) throws {
        let slot = try slot(property)
        put(.identifiers(identifiers(of: members)), slot)
    }

    private mutating func identifier(of target: any PersistentModel) -> PersistentIdentifier {
        let identifier = target.persistentModelID
        if identifier.isTemporary { unsaved[identifier] = target }
        return identifier
    }

    private mutating func identifiers(of targets: [some PersistentModel]) -> [PersistentIdentifier] {
        var identifiers: [PersistentIdentifier] = []
        identifiers.reserveCapacity(targets.count)
        for target in targets { identifiers.append(identifier(of: target)) }
        return identifiers
    }

    private mutating func reference(to target: any PersistentModel) -> StoredValue {
        .identifier(identifier(of: target))
    }

    private func slot(_ property: AnyKeyPath) throws -> Int { try slots.slot(property) }

    private func fault(_ slot: Int, _ reason: BatchError.Reason) -> BatchError { slots.fault(slot, reason) }

    private mutating func put(_ value: StoredValue, _ slot: Int) {
        values[slot] = value
        assigned.insert(slot)
    }
}

/// The slots that the records of one batch have been given values for, found once for each key path.
final class BatchSlots {
    let layout: ModelLayout
    // Few, and in the order in which a record is filled: going through them is cheaper than hashing a key path.
    private var known: [(keyPath: AnyKeyPath, slot: Int)] = []

    init(_ layout: ModelLayout) { self.layout = layout }

    /// - Throws: `BatchError` for a property that a record of a batch cannot be given.
    func slot(_ property: AnyKeyPath) throws -> Int {
        for entry in known where entry.keyPath === property { return entry.slot }
        guard let slot = layout.slot(for: property) else {
            throw BatchError.unassignable(
                entity: layout.entityName, property: "\(property)", reason: .notPersisted)
        }
        do {
            try layout.checkAssignable(slot, allowsStoredToMany: true)
        } catch let reason as BatchError.Reason {
            throw fault(slot, reason)
        }
        if known.count < layout.properties.count { known.append((property, slot)) }
        return slot
    }

    func fault(_ slot: Int, _ reason: BatchError.Reason) -> BatchError {
        .unassignable(entity: layout.entityName, property: layout.properties[slot].name, reason: reason)
    }
}
