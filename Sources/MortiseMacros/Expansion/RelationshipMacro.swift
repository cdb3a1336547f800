import SwiftSyntax
import SwiftSyntaxMacros

/// `@Relationship`, which adds a function that holds its arguments: the schema calls it.
struct RelationshipMacro: PeerMacro, UnformattedMacro {
    /// Adds the options of the property. Reports misuse.
    static func expansion(
        of node: AttributeSyntax,
        providingPeersOf declaration: some DeclSyntaxProtocol,
        in context: some MacroExpansionContext
    ) throws -> [DeclSyntax] {
        PropertyMarker(node: node, declaration: declaration, context: context).check()
        return PropertyOptions.peers(of: node, on: declaration, in: context)
    }
}
