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
    let layout: ModelLayout

    init(_ layout: ModelLayout, _ defaults: ContiguousArray<StoredValue>) {
        self.layout = layout
        values = defaults
    }

    /// Sets an attribute.
    /// - Throws: `BatchError`.
    public mutating func set<Value: Codable>(_ property: ReferenceWritableKeyPath<Model, Value>, to value: Value) throws
    {
        let slot = try slot(property)
        let stored: StoredValue?
        if layout.isTransformable(slot) {
            stored = layout.transformed(value, at: slot)
        } else if case .value(let plain) = PropertyAccess.draft(value) {
            stored = plain
        } else {
            stored = nil
        }
        guard let stored else { throw fault(slot, .unencodable) }
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

    private func slot(_ property: AnyKeyPath) throws -> Int {
        guard let slot = layout.slot(for: property) else {
            throw BatchError.unassignable(
                entity: layout.entityName, property: "\(property)", reason: .notPersisted)
        }
        do {
            try layout.checkAssignable(slot, allowsStoredToMany: true)
        } catch let reason as BatchError.Reason {
            throw fault(slot, reason)
        }
        return slot
    }

    private func fault(_ slot: Int, _ reason: BatchError.Reason) -> BatchError {
        .unassignable(entity: layout.entityName, property: layout.properties[slot].name, reason: reason)
    }

    private mutating func put(_ value: StoredValue, _ slot: Int) {
        values[slot] = value
        assigned.insert(slot)
    }
}
