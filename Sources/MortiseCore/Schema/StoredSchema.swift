/// A schema as a value without Swift types. It can be kept in a store, sent elsewhere, and read by a program without
/// the models. `Schema` is its typed view.
public struct StoredSchema: Sendable, Codable, Hashable {
    /// The version that the schema's author gave it.
    public var version: Schema.Version
    /// Every entity, ordered by name (code units).
    public var entities: [StoredEntity] {
        didSet { derived = DerivedFromSchema() }
    }
    private(set) var derived = DerivedFromSchema()

    /// Makes a schema; entities are sorted. Whether they fit together is not checked.
    public init(version: Schema.Version = Schema.Version(1, 0, 0), entities: [StoredEntity]) {
        self.version = version
        self.entities = entities.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
    }

    private enum CodingKeys: String, CodingKey { case version, entities }

    /// The same schema with another number, and with its entities sorted, which somebody may have put into another order.
    func numbered(_ version: Schema.Version) -> StoredSchema {
        let isSorted = derived.isSorted {
            zip(entities, entities.dropFirst()).allSatisfy { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
        }
        guard isSorted else { return StoredSchema(version: version, entities: entities) }
        var schema = self
        schema.version = version
        return schema
    }

    /// The entity of that name; nil if the schema has none.
    public func entity(named name: String) -> StoredEntity? {
        // A few are found as fast by going through them.
        if entities.count <= 8 { return entities.first { $0.name == name } }
        let places = derived.places {
            Dictionary(entities.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first })
        }
        return places[name].map { entities[$0] }
    }

    /// Two schemas are equal if their versions and their entities are.
    public static func == (lhs: StoredSchema, rhs: StoredSchema) -> Bool {
        lhs.version == rhs.version && lhs.entities == rhs.entities
    }

    /// Consistent with `==`.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(version)
        hasher.combine(entities)
    }
}

extension StoredSchema: CustomReflectable {
    /// Version and entities.
    public var customMirror: Mirror {
        Mirror(self, children: ["version": version, "entities": entities], displayStyle: .struct)
    }
}

/// One entity of a `StoredSchema`.
public struct StoredEntity: Sendable, Codable, Hashable {
    /// The entity's name, unique in its schema.
    public var name: String
    /// The name under which an earlier version stored the entity; equal to `name` if it was not renamed.
    public var originalName: String
    /// The names under which versions before that stored the entity. A store keeps them; the schema of a program has none, and so
    /// they are no part of what makes entities equal.
    public var formerNames: [String] = []
    /// The entity whose properties this one inherits; nil if it inherits from none.
    public var superentity: String?
    /// The properties that this entity adds, in declaration order.
    public var properties: [StoredProperty]
    /// Each inner array names properties whose values together are unique among all records of the entity.
    public var uniquenessConstraints: [[String]]
    /// The indexes that this entity adds.
    public var indices: [StoredIndex]

    /// Makes an entity from its own properties and constraints, without inherited ones; `originalName` is `name` unless given.
    public init(
        name: String, originalName: String? = nil, superentity: String? = nil, properties: [StoredProperty],
        uniquenessConstraints: [[String]] = [], indices: [StoredIndex] = []
    ) {
        self.name = name
        self.originalName = originalName ?? name
        self.superentity = superentity
        self.properties = properties
        self.uniquenessConstraints = uniquenessConstraints
        self.indices = indices
    }
}

extension StoredEntity {
    /// Two entities are equal if they have the same names, but for former ones, and the same properties, constraints and indexes.
    public static func == (lhs: StoredEntity, rhs: StoredEntity) -> Bool {
        lhs.name == rhs.name && lhs.originalName == rhs.originalName && lhs.superentity == rhs.superentity
            && lhs.properties == rhs.properties && lhs.uniquenessConstraints == rhs.uniquenessConstraints
            && lhs.indices == rhs.indices
    }

    /// Consistent with `==`.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(name)
        hasher.combine(originalName)
        hasher.combine(superentity)
        hasher.combine(properties)
        hasher.combine(uniquenessConstraints)
        hasher.combine(indices)
    }

    private enum CodingKeys: String, CodingKey {
        case name, originalName, superentity, properties, uniquenessConstraints, indices, formerNames
    }

    /// Encodes an entity, without former names if it has none.
    /// - Throws: `EncodingError`.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(name, forKey: .name)
        try container.encode(originalName, forKey: .originalName)
        try container.encodeIfPresent(superentity, forKey: .superentity)
        try container.encode(properties, forKey: .properties)
        try container.encode(uniquenessConstraints, forKey: .uniquenessConstraints)
        try container.encode(indices, forKey: .indices)
        if !formerNames.isEmpty { try container.encode(formerNames, forKey: .formerNames) }
    }

    /// Decodes an entity; one that was encoded before entities had original names was not renamed.
    /// - Throws: `DecodingError`.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let name = try container.decode(String.self, forKey: .name)
        self.init(
            name: name, originalName: try container.decodeIfPresent(String.self, forKey: .originalName),
            superentity: try container.decodeIfPresent(String.self, forKey: .superentity),
            properties: try container.decode([StoredProperty].self, forKey: .properties),
            uniquenessConstraints: try container.decode([[String]].self, forKey: .uniquenessConstraints),
            indices: try container.decode([StoredIndex].self, forKey: .indices))
        formerNames = try container.decodeIfPresent([String].self, forKey: .formerNames) ?? []
    }

    /// How many former names a store keeps of an entity, the latest ones.
    public static let mostFormerNames = 1_024
}

extension StoredSchema {
    /// The schema with the names that its entities had in an older one, and before: what a store keeps, so that an identifier of
    /// any version leads to its record.
    /// - Parameter old: the schema that the store's records come from, with the former names that the store has kept so far.
    /// - Returns: this schema, which is equal to it.
    public func keepingNames(of old: StoredSchema) -> StoredSchema {
        let origins = entityOrigins(in: old)
        let isNamed = old.entities.contains { $0.isRenamed || !$0.formerNames.isEmpty }
        guard isNamed || origins.contains(where: { $0.key != $0.value }) else { return self }
        let known = Dictionary(old.entities.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        var result = self
        result.entities = entities.map { entity in
            guard let origin = origins[entity.name].flatMap({ known[$0] }) else { return entity }
            var entity = entity
            var seen: Set<String> = [entity.name, entity.originalName]
            let names = [origin.name, origin.originalName] + origin.formerNames + entity.formerNames
            entity.formerNames = Array(names.filter { seen.insert($0).inserted }.prefix(StoredEntity.mostFormerNames))
            return entity
        }
        // Nothing that follows from a schema follows from these.
        result.derived = derived
        return result
    }
}

/// An index over the named properties, most significant first.
public struct StoredIndex: Sendable, Codable, Hashable {
    /// The kind of an index.
    public enum Kind: String, Sendable, Codable {
        /// Ordered by value: serves equality, ranges, prefixes and sorting.
        case binary
        /// Declared for spatial queries. Stores over `MortiseEngine` build the same ordered index as for `binary`.
        case rtree
    }
    /// The kind of the index.
    public var kind: Kind
    /// The names of the properties, most significant first.
    public var properties: [String]

    /// Makes an index; the order of the properties matters.
    public init(kind: Kind = .binary, properties: [String]) {
        self.kind = kind
        self.properties = properties
    }
}

/// One property of a `StoredEntity`.
public struct StoredProperty: Sendable, Codable, Hashable {
    /// Whether the property is an attribute or a relationship.
    public enum Content: Sendable, Codable, Hashable {
        /// The property holds a value.
        case attribute(StoredAttribute)
        /// The property refers to other records.
        case relationship(StoredRelationship)
    }

    /// The property's name, unique in its entity and that entity's ancestors.
    public var name: String
    /// The name under which an earlier version stored the property; equal to `name` if it was not renamed.
    public var originalName: String
    /// Whether the property may have no value.
    public var isOptional: Bool
    /// The attribute or relationship that the property is.
    public var content: Content

    /// Makes a property; `originalName` is `name` unless given.
    public init(name: String, originalName: String? = nil, isOptional: Bool, content: Content) {
        self.name = name
        self.originalName = originalName ?? name
        self.isOptional = isOptional
        self.content = content
    }

    /// The attribute; nil if the property is a relationship.
    public var attribute: StoredAttribute? {
        if case .attribute(let attribute) = content { attribute } else { nil }
    }
    /// The relationship; nil if the property is an attribute.
    public var relationship: StoredRelationship? {
        if case .relationship(let relationship) = content { relationship } else { nil }
    }
}

/// How an attribute is stored.
public struct StoredAttribute: Sendable, Codable, Hashable {
    /// The options of an attribute, as file formats number them.
    public struct Options: OptionSet, Sendable, Codable, Hashable {
        /// The bits of the options.
        public let rawValue: UInt16
        /// Makes options from bits; unknown bits are kept.
        public init(rawValue: UInt16) { self.rawValue = rawValue }
        /// No two records share the value.
        public static let unique = Options(rawValue: 1)
        /// Large data that a store may keep outside the record.
        public static let externalStorage = Options(rawValue: 2)
        /// The last value stays in the history after deletion.
        public static let preserveValueOnDeletion = Options(rawValue: 4)
        /// Tracked in memory, never stored.
        public static let ephemeral = Options(rawValue: 8)
        /// Kept for the program; stores ignore it.
        public static let spotlight = Options(rawValue: 16)
        /// Kept for the program; stores ignore it.
        public static let allowsCloudEncryption = Options(rawValue: 32)
        /// The stored value is the result of a value transformer.
        public static let transformable = Options(rawValue: 64)
    }

    /// The kind of the stored values.
    public var kind: StorageKind
    /// The attribute's options.
    public var options: Options
    /// The value for records written before the attribute existed; nil if the property has no default.
    public var defaultValue: StoredValue?
    /// A text that marks a change of meaning to migrations; nil if not given.
    public var hashModifier: String?

    /// Describes an attribute.
    public init(
        kind: StorageKind, options: Options = [], defaultValue: StoredValue? = nil, hashModifier: String? = nil
    ) {
        self.kind = kind
        self.options = options
        self.defaultValue = defaultValue
        self.hashModifier = hashModifier
    }
}

/// How a relationship is stored.
public struct StoredRelationship: Sendable, Codable, Hashable {
    /// The name of the entity at the other end, whose subentities are allowed too.
    public var destination: String
    /// Whether the relationship is to-many.
    public var isToMany: Bool
    /// The destination's relationship in the other direction; nil if there is no inverse.
    public var inverse: String?
    /// What happens to the records at the other end when the owner is deleted.
    public var deleteRule: Schema.Relationship.DeleteRule
    /// The minimum number of records that a save accepts; nil for no limit.
    public var minimumCount: Int?
    /// The maximum number of records that a save accepts; nil for no limit.
    public var maximumCount: Int?
    /// Whether no two owners may share a destination.
    public var isUnique: Bool

    /// Describes a relationship.
    public init(
        destination: String, isToMany: Bool, inverse: String? = nil,
        deleteRule: Schema.Relationship.DeleteRule = .nullify, minimumCount: Int? = nil, maximumCount: Int? = nil,
        isUnique: Bool = false
    ) {
        self.destination = destination
        self.isToMany = isToMany
        self.inverse = inverse
        self.deleteRule = deleteRule
        self.minimumCount = minimumCount
        self.maximumCount = maximumCount
        self.isUnique = isUnique
    }
}
