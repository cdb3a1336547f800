import Testing

/// What `@ModelActor` adds to an actor.
struct ModelActorExpansionTests {
    @Test func actorGetsExecutorContainerAndInitializer() {
        expectExpansion(
            #"""
            @ModelActor
            public actor Importer {
            }
            """#,
            #"""

            public actor Importer {

                public nonisolated let modelExecutor: any MortiseCore.ModelExecutor

                public nonisolated let modelContainer: MortiseCore.ModelContainer

                public init(modelContainer: MortiseCore.ModelContainer) {
                    let modelContext = MortiseCore.ModelContext(modelContainer)
                    self.modelExecutor = MortiseCore.DefaultSerialModelExecutor(modelContext: modelContext)
                    self.modelContainer = modelContainer
                }
            }

            extension Importer: MortiseCore.ModelActor {
            }
            """#)
    }

    @Test func ownContainerInitializerStays() {
        expectExpansion(
            #"""
            @ModelActor
            actor Importer {
                let batch: Int
                init(modelContainer: ModelContainer) {
                    batch = 5
                    modelExecutor = make(modelContainer)
                    self.modelContainer = modelContainer
                }
            }
            """#,
            #"""

            actor Importer {
                let batch: Int
                init(modelContainer: ModelContainer) {
                    batch = 5
                    modelExecutor = make(modelContainer)
                    self.modelContainer = modelContainer
                }

                nonisolated let modelExecutor: any MortiseCore.ModelExecutor

                nonisolated let modelContainer: MortiseCore.ModelContainer
            }

            extension Importer: MortiseCore.ModelActor {
            }
            """#)
    }
}

/// What an actor cannot leave to `@ModelActor`.
struct ModelActorDiagnosticsTests {
    @Test func propertiesWithoutAValueNeedAnInitializer() {
        expectDiagnostic(
            "modelActorWithoutInitializer",
            "'@ModelActor' requires an initializer, because some properties have no initial value; write one that sets them, "
                + "'modelContainer' and 'modelExecutor'", on: "Importer",
            in: "@ModelActor actor Importer {\n    let limit: Int\n}",
            fixes: [
                (
                    "add an initializer",
                    """
                    @ModelActor actor Importer {
                        let limit: Int

                        init(modelContainer: ModelContainer, limit: Int) {
                            self.limit = limit
                            self.modelContainer = modelContainer
                            self.modelExecutor = DefaultSerialModelExecutor(modelContext: ModelContext(modelContainer))
                        }
                    }
                    """
                )
            ])
    }
}
