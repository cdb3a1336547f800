import Testing

/// What `@Model` says about the declaration it is attached to.
struct ModelDiagnosticsTests {
    @Test func structIsReplacedByClass() {
        expectDiagnostic(
            "modelOnNonClass", "'@Model' cannot be attached to a struct; declare the model as 'final class'",
            on: "@Model", in: "@Model struct Trip { var name: String }",
            fixes: [
                ("replace 'struct' with 'final class'", "@Model final class Trip { var name: String }")
            ])
    }

    @Test func actorIsReplacedByClass() {
        expectDiagnostic(
            "modelOnNonClass", "'@Model' cannot be attached to an actor; declare the model as 'final class'",
            in: "@Model actor Trip {}",
            fixes: [("replace 'actor' with 'final class'", "@Model final class Trip {}")])
    }

    @Test func enumIsRejected() {
        expectDiagnostic(
            "modelOnNonClass", "'@Model' cannot be attached to an enum; declare the model as 'final class'",
            in: "@Model enum Trip { case a }")
    }

    @Test func protocolIsRejected() {
        expectDiagnostic(
            "modelOnNonClass", "'@Model' cannot be attached to a protocol; declare the model as 'final class'",
            in: "@Model protocol Trip {}")
    }

    @Test func genericClassIsRejected() {
        expectDiagnostic(
            "genericModel",
            "a '@Model' class cannot be generic, because a store keeps one entity for each class; "
                + "declare a class for each kind of value",
            on: "<Value>", in: "@Model final class Box<Value> { var count = 0 }")
    }

    @Test func observableIsRedundant() {
        expectDiagnostic(
            "observableModel", "'@Model' makes the class observable; remove '@Observable'", on: "@Observable",
            in: "@Model @Observable final class Trip { var count = 0 }",
            fixes: [("remove '@Observable'", "@Model final class Trip { var count = 0 }")])
    }

    @Test func mainActorIsWarnedOf() {
        expectDiagnostic(
            "isolatedModel",
            "a '@Model' class belongs to its context and not to an actor; "
                + "remove '@MainActor', or put it on the methods that need it",
            .warning, on: "@MainActor", in: "@MainActor @Model final class Trip { var count = 0 }",
            fixes: [("remove '@MainActor'", "@Model final class Trip { var count = 0 }")])
    }

    @Test func sendableIsWarnedOf() {
        expectDiagnostic(
            "sendableModel",
            "a '@Model' class is used only where its context is; remove 'Sendable' and pass 'persistentModelID' "
                + "to another context",
            .warning, on: "Sendable", in: "@Model final class Trip: Sendable { var count = 0 }")
        expectNoDiagnostics(in: "@Model final class Trip: @unchecked Sendable { var count = 0 }")
    }

    @Test func missingInitializerIsAdded() {
        let source = """
            @Model
            public final class Trip {
                var name: String
                var note: String?
                var count: Int = 3
                @Transient var cache: Int = 0
            }
            """
        expectDiagnostic(
            "missingInitializer",
            "'@Model' requires an initializer, because some properties have no initial value; "
                + "write one, or give each property an initial value",
            on: "Trip", in: source,
            fixes: [
                (
                    "add an initializer",
                    """
                    @Model
                    public final class Trip {
                        var name: String
                        var note: String?
                        var count: Int = 3
                        @Transient var cache: Int = 0

                        public init(name: String, note: String? = nil, count: Int = 3) {
                            self.name = name
                            self.note = note
                            self.count = count
                        }
                    }
                    """
                )
            ])
    }

    @Test func missingSubclassInitializerIsAdded() {
        let source = """
            @Model
            final class BusinessTrip: Trip {
                var budget: Int = 0
            }
            """
        expectDiagnostic(
            "missingSubclassInitializer",
            "'@Model' requires an initializer in a subclass; write one that sets its properties and calls 'super.init'",
            on: "BusinessTrip", in: source, isSubclass: true,
            fixes: [
                (
                    "add an initializer",
                    """
                    @Model
                    final class BusinessTrip: Trip {
                        var budget: Int = 0

                        init(budget: Int = 0, <#superclass parameters#>) {
                            self.budget = budget
                            super.init(<#superclass arguments#>)
                        }
                    }
                    """
                )
            ])
    }

    @Test func classWithInitialValuesNeedsNoInitializer() {
        expectNoDiagnostics(in: "@Model final class Trip { var name = \"\"; var note: String? }")
    }

    @Test func propertyInsideConditionalBlockIsRejected() {
        let source = """
            @Model final class Trip {
                #if DEBUG
                var trace = ""
                #endif
                var count = 0
            }
            """
        expectDiagnostic(
            "conditionalProperty",
            "a property that the store keeps cannot be inside '#if', because '@Model' cannot tell "
                + "whether it exists; move it out, or mark it '@Transient'",
            on: "var trace = \"\"", in: source,
            fixes: [
                ("add '@Transient'", source.replacing("var trace", with: "@Transient var trace"))
            ])
    }

    @Test func methodsAndTransientPropertiesInsideConditionalBlockAreAllowed() {
        expectNoDiagnostics(
            in: """
                @Model final class Trip {
                    #if DEBUG
                    @Transient var trace = ""
                    var isTraced: Bool { true }
                    func dump() {}
                    #endif
                    var count = 0
                }
                """)
    }

    @Test func modelActorOnClassIsReplacedByActor() {
        expectDiagnostic(
            "modelActorOnNonActor", "'@ModelActor' can only be attached to an actor; declare the type as 'actor'",
            on: "@ModelActor", in: "@ModelActor class Importer {}",
            fixes: [("replace 'class' with 'actor'", "@ModelActor actor Importer {}")])
    }

    @Test func modelActorOnEnumIsRejected() {
        expectDiagnostic(
            "modelActorOnNonActor", "'@ModelActor' can only be attached to an actor; declare the type as 'actor'",
            in: "@ModelActor enum Importer {}")
    }
}
