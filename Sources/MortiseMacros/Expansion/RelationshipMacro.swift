import SwiftSyntax
import SwiftSyntaxMacros

/// `@Relationship`, which adds nothing itself: `@Model` reads its arguments.
open class RelationshipMacro: PeerMacro {
    /// Expands to nothing; `@Model` reads the declaration. Reports misuse.
    public static func expansion(
        of node: AttributeSyntax,
        providingPeersOf declaration: some DeclSyntaxProtocol,
        in context: some MacroExpansionContext
    ) throws -> [DeclSyntax] {
        PropertyMarker(node: node, declaration: declaration, context: context).check()
        return []
    }
}
