import SwiftSyntax

/// Whether an initializer surely leaves out a property that it has to set. The compiler says so, and would say more of
/// whatever is added to the initializer.
///
/// What only the compiler can tell counts as set: a wrong yes would leave models unlinked, a wrong no is one more error.
struct ForgottenProperties {
    private let required: Set<String>
    private let body: CodeBlockSyntax

    /// Nil for an initializer without a body.
    init?(of model: ModelDeclaration, in initializer: InitializerDeclSyntax) {
        guard let body = initializer.body else { return nil }
        self.body = body
        required = Set(
            model.properties.filter { !$0.declaration.hasInitialValue($0.binding) }.map(\.name))
    }

    var areCertain: Bool {
        if required.isEmpty { return false }
        if !required.isSubset(of: body.names) { return true }
        if let atEnd = body.statements.namesAtEnd, !required.isSubset(of: atEnd) { return true }
        let exits = ReturnFinder(viewMode: .sourceAccurate)
        exits.walk(body.statements)
        return exits.places.contains { place in
            let before = body.tokens(viewMode: .sourceAccurate).prefix { $0.position < place }
            return !required.isSubset(of: Set(before.map(\.unescaped)))
        }
    }
}

/// The places of each `return` with which an initializer succeeds.
private final class ReturnFinder: SyntaxVisitor {
    private(set) var places: [AbsolutePosition] = []

    override func visit(_ node: ReturnStmtSyntax) -> SyntaxVisitorContinueKind {
        if node.expression == nil { places.append(node.position) }
        return .skipChildren
    }

    override func visit(_ node: ClosureExprSyntax) -> SyntaxVisitorContinueKind { .skipChildren }
    override func visit(_ node: FunctionDeclSyntax) -> SyntaxVisitorContinueKind { .skipChildren }
    override func visit(_ node: AccessorBlockSyntax) -> SyntaxVisitorContinueKind { .skipChildren }
    override func visit(_ node: ClassDeclSyntax) -> SyntaxVisitorContinueKind { .skipChildren }
    override func visit(_ node: StructDeclSyntax) -> SyntaxVisitorContinueKind { .skipChildren }
    override func visit(_ node: EnumDeclSyntax) -> SyntaxVisitorContinueKind { .skipChildren }
}

extension SyntaxProtocol {
    /// All identifiers in the node.
    fileprivate var names: Set<String> { Set(tokens(viewMode: .sourceAccurate).map(\.unescaped)) }
}

extension CodeBlockItemListSyntax {
    /// The names that may have been set on all ways to the end of the statements; nil if there may be no such way.
    fileprivate var namesAtEnd: Set<String>? {
        var names: Set<String> = []
        for item in self {
            guard let own = item.namesAtEnd else { return nil }
            names.formUnion(own)
        }
        return last?.mayLeave == true ? nil : names
    }
}

extension CodeBlockItemSyntax {
    fileprivate var namesAtEnd: Set<String>? {
        switch item {
        case .stmt(let statement):
            if let branch = statement.as(ExpressionStmtSyntax.self) { return branch.expression.namesAtEnd }
            if let loop = statement.as(ForStmtSyntax.self) { return loop.sequence.names }
            if let loop = statement.as(WhileStmtSyntax.self), loop.conditions.trimmedDescription != "true" {
                return loop.conditions.names
            }
            let leaves = statement.is(ReturnStmtSyntax.self) || statement.is(ThrowStmtSyntax.self)
            return leaves || statement.is(WhileStmtSyntax.self) ? nil : names
        case .expr(let expression): return expression.namesAtEnd
        case .decl: return names
        }
    }

    /// Whether control may not get past the statement: a call that does not return looks like any other expression.
    fileprivate var mayLeave: Bool {
        switch item {
        case .expr(let expression): !expression.isAssignment
        case .stmt(let statement):
            ![.expressionStmt, .forStmt, .whileStmt, .guardStmt, .breakStmt].contains(statement.kind)
        case .decl: true
        }
    }
}

extension ExprSyntax {
    /// Whether a value is set, which no call has that does not return.
    fileprivate var isAssignment: Bool {
        guard let parts = self.as(SequenceExprSyntax.self)?.elements, let target = parts.first else { return false }
        return !target.is(DiscardAssignmentExprSyntax.self) && parts.contains { $0.is(AssignmentExprSyntax.self) }
    }
}

extension ExprSyntax {
    fileprivate var namesAtEnd: Set<String>? {
        if let branch = self.as(IfExprSyntax.self) { return branch.namesAtEnd }
        if let choice = self.as(SwitchExprSyntax.self) { return choice.namesAtEnd }
        return names
    }
}

extension IfExprSyntax {
    fileprivate var namesAtEnd: Set<String>? {
        // The compiler knows that.
        if Bool(conditions.trimmedDescription) != nil { return names }
        let rest: Set<String>?
        switch elseBody {
        case .ifExpr(let next): rest = next.namesAtEnd
        case .codeBlock(let block): rest = block.statements.namesAtEnd
        case nil: rest = []
        }
        return [body.statements.namesAtEnd, rest].inAll.map { $0.union(conditions.names) }
    }
}

extension SwitchExprSyntax {
    fileprivate var namesAtEnd: Set<String>? {
        let ends = cases.map { element -> Set<String>? in
            guard case .switchCase(let chosen) = element, chosen.statements.last?.isFallthrough != true
            else { return nil }
            // `break` may leave the case anywhere.
            return chosen.statements.namesAtEnd
        }
        return ends.inAll.map { $0.union(subject.names) }
    }
}

extension [Set<String>?] {
    /// What is in all ways that go on; nil if none does.
    fileprivate var inAll: Set<String>? {
        let ends = compactMap(\.self)
        return ends.dropFirst().reduce(ends.first) { $0?.intersection($1) }
    }
}
