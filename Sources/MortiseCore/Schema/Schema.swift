import Foundation

/// The models that a container manages: their entities, attributes, relationships and constraints.
///
/// A schema made from model types includes every model that they reach through relationships and superclasses. Making a
/// schema never fails; `validate()` throws what is wrong with it, and `ModelContainer` calls that before it opens a
/// store. The entities are complete when the schema is made: changing them afterwards has no effect on containers.
public final class Schema: Codable, Hashable, Sendable {
    /// The version of the form in which schemas are encoded.
    public static let schemaEncodingVersion = Version(1, 0, 0)

    /// The version of the encoded form.
    public let encodingVersion: Version
    /// The version that the schema's author gave it.
    public let version: Version
    /// The entities, ordered by name.
    public var entities: [Entity] { described.value.entities }
    /// The entities by name.
    public var entitiesByName: [String: Entity] { described.value.byName }
    // Made when they are asked for: a container, which has a schema of its own, works with the stored form and the layouts.
    private let described: Lazily<Description>

    /// The same schema as a value without Swift types.
    public let stored: StoredSchema
    let layouts: [String: ModelLayout]
    let recordLayouts: [String: RecordLayout]
    /// By name that entities had before, the one that they have.
    let formerNames: [String: [String]]

    /// Makes a schema without entities.
    public convenience init() {
        self.init([] as [any PersistentModel.Type])
    }

    /// Makes a schema of hand-made entities. It can be saved, compared and given to a store, but it knows no model
    /// types: a container does not open with it.
    public init(_ entities: Entity..., version: Version = Version(1, 0, 0)) {
        self.encodingVersion = Self.schemaEncodingVersion
        self.version = version
        let described = Description(entities.sorted { $0.name < $1.name })
        self.described = Lazily { described }
        self.stored = StoredSchema(version: version, entities: entities.map(\.stored))
        self.layouts = [:]
        self.recordLayouts = stored.recordLayouts()
        formerNames = stored.formerNames
        self.duplicates = []
        opensWithoutModels = entities.isEmpty
        hasChosenVersion = true
    }

    /// Makes the schema of models and of everything that they refer to, with a version of the caller's choice.
    public convenience init(_ types: any PersistentModel.Type..., version: Version) {
        self.init(types, version: version)
    }

    /// Makes the schema of models and of everything that they refer to. Its version is 1.0.0; a container that gets a migration
    /// plan gives it that of the plan's newest schema with the same entities.
    public convenience init(_ types: any PersistentModel.Type...) {
        self.init(types)
    }

    /// Makes the schema of models and of everything that they refer to, with a version of the caller's choice.
    public convenience init(_ types: [any PersistentModel.Type], version: Version) {
        self.init(types, chosen: version)
    }

    /// Makes the schema of models and of everything that they refer to. Its version is 1.0.0; a container that gets a migration
    /// plan gives it that of the plan's newest schema with the same entities.
    public convenience init(_ types: [any PersistentModel.Type]) {
        self.init(types, chosen: nil)
    }

    private init(_ types: [any PersistentModel.Type], chosen: Version?) {
        let version = chosen ?? Version(1, 0, 0)
        hasChosenVersion = chosen != nil
        let layouts = ModelLayout.closure(of: types)
        self.encodingVersion = Self.schemaEncodingVersion
        self.version = version
        // Two types of one name: the first stays, validate() reports the other.
        self.layouts = Dictionary(layouts.map { ($0.entityName, $0) }, uniquingKeysWith: { first, _ in first })
        self.stored = StoredSchema(
            version: version,
            entities: Set(layouts.map(\.entityName)).compactMap { [layouts = self.layouts] in layouts[$0]?.storedEntity
            })
        self.described = Lazily { [layouts = self.layouts] in Description(Entity.make(from: layouts)) }
        self.recordLayouts = self.layouts.mapValues(\.record)
        // The stored form has the models' own layouts: what a store reads by them needs no look at names.
        if recordLayouts.count == stored.entities.count { stored.derived.know(layouts: recordLayouts) }
        formerNames = stored.formerNames
        self.duplicates = layouts.filter { [layouts = self.layouts] in layouts[$0.entityName] !== $0 }.map(\.entityName)
        opensWithoutModels = true
    }

    private let duplicates: [String]
    /// Whether a container may open a store with the schema although it has no model types. False where they are missing
    /// by mistake: nothing could ever be saved.
    private let opensWithoutModels: Bool
    /// Whether the version is somebody's choice. One that was made of types alone has its version because it needs one.
    let hasChosenVersion: Bool

    init(_ other: Schema, version: Version, isChosen: Bool, formerNames names: [String: [String]]? = nil) {
        hasChosenVersion = isChosen
        encodingVersion = other.encodingVersion
        self.version = version
        described = Lazily { [layouts = other.layouts, stored = other.stored] in
            Description(layouts.isEmpty ? stored.entities.map(Entity.init(stored:)) : Entity.make(from: layouts))
        }
        stored = other.stored.numbered(version)
        layouts = other.layouts
        recordLayouts = other.recordLayouts
        formerNames = names ?? other.formerNames
        duplicates = other.duplicates
        opensWithoutModels = other.opensWithoutModels
    }

    /// The schema, which knows more names that its entities had.
    /// - Parameter names: by former name, the entities that had it.
    /// - Returns: the schema.
    func knowing(_ names: [String: [String]]) -> Schema {
        var merged = formerNames
        for (name, entities) in names {
            for entity in entities where stored.entity(named: entity) != nil && merged[name]?.contains(entity) != true {
                merged[name, default: []].append(entity)
            }
        }
        if merged == formerNames { return self }
        return Schema(self, version: version, isChosen: hasChosenVersion, formerNames: merged)
    }

    /// The same schema with entities of its own, as they were when it was made.
    var copied: Schema { Schema(self, version: version, isChosen: hasChosenVersion) }

    /// The schema with the number of the newest of some versions that has the same entities, and with the names that its entities had
    /// in them. Without such a version the number stays the same, and so it does where it was chosen and is one of them.
    func numbered(as known: [StoredSchema]) -> Schema {
        let equal = known.filter { $0.entities == stored.entities }.map(\.version)
        var (version, isChosen) = (version, hasChosenVersion)
        if let newest = equal.max(), !hasChosenVersion || !equal.contains(version) {
            (version, isChosen) = (newest, true)
        }
        let names = StoredSchema(version: version, entities: stored.entities).formerNames(over: known)
        if version == self.version, isChosen == hasChosenVersion, names == formerNames { return self }
        return Schema(self, version: version, isChosen: isChosen, formerNames: names)
    }

    /// The entity of a model type; nil if the schema does not include it.
    public func entity<T: PersistentModel>(for type: T.Type) -> Entity? {
        entitiesByName[Self.entityName(for: type)]
    }

    /// The entity name of a model type: the type's name without its module and enclosing types.
    public static func entityName<T: PersistentModel>(for type: T.Type) -> String {
        String(describing: type)
    }

    private enum CodingKeys: String, CodingKey { case encodingVersion, stored }

    /// Decodes a schema without its model types: a container does not open with it.
    /// - Throws: `DecodingError` for data that `encode(to:)` did not write, `SwiftDataError.unknownSchema` for a newer
    ///   encoding.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        encodingVersion = try container.decode(Version.self, forKey: .encodingVersion)
        guard encodingVersion <= Self.schemaEncodingVersion else {
            throw SwiftDataError(
                .unknownSchema,
                "The schema was encoded in form \(encodingVersion); this library reads up to "
                    + "\(Self.schemaEncodingVersion). Update the library.")
        }
        stored = try container.decode(StoredSchema.self, forKey: .stored)
        version = stored.version
        described = Lazily { [stored] in Description(stored.entities.map(Entity.init(stored:))) }
        layouts = [:]
        recordLayouts = stored.recordLayouts()
        formerNames = stored.formerNames
        duplicates = []
        opensWithoutModels = stored.entities.isEmpty
        hasChosenVersion = true
    }

    /// Makes a schema from the form that a store keeps, without model types: no models can be fetched through it, but a
    /// program without the models can open a store with it.
    public init(stored: StoredSchema) {
        encodingVersion = Self.schemaEncodingVersion
        self.stored = stored
        version = stored.version
        described = Lazily { [stored] in Description(stored.entities.map(Entity.init(stored:))) }
        layouts = [:]
        recordLayouts = stored.recordLayouts()
        formerNames = stored.formerNames
        duplicates = []
        opensWithoutModels = true
        hasChosenVersion = true
    }

    /// Encodes what stores keep of the schema.
    /// - Throws: what the encoder throws.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(encodingVersion, forKey: .encodingVersion)
        try container.encode(stored, forKey: .stored)
    }

    /// Two schemas are equal if what stores keep of them is equal.
    public static func == (lhs: Schema, rhs: Schema) -> Bool { lhs === rhs || lhs.stored == rhs.stored }
    /// Consistent with `==`.
    public func hash(into hasher: inout Hasher) { hasher.combine(stored) }

    /// The layout of a model type, if the schema includes exactly that type; nil otherwise.
    func layout(for type: any PersistentModel.Type) -> ModelLayout? {
        let layout = ModelLayout.of(type)
        return layouts[layout.entityName] === layout ? layout : nil
    }

    /// - Throws: `SchemaError.noModelTypes` if nothing could be saved through the schema for want of model types.
    func checkModels() throws {
        if layouts.isEmpty, !opensWithoutModels, let first = stored.entities.first {
            throw SchemaError.noModelTypes(entity: first.name)
        }
    }

    /// Checks that the schema can be stored and that its relationships agree.
    /// - Throws: `SchemaError` for the first fault, with entity and property.
    public func validate() throws {
        if let name = duplicates.first { throw SchemaError.duplicateEntity(entity: name) }
        for layout in layouts.values.filter({ !$0.isValid }).sorted(by: { $0.entityName < $1.entityName }) {
            try layout.validate()
        }
    }

    /// The typed form of the entities.
    private struct Description: Sendable {
        let entities: [Entity]
        let byName: [String: Entity]

        init(_ entities: [Entity]) {
            self.entities = entities
            byName = Dictionary(entities.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        }
    }
}

extension Schema: CustomDebugStringConvertible {
    /// The version and the entities.
    public var debugDescription: String {
        "Schema \(version): " + entities.map(\.debugDescription).joined(separator: "; ")
    }
}

extension Schema {
    /// A version of three numbers, ordered by major, minor and patch.
    public struct Version: Codable, Comparable, CustomStringConvertible, Hashable, Sendable {
        /// Counts incompatible changes.
        public let major: Int
        /// Counts additions.
        public let minor: Int
        /// Counts corrections.
        public let patch: Int

        /// Makes a version of three parts.
        public init(_ major: Int, _ minor: Int, _ patch: Int) {
            self.major = major
            self.minor = minor
            self.patch = patch
        }

        /// Compares major, then minor, then patch.
        public static func < (lhs: Version, rhs: Version) -> Bool {
            (lhs.major, lhs.minor, lhs.patch) < (rhs.major, rhs.minor, rhs.patch)
        }
        /// The three parts, as in `1.0.0`.
        public var description: String { "\(major).\(minor).\(patch)" }
    }

    /// A model's description of one of its properties.
    public struct PropertyMetadata {
        let name: String
        let keypath: AnyKeyPath
        /// The property of a model that may be missing: `\Model?.?.name`.
        let chained: AnyKeyPath?
        let defaultValue: Any?
        let metadata: (any SchemaProperty)?

        /// Describes one property of a model. Macro expansions and models without macros list these.
        public init(
            name: String, keypath: AnyKeyPath, defaultValue: Any? = nil, metadata: (any SchemaProperty)? = nil
        ) {
            self.init(
                name: name, keypath: keypath, chained: nil, defaultValue: defaultValue, metadata: metadata)
        }

        /// Describes a property of a model; `@Model` generates the calls.
        /// - Parameters:
        ///   - name: the property's name.
        ///   - keypath: the key path of the property, `\Model.name`.
        ///   - chained: `\Model?.?.name`, which identifies the property behind an optional relationship in sort orders
        ///     and aggregates. If it is nil, such key paths are evaluated on models.
        ///   - defaultValue: the value of the property's initializer; nil if it has none.
        ///   - metadata: the attribute or relationship that `@Attribute` or `@Relationship` declares; nil if it is
        ///     inferred.
        public init(
            name: String, keypath: AnyKeyPath, chained: AnyKeyPath?, defaultValue: Any? = nil,
            metadata: (any SchemaProperty)? = nil
        ) {
            self.name = name
            self.keypath = keypath
            self.chained = chained
            self.defaultValue = defaultValue
            self.metadata = metadata
        }
    }
}

/// A property of an entity: an attribute, a relationship, or a constraint declared like one.
public protocol SchemaProperty: Codable, Hashable {
    /// The property's name.
    var name: String { get set }
    /// The name under which an earlier version of the schema stored the property.
    var originalName: String { get set }
    /// The type of the property's values.
    var valueType: any Any.Type { get set }
    /// Whether the property is an attribute.
    var isAttribute: Bool { get }
    /// Whether the property is a relationship.
    var isRelationship: Bool { get }
    /// Whether the property is never stored.
    var isTransient: Bool { get }
    /// Whether the property may have no value.
    var isOptional: Bool { get }
    /// Whether no two records may share the value.
    var isUnique: Bool { get }
}

extension SchemaProperty {
    /// False unless the property is an attribute.
    public var isAttribute: Bool { false }
    /// False unless the property is a relationship.
    public var isRelationship: Bool { false }
    /// False unless the property is never stored.
    public var isTransient: Bool { false }
    /// Whether the property may have no value.
    public var isOptional: Bool { valueType is any OptionalValue.Type }
}

/// Replaces the Swift type of a property if the schema was decoded, so that the type is not known.
enum UnknownValueType {}
