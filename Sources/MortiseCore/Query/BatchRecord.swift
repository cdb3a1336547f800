import Foundation

/// The values of one new record, for `ModelContext.insert(_:from:_:)`.
///
/// Properties that are not set have their default from the schema, or nil. No initializer is called.
public struct BatchRecord<Model: PersistentModel> {
    /// By slot.
    @usableFromInline var values: ContiguousArray<StoredValue>
    @usableFromInline var assigned = SlotSet()
    // Few, and in the order in which the first record was filled, which is mostly that of all.
    @usableFromInline var known: ContiguousArray<(property: AnyKeyPath, place: BatchSlots.Place)> = []
    @usableFromInline var next = 0
    private let slots: BatchSlots

    init(_ slots: BatchSlots, _ defaults: ContiguousArray<StoredValue>) {
        self.slots = slots
        values = defaults
    }

    /// Gives what the record was filled with, by slot and which of them were set, and begins another.
    @inlinable
    mutating func take(
        _ defaults: ContiguousArray<StoredValue>
    ) -> (values: ContiguousArray<StoredValue>, assigned: SlotSet) {
        var filled = (values: defaults, assigned: SlotSet())
        swap(&filled.values, &values)
        swap(&filled.assigned, &assigned)
        next = 0
        return filled
    }

    /// Sets an attribute.
    /// - Throws: `BatchError`.
    @_disfavoredOverload
    public mutating func set<Value: Codable>(_ property: ReferenceWritableKeyPath<Model, Value>, to value: Value) throws
    {
        let (slot, isTransformable) = try place(property)
        if isTransformable { return try setTransformable(value, slot) }
        guard let stored = PropertyAccess.storedForm(of: value) else { throw fault(slot, .unencodable) }
        put(stored, slot)
    }

    /// Sets an attribute of a scalar type.
    /// - Throws: `BatchError`.
    @inlinable
    public mutating func set<Value: PersistentScalar>(
        _ property: ReferenceWritableKeyPath<Model, Value>, to value: Value
    ) throws {
        let (slot, isTransformable) = try place(property)
        if isTransformable { return try setTransformable(value, slot) }
        put(value.storedValue, slot)
    }

    /// Sets an optional attribute of a scalar type.
    /// - Throws: `BatchError`.
    @inlinable
    public mutating func set<Value: PersistentScalar>(
        _ property: ReferenceWritableKeyPath<Model, Value?>, to value: Value?
    ) throws {
        let (slot, isTransformable) = try place(property)
        if isTransformable { return try setTransformable(value as Any, slot) }
        put(value?.storedValue ?? .null, slot)
    }

    @usableFromInline
    mutating func setTransformable(_ value: Any, _ slot: Int) throws {
        guard let stored = slots.layout.transformed(value, at: slot) else { throw fault(slot, .unencodable) }
        put(stored, slot)
    }

    /// Sets a to-one relationship.
    /// - Throws: `BatchError`.
    public mutating func set<Target: PersistentModel>(
        _ property: ReferenceWritableKeyPath<Model, Target?>, to target: Target?
    ) throws {
        let slot = try place(property).slot
        let value: StoredValue = if let target { reference(to: target) } else { .null }
        put(value, slot)
    }

    /// Sets a to-one relationship that is required.
    /// - Throws: `BatchError`.
    public mutating func set<Target: PersistentModel>(
        _ property: ReferenceWritableKeyPath<Model, Target>, to target: Target
    ) throws {
        let slot = try place(property).slot
        put(reference(to: target), slot)
    }

    /// Sets a to-one relationship to the record with an identifier, without reading it.
    /// - Throws: `BatchError`.
    public mutating func set<Target: PersistentModel>(
        _ property: ReferenceWritableKeyPath<Model, Target?>, to target: PersistentIdentifier
    ) throws {
        let slot = try place(property).slot
        put(.identifier(target), slot)
    }

    /// Sets a to-many relationship that has no inverse, or a to-many inverse.
    /// - Throws: `BatchError`, also for a relationship whose inverse is to-one: set that.
    public mutating func set<Target: PersistentModel>(
        _ property: ReferenceWritableKeyPath<Model, [Target]>, to members: [Target]
    ) throws {
        let slot = try place(property).slot
        put(.identifiers(identifiers(of: members)), slot)
    }

    private func identifier(of target: any PersistentModel) -> PersistentIdentifier {
        let identifier = target.persistentModelID
        if identifier.isTemporary { slots.unsaved[identifier] = target }
        return identifier
    }

    private func identifiers(of targets: [some PersistentModel]) -> [PersistentIdentifier] {
        var identifiers: [PersistentIdentifier] = []
        identifiers.reserveCapacity(targets.count)
        for target in targets { identifiers.append(identifier(of: target)) }
        return identifiers
    }

    private func reference(to target: any PersistentModel) -> StoredValue {
        .identifier(identifier(of: target))
    }

    @inlinable
    mutating func place(_ property: AnyKeyPath) throws -> BatchSlots.Place {
        if next < known.count, known[next].property === property {
            next &+= 1
            return known[next &- 1].place
        }
        return try find(property)
    }

    @usableFromInline
    mutating func find(_ property: AnyKeyPath) throws -> BatchSlots.Place {
        if let index = known.firstIndex(where: { $0.property === property }) {
            next = index + 1
            return known[index].place
        }
        let place = try slots.place(property)
        if known.count < slots.layout.properties.count {
            known.append((property, place))
            next = known.count
        }
        return place
    }

    private func fault(_ slot: Int, _ reason: BatchError.Reason) -> BatchError { slots.fault(slot, reason) }

    @inlinable
    mutating func put(_ value: StoredValue, _ slot: Int) {
        values[slot] = value
        assigned.insert(slot)
    }
}

/// What the records of one batch have in common.
@usableFromInline
final class BatchSlots {
    /// Where a property is stored, and whether a transformer converts it.
    @usableFromInline typealias Place = (slot: Int, isTransformable: Bool)

    let layout: ModelLayout
    /// The unsaved models to which relationships have been set.
    var unsaved: [PersistentIdentifier: any PersistentModel] = [:]

    private let schema: Schema

    init(_ layout: ModelLayout, in schema: Schema) {
        self.layout = layout
        self.schema = schema
    }

    /// - Throws: `BatchError` for a property that cannot be set in a batch.
    func place(_ property: AnyKeyPath) throws -> Place {
        guard let slot = layout.slot(for: property) else {
            throw BatchError.unassignable(
                entity: layout.entityName, property: "\(property)", reason: .notPersisted)
        }
        do {
            try layout.checkAssignable(slot, in: schema, allowsStoredToMany: true)
        } catch let reason as BatchError.Reason {
            throw fault(slot, reason)
        }
        return (slot, layout.isTransformable(slot))
    }

    func fault(_ slot: Int, _ reason: BatchError.Reason) -> BatchError {
        .unassignable(entity: layout.entityName, property: layout.properties[slot].name, reason: reason)
    }
}
