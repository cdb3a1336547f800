import Testing

/// What `@Model` says about relationships, `#Unique` and `#Index`.
struct RelationshipDiagnosticsTests {
    @Test(arguments: ["Int", "String?", "[Decimal]", "[UUID]?", "Foundation.Data", "Swift.Character?"])
    func scalarIsNoRelationship(type: String) {
        expectDiagnostic(
            "scalarRelationship",
            "'@Relationship' cannot hold '\(type)', which is not a model; remove it, or use '@Attribute'",
            on: "@Relationship(deleteRule: .cascade)",
            in: "@Model final class Trip { @Relationship(deleteRule: .cascade) var x: \(type); init() {} }",
            fixes: [
                ("remove '@Relationship'", "@Model final class Trip { var x: \(type); init() {} }")
            ])
    }

    @Test func dictionaryIsNoRelationship() {
        expectDiagnostic(
            "scalarRelationship",
            "'@Relationship' cannot hold '[String: Stop]'; "
                + "a relationship is a model, an optional model or an array of models",
            in: "@Model final class Trip { @Relationship var x: [String: Stop]; init() {} }",
            fixes: [("remove '@Relationship'", "@Model final class Trip { var x: [String: Stop]; init() {} }")])
    }

    @Test(arguments: ["Stop", "Stop?", "[Stop]", "[Stop]?"])
    func modelsAreRelationships(type: String) {
        expectNoDiagnostics(
            in: "@Model final class Trip { @Relationship(inverse: \\Stop.trip) var x: \(type); init() {} }")
    }

    /// Bug: models of these names were refused.
    @Test(arguments: ["Character", "Data?", "[Date]", "[Duration]?", "URL", "Cast.Character"])
    func modelsMayBeNamedLikeScalars(type: String) {
        expectNoDiagnostics(in: "@Model final class Trip { @Relationship var x: \(type); init() {} }")
    }

    @Test func inverseWithoutRootGetsTheModel() {
        expectDiagnostic(
            "inverseWithoutRoot", "the inverse needs the model it belongs to; write '\\Stop.trip'", on: "\\.trip",
            in: "@Model final class Trip { @Relationship(inverse: \\.trip) var x: [Stop]? }",
            fixes: [
                (
                    "write '\\Stop.trip'",
                    "@Model final class Trip { @Relationship(inverse: \\Stop.trip) var x: [Stop]? }"
                )
            ])
    }

    @Test func inverseIsNotTheRelationshipItself() {
        expectDiagnostic(
            "ownInverse",
            "'\\Trip.stops' is this relationship itself; name the property of 'Stop' that leads back here",
            on: "\\Trip.stops",
            in: "@Model final class Trip { @Relationship(inverse: \\Trip.stops) var stops: [Stop] = [] }")
    }

    @Test func relationshipToItsOwnClassMayBeItsOwnInverse() {
        expectNoDiagnostics(
            in: "@Model final class Person { @Relationship(inverse: \\Person.friends) var friends: [Person] = [] }")
    }

    @Test(arguments: [("Set<Stop>", "[Stop]"), ("Set<Stop>?", "[Stop]?"), ("[Stop?]", "[Stop]")])
    func toManyRelationshipIsAnArray(type: String, array: String) {
        expectDiagnostic(
            "relationshipCollection", "a to-many relationship is an array of models; write '\(array)'", on: type,
            in: "@Model final class Trip { @Relationship var stops: \(type); init() {} }",
            fixes: [("write '\(array)'", "@Model final class Trip { @Relationship var stops: \(array); init() {} }")])
    }

    @Test func relationshipsMayShareAnInverse() {
        expectNoDiagnostics(
            in: """
                @Model final class Trip {
                    @Relationship(inverse: \\Stop.trip) var stops: [Stop] = []
                    @Relationship(inverse: \\Stop.trip) var skipped: [Stop] = []
                }
                """)
    }

    @Test func countsMustBeOrdered() {
        expectDiagnostic(
            "modelCounts", "'minimumModelCount' is greater than 'maximumModelCount'; exchange 3 and 2",
            in: """
                @Model final class Trip {
                    @Relationship(minimumModelCount: 3, maximumModelCount: 2) var stops: [Stop] = []
                }
                """)
    }

    @Test func relationshipNeedsATypeAnnotationWhereItsValueTellsNone() {
        expectDiagnostic(
            "missingType", "'stops' needs a type annotation; write 'var stops: Type'",
            in: "@Model final class Trip { @Relationship var stops = [] }")
        expectNoDiagnostics(in: "@Model final class Trip { @Relationship var stops = [Stop]() }")
    }

    @Test(arguments: ["Unique", "Index"])
    func constraintBelongsInModel(macro: String) {
        expectDiagnostic(
            "constraintOutsideModel",
            "'#\(macro)' belongs in the body of the '@Model' class whose properties it names; move it there",
            in: "final class Trip { #\(macro)<Trip>([\\.name]) }")
    }

    @Test(arguments: ["Unique", "Index"])
    func constraintNamesKeyPaths(macro: String) {
        let message = "'#\(macro)' needs a key path; write '#\(macro)<Trip>([\\.property])'"
        expectDiagnostic(
            "constraintWithoutKeyPath", message, in: "@Model final class Trip { #\(macro)<Trip>(); var name = \"\" }")
        expectDiagnostic(
            "constraintWithoutKeyPath", message, in: "@Model final class Trip { #\(macro)<Trip>([]); var name = \"\" }")
    }

    @Test func constraintNamesItsOwnModel() {
        expectDiagnostic(
            "constraintOfOtherModel",
            "'#Unique<Stop>' is in the body of 'Trip'; write '#Unique<Trip>', or move it to 'Stop'", on: "Stop",
            in: "@Model final class Trip { #Unique<Stop>([\\.name]); var name = \"\" }",
            fixes: [("write 'Trip'", "@Model final class Trip { #Unique<Trip>([\\.name]); var name = \"\" }")])
    }

    @Test func constraintTakesArrays() {
        expectDiagnostic(
            "constraintWithoutArray", "'#Index' takes arrays of key paths; write '[\\.name]'", on: "\\.name",
            in: "@Model final class Trip { #Index<Trip>(\\.name); var name = \"\" }",
            fixes: [
                ("put the key path in an array", "@Model final class Trip { #Index<Trip>([\\.name]); var name = \"\" }")
            ])
    }

    @Test(arguments: ["var label: String { name }", "@Transient var label = 1", "static let label = 1", ""])
    func constraintNamesAStoredProperty(declaration: String) {
        expectDiagnostic(
            "constraintOnUnstoredProperty",
            "'label' is not a stored property of 'Trip'; name a property that the store keeps", on: "\\.label",
            in: "@Model final class Trip { #Unique<Trip>([\\.name, \\.label]); var name = \"\"; \(declaration) }")
    }

    @Test func constraintNamesNoCollection() {
        expectDiagnostic(
            "constraintOnCollection",
            "'#Index' cannot name 'stops', which holds many values; name a property that holds one",
            on: "\\Trip.stops",
            in: "@Model final class Trip { #Index<Trip>(.binary([\\Trip.stops])); var stops: [Stop] = [] }")
    }

    @Test func constraintMayNameInheritedProperties() {
        expectNoDiagnostics(
            in: "@Model final class B: A { #Unique<B>([\\.name, \\.place]); var place: Place; init() {} }",
            isSubclass: true)
    }

    @Test(arguments: ["\\.place.city", "\\.owner?.name"]) func constraintFollowsNoPath(path: String) {
        expectDiagnostic(
            "constraintOnPath", "'#Unique' cannot follow '\(path)'; name a property of 'B' itself", on: path,
            in: "@Model final class B { #Unique<B>([\(path)]); var place = Place(); var owner: B?; init() {} }")
    }

    @Test func constraintsInsideConditionsAreChecked() {
        expectDiagnostic(
            "constraintOnUnstoredProperty",
            "'b' is not a stored property of 'B'; name a property that the store keeps", on: "\\.b",
            in: "@Model final class B {\n#if DEBUG\n#Unique<B>([\\.b])\n#endif\nvar a = 0; init() {} }")
    }

    @Test func inverseFollowsNoPath() {
        expectDiagnostic(
            "inversePath",
            "the inverse cannot follow '\\Stop.trip?.name'; name a relationship of the other model itself",
            in: "@Model final class Trip { @Relationship(inverse: \\Stop.trip?.name) var stops: [Stop] = [] }")
    }

    @Test func modelCountsAreNotNegative() {
        expectDiagnostic(
            "modelCounts", "'minimumModelCount' cannot be -1; write a number from 0 on, or leave it out", on: "-1",
            in: "@Model final class Trip { @Relationship(minimumModelCount: -1) var stops: [Stop] = [] }")
    }
}
