import Foundation

/// The models that a container manages: their entities, attributes, relationships and constraints.
///
/// A schema made from model types includes every model that they reach through relationships and superclasses.
/// Making one never fails; `validate()` says what is wrong with it, and `ModelContainer` calls that before it opens a
/// store. The entities are complete when the schema is made: changing them afterwards has no effect on containers.
public final class Schema: Codable, Hashable, Sendable {
    /// The version of the form in which schemas are encoded.
    public static let schemaEncodingVersion = Version(1, 0, 0)

    public let encodingVersion: Version
    public let version: Version
    /// The entities, ordered by name.
    public let entities: [Entity]
    public let entitiesByName: [String: Entity]

    /// The same schema as a value without Swift types.
    public let stored: StoredSchema
    let layouts: [String: ModelLayout]
    let recordLayouts: [String: RecordLayout]

    /// A schema without entities.
    public convenience init() {
        self.init([] as [any PersistentModel.Type])
    }

    /// A schema of hand-made entities. It can be saved, compared and given to a store, but no models can be fetched
    /// through it, since it knows no model types.
    public init(_ entities: Entity..., version: Version = Version(1, 0, 0)) {
        self.encodingVersion = Self.schemaEncodingVersion
        self.version = version
        self.entities = entities.sorted { $0.name < $1.name }
        self.entitiesByName = Dictionary(entities.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        self.stored = StoredSchema(version: version, entities: entities.map(\.stored))
        self.layouts = [:]
        self.recordLayouts = stored.recordLayouts()
        self.duplicates = []
    }

    public convenience init(_ types: any PersistentModel.Type..., version: Version = Version(1, 0, 0)) {
        self.init(types, version: version)
    }

    public init(_ types: [any PersistentModel.Type], version: Version = Version(1, 0, 0)) {
        let layouts = ModelLayout.closure(of: types)
        self.encodingVersion = Self.schemaEncodingVersion
        self.version = version
        // Two types of one name: the first stays, validate() reports the other.
        self.layouts = Dictionary(layouts.map { ($0.entityName, $0) }, uniquingKeysWith: { first, _ in first })
        self.stored = StoredSchema(
            version: version,
            entities: Set(layouts.map(\.entityName)).compactMap { [layouts = self.layouts] in layouts[$0]?.storedEntity
            })
        self.entities = Entity.make(from: self.layouts)
        self.entitiesByName = Dictionary(entities.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        self.recordLayouts = self.layouts.mapValues(\.record)
        self.duplicates = layouts.filter { [layouts = self.layouts] in layouts[$0.entityName] !== $0 }.map(\.entityName)
    }

    public convenience init(versionedSchema: any VersionedSchema.Type) {
        self.init(versionedSchema.models, version: versionedSchema.versionIdentifier)
    }

    private let duplicates: [String]

    /// The entity of a model type; nil where the schema does not hold it.
    public func entity<T: PersistentModel>(for type: T.Type) -> Entity? {
        entitiesByName[Self.entityName(for: type)]
    }

    /// The name of the entity that a model type makes: the type's name without its module and enclosing types.
    public static func entityName<T: PersistentModel>(for type: T.Type) -> String {
        String(describing: type)
    }

    private enum CodingKeys: String, CodingKey { case encodingVersion, stored }

    /// - Throws: `DecodingError` for what `encode(to:)` did not write, `SwiftDataError.unknownSchema` for a newer form.
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
        entities = stored.entities.map(Entity.init(stored:))
        entitiesByName = Dictionary(entities.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        layouts = [:]
        recordLayouts = stored.recordLayouts()
        duplicates = []
    }

    /// The schema that a store keeps, without its model types: no models can be fetched through it, but a store can be
    /// opened with it by a program that has never seen the models.
    public init(stored: StoredSchema) {
        encodingVersion = Self.schemaEncodingVersion
        self.stored = stored
        version = stored.version
        entities = stored.entities.map(Entity.init(stored:))
        entitiesByName = Dictionary(entities.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        layouts = [:]
        recordLayouts = stored.recordLayouts()
        duplicates = []
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(encodingVersion, forKey: .encodingVersion)
        try container.encode(stored, forKey: .stored)
    }

    public static func == (lhs: Schema, rhs: Schema) -> Bool { lhs === rhs || lhs.stored == rhs.stored }
    public func hash(into hasher: inout Hasher) { hasher.combine(stored) }

    /// The layout of a model type, if the schema holds exactly that type.
    func layout(for type: any PersistentModel.Type) -> ModelLayout? {
        let layout = ModelLayout.of(type)
        return layouts[layout.entityName] === layout ? layout : nil
    }

    /// Checks that the schema can be stored and that its relationships agree.
    /// - Throws: `SchemaError` that names entity and property, for the first fault found.
    public func validate() throws {
        if let name = duplicates.first { throw SchemaError.duplicateEntity(entity: name) }
        for name in layouts.keys.sorted() { try layouts[name]?.validate() }
    }
}

extension Schema: CustomDebugStringConvertible {
    public var debugDescription: String {
        "Schema \(version): " + entities.map(\.debugDescription).joined(separator: "; ")
    }
}

extension Schema {
    /// A semantic version; order is that of semver.org, paragraph 11.
    public struct Version: Codable, Comparable, CustomStringConvertible, Hashable, Sendable {
        public let major: Int
        public let minor: Int
        public let patch: Int

        public init(_ major: Int, _ minor: Int, _ patch: Int) {
            self.major = major
            self.minor = minor
            self.patch = patch
        }

        public static func < (lhs: Version, rhs: Version) -> Bool {
            (lhs.major, lhs.minor, lhs.patch) < (rhs.major, rhs.minor, rhs.patch)
        }
        public var description: String { "\(major).\(minor).\(patch)" }
    }

    /// What a model says of one of its properties.
    public struct PropertyMetadata {
        let name: String
        let keypath: AnyKeyPath
        /// The property of a model that may be missing: `\Model?.?.name`.
        let chained: AnyKeyPath?
        let defaultValue: Any?
        let metadata: (any SchemaProperty)?

        public init(
            name: String, keypath: AnyKeyPath, defaultValue: Any? = nil, metadata: (any SchemaProperty)? = nil
        ) {
            self.init(
                name: name, keypath: keypath, chained: nil, defaultValue: defaultValue, metadata: metadata)
        }

        /// - Parameter chained: `\Model?.?.name`, by which key paths through optional relationships to the model are known
        ///   in sort orders and aggregates. Without it those of classes that are not `final` are left to code.
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

/// A property of an entity: an attribute, a relationship, or a constraint that is declared like one.
public protocol SchemaProperty: Codable, Hashable {
    var name: String { get set }
    /// The name under which an earlier version of the schema stored the property.
    var originalName: String { get set }
    var valueType: any Any.Type { get set }
    var isAttribute: Bool { get }
    var isRelationship: Bool { get }
    var isTransient: Bool { get }
    var isOptional: Bool { get }
    var isUnique: Bool { get }
}

extension SchemaProperty {
    public var isAttribute: Bool { false }
    public var isRelationship: Bool { false }
    public var isTransient: Bool { false }
    public var isOptional: Bool { valueType is any OptionalValue.Type }
}

/// What every `Optional` conforms to, so that code that holds only a type can see through it.
protocol OptionalValue {
    static var wrappedType: any Any.Type { get }
    static var none: Self { get }
    var unwrapped: Any? { get }
}

extension Optional: OptionalValue {
    static var wrappedType: any Any.Type { Wrapped.self }
    var unwrapped: Any? { self }
}

/// Stands for the Swift type of a property whose type is not known here: the schema was decoded.
enum UnknownValueType {}
