import SwiftSyntax
import SwiftSyntaxBuilder

/// Replaces references to properties by expressions that run no observers, where Swift accesses a property's storage
/// directly: in the property's own observers, in initializers and in `deinit`.
///
/// As Swift does, the rewriter leaves closures, local functions and other objects alone, and a local variable of the same
/// name hides the property.
final class SelfReferenceRewriter: SyntaxRewriter {
    /// Whether the body refers to one of the properties.
    private(set) var found = false
    /// Whether a local function refers to one of them through `model`.
    private(set) var usesModel = false

    private let replacements: [String: ExprSyntax]
    private var shadowed: Set<String>
    private let model: String?
    private let divides: Bool

    /// - Parameters:
    ///   - replacements: the expression for each property, by the property's name.
    ///   - parameters: the names that hide a property from the start.
    ///   - model: a constant that holds `self`, for local functions. In them the setter would warn of its own property.
    ///   - dividingDefer: whether `defer` is rewritten for the Swift 6 mode only: in the modes before, Swift runs observers
    ///     there.
    init(
        _ replacements: [String: String], shadowing parameters: some Sequence<String>, model: String? = nil,
        dividingDefer: Bool = false
    ) {
        self.replacements = replacements.mapValues { "\(raw: $0)" }
        shadowed = Set(parameters)
        self.model = model
        divides = dividingDefer
        super.init(viewMode: .sourceAccurate)
    }

    func rewrite(_ statements: CodeBlockItemListSyntax) -> CodeBlockItemListSyntax {
        visit(statements)
    }

    override func visit(_ node: CodeBlockItemListSyntax) -> CodeBlockItemListSyntax {
        let outer = shadowed
        defer { shadowed = outer }
        return CodeBlockItemListSyntax(
            node.map { item in
                let rewritten = rewrite(item).cast(CodeBlockItemSyntax.self)
                // A binding hides the property from the next statement on, a `guard` binding likewise.
                shadowed.formUnion(declaredNames(of: item))
                return rewritten
            })
    }

    override func visit(_ node: DeclReferenceExprSyntax) -> ExprSyntax {
        guard node.argumentNames == nil, !shadowed.contains(node.baseName.unescaped) else { return ExprSyntax(node) }
        return replaced(node, node.baseName) ?? ExprSyntax(node)
    }

    override func visit(_ node: MemberAccessExprSyntax) -> ExprSyntax {
        guard let base = node.base else { return ExprSyntax(node) }
        if base.trimmedDescription == "self" {
            return replaced(node, node.declName.baseName) ?? ExprSyntax(node)
        }
        // Only the base: the name after the dot belongs to another type.
        return ExprSyntax(node.with(\.base, rewrite(base).cast(ExprSyntax.self)))
    }

    override func visit(_ node: DeferStmtSyntax) -> StmtSyntax {
        guard divides else { return super.visit(node) }
        let known = found
        found = false
        defer { found = found || known }
        let rewritten = visit(node.body.statements)
        guard found else { return StmtSyntax(node) }
        return """
            defer {
            #if swift(>=6)
            \(rewritten.trimmed)
            #else
            \(node.body.statements.trimmed)
            #endif
            }
            """
    }

    override func visit(_ node: IfExprSyntax) -> ExprSyntax {
        let outer = shadowed
        var node = node
        node.conditions = visit(node.conditions)
        node.body = visit(node.body)
        shadowed = outer
        switch node.elseBody {
        case .ifExpr(let next): node.elseBody = rewrite(next).as(IfExprSyntax.self).map { .ifExpr($0) }
        case .codeBlock(let block): node.elseBody = .codeBlock(visit(block))
        case nil: break
        }
        return ExprSyntax(node)
    }

    override func visit(_ node: WhileStmtSyntax) -> StmtSyntax {
        let outer = shadowed
        defer { shadowed = outer }
        var node = node
        node.conditions = visit(node.conditions)
        node.body = visit(node.body)
        return StmtSyntax(node)
    }

    override func visit(_ node: GuardStmtSyntax) -> StmtSyntax {
        let outer = shadowed
        defer { shadowed = outer }
        var node = node
        node.conditions = visit(node.conditions)
        shadowed = outer
        node.body = visit(node.body)
        return StmtSyntax(node)
    }

    /// A condition's binding hides the property in the conditions after it and in the statement's body; the visit of
    /// the statement ends that.
    override func visit(_ node: ConditionElementListSyntax) -> ConditionElementListSyntax {
        ConditionElementListSyntax(
            node.map { condition in
                let rewritten = rewrite(condition).cast(ConditionElementSyntax.self)
                shadowed.formUnion(boundNames(in: condition))
                return rewritten
            })
    }

    override func visit(_ node: ForStmtSyntax) -> StmtSyntax {
        var node = node
        node.sequence = rewrite(node.sequence).cast(ExprSyntax.self)
        let names = boundNames(in: node.pattern)
        node.whereClause = node.whereClause.map { clause in hiding(names) { visit(clause) } }
        node.body = hiding(names) { visit(node.body) }
        return StmtSyntax(node)
    }

    override func visit(_ node: SwitchCaseSyntax) -> SwitchCaseSyntax {
        var node = node
        node.statements = hiding(boundNames(in: node.label)) { visit(node.statements) }
        return node
    }

    override func visit(_ node: CatchClauseSyntax) -> CatchClauseSyntax {
        var node = node
        let names = node.catchItems.isEmpty ? ["error"] : node.catchItems.flatMap { boundNames(in: $0) }
        node.body = hiding(names) { visit(node.body) }
        return node
    }

    override func visit(_ node: FunctionDeclSyntax) -> DeclSyntax {
        guard let model, node.modifiers.isEmpty else { return DeclSyntax(node) }
        // Not direct, so that the observers run; but not by the name that the compiler warns of either.
        let names = node.signature.parameterClause.parameters.map { ($0.secondName ?? $0.firstName).unescaped }
        let inner = SelfReferenceRewriter(
            Dictionary(uniqueKeysWithValues: replacements.keys.map { ($0, "\(model).\($0)") }),
            shadowing: shadowed.union(names), model: model)
        guard let body = node.body else { return DeclSyntax(node) }
        let rewritten = body.with(\.statements, inner.rewrite(body.statements))
        guard inner.found || inner.usesModel else { return DeclSyntax(node) }
        usesModel = true
        return DeclSyntax(node.with(\.body, rewritten))
    }

    override func visit(_ node: ClosureExprSyntax) -> ExprSyntax { ExprSyntax(node) }
    override func visit(_ node: ClassDeclSyntax) -> DeclSyntax { DeclSyntax(node) }
    override func visit(_ node: StructDeclSyntax) -> DeclSyntax { DeclSyntax(node) }
    override func visit(_ node: EnumDeclSyntax) -> DeclSyntax { DeclSyntax(node) }
    override func visit(_ node: ActorDeclSyntax) -> DeclSyntax { DeclSyntax(node) }
    override func visit(_ node: KeyPathExprSyntax) -> ExprSyntax { ExprSyntax(node) }

    private func replaced(_ node: some ExprSyntaxProtocol, _ name: TokenSyntax) -> ExprSyntax? {
        guard let replacement = replacements[name.unescaped] else { return nil }
        found = true
        return replacement.with(\.leadingTrivia, node.leadingTrivia).with(\.trailingTrivia, node.trailingTrivia)
    }

    private func hiding<Result>(_ names: [String], _ body: () -> Result) -> Result {
        let outer = shadowed
        defer { shadowed = outer }
        shadowed.formUnion(names)
        return body()
    }

    /// The names that `item` declares for the statements after it.
    private func declaredNames(of item: CodeBlockItemSyntax) -> [String] {
        switch item.item {
        case .decl(let declaration):
            if let variable = declaration.as(VariableDeclSyntax.self) {
                return variable.bindings.flatMap { boundNames(in: $0.pattern) }
            }
            return declaration.as(FunctionDeclSyntax.self).map { [$0.name.unescaped] } ?? []
        case .stmt(let statement):
            return statement.as(GuardStmtSyntax.self)?.conditions.flatMap { boundNames(in: $0) } ?? []
        case .expr:
            return []
        }
    }

    /// The names that patterns anywhere in `node` bind.
    private func boundNames(in node: some SyntaxProtocol) -> [String] {
        if let pattern = node.as(IdentifierPatternSyntax.self) { return [pattern.identifier.unescaped] }
        if node.is(ClosureExprSyntax.self) || node.is(CodeBlockSyntax.self) { return [] }
        return node.children(viewMode: .sourceAccurate).flatMap { boundNames(in: $0) }
    }
}
