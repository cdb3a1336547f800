import SwiftSyntax
import SwiftSyntaxBuilder

/// Replaces references to a property in the body of its own observer by an expression that runs no observers.
///
/// Swift lets an observer of `x` write `x` and `self.x` directly. As Swift does, the rewriter leaves closures, local
/// functions and other objects alone, and a local variable of the same name hides the property.
final class SelfReferenceRewriter: SyntaxRewriter {
    /// Whether the body refers to the property.
    private(set) var found = false

    private let property: String
    private let replacement: ExprSyntax
    private var isShadowed: Bool

    init(property: String, replacement: String, shadowing parameters: [String]) {
        self.property = property
        self.replacement = "\(raw: replacement)"
        isShadowed = parameters.contains(property)
        super.init(viewMode: .sourceAccurate)
    }

    func rewrite(_ statements: CodeBlockItemListSyntax) -> CodeBlockItemListSyntax {
        visit(statements)
    }

    override func visit(_ node: CodeBlockItemListSyntax) -> CodeBlockItemListSyntax {
        let outer = isShadowed
        defer { isShadowed = outer }
        return CodeBlockItemListSyntax(
            node.map { item in
                let rewritten = rewrite(item).cast(CodeBlockItemSyntax.self)
                // A binding hides the property from the next statement on, a `guard` binding likewise.
                if declares(item) { isShadowed = true }
                return rewritten
            })
    }

    override func visit(_ node: DeclReferenceExprSyntax) -> ExprSyntax {
        guard node.baseName.unescaped == property, node.argumentNames == nil, !isShadowed else {
            return ExprSyntax(node)
        }
        return replaced(node)
    }

    override func visit(_ node: MemberAccessExprSyntax) -> ExprSyntax {
        if node.base?.trimmedDescription == "self" {
            guard node.declName.baseName.unescaped == property else { return ExprSyntax(node) }
            return replaced(node)
        }
        guard let base = node.base else { return ExprSyntax(node) }
        // Only the base: the name after the dot belongs to another type.
        return ExprSyntax(node.with(\.base, rewrite(base).cast(ExprSyntax.self)))
    }

    override func visit(_ node: IfExprSyntax) -> ExprSyntax {
        let outer = isShadowed
        var node = node
        node.conditions = visit(node.conditions)
        node.body = visit(node.body)
        isShadowed = outer
        switch node.elseBody {
        case .ifExpr(let next): node.elseBody = rewrite(next).as(IfExprSyntax.self).map { .ifExpr($0) }
        case .codeBlock(let block): node.elseBody = .codeBlock(visit(block))
        case nil: break
        }
        return ExprSyntax(node)
    }

    override func visit(_ node: WhileStmtSyntax) -> StmtSyntax {
        let outer = isShadowed
        defer { isShadowed = outer }
        var node = node
        node.conditions = visit(node.conditions)
        node.body = visit(node.body)
        return StmtSyntax(node)
    }

    override func visit(_ node: GuardStmtSyntax) -> StmtSyntax {
        let outer = isShadowed
        defer { isShadowed = outer }
        var node = node
        node.conditions = visit(node.conditions)
        isShadowed = outer
        node.body = visit(node.body)
        return StmtSyntax(node)
    }

    /// A condition's binding hides the property in the conditions after it and in the statement's body; the visit of
    /// the statement ends that.
    override func visit(_ node: ConditionElementListSyntax) -> ConditionElementListSyntax {
        ConditionElementListSyntax(
            node.map { condition in
                let rewritten = rewrite(condition).cast(ConditionElementSyntax.self)
                if binds(condition) { isShadowed = true }
                return rewritten
            })
    }

    override func visit(_ node: ForStmtSyntax) -> StmtSyntax {
        var node = node
        node.sequence = rewrite(node.sequence).cast(ExprSyntax.self)
        let hides = binds(node.pattern)
        node.whereClause = node.whereClause.map { clause in hiding(hides) { visit(clause) } }
        node.body = hiding(hides) { visit(node.body) }
        return StmtSyntax(node)
    }

    override func visit(_ node: SwitchCaseSyntax) -> SwitchCaseSyntax {
        var node = node
        let hides = binds(node.label)
        node.statements = hiding(hides) { visit(node.statements) }
        return node
    }

    override func visit(_ node: CatchClauseSyntax) -> CatchClauseSyntax {
        var node = node
        let hides = node.catchItems.contains { binds($0) } || (node.catchItems.isEmpty && property == "error")
        node.body = hiding(hides) { visit(node.body) }
        return node
    }

    override func visit(_ node: ClosureExprSyntax) -> ExprSyntax { ExprSyntax(node) }
    override func visit(_ node: FunctionDeclSyntax) -> DeclSyntax { DeclSyntax(node) }
    override func visit(_ node: ClassDeclSyntax) -> DeclSyntax { DeclSyntax(node) }
    override func visit(_ node: StructDeclSyntax) -> DeclSyntax { DeclSyntax(node) }
    override func visit(_ node: EnumDeclSyntax) -> DeclSyntax { DeclSyntax(node) }
    override func visit(_ node: KeyPathExprSyntax) -> ExprSyntax { ExprSyntax(node) }

    private func replaced(_ node: some ExprSyntaxProtocol) -> ExprSyntax {
        found = true
        return replacement.with(\.leadingTrivia, node.leadingTrivia).with(\.trailingTrivia, node.trailingTrivia)
    }

    private func hiding<Result>(_ hides: Bool, _ body: () -> Result) -> Result {
        let outer = isShadowed
        defer { isShadowed = outer }
        isShadowed = outer || hides
        return body()
    }

    /// Whether `item` declares the name for the statements after it.
    private func declares(_ item: CodeBlockItemSyntax) -> Bool {
        switch item.item {
        case .decl(let declaration):
            if let variable = declaration.as(VariableDeclSyntax.self) {
                return variable.bindings.contains { binds($0.pattern) }
            }
            return declaration.as(FunctionDeclSyntax.self)?.name.unescaped == property
        case .stmt(let statement):
            return statement.as(GuardStmtSyntax.self)?.conditions.contains { binds($0) } ?? false
        case .expr:
            return false
        }
    }

    /// Whether a pattern anywhere in `node` binds the name.
    private func binds(_ node: some SyntaxProtocol) -> Bool {
        if let pattern = node.as(IdentifierPatternSyntax.self) { return pattern.identifier.unescaped == property }
        if node.is(ClosureExprSyntax.self) || node.is(CodeBlockSyntax.self) { return false }
        return node.children(viewMode: .sourceAccurate).contains { binds($0) }
    }
}
