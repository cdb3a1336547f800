import SwiftSyntax
import SwiftSyntaxMacros

/// `@Transient`, which adds nothing itself: `@Model` leaves the property alone.
struct TransientMacro: PeerMacro, UnformattedMacro {
    /// Expands to nothing; `@Model` leaves the property alone. Reports misuse.
    static func expansion(
        of node: AttributeSyntax,
        providingPeersOf declaration: some DeclSyntaxProtocol,
        in context: some MacroExpansionContext
    ) throws -> [DeclSyntax] {
        PropertyMarker(node: node, declaration: declaration, context: context).check()
        return []
    }
}
