import SwiftSyntax
import SwiftSyntaxBuilder
import SwiftSyntaxMacros

/// `@_ModelInitializer`, which `@Model` puts on designated initialisers of a class with observed properties.
///
/// A property with an initial value is already set when the initialiser begins, so that an assignment to it goes
/// through the setter; the flag tells the setter not to run observers.
enum ModelInitializerMacro: BodyMacro {
    static func expansion(
        of node: AttributeSyntax,
        providingBodyFor declaration: some DeclSyntaxProtocol & WithOptionalCodeBlockSyntax,
        in context: some MacroExpansionContext
    ) throws -> [CodeBlockItemSyntax] {
        let written = declaration.body?.statements ?? []
        let begin: CodeBlockItemSyntax = "_isInitializing = true"
        guard declaration.as(InitializerDeclSyntax.self)?.canFail == true else {
            return [begin, "defer {\n    _isInitializing = false\n}"] + Array(written)
        }
        // A `defer` would also run where the initialiser fails, before there is an object whose flag it could reset.
        let end: CodeBlockItemSyntax = "_isInitializing = false"
        let statements = Array(ReturnRewriter(before: end).rewrite(written))
        return [begin] + statements + (statements.last?.leavesScope == true ? [] : [end])
    }
}

/// Puts a statement in front of each `return` that ends an initialiser with success.
private final class ReturnRewriter: SyntaxRewriter {
    private let statement: CodeBlockItemSyntax

    init(before statement: CodeBlockItemSyntax) {
        self.statement = statement
        super.init(viewMode: .sourceAccurate)
    }

    func rewrite(_ statements: CodeBlockItemListSyntax) -> CodeBlockItemListSyntax { visit(statements) }

    override func visit(_ node: CodeBlockItemListSyntax) -> CodeBlockItemListSyntax {
        CodeBlockItemListSyntax(
            node.flatMap { item -> [CodeBlockItemSyntax] in
                if case .stmt(let written) = item.item, let exit = written.as(ReturnStmtSyntax.self),
                    exit.expression == nil
                {
                    return [
                        statement.with(\.leadingTrivia, item.leadingTrivia).with(\.trailingTrivia, .newline),
                        item.with(\.leadingTrivia, []),
                    ]
                }
                return [rewrite(item).cast(CodeBlockItemSyntax.self)]
            })
    }

    override func visit(_ node: ClosureExprSyntax) -> ExprSyntax { ExprSyntax(node) }
    override func visit(_ node: FunctionDeclSyntax) -> DeclSyntax { DeclSyntax(node) }
    override func visit(_ node: VariableDeclSyntax) -> DeclSyntax { DeclSyntax(node) }
    override func visit(_ node: ClassDeclSyntax) -> DeclSyntax { DeclSyntax(node) }
    override func visit(_ node: StructDeclSyntax) -> DeclSyntax { DeclSyntax(node) }
    override func visit(_ node: EnumDeclSyntax) -> DeclSyntax { DeclSyntax(node) }
    override func visit(_ node: ActorDeclSyntax) -> DeclSyntax { DeclSyntax(node) }
}

extension InitializerDeclSyntax {
    fileprivate var canFail: Bool {
        optionalMark != nil || signature.effectSpecifiers?.throwsClause != nil
    }
}

extension CodeBlockItemSyntax {
    /// Whether nothing after the statement can run, as far as its own form tells.
    fileprivate var leavesScope: Bool {
        switch item {
        case .stmt(let statement):
            return statement.is(ReturnStmtSyntax.self) || statement.is(ThrowStmtSyntax.self)
        case .expr(let expression):
            let called = expression.as(FunctionCallExprSyntax.self)?.calledExpression.trimmedDescription
            return called == "fatalError" || called == "preconditionFailure"
        case .decl:
            return false
        }
    }
}
