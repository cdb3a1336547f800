import Foundation

/// Everything known about one model type: its properties by slot and by key path, and the inverses of its
/// relationships. Made once for each type; a schema is a selection of layouts.
///
/// Sendable because everything is set before the layout is published, under the registry's lock.
public final class ModelLayout: @unchecked Sendable {
    let type: any PersistentModel.Type
    let entityName: String
    let superlayout: ModelLayout?
    /// Inherited properties first; the index is the slot.
    let properties: [any SchemaProperty]
    let keyPaths: [AnyKeyPath]
    /// The same of a model that may be missing, where they are known.
    let chainedKeyPaths: [AnyKeyPath?]
    let ownSlots: Range<Int>
    /// The model type at the other end, for relationship slots.
    let destinationTypes: [(any PersistentModel.Type)?]
    /// Checks that a stored value can become the property's Swift value; nil if every value of the kind can.
    let checks: [((StoredValue) -> Bool)?]
    private let slotsByKeyPath: [AnyKeyPath: Int]
    /// Faults found while reading the metadata, for `validate()`.
    private(set) var faults: [SchemaError]
    private let constraintPaths: [(isUnique: Bool, kind: StoredIndex.Kind, paths: [AnyKeyPath])]

    // Second phase, when the layouts of all destinations exist.
    private(set) var storedEntity: StoredEntity
    private(set) var record: RecordLayout
    private(set) var destinations: [ModelLayout?] = []
    private(set) var inverseSlots: [Int?] = []
    /// By slot: the other relationships of this model that name the same inverse. Their inverse follows them and none of
    /// them follows it, because it cannot tell which of them it belongs to.
    private(set) var sharingSlots: [[Int]] = []

    private init(type: any PersistentModel.Type, superlayout: ModelLayout?) {
        self.type = type
        self.superlayout = superlayout
        let entityName = String(describing: type)
        self.entityName = entityName
        var properties: [any SchemaProperty] = superlayout?.properties ?? []
        var keyPaths: [AnyKeyPath] = []
        var chainedKeyPaths: [AnyKeyPath?] = []
        var destinationTypes = superlayout?.destinationTypes ?? []
        var checks = superlayout?.checks ?? []
        var faults: [SchemaError] = []
        var constraints: [(isUnique: Bool, kind: StoredIndex.Kind, paths: [AnyKeyPath])] = []

        let inherited = type._inheritedSchemaMetadata.filter { !($0.metadata is any ConstraintDeclaration) }
        for (slot, property) in properties.enumerated() {
            let metadata = inherited.first { $0.name == property.name }
            keyPaths.append(metadata?.keypath ?? superlayout?.keyPaths[slot] ?? \Schema.encodingVersion)
            chainedKeyPaths.append(metadata?.chained)
        }
        let first = properties.count
        for metadata in type.schemaMetadata {
            if let declaration = metadata.metadata as? any ConstraintDeclaration {
                constraints += declaration.uniqueKeyPaths().map { (true, .binary, $0) }
                constraints += declaration.indexKeyPaths().map { (false, $0.kind, $0.paths) }
                continue
            }
            if properties.contains(where: { $0.name == metadata.name }) {
                faults.append(.duplicateProperty(entity: entityName, property: metadata.name))
            }
            let described = PropertyReading(metadata, entityName: entityName, faults: &faults)
            properties.append(described.property)
            keyPaths.append(metadata.keypath)
            chainedKeyPaths.append(metadata.chained)
            destinationTypes.append(described.destination)
            checks.append(described.check)
        }
        self.properties = properties
        self.keyPaths = keyPaths
        self.chainedKeyPaths = chainedKeyPaths
        self.destinationTypes = destinationTypes
        self.checks = checks
        self.ownSlots = first..<properties.count
        self.slotsByKeyPath = Dictionary(
            keyPaths.enumerated().map { ($0.element, $0.offset) }, uniquingKeysWith: { first, _ in first })
        self.faults = faults
        self.constraintPaths = constraints
        self.storedEntity = StoredEntity(name: entityName, properties: [])
        self.record = RecordLayout(entityName: entityName, superentityName: nil, slots: [], uniqueConstraints: [])
    }

    /// The slot of the property at a key path of this model or of one it inherits from.
    func slot(for keyPath: AnyKeyPath) -> Int? {
        slotsByKeyPath[keyPath] ?? superlayout?.slot(for: keyPath)
    }

    /// The key path under which a property's accessor notifies observers: that of the class which declares it.
    func observedKeyPath(of slot: Int) -> AnyKeyPath {
        var layout = self
        while let parent = layout.superlayout, slot < layout.ownSlots.lowerBound { layout = parent }
        return layout.keyPaths[slot]
    }

    /// Whether this is the layout of that type or of one that inherits from it.
    func isSame(as other: ModelLayout, orInherits: Bool = true) -> Bool {
        var layout: ModelLayout? = self
        while let current = layout {
            if current === other { return true }
            layout = orInherits ? current.superlayout : nil
        }
        return false
    }
}

// MARK: - Making layouts

extension ModelLayout {
    /// Guards the registry. Recursive, because a model's metadata runs the model's own default values.
    private static let lock = NSRecursiveLock()
    nonisolated(unsafe) private static var registry: [ObjectIdentifier: ModelLayout] = [:]

    /// The layout of a model type; made on first use.
    static func of(_ type: any PersistentModel.Type) -> ModelLayout {
        lock.withLock {
            if let layout = registry[ObjectIdentifier(type)] { return layout }
            return closureLocked(of: [type])[0]
        }
    }

    /// The layouts of all types of this process whose entity has that name, such as versions of one model.
    static func all(named entityName: String) -> [ModelLayout] {
        lock.withLock { registry.values.filter { $0.entityName == entityName } }
    }

    /// The layouts of the given types, first, and of everything that they reach through relationships and superclasses.
    static func closure(of types: [any PersistentModel.Type]) -> [ModelLayout] {
        lock.withLock { closureLocked(of: types) }
    }

    private static func closureLocked(of types: [any PersistentModel.Type]) -> [ModelLayout] {
        var found: [ModelLayout] = []
        var seen: Set<ObjectIdentifier> = []
        var fresh: [ModelLayout] = []
        var pending = types
        var next = 0
        while next < pending.count {
            let type = pending[next]
            next += 1
            guard seen.insert(ObjectIdentifier(type)).inserted else { continue }
            let layout = firstPhase(of: type, fresh: &fresh)
            found.append(layout)
            if let parent = layout.superlayout { pending.append(parent.type) }
            pending += layout.destinationTypes.compactMap { $0 }
        }
        for layout in fresh { layout.resolveInverses() }
        for layout in fresh { layout.finish() }
        return found
    }

    private static func firstPhase(of type: any PersistentModel.Type, fresh: inout [ModelLayout]) -> ModelLayout {
        if let layout = registry[ObjectIdentifier(type)] { return layout }
        let parent = (_getSuperclass(type) as? any PersistentModel.Type).map { firstPhase(of: $0, fresh: &fresh) }
        let layout = ModelLayout(type: type, superlayout: parent)
        registry[ObjectIdentifier(type)] = layout
        fresh.append(layout)
        return layout
    }

    private func resolveInverses() {
        destinations = destinationTypes.map { $0.flatMap { Self.registry[ObjectIdentifier($0)] } }
        // What a superclass's relationship goes with is decided there: a relationship that a subclass adds changes nothing
        // about it. Superclasses are resolved first.
        let inherited = superlayout?.inverseSlots ?? []
        inverseSlots = properties.indices.map { slot in
            slot < ownSlots.lowerBound && slot < inherited.count ? inherited[slot] : inverse(of: slot)
        }
        sharingSlots = properties.indices.map { slot in
            guard let inverse = inverseSlots[slot], relationship(slot)?.inverseKeyPath != nil else { return [] }
            return properties.indices.filter {
                $0 != slot && inverseSlots[$0] == inverse && destinations[$0] === destinations[slot]
                    && relationship($0)?.inverseKeyPath != nil
            }
        }
    }

    private func relationship(_ slot: Int) -> Schema.Relationship? { properties[slot] as? Schema.Relationship }

    /// The destination's slot that holds the other direction of the relationship in a slot of ours: what it names, else
    /// what alone names it, else the one relationship back that nobody has named, if there is exactly one each way and
    /// not both hold many: as in SwiftData, two arrays are two lists unless one names the other.
    private func inverse(of slot: Int) -> Int? {
        guard let relationship = relationship(slot), let destination = destinations[slot] else { return nil }
        if let named = relationship.inverseKeyPath { return destination.slot(for: named) }
        let relationSlots = destination.properties.indices.filter { destination.relationship($0) != nil }
        let naming = relationSlots.filter { candidate in
            destination.relationship(candidate)?.inverseKeyPath.flatMap { self.slot(for: $0) } == slot
                && (destination !== self || candidate != slot)
        }
        if let first = naming.first { return naming.count == 1 ? first : nil }
        let back = relationSlots.filter {
            destination.isUnclaimed($0, towards: self) && (destination !== self || $0 != slot)
        }
        let there = properties.indices.filter { candidate in
            isUnclaimed(candidate, towards: destination)
                && !(destination === self && back.contains(candidate) && candidate != slot)
        }
        guard back.count == 1, there == [slot] else { return nil }
        let isManyToMany = [relationship, destination.relationship(back[0])].allSatisfy {
            $0?.isToOneRelationship == false
        }
        return isManyToMany ? nil : back[0]
    }

    /// Whether a relationship leads to a type (or one it inherits from), names no inverse, and is named by none.
    private func isUnclaimed(_ slot: Int, towards target: ModelLayout) -> Bool {
        guard let relationship = relationship(slot), relationship.inverseKeyPath == nil,
            let type = destinationTypes[slot], let destination = Self.registry[ObjectIdentifier(type)],
            target.isSame(as: destination)
        else { return false }
        return !destination.properties.indices.contains { other in
            destination.relationship(other)?.inverseKeyPath.flatMap { self.slot(for: $0) } == slot
        }
    }

    private func finish() {
        for slot in properties.indices {
            guard let relationship = relationship(slot), let destination = destinations[slot] else { continue }
            relationship.destination = destination.entityName
            if let inverse = inverseSlots[slot], sharingSlots[slot].isEmpty {
                relationship.inverseName = destination.properties[inverse].name
                relationship.inverseKeyPath = relationship.inverseKeyPath ?? destination.keyPaths[inverse]
            }
        }
        storedEntity = makeStoredEntity()
        record = makeRecordLayout()
    }

    private func makeStoredEntity() -> StoredEntity {
        let stored = properties[ownSlots].compactMap { property -> StoredProperty? in
            if let attribute = property as? Schema.Attribute {
                return StoredProperty(attribute, kind: attribute.kind ?? .coded)
            }
            return (property as? Schema.Relationship).map(StoredProperty.init)
        }
        var unique = properties[ownSlots].filter { $0.isUnique }.map { [$0.name] }
        var indices: [StoredIndex] = []
        for constraint in constraintPaths {
            let names = constraint.paths.compactMap { path -> String? in
                guard let slot = slot(for: path) else {
                    faults.append(.unknownKeyPath(entity: entityName, keyPath: "\(path)"))
                    return nil
                }
                if constraint.isUnique, let relationship = relationship(slot), !relationship.isToOneRelationship {
                    faults.append(.uniqueToMany(entity: entityName, property: relationship.name))
                }
                return properties[slot].name
            }
            guard names.count == constraint.paths.count, !names.isEmpty else { continue }
            if constraint.isUnique {
                if !unique.contains(names) { unique.append(names) }
            } else {
                indices.append(StoredIndex(kind: constraint.kind, properties: names))
            }
        }
        return StoredEntity(
            name: entityName, superentity: superlayout?.entityName, properties: stored, uniquenessConstraints: unique,
            indices: indices)
    }

    private func makeRecordLayout() -> RecordLayout {
        let slots = properties.indices.map { slot -> RecordLayout.Slot in
            var owner = self
            while let parent = owner.superlayout, slot < owner.ownSlots.lowerBound { owner = parent }
            let property: StoredProperty
            if let attribute = properties[slot] as? Schema.Attribute {
                property = StoredProperty(attribute, kind: attribute.kind ?? .coded)
            } else {
                property =
                    relationship(slot).map(StoredProperty.init)
                    ?? StoredProperty(
                        name: properties[slot].name, isOptional: true, content: .attribute(.init(kind: .coded)))
            }
            return RecordLayout.Slot(
                property: property, declaringEntity: owner.entityName,
                role: RecordLayout.role(of: property, declaredBy: owner.entityName) { _, _ in
                    guard let destination = destinations[slot], let inverse = inverseSlots[slot],
                        let back = destination.relationship(inverse)
                    else { return nil }
                    return StoredProperty(back)
                })
        }
        let ancestors = sequence(first: self, next: \.superlayout).reversed()
        let constraints = ancestors.flatMap(\.storedEntityConstraints)
        return RecordLayout(
            entityName: entityName, superentityName: superlayout?.entityName, slots: slots,
            uniqueConstraints: constraints.map { names in
                names.compactMap { name in properties.firstIndex { $0.name == name } }
            })
    }

    private var storedEntityConstraints: [[String]] { storedEntity.uniquenessConstraints }
}
