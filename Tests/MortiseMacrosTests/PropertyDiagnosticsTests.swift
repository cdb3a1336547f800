import Testing

/// What `@Model` and the markers say about properties.
struct PropertyDiagnosticsTests {
    /// The source of a model class with `property` and, below it, an initializer.
    private func model(_ property: String) -> String {
        """
        @Model final class Trip {
            \(property)
            init() {}
        }
        """
    }

    private func expect(
        _ id: String, _ message: String, on node: String? = nil, for property: String,
        fixes: [(message: String, property: String)] = [], at location: SourceLocation = #_sourceLocation
    ) {
        expectDiagnostic(
            id, message, on: node, in: model(property), fixes: fixes.map { ($0.message, model($0.property)) },
            at: location)
    }

    @Test func constantsAreForTheCompilerToJudge() {
        expectNoDiagnostics(in: model("let name: String; let kind = \"trip\""))
    }

    @Test func lazyPropertyBecomesStoredOrTransient() {
        expect(
            "lazyProperty",
            "a property that the store keeps cannot be 'lazy'; remove 'lazy', or mark the property '@Transient'",
            on: "lazy", for: "lazy var total: Int = 0",
            fixes: [
                ("remove 'lazy'", "var total: Int = 0"),
                ("add '@Transient'", "@Transient lazy var total: Int = 0"),
            ])
    }

    @Test(arguments: ["weak", "unowned"])
    func weakPropertyBecomesStrong(modifier: String) {
        expect(
            "weakProperty",
            "a property that the store keeps cannot be '\(modifier)'; remove it: related models are held by "
                + "their context",
            on: modifier, for: "\(modifier) var owner: Person?",
            fixes: [("remove '\(modifier)'", "var owner: Person?")])
    }

    @Test func severalPropertiesAreSeparated() {
        expect(
            "severalProperties", "'@Model' needs each property in a declaration of its own",
            for: "private var a, b: Int, c = 5",
            fixes: [
                (
                    "declare each property on its own",
                    "private var a: Int\n    private var b: Int\n    private var c = 5"
                )
            ])
    }

    @Test func tuplePatternIsRejected() {
        expect(
            "tuplePattern", "'@Model' cannot keep a tuple pattern; declare each property on its own", on: "(a, b)",
            for: "var (a, b) = (1, 2)")
    }

    private static let transient =
        "a '@Transient' property needs an initial value or an optional type, because a fetched model is made "
        + "without your initializer"

    @Test func transientWithoutValueBecomesOptional() {
        expect(
            "transientWithoutValue", Self.transient, on: "cache", for: "@Transient var cache: Int",
            fixes: [("make the type 'Int?'", "@Transient var cache: Int?")])
    }

    @Test func aTransientThatIsNotNilByItselfBecomesOne() {
        expect(
            "transientWithoutValue", Self.transient, for: "@Transient var cache: Optional<Int>",
            fixes: [("make the type 'Int?'", "@Transient var cache: Int?")])
        expect(
            "transientWithoutValue", Self.transient, for: "@Transient let cache: Int",
            fixes: [("write 'var cache: Int?'", "@Transient var cache: Int?")])
        expect(
            "transientWithoutValue", Self.transient, for: "@Transient let cache: Int?",
            fixes: [("write 'var cache: Int?'", "@Transient var cache: Int?")])
    }

    @Test func transientExistentialBecomesOptionalInParentheses() {
        expect(
            "transientWithoutValue", Self.transient, for: "@Transient var shape: any Shape",
            fixes: [("make the type '(any Shape)?'", "@Transient var shape: (any Shape)?")])
    }

    @Test func repeatedMarkerIsRemoved() {
        expect(
            "repeatedMarker", "'@Relationship' is repeated on one property; put all options in one",
            on: "@Relationship(deleteRule: .deny)",
            for: "@Relationship(.unique) @Relationship(deleteRule: .deny) var owner: Person?",
            fixes: [("remove '@Relationship'", "@Relationship(.unique) var owner: Person?")])
    }

    @Test func attributesAreJoinedUnlessANameIsGivenTwice() {
        expectNoDiagnostics(in: model("@Attribute(.unique) @Attribute(.spotlight, originalName: \"n\") var count = 0"))
        expect(
            "repeatedMarker", "two '@Attribute's of one property have 'originalName'; keep one of them",
            on: "@Attribute(originalName: \"b\")",
            for: "@Attribute(originalName: \"a\") @Attribute(originalName: \"b\") var count = 0",
            fixes: [("remove '@Attribute'", "@Attribute(originalName: \"a\") var count = 0")])
    }

    @Test func transientWithValueOrOptionalIsAllowed() {
        expectNoDiagnostics(in: model("@Transient var cache: Int? ; @Transient var count = 0; @Transient let k = 1"))
    }

    @Test(arguments: ["Attribute", "Relationship"])
    func transientExcludesOtherMarkers(marker: String) {
        expect(
            "conflictingMarkers",
            "'@Transient' and '@\(marker)' cannot be on one property, because a transient property is never "
                + "stored; keep one",
            for: "@Transient @\(marker) var cache: Trip?",
            fixes: [
                ("remove '@Transient'", "@\(marker) var cache: Trip?"),
                ("remove '@\(marker)'", "@Transient var cache: Trip?"),
            ])
    }

    @Test func attributeExcludesRelationship() {
        expect(
            "conflictingMarkers",
            "'@Attribute' and '@Relationship' cannot be on one property, "
                + "because a property holds either a value or related models; keep one",
            on: "@Relationship", for: "@Attribute(.unique) @Relationship var owner: Person?",
            fixes: [
                ("remove '@Attribute'", "@Relationship var owner: Person?"),
                ("remove '@Relationship'", "@Attribute(.unique) var owner: Person?"),
            ])
    }

    @Test func transientComputedPropertyIsWarnedOf() {
        expectDiagnostic(
            "markerOnComputed", "'@Transient' has no effect on a computed property, which is never stored; remove it",
            .warning, on: "@Transient", in: model("@Transient var label: String { \"\" }"),
            fixes: [("remove '@Transient'", model("var label: String { \"\" }"))])
    }

    @Test(arguments: ["Attribute", "Relationship"])
    func markerOnComputedPropertyIsRemoved(marker: String) {
        expect(
            "markerOnComputed", "'@\(marker)' cannot be on a computed property, which is never stored; remove it",
            on: "@\(marker)", for: "@\(marker) var label: String { \"\" }",
            fixes: [("remove '@\(marker)'", "var label: String { \"\" }")])
    }

    @Test(arguments: ["Attribute", "Relationship", "Transient"])
    func markerOnStaticPropertyIsRemoved(marker: String) {
        expect(
            "markerOnStatic", "'@\(marker)' cannot be on a static property, which no instance keeps; remove it",
            for: "@\(marker) static var shared = 1",
            fixes: [("remove '@\(marker)'", "static var shared = 1")])
    }

    @Test func markerOnMethodIsRejected() {
        expect(
            "markerOnOtherDeclaration", "'@Attribute' describes a stored property; remove it here", on: "@Attribute",
            for: "@Attribute func f() {}")
    }

    @Test func markerOutsideModelIsRemoved() {
        expectDiagnostic(
            "markerOutsideModel",
            "'@Attribute' applies only to a stored property in the body of a '@Model' class; "
                + "remove it, or mark the class '@Model'",
            in: "struct Trip { @Attribute(.unique) var name: String }",
            fixes: [("remove '@Attribute'", "struct Trip { var name: String }")])
    }

    @Test(
        arguments: [
            ("a tuple", "(Int, Int)"), ("a function", "() -> Void"), ("a function", "(@Sendable () -> Void)"),
            ("an optional of an optional", "Int??"),
            ("a value of type 'any Shape'", "any Shape"), ("a value of type 'Any'", "Any"), ("a metatype", "Int.Type"),
        ])
    func unstorableTypeCanBecomeTransient(kind: String, type: String) {
        expect(
            "unstorableType",
            "\(kind) cannot be stored; use a Codable struct or enum, or mark the property '@Transient'",
            on: type, for: "var value: \(type)",
            fixes: [("add '@Transient'", "@Transient var value: \(type)")])
    }

    @Test(arguments: ["nil", "[]", "[:]", ".clear", ".init(1)"])
    func typeThatValueDoesNotSayIsMissing(value: String) {
        expect(
            "missingType", "'name' needs a type annotation; write 'var name: Type'", on: "name",
            for: "var name = \(value)")
    }

    @Test(arguments: ["5", "\"\"", "Date()", "Weather.clear", "[1]", "[Int]()"])
    func typeThatValueSaysIsInferred(value: String) {
        expectNoDiagnostics(in: model("var name = \(value)"))
    }

    @Test(
        arguments: [
            "persistentModelID", "persistentBackingData", "modelContext", "schemaMetadata", "hashValue",
        ])
    func nameOfProtocolMemberIsReserved(name: String) {
        expect(
            "reservedName", "'\(name)' is a member of 'PersistentModel'; give the property another name", on: name,
            for: "var \(name) = 1")
    }

    @Test(arguments: ["_modelState", "_schemaMetadata"])
    func nameOfGeneratedMemberIsReserved(name: String) {
        expect(
            "expansionName", "'\(name)' collides with a member that '@Model' adds; give the property another name",
            on: name, for: "var \(name) = 1")
    }

    /// The storage has another name where its own is taken.
    @Test(arguments: ["var modelState = 1", "var a = 1; var _a = 2", "var a = 1; func _a() {}"])
    func aNameLikeThatOfAStorageMayBeDeclared(properties: String) {
        expectNoDiagnostics(in: model(properties))
        let expanded = expansion(
            of: model(properties), .all)
        #expect(expanded.contains("var _stored_"))
    }

    @Test func observationIgnoredBecomesTransient() {
        expect(
            "observationIgnored",
            "'@Model' observes each property that the store keeps; write '@Transient' for one that it leaves out",
            on: "@ObservationIgnored", for: "@ObservationIgnored var count = 0",
            fixes: [
                ("replace '@ObservationIgnored' with '@Transient'", "@Transient var count = 0"),
                ("remove '@ObservationIgnored'", "var count = 0"),
            ])
    }

    @Test func aPropertyBelongsToNoActor() {
        expect(
            "isolatedProperty",
            "a property that the store keeps belongs to the model's context and not to an actor; remove '@MainActor', or mark "
                + "the property '@Transient'", on: "@MainActor", for: "@MainActor var count = 0",
            fixes: [
                ("remove '@MainActor'", "var count = 0"), ("add '@Transient'", "@Transient @MainActor var count = 0"),
            ])
    }

    @Test func optionsThatCannotHoldTogetherAreRejected() {
        expect(
            "conflictingOptions",
            "'name' cannot be '.unique' and '.ephemeral', because the store keeps no value to compare; keep one of them",
            on: "@Attribute(.unique, .ephemeral)", for: "@Attribute(.unique, .ephemeral) var name: String")
        expect(
            "uniqueCollection",
            "'tags' cannot be '.unique', because it holds many values; name a property that holds one",
            for: "@Attribute(.unique) var tags: [String]?")
        expectDiagnostic(
            "externalScalar", "'.externalStorage' has no effect on 'Int?'; it is for 'Data'", .warning,
            in: model("@Attribute(.externalStorage) var count: Int?"))
        expectNoDiagnostics(in: model("@Attribute(.externalStorage) var image: Data?"))
    }

    /// What is refused has accessors that compile, and no place in the schema: the compiler has nothing more to say.
    @Test(arguments: ["var a: (Int, Int)", "var a: Any = 1", "var a = []", "@Relationship var a: Set<Stop> = []"])
    func aRefusedPropertyIsLeftOut(property: String) {
        let expanded = expansion(of: model(property), .all)
        #expect(expanded.contains("Swift.fatalError()"))
        #expect(!expanded.contains("\"a\"") && !expanded.contains("_value(at: 0)"))
    }

    @Test func identifierAndOurNamesForStatesMayBeDeclared() {
        expectNoDiagnostics(in: model("var id = UUID()"))
        expectNoDiagnostics(in: model("var isDeleted = false; var hasChanges = 0"))
    }

    @Test func propertyWrapperIsRemoved() {
        expect(
            "propertyWrapper",
            "a property that the store keeps cannot have the property wrapper '@Published'; remove it, "
                + "or mark the property '@Transient'",
            on: "@Published", for: "@Published var count = 0", fixes: [("remove '@Published'", "var count = 0")])
    }

    @Test func overridingComputedAndStaticPropertiesAreLeftAlone() {
        expectNoDiagnostics(
            in: model("override var name: String { didSet {} }; static let a = 1; var b: (Int, Int) { (1, 2) }"))
    }
}
