extension Schema {
    /// The description of one model class.
    ///
    /// Sendable without a lock because entities are set up before their schema is made and only read afterwards.
    public final class Entity: Codable, Hashable, CustomDebugStringConvertible, @unchecked Sendable {
        /// The entity's name: that of the model class, without module and enclosing types.
        public var name: String
        /// The name that the entity had in an earlier version; equal to `name` if it was not renamed. Of a model class it is
        /// `originalEntityName`.
        public var originalName: String
        /// The entities that name this one as their superentity.
        public var subentities: Set<Entity> = []
        /// The entity that this one inherits from; nil if none.
        public var superentityName: String?
        /// The entity from which this one inherits. A weak reference: the schema retains all its entities.
        public weak var superentity: Entity?
        /// The properties that this entity itself declares, in declaration order.
        public var storedProperties: [any SchemaProperty]
        /// The properties of its ancestors, the root's first.
        public var inheritedProperties: [any SchemaProperty] = []
        /// All properties, inherited ones first.
        public var properties: [any SchemaProperty] { inheritedProperties + storedProperties }
        /// The attributes that this entity adds.
        public var attributes: Set<Attribute> {
            get { ownAttributes }
            set {
                ownAttributes = newValue
                storedProperties = storedProperties.replacing(newValue)
            }
        }
        /// The relationships that this entity adds.
        public var relationships: Set<Relationship> {
            get { ownRelationships }
            set {
                ownRelationships = newValue
                storedProperties = storedProperties.replacing(newValue)
            }
        }
        // Not observed properties, these: in a convenience initializer of an extension, no observers run.
        private var ownAttributes: Set<Attribute>
        private var ownRelationships: Set<Relationship>
        /// Each inner array names properties whose values together are unique.
        public var uniquenessConstraints: [[String]] = []
        /// Each inner array names the properties of an index, most significant first.
        public var indices: [[String]] = []

        /// All attributes by name, inherited ones included.
        public var attributesByName: [String: Attribute] { properties.byName() }
        /// All relationships by name, inherited ones included.
        public var relationshipsByName: [String: Relationship] { properties.byName() }
        /// The properties that this entity adds, by name.
        public var storedPropertiesByName: [String: any SchemaProperty] { storedProperties.anyByName() }
        /// The properties that this entity inherits, by name.
        public var inheritedPropertiesByName: [String: any SchemaProperty] { inheritedProperties.anyByName() }

        /// Makes an entity without properties.
        public convenience init(_ name: String) { self.init(name, subentities: [], properties: []) }
        /// Makes an entity with properties and subentities.
        public convenience init(_ name: String, subentities: Entity..., properties: any SchemaProperty...) {
            self.init(name, subentities: subentities, properties: properties)
        }
        /// Makes an entity with properties.
        public convenience init(_ name: String, properties: any SchemaProperty...) {
            self.init(name, subentities: [], properties: properties)
        }

        init(_ name: String, subentities: [Entity], properties: [any SchemaProperty]) {
            self.name = name
            self.originalName = name
            self.storedProperties = properties
            self.ownAttributes = Set(properties.compactMap { $0 as? Attribute })
            self.ownRelationships = Set(properties.compactMap { $0 as? Relationship })
            self.subentities = Set(subentities)
            for subentity in subentities {
                subentity.superentity = self
                subentity.superentityName = name
            }
        }

        private enum CodingKeys: String, CodingKey { case stored }

        /// Decodes an entity that `encode(to:)` wrote.
        public convenience init(from decoder: any Decoder) throws {
            self.init(
                stored: try decoder.container(keyedBy: CodingKeys.self).decode(StoredEntity.self, forKey: .stored))
        }
        /// Encodes what stores keep of the entity.
        public func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(stored, forKey: .stored)
        }

        /// Two entities are equal if what stores keep of them is equal.
        public static func == (lhs: Entity, rhs: Entity) -> Bool { lhs === rhs || lhs.stored == rhs.stored }
        /// Hashes the name, which equal entities share.
        public func hash(into hasher: inout Hasher) { hasher.combine(name) }
        /// The name with the properties' names and types.
        public var debugDescription: String {
            "\(name)(" + properties.map(\.name).joined(separator: ", ") + ")"
        }
    }
}

extension [any SchemaProperty] {
    fileprivate func byName<P: SchemaProperty>() -> [String: P] {
        Dictionary(compactMap { $0 as? P }.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    }
    fileprivate func anyByName() -> [String: any SchemaProperty] {
        Dictionary(map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    }
    /// The same list with all properties of one sort exchanged; those that were there keep their place.
    fileprivate func replacing<P: SchemaProperty>(_ properties: Set<P>) -> [any SchemaProperty] {
        let kept = filter { !($0 is P) || properties.contains($0 as! P) }
        let present = Set(kept.compactMap { $0 as? P })
        return kept + properties.subtracting(present).sorted { $0.name < $1.name }
    }
}

extension Schema.Entity {
    /// The entity without Swift types.
    var stored: StoredEntity {
        let properties: [StoredProperty] = storedProperties.compactMap { property in
            if let attribute = property as? Schema.Attribute {
                return StoredProperty(attribute, kind: attribute.kind ?? .coded)
            }
            return (property as? Schema.Relationship).map(StoredProperty.init)
        }
        return StoredEntity(
            name: name, originalName: originalName, superentity: superentityName, properties: properties,
            uniquenessConstraints: uniquenessConstraints, indices: indices.map { StoredIndex(properties: $0) })
    }

    convenience init(stored: StoredEntity) {
        self.init(
            stored.name, subentities: [],
            properties: stored.properties.map { property -> any SchemaProperty in
                switch property.content {
                case .attribute(let content): Schema.Attribute(property, content)
                case .relationship(let content): Schema.Relationship(property, content)
                }
            })
        originalName = stored.originalName
        superentityName = stored.superentity
        uniquenessConstraints = stored.uniquenessConstraints
        indices = stored.indices.map(\.properties)
    }

    /// Entities for all layouts, linked to each other.
    static func make(from layouts: [String: ModelLayout]) -> [Schema.Entity] {
        var entities: [String: Schema.Entity] = [:]
        for (name, layout) in layouts {
            // Copies, so that changes to what a schema hands out do not affect containers.
            let properties = layout.properties.map { $0.copied }
            let entity = Schema.Entity(name, subentities: [], properties: Array(properties[layout.ownSlots]))
            entity.originalName = layout.storedEntity.originalName
            entity.superentityName = layout.superlayout?.entityName
            entity.inheritedProperties = Array(properties[..<layout.ownSlots.lowerBound])
            entity.uniquenessConstraints = layout.storedEntity.uniquenessConstraints
            entity.indices = layout.storedEntity.indices.map(\.properties)
            entities[name] = entity
        }
        for entity in entities.values {
            guard let name = entity.superentityName, let parent = entities[name] else { continue }
            entity.superentity = parent
            parent.subentities.insert(entity)
        }
        return entities.values.sorted { $0.name < $1.name }
    }
}

extension SchemaProperty {
    fileprivate var copied: any SchemaProperty {
        (self as? Schema.Attribute)?.makeCopy() ?? (self as? Schema.Relationship).map(
            Schema.Relationship.init(copying:))
            ?? self
    }
}

extension StoredProperty {
    init(_ attribute: Schema.Attribute, kind: StorageKind) {
        var options: StoredAttribute.Options = []
        for option in attribute.options {
            switch option.name {
            case "unique": options.insert(.unique)
            case "externalStorage": options.insert(.externalStorage)
            case "preserveValueOnDeletion": options.insert(.preserveValueOnDeletion)
            case "ephemeral": options.insert(.ephemeral)
            case "spotlight": options.insert(.spotlight)
            case "allowsCloudEncryption": options.insert(.allowsCloudEncryption)
            case "transformable": options.insert(.transformable)
            default: break
            }
        }
        self.init(
            name: attribute.name, originalName: attribute.originalName, isOptional: attribute.isOptional,
            content: .attribute(
                StoredAttribute(
                    kind: kind, options: options, defaultValue: attribute.storedDefault,
                    hashModifier: attribute.hashModifier)))
    }

    init(_ relationship: Schema.Relationship) {
        self.init(
            name: relationship.name, originalName: relationship.originalName, isOptional: relationship.isOptional,
            content: .relationship(
                StoredRelationship(
                    destination: relationship.destination, isToMany: !relationship.isToOneRelationship,
                    inverse: relationship.inverseName, deleteRule: relationship.deleteRule,
                    minimumCount: relationship.minimumModelCount == 0 ? nil : relationship.minimumModelCount,
                    maximumCount: relationship.maximumModelCount == 0 ? nil : relationship.maximumModelCount,
                    isUnique: relationship.isUnique)))
    }
}

extension Schema.Attribute {
    convenience init(_ property: StoredProperty, _ content: StoredAttribute) {
        self.init(
            name: property.name, originalName: property.originalName, options: [],
            valueType: UnknownValueType.self, hashModifier: content.hashModifier)
        isOptional = property.isOptional
        kind = content.kind
        storedDefault = content.defaultValue
        options = [
            (.unique, .unique), (.externalStorage, .externalStorage), (.ephemeral, .ephemeral),
            (.preserveValueOnDeletion, .preserveValueOnDeletion), (.spotlight, .spotlight),
            (.allowsCloudEncryption, .allowsCloudEncryption), (.transformable, .transformable(by: "")),
        ].filter { (stored: StoredAttribute.Options, _: Option) in content.options.contains(stored) }.map(\.1)
    }
}

extension Schema.Relationship {
    convenience init(_ property: StoredProperty, _ content: StoredRelationship) {
        self.init(
            deleteRule: content.deleteRule, minimumModelCount: content.minimumCount ?? 0,
            maximumModelCount: content.maximumCount ?? 0, originalName: property.originalName)
        name = property.name
        destination = content.destination
        inverseName = content.inverse
        isToOneRelationship = !content.isToMany
        if content.isUnique { options = [.unique] }
        valueType = property.isOptional ? UnknownValueType?.self : UnknownValueType.self
    }
}
