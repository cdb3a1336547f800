import MortiseMacroExpansion
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

// The compiler looks for each macro by the name of this module, so the plugin needs a type of its own for each. The work
// is in a library, because tests that depend on a macro target make SwiftPM build everything they use a second time.
final class ModelMacro: MortiseMacroExpansion.ModelMacro {}
final class PersistedPropertyMacro: MortiseMacroExpansion.PersistedPropertyMacro {}
final class ModelInitializerMacro: MortiseMacroExpansion.ModelInitializerMacro {}
final class AttributeMacro: MortiseMacroExpansion.AttributeMacro {}
final class RelationshipMacro: MortiseMacroExpansion.RelationshipMacro {}
final class TransientMacro: MortiseMacroExpansion.TransientMacro {}
final class UniqueMacro: MortiseMacroExpansion.UniqueMacro {}
final class IndexMacro: MortiseMacroExpansion.IndexMacro {}
final class ModelActorMacro: MortiseMacroExpansion.ModelActorMacro {}
