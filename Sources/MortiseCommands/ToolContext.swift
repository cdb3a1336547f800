#if Tool
import MortiseCore

/// What the verbs of one run have in common.
struct ToolContext: @unchecked Sendable {
    // @unchecked: made for one run and used by the thread that runs it only.

    @TaskLocal private static var bound: ToolContext?

    let registry: StoreRegistry
    let settings: ToolSettings
    /// The schema of the models in the tool; nil for a tool without models.
    let models: StoredSchema?
    /// The migration plan in the tool, and the schema that it leads to; nil for a tool without one.
    let plan: (schema: Schema, plan: any SchemaMigrationPlan.Type)?
    let output: Output
    let errors: Output
    /// What `mortise serve` starts; nil for a tool without it.
    var server: ToolServer? = nil

    /// The context of the run that is going on.
    static var current: ToolContext {
        bound
            ?? ToolContext(
                registry: StoreRegistry(), settings: ToolSettings(), models: nil, plan: nil, output: Output(1),
                errors: Output(2))
    }

    func whileCurrent<R>(_ body: () throws -> R) rethrows -> R {
        try Self.$bound.withValue(self, operation: body)
    }
}
#endif
