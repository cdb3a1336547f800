extension Schema {
    /// Indices over a model's properties, as `#Index` declares them.
    public final class Index<T: PersistentModel>: SchemaProperty, CustomDebugStringConvertible {
        /// A kind of index with the properties that it covers, most significant first.
        public enum Types<P: PersistentModel> {
            /// An ordered index over the properties, most significant first.
            case binary([PartialKeyPath<P>])
            /// An index for ranges over several properties at once. The stores of this package keep it as an ordered
            /// index.
            case rtree([PartialKeyPath<P>])
        }

        /// The marker by which the schema recognizes the entry.
        public var name = "MortiseCore.Schema.Index"
        /// The same as `name`.
        public var originalName = "MortiseCore.Schema.Index"
        /// The type of the declaration.
        public var valueType: any Any.Type = Index<T>.self
        /// Always false.
        public var isUnique: Bool { false }
        /// The declared indexes.
        public let indices: [Types<T>]

        /// Declares indexes.
        public init(_ indices: Types<T>...) { self.indices = indices }
        /// Declares binary indexes over lists of properties.
        public init(_ binaryIndices: [PartialKeyPath<T>]...) { indices = binaryIndices.map { .binary($0) } }

        /// The declared properties by name, because key paths cannot be encoded.
        var names: [StoredIndex] {
            let layout = ModelLayout.of(T.self)
            return indices.map { index in
                switch index {
                case .binary(let paths): StoredIndex(kind: .binary, properties: layout.names(of: paths))
                case .rtree(let paths): StoredIndex(kind: .rtree, properties: layout.names(of: paths))
                }
            }
        }

        /// The key of the encoded form.
        public enum CodingKeys: CodingKey {
            /// A list of `StoredIndex`, in the order of the declaration.
            case indices
        }

        /// Decodes a declaration.
        /// - Throws: `DecodingError` if the entity lacks one of the properties.
        public init(from decoder: any Decoder) throws {
            let stored = try decoder.container(keyedBy: CodingKeys.self).decode([StoredIndex].self, forKey: .indices)
            let layout = ModelLayout.of(T.self)
            indices = try stored.map { index in
                let paths: [PartialKeyPath<T>] = try layout.keyPaths(named: index.properties, in: decoder)
                return index.kind == .binary ? .binary(paths) : .rtree(paths)
            }
        }
        /// Encodes the names of the properties.
        public func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(names, forKey: .indices)
        }
        /// Two declarations are equal if they name the same properties.
        public static func == (lhs: Index<T>, rhs: Index<T>) -> Bool { lhs.names == rhs.names }
        /// Consistent with `==`.
        public func hash(into hasher: inout Hasher) { hasher.combine(names) }
        /// The names of the properties.
        public var debugDescription: String { "index \(names.map(\.properties))" }
    }

    /// Uniqueness constraints over a model's properties, as `#Unique` declares them.
    public final class Unique<T: PersistentModel>: SchemaProperty, CustomDebugStringConvertible {
        /// The marker by which the schema recognizes the entry.
        public var name = "MortiseCore.Schema.Unique"
        /// The same as `name`.
        public var originalName = "MortiseCore.Schema.Unique"
        /// The type of the declaration.
        public var valueType: any Any.Type = Unique<T>.self
        /// Always true.
        public var isUnique: Bool { true }
        /// The declared constraints; the values of each list are unique together.
        public let constraints: [[PartialKeyPath<T>]]

        /// Declares uniqueness constraints.
        public init(_ constraints: [PartialKeyPath<T>]...) { self.constraints = constraints }

        var names: [[String]] { constraints.map { ModelLayout.of(T.self).names(of: $0) } }

        /// The key of the encoded form.
        public enum CodingKeys: CodingKey {
            /// A list of lists of property names, in the order of the declaration.
            case constraints
        }

        /// Decodes a declaration.
        /// - Throws: `DecodingError` if the entity lacks one of the properties.
        public init(from decoder: any Decoder) throws {
            let names = try decoder.container(keyedBy: CodingKeys.self).decode([[String]].self, forKey: .constraints)
            let layout = ModelLayout.of(T.self)
            constraints = try names.map { try layout.keyPaths(named: $0, in: decoder) }
        }
        /// Encodes the names of the properties.
        public func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(names, forKey: .constraints)
        }
        /// Two declarations are equal if they name the same properties.
        public static func == (lhs: Unique<T>, rhs: Unique<T>) -> Bool { lhs.names == rhs.names }
        /// Consistent with `==`.
        public func hash(into hasher: inout Hasher) { hasher.combine(names) }
        /// The names of the properties.
        public var debugDescription: String { "unique \(names)" }
    }
}

/// What a layout reads of `Schema.Index` and `Schema.Unique` without their type parameter.
protocol ConstraintDeclaration {
    func uniqueKeyPaths() -> [[AnyKeyPath]]
    func indexKeyPaths() -> [(kind: StoredIndex.Kind, paths: [AnyKeyPath])]
}

extension Schema.Index: ConstraintDeclaration {
    func uniqueKeyPaths() -> [[AnyKeyPath]] { [] }
    func indexKeyPaths() -> [(kind: StoredIndex.Kind, paths: [AnyKeyPath])] {
        indices.map { index in
            switch index {
            case .binary(let paths): (.binary, paths)
            case .rtree(let paths): (.rtree, paths)
            }
        }
    }
}

extension Schema.Unique: ConstraintDeclaration {
    func uniqueKeyPaths() -> [[AnyKeyPath]] { constraints }
    func indexKeyPaths() -> [(kind: StoredIndex.Kind, paths: [AnyKeyPath])] { [] }
}

extension ModelLayout {
    /// The names of the properties at the key paths; a path that leads to no property of the model appears as its own
    /// text.
    func names(of paths: [AnyKeyPath]) -> [String] {
        paths.map { path in slot(for: path).map { record.slots[$0].name } ?? "\(path)" }
    }

    fileprivate func keyPaths<T>(named names: [String], in decoder: any Decoder) throws -> [PartialKeyPath<T>] {
        try names.map { name in
            guard let slot = record.slot(named: name), let path = keyPaths[slot] as? PartialKeyPath<T> else {
                throw DecodingError.dataCorrupted(
                    .init(
                        codingPath: decoder.codingPath, debugDescription: "\(entityName) has no property \"\(name)\"."))
            }
            return path
        }
    }
}
