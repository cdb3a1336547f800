import SwiftSyntax
import SwiftSyntaxBuilder
import SwiftSyntaxMacros

/// `@_ModelInitializer`, which `@Model` puts on designated initializers of a class with observed properties, and of one
/// whose properties may be given models there.
///
/// Until all properties of the class have a value, assignments go through init accessors, also those to properties that
/// have an initial value. An init accessor does not know the object, so that the other sides of relationships follow when
/// the initializer ends. Later assignments go through setters; the flag tells them not to run observers.
open class ModelInitializerMacro: BodyMacro {
    /// Wraps an initializer's body, so that values set before the superclass is initialized are kept.
    public static func expansion(
        of node: AttributeSyntax,
        providingBodyFor declaration: some DeclSyntaxProtocol & WithOptionalCodeBlockSyntax,
        in context: some MacroExpansionContext
    ) throws -> [CodeBlockItemSyntax] {
        let written = declaration.body?.statements ?? []
        let canFail = declaration.as(InitializerDeclSyntax.self)?.canFail == true
        let observes = !node.says("observes", "false")
        let begin: CodeBlockItemSyntax = "_isInitializing = true"
        let end: CodeBlockItemSyntax = "_isInitializing = false"
        let link: CodeBlockItemSyntax = "self._linkInitialValues()"
        var last: [CodeBlockItemSyntax] = []
        // A `defer` would also run where the initializer fails, before there is an object whose flag it could reset.
        if observes, canFail { last.append(end) }
        if node.says("links", "true") { last.append(link) }
        var statements = last.isEmpty ? Array(written) : Array(ReturnRewriter(before: last).rewrite(written))
        if statements.last?.leavesScope != true { statements += last }
        if !observes { return statements }
        return canFail ? [begin] + statements : [begin, "defer {\n    _isInitializing = false\n}"] + statements
    }
}

extension AttributeSyntax {
    /// Whether an argument of the attribute is written so.
    fileprivate func says(_ label: String, _ value: String) -> Bool {
        arguments?.as(LabeledExprListSyntax.self)?.contains { argument in
            argument.label?.text == label && argument.expression.trimmedDescription == value
        } == true
    }
}

/// Puts statements in front of each `return` that ends an initializer with success.
private final class ReturnRewriter: SyntaxRewriter {
    private let statements: [CodeBlockItemSyntax]

    init(before statements: [CodeBlockItemSyntax]) {
        self.statements = statements
        super.init(viewMode: .sourceAccurate)
    }

    func rewrite(_ statements: CodeBlockItemListSyntax) -> CodeBlockItemListSyntax { visit(statements) }

    override func visit(_ node: CodeBlockItemListSyntax) -> CodeBlockItemListSyntax {
        CodeBlockItemListSyntax(
            node.flatMap { item -> [CodeBlockItemSyntax] in
                if case .stmt(let written) = item.item, let exit = written.as(ReturnStmtSyntax.self),
                    exit.expression == nil
                {
                    return statements.enumerated().map { place, statement in
                        statement.with(\.leadingTrivia, place == 0 ? item.leadingTrivia : [])
                            .with(\.trailingTrivia, .newline)
                    } + [item.with(\.leadingTrivia, [])]
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
