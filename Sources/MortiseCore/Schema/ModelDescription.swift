/// What a model type says of itself.
///
/// Reading it runs the model's own code: default values and what makes or encodes them. That code may make models, open
/// containers and take locks; a description is therefore read before any layout is begun, and without a lock.
struct ModelDescription {
    /// A property that the type itself declares.
    struct Property {
        let reading: PropertyReading
        let keyPath: AnyKeyPath
        let chained: AnyKeyPath?
        let faults: [SchemaError]
    }

    let type: any PersistentModel.Type
    let superclass: (any PersistentModel.Type)?
    let originalName: String?
    let properties: [Property]
    /// The key paths of the properties that superclasses declare, with this type as their root.
    let inherited: [(name: String, keyPath: AnyKeyPath, chained: AnyKeyPath?)]
    let constraints: [(isUnique: Bool, kind: StoredIndex.Kind, paths: [AnyKeyPath])]
    let faults: [SchemaError]

    var entityName: String { String(describing: type) }

    init(_ type: any PersistentModel.Type) {
        let metadata = type.schemaMetadata
        let fault = Self.fault(of: type, metadata)
        self.type = type
        superclass = _getSuperclass(type) as? any PersistentModel.Type
        // A class inherits the name of its superclass as well, which is not its own.
        let said = metadata.lazy.compactMap { $0.metadata as? Schema.OriginalEntityName }.last
        let name = said.map { $0.isGiven ? $0.originalName : nil } ?? type.originalEntityName
        originalName = said == nil && name == superclass?.originalEntityName ? nil : name
        faults = fault.map { [$0] } ?? []
        inherited = type._inheritedSchemaMetadata.filter { !($0.metadata is any ConstraintDeclaration) }
            .map { ($0.name, $0.keypath, $0.chained) }
        var properties: [Property] = []
        var constraints: [(isUnique: Bool, kind: StoredIndex.Kind, paths: [AnyKeyPath])] = []
        for metadata in fault == nil ? metadata : [] {
            if let declaration = metadata.metadata as? any ConstraintDeclaration {
                constraints += declaration.uniqueKeyPaths().map { (true, .binary, $0) }
                constraints += declaration.indexKeyPaths().map { (false, $0.kind, $0.paths) }
                continue
            }
            var faults: [SchemaError] = []
            let reading = PropertyReading(metadata, entityName: String(describing: type), faults: &faults)
            properties.append(
                Property(reading: reading, keyPath: metadata.keypath, chained: metadata.chained, faults: faults))
        }
        self.properties = properties
        self.constraints = constraints
    }

    /// The description of a type that one of its own default values asks for: nothing is known of it yet.
    init(unreadable type: any PersistentModel.Type) {
        self.type = type
        superclass = nil
        originalName = nil
        properties = []
        inherited = []
        constraints = []
        faults = [.neededByDefaultValue(entity: String(describing: type))]
    }

    /// The fault of a subclass without `@Model`, which inherits what its superclass says of itself; nil for other types.
    static func fault(of type: any PersistentModel.Type) -> SchemaError? { fault(of: type, type.schemaMetadata) }

    private static func fault(
        of type: any PersistentModel.Type, _ metadata: [Schema.PropertyMetadata]
    ) -> SchemaError? {
        guard let superclass = _getSuperclass(type) as? any PersistentModel.Type else { return nil }
        // Both, since the superclass may have no properties of its own. What is marked has both rooted in itself.
        let roots = (metadata + type._inheritedSchemaMetadata).lazy
            .filter { !($0.metadata is any ConstraintDeclaration) }.map { Swift.type(of: $0.keypath).rootType }
        // Up to the class that has the metadata.
        var ancestor: AnyClass? = superclass
        while let known = ancestor {
            if roots.contains(where: { $0 == known }) {
                return .unmarkedSubclass(entity: String(describing: type), superclass: String(describing: known))
            }
            ancestor = _getSuperclass(known)
        }
        return nil
    }
}
