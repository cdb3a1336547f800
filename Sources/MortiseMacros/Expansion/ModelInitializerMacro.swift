import SwiftSyntax
import SwiftSyntaxBuilder
import SwiftSyntaxMacros

/// `@_ModelInitializer`, which `@Model` puts on initializers and on `deinit`, where what they do with properties is not what
/// the generated accessors would do.
///
/// Swift runs no observers where an initializer or `deinit` of a class accesses its own properties directly. Such accesses
/// go to the property without observers.
///
/// What `deinit` sets, itself or by a method that it calls, would be a change that retains an object which is going.
///
/// Until all properties of a class have a value, assignments in a designated initializer go through init accessors. An init
/// accessor does not know the object, so that the other sides of relationships follow when the initializer ends.
struct ModelInitializerMacro: BodyMacro, UnformattedMacro {
    /// Rewrites the body.
    static func expansion(
        of node: AttributeSyntax,
        providingBodyFor declaration: some DeclSyntaxProtocol & WithOptionalCodeBlockSyntax,
        in context: some MacroExpansionContext
    ) throws -> [CodeBlockItemSyntax] {
        var statements = declaration.body?.statements ?? []
        let observed = node.strings(of: "observed")
        if !observed.isEmpty { statements = DirectAccess(to: observed, in: declaration).rewriter.rewrite(statements) }
        if declaration.is(DeinitializerDeclSyntax.self) {
            // In a function, because the compiler cannot type-check capture lists in what a body macro returns itself.
            return [
                "self._modelState._beginDeinit()",
                """
                func _mortiseDeinit() {
                \(statements.trimmed)
                }
                """,
                "_mortiseDeinit()",
            ]
        }
        if node.argument("links")?.trimmedDescription == "true" {
            let link: CodeBlockItemSyntax = "self._linkInitialValues()"
            let isLast = statements.last?.leavesScope != true
            statements = ReturnRewriter(before: link).rewrite(statements)
            if isLast {
                // The compiler would warn of a call that comes after one that does not return, and of `defer` as the last
                // statement.
                statements.append("defer { \(link) }")
                statements.append("do {}")
            }
        }
        return Array(CaptureListWrapper().rewrite(statements))
    }
}

/// What an initializer or `deinit` does with observed properties.
struct DirectAccess {
    let rewriter: SelfReferenceRewriter

    init(to properties: [String], in declaration: some DeclSyntaxProtocol) {
        let parameters = declaration.as(InitializerDeclSyntax.self)?.signature.parameterClause.parameters ?? []
        rewriter = SelfReferenceRewriter(
            Dictionary(properties.map { ($0, "self.\(ModelProperty.unobservedName(of: $0))") }) { first, _ in first },
            shadowing: parameters.map { ($0.secondName ?? $0.firstName).unescaped }, dividingDefer: true)
    }

    /// Whether there is anything to rewrite.
    func isNeeded(in body: CodeBlockSyntax?) -> Bool {
        guard let body else { return false }
        _ = rewriter.rewrite(body.statements)
        return rewriter.found
    }
}

extension AttributeSyntax {
    /// The texts of an array literal of string literals.
    fileprivate func strings(of label: String) -> [String] {
        let elements = argument(label)?.as(ArrayExprSyntax.self)?.elements
        return elements?.compactMap { $0.expression.literalText } ?? []
    }
}

/// Puts a statement in front of each `return` that ends an initializer with success.
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

/// Puts closures with capture lists into closures that are called at once. The compiler (up to Swift 6.3 at least) cannot
/// type-check a capture list directly in what a body macro returns: https://github.com/swiftlang/swift/issues/80050
private final class CaptureListWrapper: SyntaxRewriter {
    /// The words that calls within the expression being visited need before them.
    private var effects = ""
    /// Whether the statements being visited are the value of an `if` or `switch`.
    private var isValue = false

    func rewrite(_ statements: CodeBlockItemListSyntax) -> CodeBlockItemListSyntax { visit(statements) }

    override func visit(_ node: CodeBlockItemSyntax) -> CodeBlockItemSyntax {
        guard case .expr(let expression) = node.item else { return super.visit(node) }
        let written = rewrite(expression).cast(ExprSyntax.self)
        if written.description == expression.description { return node }
        // A call may leave its result unused where a closure may not.
        let isWrappedCall = !isValue && expression.withoutEffects.hasCaptureList
        let statement: ExprSyntax = isWrappedCall ? "_ = \(written.trimmed)" : written.trimmed
        return node.with(
            \.item,
            .expr(statement.with(\.leadingTrivia, node.leadingTrivia).with(\.trailingTrivia, node.trailingTrivia)))
    }

    override func visit(_ node: TryExprSyntax) -> ExprSyntax { visiting(node, "try ") { super.visit($0) } }
    override func visit(_ node: AwaitExprSyntax) -> ExprSyntax { visiting(node, "await ") { super.visit($0) } }

    private func visiting<Node>(_ node: Node, _ effect: String, _ body: (Node) -> ExprSyntax) -> ExprSyntax {
        let outer = effects
        effects += effect
        defer { effects = outer }
        return body(node)
    }

    override func visit(_ node: IfExprSyntax) -> ExprSyntax {
        visitingBranches(of: node) { super.visit($0) }
    }

    override func visit(_ node: SwitchExprSyntax) -> ExprSyntax {
        visitingBranches(of: node) { super.visit($0) }
    }

    private func visitingBranches<Node: ExprSyntaxProtocol>(of node: Node, _ body: (Node) -> ExprSyntax) -> ExprSyntax {
        let outer = isValue
        if node.parent?.is(ExpressionStmtSyntax.self) == false, node.parent?.is(IfExprSyntax.self) == false {
            isValue = true
        }
        defer { isValue = outer }
        return body(node)
    }

    // The outermost call or member is what is wrapped: an optional chain ends where its expression does.
    override func visit(_ node: FunctionCallExprSyntax) -> ExprSyntax {
        let called = node.calledExpression.trimmedDescription
        // An initializer cannot be called within a closure.
        return called == "super.init" || called == "self.init" ? super.visit(node) : wrapped(node) ?? super.visit(node)
    }

    override func visit(_ node: MemberAccessExprSyntax) -> ExprSyntax { wrapped(node) ?? super.visit(node) }
    override func visit(_ node: SubscriptCallExprSyntax) -> ExprSyntax { wrapped(node) ?? super.visit(node) }
    override func visit(_ node: ForceUnwrapExprSyntax) -> ExprSyntax { wrapped(node) ?? super.visit(node) }

    private func wrapped(_ node: some ExprSyntaxProtocol) -> ExprSyntax? {
        guard ExprSyntax(node).hasCaptureList else { return nil }
        let called: ExprSyntax = "({ \(raw: effects)\(node.trimmed) })()"
        return called.with(\.leadingTrivia, node.leadingTrivia).with(\.trailingTrivia, node.trailingTrivia)
    }

    override func visit(_ node: ClosureExprSyntax) -> ExprSyntax {
        guard node.signature?.capture != nil else { return ExprSyntax(node) }
        let called: ExprSyntax = "{ \(node.trimmed) }()"
        return called.with(\.leadingTrivia, node.leadingTrivia).with(\.trailingTrivia, node.trailingTrivia)
    }

    override func visit(_ node: FunctionDeclSyntax) -> DeclSyntax { DeclSyntax(node) }
    override func visit(_ node: AccessorBlockSyntax) -> AccessorBlockSyntax { node }
    override func visit(_ node: ClassDeclSyntax) -> DeclSyntax { DeclSyntax(node) }
    override func visit(_ node: StructDeclSyntax) -> DeclSyntax { DeclSyntax(node) }
    override func visit(_ node: EnumDeclSyntax) -> DeclSyntax { DeclSyntax(node) }
    override func visit(_ node: ActorDeclSyntax) -> DeclSyntax { DeclSyntax(node) }
}

extension ExprSyntax {
    /// Whether a call in a chain of calls and members is given a closure with a capture list.
    fileprivate var hasCaptureList: Bool {
        if let call = self.as(FunctionCallExprSyntax.self) {
            let closures =
                call.arguments.compactMap { $0.expression.as(ClosureExprSyntax.self) }
                + [call.trailingClosure].compactMap { $0 } + call.additionalTrailingClosures.map(\.closure)
            return closures.contains { $0.signature?.capture != nil } || call.calledExpression.hasCaptureList
        }
        if let member = self.as(MemberAccessExprSyntax.self) { return member.base?.hasCaptureList == true }
        if let chain = self.as(OptionalChainingExprSyntax.self) { return chain.expression.hasCaptureList }
        if let forced = self.as(ForceUnwrapExprSyntax.self) { return forced.expression.hasCaptureList }
        return self.as(SubscriptCallExprSyntax.self)?.calledExpression.hasCaptureList == true
    }

    /// The expression without `try` and `await`.
    var withoutEffects: ExprSyntax {
        if let marked = self.as(TryExprSyntax.self) { return marked.expression.withoutEffects }
        if let marked = self.as(AwaitExprSyntax.self) { return marked.expression.withoutEffects }
        return self
    }
}

extension CodeBlockItemListSyntax {
    fileprivate var leavesScope: Bool { last?.leavesScope == true }
}

extension CodeBlockItemSyntax {
    var isFallthrough: Bool {
        guard case .stmt(let statement) = item else { return false }
        return statement.is(FallThroughStmtSyntax.self)
    }

    /// Whether nothing after the statement can run, as far as its own form tells: the compiler would warn of what is
    /// added there.
    fileprivate var leavesScope: Bool {
        switch item {
        case .stmt(let statement):
            if statement.is(ReturnStmtSyntax.self) || statement.is(ThrowStmtSyntax.self) { return true }
            if let block = statement.as(DoStmtSyntax.self) {
                return block.body.statements.leavesScope && block.catchClauses.allSatisfy(\.body.statements.leavesScope)
            }
            if let loop = statement.as(WhileStmtSyntax.self) { return loop.isEndless }
            if let loop = statement.as(RepeatStmtSyntax.self) {
                return loop.condition.trimmedDescription == "true" && !loop.body.hasBreak
            }
            return statement.as(ExpressionStmtSyntax.self)?.expression.leavesScope == true
        case .expr(let expression):
            return expression.leavesScope
        case .decl(let declaration):
            return declaration.as(IfConfigDeclSyntax.self)?.leavesScope == true
        }
    }
}

extension ExprSyntax {
    fileprivate var leavesScope: Bool {
        if let branch = self.as(IfExprSyntax.self) { return branch.leavesScope }
        if let choice = self.as(SwitchExprSyntax.self) {
            return choice.cases.allSatisfy { element in
                guard case .switchCase(let chosen) = element else { return false }
                return chosen.statements.leavesScope || chosen.statements.last?.isFallthrough == true
            }
        }
        let called = self.as(FunctionCallExprSyntax.self)?.calledExpression.trimmedDescription
        return ["fatalError", "preconditionFailure", "Swift.fatalError", "Swift.preconditionFailure"].contains(called)
    }
}

extension IfExprSyntax {
    fileprivate var leavesScope: Bool {
        switch elseBody {
        case .ifExpr(let next): body.statements.leavesScope && next.leavesScope
        case .codeBlock(let block): body.statements.leavesScope && block.statements.leavesScope
        case nil: false
        }
    }
}

extension IfConfigDeclSyntax {
    fileprivate var leavesScope: Bool {
        clauses.last?.poundKeyword.tokenKind == .poundElse
            && clauses.allSatisfy { clause in
                if case .statements(let statements) = clause.elements { statements.leavesScope } else { false }
            }
    }
}

extension WhileStmtSyntax {
    fileprivate var isEndless: Bool { conditions.trimmedDescription == "true" && !body.hasBreak }
}

extension CodeBlockSyntax {
    /// Whether a `break` may leave the loop whose body this is.
    fileprivate var hasBreak: Bool { tokens(viewMode: .sourceAccurate).contains { $0.tokenKind == .keyword(.break) } }
}
