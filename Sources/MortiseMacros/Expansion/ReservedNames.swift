/// Names that a property of a model class cannot have.
enum ReservedNames {
    /// Members of `PersistentModel`. `id`, `hasChanges` and `isDeleted` are not among them: a model may declare its own,
    /// which hide ours.
    static let protocolMembers: Set<String> = [
        "persistentModelID", "persistentBackingData", "modelContext", "schemaMetadata", "hashValue",
    ]

    /// Members that `@Model` adds.
    static let expansionMembers: Set<String> = [
        "_modelState", "_ownState", "_firstSlot", "_adoptOwnValues", "_adoptInitialValues",
        "_schemaMetadata", "_ownSchemaMetadata", "_inheritedSchemaMetadata", "_modelSlotCount",
        "_propertyOptions",
    ]

    /// Property wrappers that are often seen in model classes. Syntax cannot tell a wrapper from another attribute.
    static let propertyWrappers: Set<String> = [
        "AppStorage", "Binding", "Environment", "EnvironmentObject", "FocusState", "Namespace", "ObservedObject",
        "Published", "Query", "SceneStorage", "State", "StateObject", "TaskLocal", "UserDefault",
    ]

    /// Values of the standard library and Foundation, whose names no model has. `Character`, `Data`, `Date`, `Duration` and
    /// `URL` are not among them: those are words that models are named by as well.
    static let scalarTypes: Set<String> = [
        "Bool", "String", "Substring", "Int", "Int8", "Int16", "Int32", "Int64", "Int128", "UInt", "UInt8", "UInt16",
        "UInt32", "UInt64", "UInt128", "Float", "Float16", "Float32", "Float64", "Double", "CGFloat", "Decimal", "UUID",
        "DateComponents", "TimeInterval", "PersistentIdentifier",
    ]

    /// The modules that have scalars and no models.
    static let scalarModules: Set<String> = ["Swift", "Foundation"]
}
