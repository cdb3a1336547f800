extension Schema {
    /// A property that holds a value.
    ///
    /// Sendable without a lock because attributes are set up before their schema is made and only read afterwards.
    public class Attribute: SchemaProperty, CustomDebugStringConvertible, @unchecked Sendable {
        /// The property's name.
        public var name: String
        /// The name that an earlier version of the schema stored the property under.
        public var originalName: String
        /// The options of `@Attribute`.
        public var options: [Option]
        /// The type of the property's values.
        public var valueType: any Any.Type
        /// The property's initial value; nil if it has none.
        public var defaultValue: Any?
        /// Whether the property may have no value.
        public var isOptional: Bool
        /// A text that marks a change of meaning to migrations; nil if not given.
        public var hashModifier: String?
        var kind: StorageKind?
        var storedDefault: StoredValue?

        /// Takes the arguments of the `@Attribute` macro; name and type come from the property.
        public init(_ options: Option..., originalName: String? = nil, hashModifier: String? = nil) {
            self.name = ""
            self.originalName = originalName ?? ""
            self.options = options
            self.valueType = UnknownValueType.self
            self.isOptional = false
            self.hashModifier = hashModifier
        }

        /// Describes an attribute.
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

        /// A copy of the attribute.
        func makeCopy() -> Attribute {
            let copy = Attribute(
                name: name, originalName: originalName, options: options, valueType: valueType,
                defaultValue: defaultValue, hashModifier: hashModifier)
            copy.takeStoredForm(of: self)
            return copy
        }

        fileprivate func takeStoredForm(of other: Attribute) {
            isOptional = other.isOptional
            kind = other.kind
            storedDefault = other.storedDefault
        }

        private enum CodingKeys: String, CodingKey {
            case name, originalName, options, isOptional, hashModifier, kind, defaultValue
        }

        /// Decodes everything but the Swift type, which only a program with the model knows.
        /// - Throws: `DecodingError`.
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

        /// Encodes what stores keep of the attribute.
        /// - Throws: what the encoder throws.
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

        /// Two attributes are equal if what stores keep of them is equal.
        public static func == (lhs: Attribute, rhs: Attribute) -> Bool {
            lhs === rhs
                || lhs.name == rhs.name && lhs.originalName == rhs.originalName && lhs.options == rhs.options
                    && lhs.isOptional == rhs.isOptional && lhs.hashModifier == rhs.hashModifier && lhs.kind == rhs.kind
        }
        /// Consistent with `==`.
        public func hash(into hasher: inout Hasher) {
            hasher.combine(name)
            hasher.combine(options)
            hasher.combine(kind)
        }

        /// Always true.
        public var isAttribute: Bool { true }
        /// Always false.
        public var isRelationship: Bool { false }
        /// Whether the attribute is never stored.
        public var isTransient: Bool { options.contains(.ephemeral) }
        /// Whether no two records may share the value.
        public var isUnique: Bool { options.contains(.unique) }
        /// Whether a value transformer stores the attribute.
        public var isTransformable: Bool { options.contains { $0.transformerName != nil } }
        /// Whether the value is stored as a coded tree.
        public var isCodable: Bool { kind == .coded }
        /// Name and type.
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

        /// No two records of the entity have the same value. Saving a second one updates the first, and unites its to-many
        /// relationships with those of the second: importing again with fewer children leaves the old ones. `UniqueConflictPolicy`
        /// names the other ways, which each insertion can choose.
        public static var unique: Option { Option("unique") }
        /// The value is stored as the result of the named transformer, which is registered with
        /// `ValueTransformer.setValueTransformer(_:forName:)`.
        public static func transformable(by transformerName: String) -> Option {
            Option("transformable", transformerName: transformerName)
        }
        /// Stores the attribute through a transformer, which is registered under its type's name.
        public static func transformable(by transformerType: ValueTransformer.Type) -> Option {
            let name = String(reflecting: transformerType)
            if ValueTransformer.registered(NSValueTransformerName(name)) == nil {
                ValueTransformer.setValueTransformer(transformerType.init(), forName: NSValueTransformerName(name))
            }
            return Option("transformable", transformerName: name)
        }
        /// Large data that a store may keep outside the record and read on demand. The file stores of this package do
        /// so with `Data` of 4,096 bytes or more that are in no index and not preserved on deletion; values of other
        /// types always stay in their record. Reading may fail: see `ModelContext.resolve(_:_:)`.
        public static var externalStorage: Option { Option("externalStorage") }
        /// Kept in the schema; has an effect with Apple's CloudKit only.
        public static var allowsCloudEncryption: Option { Option("allowsCloudEncryption") }
        /// The history keeps the last value of a deleted record.
        public static var preserveValueOnDeletion: Option { Option("preserveValueOnDeletion") }
        /// Changes are tracked, the value is never stored.
        public static var ephemeral: Option { Option("ephemeral") }
        /// Kept in the schema; has an effect with Apple's Spotlight only.
        public static var spotlight: Option { Option("spotlight") }
        /// The value is stored in its `Codable` form, even if its type has a simpler one.
        public static var codable: Option { Option("codable") }

        /// The option's name, with that of its transformer.
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

        override func makeCopy() -> Attribute {
            let copy = CompositeAttribute(
                name: name, originalName: originalName, options: options, valueType: valueType,
                defaultValue: defaultValue, hashModifier: hashModifier)
            copy.takeStoredForm(of: self)
            copy.properties = properties.map { $0.makeCopy() }
            return copy
        }

        private enum CodingKeys: String, CodingKey { case properties }

        /// Decodes an attribute that `encode(to:)` wrote.
        public required init(from decoder: any Decoder) throws {
            properties = try decoder.container(keyedBy: CodingKeys.self).decode([Attribute].self, forKey: .properties)
            try super.init(from: decoder)
        }

        public override func encode(to encoder: any Encoder) throws {
            try super.encode(to: encoder)
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(properties, forKey: .properties)
        }

        /// Two composite attributes are equal if what stores keep of them and of their properties is equal.
        public static func == (lhs: CompositeAttribute, rhs: CompositeAttribute) -> Bool {
            (lhs as Attribute) == (rhs as Attribute) && lhs.properties == rhs.properties
        }

        public override var debugDescription: String {
            "\(name): {" + properties.map(\.debugDescription).joined(separator: ", ") + "}"
        }
    }
}

extension StorageKind {
    /// The kind in which values of a Swift type are stored; nil for types that cannot be persisted, and for models,
    /// which are relationships.
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
