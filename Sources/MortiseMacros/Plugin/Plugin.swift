import SwiftCompilerPlugin
import SwiftSyntaxMacros

/// The compiler plugin that expands the macros of the module `Mortise`.
@main
struct MortisePlugin: CompilerPlugin {
    let providingMacros: [any Macro.Type] = [
        ModelMacro.self,
        PersistedPropertyMacro.self,
        ModelInitializerMacro.self,
        AttributeMacro.self,
        RelationshipMacro.self,
        TransientMacro.self,
        UniqueMacro.self,
        IndexMacro.self,
        ModelActorMacro.self,
    ]
}
