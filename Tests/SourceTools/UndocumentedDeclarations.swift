import SwiftParser
import SwiftSyntax

/// Finds the public declarations in a source file that have no doc comment, with their line numbers.
///
/// The formatter has such a rule too, but it does not look at what is public without saying so: the cases of a public
/// enum, and the requirements of a public protocol.
final class UndocumentedDeclarations: SyntaxVisitor {
    /// As `12: case first`, in the order of the source.
    private(set) var found: [String] = []
    private let converter: SourceLocationConverter

    init(in source: String) {
        let tree = Parser.parse(source: source)
        converter = SourceLocationConverter(fileName: "", tree: tree)
        super.init(viewMode: .sourceAccurate)
        walk(tree)
    }

    // The bodies of functions declare nothing that is public.
    override func visit(_ node: CodeBlockSyntax) -> SyntaxVisitorContinueKind { .skipChildren }
    override func visit(_ node: AccessorBlockSyntax) -> SyntaxVisitorContinueKind { .skipChildren }

    override func visit(_ node: ProtocolDeclSyntax) -> SyntaxVisitorContinueKind { check(node, node.modifiers) }
    override func visit(_ node: EnumDeclSyntax) -> SyntaxVisitorContinueKind { check(node, node.modifiers) }
    override func visit(_ node: StructDeclSyntax) -> SyntaxVisitorContinueKind { check(node, node.modifiers) }
    override func visit(_ node: ClassDeclSyntax) -> SyntaxVisitorContinueKind { check(node, node.modifiers) }
    override func visit(_ node: ActorDeclSyntax) -> SyntaxVisitorContinueKind { check(node, node.modifiers) }
    override func visit(_ node: MacroDeclSyntax) -> SyntaxVisitorContinueKind { check(node, node.modifiers) }
    override func visit(_ node: EnumCaseDeclSyntax) -> SyntaxVisitorContinueKind { check(node, node.modifiers) }
    override func visit(_ node: AssociatedTypeDeclSyntax) -> SyntaxVisitorContinueKind { check(node, node.modifiers) }
    override func visit(_ node: TypeAliasDeclSyntax) -> SyntaxVisitorContinueKind { check(node, node.modifiers) }
    override func visit(_ node: VariableDeclSyntax) -> SyntaxVisitorContinueKind { check(node, node.modifiers) }
    override func visit(_ node: FunctionDeclSyntax) -> SyntaxVisitorContinueKind { check(node, node.modifiers) }
    override func visit(_ node: InitializerDeclSyntax) -> SyntaxVisitorContinueKind { check(node, node.modifiers) }
    override func visit(_ node: SubscriptDeclSyntax) -> SyntaxVisitorContinueKind { check(node, node.modifiers) }

    private func check(_ node: some DeclSyntaxProtocol, _ modifiers: DeclModifierListSyntax)
        -> SyntaxVisitorContinueKind
    {
        let isOverride = modifiers.contains { $0.name.tokenKind == .keyword(.override) }
        if isPublic(node, modifiers), !isOverride, !isDocumented(node) {
            let line = converter.location(for: node.positionAfterSkippingLeadingTrivia).line
            let text = node.trimmedDescription.split(separator: "\n", maxSplits: 1).first ?? ""
            found.append("\(line): \(text)")
        }
        return .visitChildren
    }

    private func isPublic(_ node: some DeclSyntaxProtocol, _ modifiers: DeclModifierListSyntax) -> Bool {
        if isPublic(modifiers) { return true }
        // A case is as visible as its enum, a requirement as its protocol.
        var parent = node.parent
        while let here = parent {
            if let type = here.as(EnumDeclSyntax.self) {
                return node.is(EnumCaseDeclSyntax.self) && isPublic(type.modifiers)
            }
            if let type = here.as(ProtocolDeclSyntax.self) { return isPublic(type.modifiers) }
            if here.isProtocol((any DeclGroupSyntax).self) { return false }
            parent = here.parent
        }
        return false
    }

    private func isPublic(_ modifiers: DeclModifierListSyntax) -> Bool {
        // `public private(set)` is public; `public(set)` does not exist.
        modifiers.contains { $0.name.tokenKind == .keyword(.public) || $0.name.tokenKind == .keyword(.open) }
    }

    private func isDocumented(_ node: some DeclSyntaxProtocol) -> Bool {
        node.leadingTrivia.contains { piece in
            switch piece {
            case .docLineComment(let text): text.dropFirst(3).contains { !$0.isWhitespace }
            case .docBlockComment: true
            default: false
            }
        }
    }
}
