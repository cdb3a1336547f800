import SwiftSyntax
import SwiftSyntaxMacros

/// `#Index`, which adds nothing itself: `@Model` reads its arguments.
enum IndexMacro: DeclarationMacro {
    static func expansion(
        of node: some FreestandingMacroExpansionSyntax, in context: some MacroExpansionContext
    ) throws -> [DeclSyntax] {
        ConstraintPlacement.check(node, in: context)
        return []
    }
}
