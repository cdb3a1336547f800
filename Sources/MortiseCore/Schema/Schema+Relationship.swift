extension Schema {
    /// A property that refers to other models.
    ///
    /// Sendable without a lock because relationships are set up before their schema is made and only read afterwards.
    public final class Relationship: SchemaProperty, CustomDebugStringConvertible, @unchecked Sendable {
        public var name: String
        public var originalName: String
        public var keypath: AnyKeyPath?
        public var options: [Option]
        public var valueType: any Any.Type
        /// The name of the entity at the other end.
        public var destination: String
        public var deleteRule: DeleteRule
        public var inverseName: String?
        public var inverseKeyPath: AnyKeyPath?
        public var minimumModelCount: Int?
        /// The largest number of models that a to-many relationship may hold at save; nil and 0 mean no limit.
        public var maximumModelCount: Int?
        public var hashModifier: String?
        public var isToOneRelationship: Bool

        /// What happens to the models at the other end when the owner is deleted.
        public enum DeleteRule: String, Codable, Sendable {
            /// Nothing. Saving then fails if one of them still refers to the deleted model.
            case noAction
            /// Their reference to the owner is cleared.
            case nullify
            /// They are deleted too.
            case cascade
            /// Saving fails while there is one.
            case deny
        }

        public struct Option: Codable, Hashable, Sendable, CustomDebugStringConvertible {
            let name: String
            /// No two owners refer to the same model.
            public static var unique: Option { Option(name: "unique") }
            public var debugDescription: String { name }
        }

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

        private enum CodingKeys: String, CodingKey {
            case name, originalName, options, destination, deleteRule, inverseName, minimumModelCount, maximumModelCount
            case hashModifier, isToOneRelationship
        }

        /// Decodes all but Swift types and key paths, which only a program with the models can know.
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

        public static func == (lhs: Relationship, rhs: Relationship) -> Bool {
            lhs === rhs
                || lhs.name == rhs.name && lhs.originalName == rhs.originalName && lhs.options == rhs.options
                    && lhs.destination == rhs.destination && lhs.deleteRule == rhs.deleteRule
                    && lhs.inverseName == rhs.inverseName && lhs.minimumModelCount == rhs.minimumModelCount
                    && lhs.maximumModelCount == rhs.maximumModelCount && lhs.hashModifier == rhs.hashModifier
                    && lhs.isToOneRelationship == rhs.isToOneRelationship
        }
        public func hash(into hasher: inout Hasher) {
            hasher.combine(name)
            hasher.combine(destination)
            hasher.combine(inverseName)
        }

        public var isUnique: Bool { options.contains(.unique) }
        public var isAttribute: Bool { false }
        public var isRelationship: Bool { true }
        public var isTransient: Bool { false }
        public var debugDescription: String {
            "\(name) -> \(destination)" + (isToOneRelationship ? "" : "*")
                + (inverseName.map { " (inverse \($0))" } ?? "")
        }
    }
}

/// A property type that stands for a to-many relationship.
public protocol RelationshipCollection {
    associatedtype PersistentElement: PersistentModel
}

extension Array: RelationshipCollection where Element: PersistentModel {
    public typealias PersistentElement = Element
}

extension Optional: RelationshipCollection where Wrapped: Sequence, Wrapped.Element: PersistentModel {
    public typealias PersistentElement = Wrapped.Element
}
