import Synchronization

/// Everything known about one model type: its properties by slot and by key path, and the inverses of its
/// relationships. Made once for each type; a schema is a selection of layouts.
///
/// Sendable because everything is set before the layout is published, under the registry's lock.
final class ModelLayout: @unchecked Sendable {
    let type: any PersistentModel.Type
    let entityName: String
    /// Equal to `entityName` if the entity was not renamed.
    let originalName: String
    let superlayout: ModelLayout?
    /// Inherited properties first; the index is the slot.
    let properties: [any SchemaProperty]
    let keyPaths: [AnyKeyPath]
    /// The same of a model that may be missing, where they are known.
    let chainedKeyPaths: [AnyKeyPath?]
    let ownSlots: Range<Int>
    /// The model type at the other end, for relationship slots.
    let destinationTypes: [(any PersistentModel.Type)?]
    /// The inverse that a relationship's declaration names; not one that is inferred.
    let namedInverses: [AnyKeyPath?]
    /// Checks that a stored value can become the property's Swift value; nil if every value of the kind can.
    let checks: [((StoredValue) -> Bool)?]
    /// Whether this layout stands in for one that cannot be made yet, for models that a default value makes while its own
    /// model is read. It has all properties, but knows no destinations and no inverses; it is never registered.
    let isProvisional: Bool
    private let slotsByKeyPath: [AnyKeyPath: Int]
    /// Faults found while reading the metadata, for `validate()`.
    var faults: [SchemaError]
    let constraintPaths: [(isUnique: Bool, kind: StoredIndex.Kind, paths: [AnyKeyPath])]

    // Second phase, when the layouts of all destinations exist. Written by what makes layouts alone.
    var storedEntity: StoredEntity
    var record: RecordLayout
    var destinations: [ModelLayout?] = []
    /// By slot: the relationship of the destination that goes with this one, as the class that declares it has it.
    var partnerSlots: [Int?] = []
    /// By slot: the partner, where it can hold models of this type.
    var inverseSlots: [Int?] = []
    /// By slot: the other relationships of this model that name the same inverse. Their inverse follows them and none of
    /// them follows it, because it cannot tell which of them it belongs to.
    var sharingSlots: [[Int]] = []
    /// The slots whose inverse has no partner, because it also leads to models, or from models, that lack the slot.
    var oneSidedSlots: [Int] = []

    // A layout does not change any more when there is one: what was found right once is right.
    private let wasFoundValid = Atomic(false)
    /// Whether `validate()` has found no fault before.
    var isValid: Bool { wasFoundValid.load(ordering: .relaxed) }
    func noteValid() { wasFoundValid.store(true, ordering: .relaxed) }

    init(_ description: ModelDescription, superlayout: ModelLayout?, isProvisional: Bool = false) {
        type = description.type
        entityName = description.entityName
        originalName = description.originalName ?? description.entityName
        if description.originalName != nil { Self.noteRenamed() }
        self.superlayout = superlayout
        self.isProvisional = isProvisional
        var properties = superlayout?.properties ?? []
        var faults = description.faults
        let inherited = properties.enumerated().map { slot, property in
            let renewed = description.inherited.first { $0.name == property.name }
            return (
                keyPath: renewed?.keyPath ?? superlayout?.keyPaths[slot] ?? \Schema.encodingVersion,
                chained: renewed?.chained
            )
        }
        ownSlots = properties.count..<(properties.count + description.properties.count)
        for own in description.properties {
            if properties.contains(where: { $0.name == own.reading.property.name }) {
                faults.append(.duplicateProperty(entity: description.entityName, property: own.reading.property.name))
            }
            faults += own.faults
            properties.append(own.reading.property)
        }
        self.properties = properties
        keyPaths = inherited.map(\.keyPath) + description.properties.map(\.keyPath)
        chainedKeyPaths = inherited.map(\.chained) + description.properties.map(\.chained)
        destinationTypes = (superlayout?.destinationTypes ?? []) + description.properties.map(\.reading.destination)
        namedInverses = (superlayout?.namedInverses ?? []) + description.properties.map(\.reading.inverse)
        checks = (superlayout?.checks ?? []) + description.properties.map(\.reading.check)
        slotsByKeyPath = Dictionary(
            keyPaths.enumerated().map { ($0.element, $0.offset) }, uniquingKeysWith: { first, _ in first })
        self.faults = faults
        constraintPaths = description.constraints
        storedEntity = StoredEntity(name: entityName, properties: [])
        record = RecordLayout(entityName: entityName, superentityName: nil, slots: [], uniqueConstraints: [])
    }

    /// The slot of the property at a key path of this model or of one it inherits from.
    func slot(for keyPath: AnyKeyPath) -> Int? {
        slotsByKeyPath[keyPath] ?? superlayout?.slot(for: keyPath)
    }

    /// The key path under which a property's accessor notifies observers: that of the class which declares it.
    func observedKeyPath(of slot: Int) -> AnyKeyPath {
        if slot >= ownSlots.lowerBound { return keyPaths[slot] }
        var layout = self
        while let parent = layout.superlayout, slot < layout.ownSlots.lowerBound { layout = parent }
        return layout.keyPaths[slot]
    }

    /// Whether a slot is the same property here and in another layout.
    func shares(_ slot: Int, with other: ModelLayout) -> Bool {
        var layout = self
        while let parent = layout.superlayout, slot < layout.ownSlots.lowerBound { layout = parent }
        return other.isSame(as: layout)
    }

    /// Names the checks of the properties' values.
    var propertyChecks: PropertyChecks { PropertyChecks(of: self) }

    func relationship(_ slot: Int) -> Schema.Relationship? { properties[slot] as? Schema.Relationship }

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

// MARK: - Renamed entities

extension ModelLayout {
    /// Whether any model of the process has an original name: asking for former names costs something then.
    private static let anyIsRenamed = Atomic(false)
    private static let knownFormerNames = Mutex<[ObjectIdentifier: [String: [String]]]>([:])

    fileprivate static func noteRenamed() { anyIsRenamed.store(true, ordering: .relaxed) }

    /// By name that this entity and those that it reaches had before, the one that they have.
    var formerNames: [String: [String]] {
        guard Self.anyIsRenamed.load(ordering: .relaxed) else { return [:] }
        let identity = ObjectIdentifier(type)
        if let known = Self.knownFormerNames.withLock({ $0[identity] }) { return known }
        let layouts = Self.closure(of: [type])
        let found = Dictionary(
            layouts.filter { $0.originalName != $0.entityName }.map { ($0.originalName, [$0.entityName]) },
            uniquingKeysWith: { first, _ in first })
        Self.knownFormerNames.withLock { $0[identity] = found }
        return found
    }
}

// MARK: - The stored form

extension ModelLayout {
    /// What stores keep of the entity, when the inverses are known.
    func finish() {
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
            name: entityName, originalName: originalName, superentity: superlayout?.entityName, properties: stored,
            uniquenessConstraints: unique,
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
