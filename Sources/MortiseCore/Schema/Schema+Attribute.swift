extension Schema {
    /// A property that holds a value.
    ///
    /// Sendable without a lock because attributes are set up before their schema is made and only read afterwards.
    public class Attribute: SchemaProperty, CustomDebugStringConvertible, @unchecked Sendable {
        public var name: String
        public var originalName: String
        public var options: [Option]
        public var valueType: any Any.Type
        public var defaultValue: Any?
        public var isOptional: Bool
        public var hashModifier: String?
        var kind: StorageKind?
        var storedDefault: StoredValue?

        /// What the `@Attribute` macro passes on; name and type come from the property.
        public init(_ options: Option..., originalName: String? = nil, hashModifier: String? = nil) {
            self.name = ""
            self.originalName = originalName ?? ""
            self.options = options
            self.valueType = UnknownValueType.self
            self.isOptional = false
            self.hashModifier = hashModifier
        }

        public init(
            name: String, originalName: String? = nil, options: [Option] = [], valueType: any Any.Type,
            defaultValue: Any? = nil, hashModifier: String? = nil
        ) {
            self.name = name
            self.originalName = originalName ?? name
            self.options = options
            self.valueType = valueType
            self.defaultValue = defaultValue
            self.isOptional = valueType is any OptionalValue.Type
            self.hashModifier = hashModifier
            self.kind = StorageKind(of: valueType)
        }

        private enum CodingKeys: String, CodingKey {
            case name, originalName, options, isOptional, hashModifier, kind, defaultValue
        }

        /// Decodes all but the Swift type, which only a program with the model can know.
        public required init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            name = try container.decode(String.self, forKey: .name)
            originalName = try container.decode(String.self, forKey: .originalName)
            options = try container.decode([Option].self, forKey: .options)
            isOptional = try container.decode(Bool.self, forKey: .isOptional)
            hashModifier = try container.decodeIfPresent(String.self, forKey: .hashModifier)
            kind = try container.decodeIfPresent(StorageKind.self, forKey: .kind)
            storedDefault = try container.decodeIfPresent(StoredValue.self, forKey: .defaultValue)
            valueType = UnknownValueType.self
        }

        public func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(name, forKey: .name)
            try container.encode(originalName, forKey: .originalName)
            try container.encode(options, forKey: .options)
            try container.encode(isOptional, forKey: .isOptional)
            try container.encodeIfPresent(hashModifier, forKey: .hashModifier)
            try container.encodeIfPresent(kind, forKey: .kind)
            try container.encodeIfPresent(storedDefault, forKey: .defaultValue)
        }

        public static func == (lhs: Attribute, rhs: Attribute) -> Bool {
            lhs === rhs
                || lhs.name == rhs.name && lhs.originalName == rhs.originalName && lhs.options == rhs.options
                    && lhs.isOptional == rhs.isOptional && lhs.hashModifier == rhs.hashModifier && lhs.kind == rhs.kind
        }
        public func hash(into hasher: inout Hasher) {
            hasher.combine(name)
            hasher.combine(options)
            hasher.combine(kind)
        }

        public var isAttribute: Bool { true }
        public var isRelationship: Bool { false }
        public var isTransient: Bool { options.contains(.ephemeral) }
        public var isUnique: Bool { options.contains(.unique) }
        public var isTransformable: Bool { options.contains { $0.transformerName != nil } }
        /// Whether the value is stored as a coded tree.
        public var isCodable: Bool { kind == .coded }
        public var debugDescription: String { "\(name): \(valueType)" }
    }
}

extension Schema.Attribute {
    /// How an attribute is stored and tracked.
    public struct Option: Codable, Hashable, Sendable, CustomDebugStringConvertible {
        let name: String
        let transformerName: String?

        private init(_ name: String, transformerName: String? = nil) {
            self.name = name
            self.transformerName = transformerName
        }

        /// No two records of the entity have the same value; saving a second one updates the first.
        public static var unique: Option { Option("unique") }
        /// The value is stored as what the named transformer makes of it; the transformer is registered with
        /// `ValueTransformer.setValueTransformer(_:forName:)`.
        public static func transformable(by transformerName: String) -> Option {
            Option("transformable", transformerName: transformerName)
        }
        public static func transformable(by transformerType: ValueTransformer.Type) -> Option {
            let name = String(reflecting: transformerType)
            if ValueTransformer.registered(NSValueTransformerName(name)) == nil {
                ValueTransformer.setValueTransformer(transformerType.init(), forName: NSValueTransformerName(name))
            }
            return Option("transformable", transformerName: name)
        }
        /// Large data that a store may keep outside the record and read when it is asked for. Our stores that have files
        /// do so with `Data` of 4,096 bytes or more that are in no index and not preserved on deletion; no other type of
        /// value leaves its record. Reading them may fail: see `ModelContext.resolve(_:_:)`.
        public static var externalStorage: Option { Option("externalStorage") }
        /// Has no effect off Apple's CloudKit; kept in the schema.
        public static var allowsCloudEncryption: Option { Option("allowsCloudEncryption") }
        /// The history keeps the last value of a deleted record.
        public static var preserveValueOnDeletion: Option { Option("preserveValueOnDeletion") }
        /// Changes are tracked, the value is never stored.
        public static var ephemeral: Option { Option("ephemeral") }
        /// Has no effect off Apple's Spotlight; kept in the schema.
        public static var spotlight: Option { Option("spotlight") }
        /// The value is stored through its `Codable` form, even where it has a simpler one.
        public static var codable: Option { Option("codable") }

        public var debugDescription: String { transformerName.map { "\(name)(\($0))" } ?? name }
    }
}

extension Schema {
    /// An attribute whose value is a structure of other attributes.
    public final class CompositeAttribute: Attribute, @unchecked Sendable {
        /// The members, in declaration order.
        public var properties: [Attribute] = []

        public override init(
            name: String, originalName: String? = nil, options: [Option] = [], valueType: any Any.Type,
            defaultValue: Any? = nil, hashModifier: String? = nil
        ) {
            super.init(
                name: name, originalName: originalName, options: options, valueType: valueType,
                defaultValue: defaultValue, hashModifier: hashModifier)
            kind = .coded
        }

        private enum CodingKeys: String, CodingKey { case properties }

        public required init(from decoder: any Decoder) throws {
            properties = try decoder.container(keyedBy: CodingKeys.self).decode([Attribute].self, forKey: .properties)
            try super.init(from: decoder)
        }

        public override func encode(to encoder: any Encoder) throws {
            try super.encode(to: encoder)
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(properties, forKey: .properties)
        }

        public static func == (lhs: CompositeAttribute, rhs: CompositeAttribute) -> Bool {
            (lhs as Attribute) == (rhs as Attribute) && lhs.properties == rhs.properties
        }

        public override var debugDescription: String {
            "\(name): {" + properties.map(\.debugDescription).joined(separator: ", ") + "}"
        }
    }
}

extension StorageKind {
    /// The kind under which values of a Swift type are stored; nil for types that cannot be persisted (and for models,
    /// which are relationships).
    init?(of type: any Any.Type) {
        if let optional = type as? any OptionalValue.Type {
            self.init(of: optional.wrappedType)
            return
        }
        if let scalar = type as? any PersistentScalar.Type {
            self = scalar.storageKind
        } else if let raw = type as? any RawRepresentable.Type, type is any Codable.Type,
            let kind = StorageKind(rawValueOf: raw)
        {
            self = kind
        } else if type is any Codable.Type {
            self = .coded
        } else {
            return nil
        }
    }

    private init?<R: RawRepresentable>(rawValueOf type: R.Type) {
        guard let scalar = R.RawValue.self as? any PersistentScalar.Type else { return nil }
        self = scalar.storageKind
    }
}
