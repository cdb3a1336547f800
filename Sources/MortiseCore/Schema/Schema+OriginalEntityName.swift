extension Schema {
    /// What a class says with `originalEntityName`, as an entry of its metadata. Macro expansions make it, because a subclass cannot
    /// override what a protocol gives its superclass.
    public struct OriginalEntityName: SchemaProperty {
        /// The marker by which the schema recognizes the entry.
        public var name = "MortiseCore.Schema.OriginalEntityName"
        /// The name that the entity had.
        public var originalName: String
        /// The type of the declaration.
        public var valueType: any Any.Type {
            get { Self.self }
            set {}
        }
        /// Always false.
        public var isUnique: Bool { false }
        let isGiven: Bool

        /// Keeps the name; nil says that the entity was not renamed.
        public init(_ name: String?) {
            originalName = name ?? ""
            isGiven = name != nil
        }
    }
}

extension Schema.OriginalEntityName: ConstraintDeclaration {
    func uniqueKeyPaths() -> [[AnyKeyPath]] { [] }
    func indexKeyPaths() -> [(kind: StoredIndex.Kind, paths: [AnyKeyPath])] { [] }
}
