extension Schema {
    /// A property that refers to other models.
    ///
    /// Sendable without a lock because relationships are set up before their schema is made and only read afterwards.
    public final class Relationship: SchemaProperty, CustomDebugStringConvertible, @unchecked Sendable {
        /// The property's name.
        public var name: String
        /// The name that an earlier version of the schema stored the property under.
        public var originalName: String
        /// The property's key path; nil if the schema was decoded.
        public var keypath: AnyKeyPath?
        /// The options of `@Relationship`.
        public var options: [Option]
        /// The type of the property's values.
        public var valueType: any Any.Type
        /// The name of the entity at the other end.
        public var destination: String
        /// What happens to the models at the other end when the owner is deleted.
        public var deleteRule: DeleteRule
        /// The name of the destination's property for the other direction; nil if the relationship has no inverse.
        public var inverseName: String?
        /// The key path of that property; nil if the relationship has no inverse or the schema was decoded.
        public var inverseKeyPath: AnyKeyPath?
        /// The minimum number of models that a save accepts; nil for no limit.
        public var minimumModelCount: Int?
        /// The maximum number of models that a save accepts; nil and 0 mean no limit.
        public var maximumModelCount: Int?
        /// A text that marks a change of meaning to migrations; nil if not given.
        public var hashModifier: String?
        /// Whether the relationship holds at most one model.
        public var isToOneRelationship: Bool

        /// An option of `@Relationship`.
        public struct Option: Codable, Hashable, Sendable, CustomDebugStringConvertible {
            let name: String
            /// No two owners refer to the same model.
            public static var unique: Option { Option(name: "unique") }
            /// The option's name.
            public var debugDescription: String { name }
        }

        /// Describes a relationship.
        public init(
            _ options: Option..., deleteRule: DeleteRule = .nullify, minimumModelCount: Int? = 0,
            maximumModelCount: Int? = 0, originalName: String? = nil, inverse: AnyKeyPath? = nil,
            hashModifier: String? = nil
        ) {
            self.name = ""
            self.originalName = originalName ?? ""
            self.options = options
            self.valueType = UnknownValueType.self
            self.destination = ""
            self.deleteRule = deleteRule
            self.inverseKeyPath = inverse
            self.minimumModelCount = minimumModelCount
            self.maximumModelCount = maximumModelCount
            self.hashModifier = hashModifier
            self.isToOneRelationship = false
        }

        /// Copies a relationship.
        init(copying other: Relationship) {
            name = other.name
            originalName = other.originalName
            keypath = other.keypath
            options = other.options
            valueType = other.valueType
            destination = other.destination
            deleteRule = other.deleteRule
            inverseName = other.inverseName
            inverseKeyPath = other.inverseKeyPath
            minimumModelCount = other.minimumModelCount
            maximumModelCount = other.maximumModelCount
            hashModifier = other.hashModifier
            isToOneRelationship = other.isToOneRelationship
        }

        private enum CodingKeys: String, CodingKey {
            case name, originalName, options, destination, deleteRule, inverseName, minimumModelCount, maximumModelCount
            case hashModifier, isToOneRelationship
        }

        /// Decodes everything but Swift types and key paths, which only a program with the models knows.
        /// - Throws: `DecodingError`.
        public init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            name = try container.decode(String.self, forKey: .name)
            originalName = try container.decode(String.self, forKey: .originalName)
            options = try container.decode([Option].self, forKey: .options)
            destination = try container.decode(String.self, forKey: .destination)
            deleteRule = try container.decode(DeleteRule.self, forKey: .deleteRule)
            inverseName = try container.decodeIfPresent(String.self, forKey: .inverseName)
            minimumModelCount = try container.decodeIfPresent(Int.self, forKey: .minimumModelCount)
            maximumModelCount = try container.decodeIfPresent(Int.self, forKey: .maximumModelCount)
            hashModifier = try container.decodeIfPresent(String.self, forKey: .hashModifier)
            isToOneRelationship = try container.decode(Bool.self, forKey: .isToOneRelationship)
            valueType = UnknownValueType.self
        }

        /// Encodes what stores keep of the relationship.
        public func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(name, forKey: .name)
            try container.encode(originalName, forKey: .originalName)
            try container.encode(options, forKey: .options)
            try container.encode(destination, forKey: .destination)
            try container.encode(deleteRule, forKey: .deleteRule)
            try container.encodeIfPresent(inverseName, forKey: .inverseName)
            try container.encodeIfPresent(minimumModelCount, forKey: .minimumModelCount)
            try container.encodeIfPresent(maximumModelCount, forKey: .maximumModelCount)
            try container.encodeIfPresent(hashModifier, forKey: .hashModifier)
            try container.encode(isToOneRelationship, forKey: .isToOneRelationship)
        }

        /// Two relationships are equal if what stores keep of them is equal.
        public static func == (lhs: Relationship, rhs: Relationship) -> Bool {
            lhs === rhs
                || lhs.name == rhs.name && lhs.originalName == rhs.originalName && lhs.options == rhs.options
                    && lhs.destination == rhs.destination && lhs.deleteRule == rhs.deleteRule
                    && lhs.inverseName == rhs.inverseName && lhs.minimumModelCount == rhs.minimumModelCount
                    && lhs.maximumModelCount == rhs.maximumModelCount && lhs.hashModifier == rhs.hashModifier
                    && lhs.isToOneRelationship == rhs.isToOneRelationship
        }
        /// Consistent with `==`.
        public func hash(into hasher: inout Hasher) {
            hasher.combine(name)
            hasher.combine(destination)
            hasher.combine(inverseName)
        }

        /// Whether no two owners may share a destination.
        public var isUnique: Bool { options.contains(.unique) }
        /// Always false.
        public var isAttribute: Bool { false }
        /// Always true.
        public var isRelationship: Bool { true }
        /// Always false.
        public var isTransient: Bool { false }
        /// Name, destination and inverse.
        public var debugDescription: String {
            "\(name) -> \(destination)" + (isToOneRelationship ? "" : "*")
                + (inverseName.map { " (inverse \($0))" } ?? "")
        }
    }
}

/// A property type that makes a to-many relationship.
public protocol RelationshipCollection {
    /// The related model's type.
    associatedtype PersistentElement: PersistentModel
}

extension Array: RelationshipCollection where Element: PersistentModel {
    /// The related model's type.
    public typealias PersistentElement = Element
}

extension Optional: RelationshipCollection where Wrapped: Sequence, Wrapped.Element: PersistentModel {
    /// The related model's type.
    public typealias PersistentElement = Wrapped.Element
}
