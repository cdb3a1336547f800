/// What a store knows of its models: a value without Swift types, which can be kept in the store, sent elsewhere, and
/// read by a program that has never seen the models. `Schema` is its typed view.
public struct StoredSchema: Sendable, Codable, Hashable {
    /// The version that the schema's author gave it.
    public var version: Schema.Version
    /// Every entity, ordered by name (code units).
    public var entities: [StoredEntity]

    public init(version: Schema.Version = Schema.Version(1, 0, 0), entities: [StoredEntity]) {
        self.version = version
        self.entities = entities.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
    }

    /// The entity of that name, if there is one.
    public func entity(named name: String) -> StoredEntity? {
        entities.first { $0.name == name }
    }
}

/// One entity of a `StoredSchema`.
public struct StoredEntity: Sendable, Codable, Hashable {
    public var name: String
    /// The entity whose properties this one inherits.
    public var superentity: String?
    /// The properties that this entity adds, in declaration order.
    public var properties: [StoredProperty]
    /// Each inner array names properties whose values together are unique among all records of the entity.
    public var uniquenessConstraints: [[String]]
    public var indices: [StoredIndex]

    public init(
        name: String, superentity: String? = nil, properties: [StoredProperty], uniquenessConstraints: [[String]] = [],
        indices: [StoredIndex] = []
    ) {
        self.name = name
        self.superentity = superentity
        self.properties = properties
        self.uniquenessConstraints = uniquenessConstraints
        self.indices = indices
    }
}

/// An index over the named properties, most significant first.
public struct StoredIndex: Sendable, Codable, Hashable {
    public enum Kind: String, Sendable, Codable { case binary, rtree }
    public var kind: Kind
    public var properties: [String]

    public init(kind: Kind = .binary, properties: [String]) {
        self.kind = kind
        self.properties = properties
    }
}

/// One property of a `StoredEntity`.
public struct StoredProperty: Sendable, Codable, Hashable {
    public enum Content: Sendable, Codable, Hashable {
        case attribute(StoredAttribute)
        case relationship(StoredRelationship)
    }

    public var name: String
    /// The name under which an earlier version stored the property; equal to `name` where it was not renamed.
    public var originalName: String
    public var isOptional: Bool
    public var content: Content

    public init(name: String, originalName: String? = nil, isOptional: Bool, content: Content) {
        self.name = name
        self.originalName = originalName ?? name
        self.isOptional = isOptional
        self.content = content
    }

    public var attribute: StoredAttribute? {
        if case .attribute(let attribute) = content { attribute } else { nil }
    }
    public var relationship: StoredRelationship? {
        if case .relationship(let relationship) = content { relationship } else { nil }
    }
}

/// How an attribute is stored.
public struct StoredAttribute: Sendable, Codable, Hashable {
    public struct Options: OptionSet, Sendable, Codable, Hashable {
        public let rawValue: UInt16
        public init(rawValue: UInt16) { self.rawValue = rawValue }
        public static let unique = Options(rawValue: 1)
        /// Large data that a store may keep outside the record.
        public static let externalStorage = Options(rawValue: 2)
        /// The last value stays in the history after deletion.
        public static let preserveValueOnDeletion = Options(rawValue: 4)
        /// Tracked in memory, never stored.
        public static let ephemeral = Options(rawValue: 8)
        public static let spotlight = Options(rawValue: 16)
        public static let allowsCloudEncryption = Options(rawValue: 32)
        public static let transformable = Options(rawValue: 64)
    }

    public var kind: StorageKind
    public var options: Options
    /// The value that a record written before the attribute existed takes; nil where the property has no default.
    public var defaultValue: StoredValue?
    public var hashModifier: String?

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
    /// The name of the entity at the other end; its subentities may stand there too.
    public var destination: String
    public var isToMany: Bool
    /// The destination's property that holds the other direction.
    public var inverse: String?
    public var deleteRule: Schema.Relationship.DeleteRule
    public var minimumCount: Int?
    public var maximumCount: Int?
    public var isUnique: Bool

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
