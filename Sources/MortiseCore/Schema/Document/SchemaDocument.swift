/// A schema as a file of its own, in the format `mortise-schema` 1, which Adapters/SCHEMA-FILE.md describes.
///
/// It has what a store keeps, and details that stores do not keep. The same document always has the same text.
public struct SchemaDocument: Hashable, Sendable {
    /// What the format calls itself.
    public static let format = "mortise-schema"
    /// The version of the format.
    public static let formatVersion = 1

    /// The schema.
    public var schema: StoredSchema
    /// By name of the entity, what stores do not keep; only for entities that have some of it.
    public var details: [String: EntityDetails]
    /// The digest that the text stated in place of the right one, as after a merge by hand; nil if it was right, or not there.
    public internal(set) var staleStorage: String?

    /// Makes a document of a schema, such as `Schema.stored` or that of a store.
    public init(_ schema: StoredSchema, details: [String: EntityDetails] = [:]) {
        self.schema = schema
        self.details = details
    }

    /// What the format says of a property besides its storage; empty if nothing.
    public func details(of property: String, in entity: String) -> PropertyDetails {
        details[entity]?.properties[property] ?? PropertyDetails()
    }

    /// What a file says of an entity and a store does not keep.
    public struct EntityDetails: Hashable, Sendable {
        /// A name that the entity had up to a version.
        public struct FormerName: Hashable, Sendable {
            /// The name.
            public var name: String
            /// The last version in which the entity had it.
            public var until: Schema.Version

            /// Makes a former name.
            public init(name: String, until: Schema.Version) {
                self.name = name
                self.until = until
            }
        }

        /// The names that the entity had.
        public var formerNames: [FormerName] = []
        /// A text that marks a change of meaning; nil if not given.
        public var hashModifier: String?
        /// Whether only the entities that inherit from it have records.
        public var isAbstract = false
        /// Names of properties that must not be used again.
        public var reserved: [String] = []
        /// By name of the property.
        public var properties: [String: PropertyDetails] = [:]

        /// Says nothing.
        public init() {}
    }

    /// What a file says of a property and a store does not keep.
    public struct PropertyDetails: Hashable, Sendable {
        /// The property's type as it is written in Swift.
        public var swiftType: String?
        /// The name of the value transformer of an attribute.
        public var transformer: String?
        /// Whether an attribute's values are stored as their `Codable` form although their type has a form of its own.
        public var isCodable = false
        /// The parts of a `coded` attribute, if they are known.
        public var members: [Member] = []
        /// The only values that an attribute can have, such as the raw values of an enum; empty if there is no such list.
        public var allowedValues: [StoredValue] = []
        /// A text for people.
        public var documentation: String?
        /// A text that marks a change of meaning of a relationship. That of an attribute is part of the schema.
        public var hashModifier: String?
        /// Whether this side of a many-to-many relationship keeps the links; nil if names decide.
        public var isKeptHere: Bool?
        /// Whether the relationship was ordered in the model that it was imported from.
        public var isOrdered = false

        /// Says nothing.
        public init() {}
    }

    /// A part of a `coded` attribute.
    public struct Member: Hashable, Sendable {
        /// The key.
        public var name: String
        /// The kind of value.
        public var kind: StorageKind
        /// Whether the part may have no value.
        public var isOptional: Bool
        /// The value where the part is missing; nil if it has no default.
        public var defaultValue: StoredValue?
        /// The parts of a part of kind `coded`.
        public var members: [Member]

        /// Describes a part.
        public init(
            name: String, kind: StorageKind, isOptional: Bool = false, defaultValue: StoredValue? = nil,
            members: [Member] = []
        ) {
            self.name = name
            self.kind = kind
            self.isOptional = isOptional
            self.defaultValue = defaultValue
            self.members = members
        }
    }
}

/// How much a document may hold. The limits bound what reading a hostile file can cost.
enum SchemaDocumentLimit {
    static let bytes = 16 << 20
    static let depth = 128
    static let entities = 4_096
    static let ancestors = 64
    /// Of an entity, inherited ones included.
    static let propertiesOfEntity = 16_384
    /// Of all entities, inherited ones counted again.
    static let propertiesInAll = 131_072
    /// Names in constraints and indexes, each list counting one more; inherited ones are counted again.
    static let constrained = 131_072
    static let nameLength = 1_024
    static let textLength = 65_536
    static let numberLength = 1_024
    static let allowedValues = 256
    /// Former and reserved names of an entity.
    static let names = 1_024
    static let memberDepth = 8
    /// Arrays and objects within a default value.
    static let valueDepth = 64
    /// Parts of all values of the document, and members of attributes.
    static let parts = 65_536
}
