import SwiftSyntax
import SwiftSyntaxMacros

/// `#Unique`, which adds nothing itself: `@Model` reads its arguments.
struct UniqueMacro: DeclarationMacro, UnformattedMacro {
    /// Expands to nothing; `@Model` reads the declaration. Reports misuse.
    static func expansion(
        of node: some FreestandingMacroExpansionSyntax, in context: some MacroExpansionContext
    ) throws -> [DeclSyntax] {
        ConstraintPlacement.check(node, in: context)
        return []
    }
}
