import SwiftDiagnostics
import SwiftSyntax
import SwiftSyntaxMacros

/// A diagnostic of a macro: what is wrong and what to write instead.
///
/// `id` is stable; tests and tools refer to a diagnostic by it, the wording may improve.
struct MacroDiagnostic: DiagnosticMessage {
    let id: String
    let message: String
    let severity: DiagnosticSeverity

    init(_ id: String, _ message: String, severity: DiagnosticSeverity = .error) {
        self.id = id
        self.message = message
        self.severity = severity
    }

    var diagnosticID: MessageID { MessageID(domain: "Mortise", id: id) }
}

/// The text of a fix-it, an imperative such as "replace 'let' with 'var'".
struct MacroFixIt: FixItMessage {
    let message: String
    let fixItID: MessageID

    init(_ id: String, _ message: String) {
        self.message = message
        self.fixItID = MessageID(domain: "Mortise", id: id)
    }
}

/// Where checks send what they find: to the compiler, or to a role of the macro that asks whether there is anything.
struct DiagnosticReporter {
    let report: (Diagnostic) -> Void
    /// Counts an error that the compiler reports itself.
    let leaveToCompiler: () -> Void

    init(_ context: some MacroExpansionContext) {
        report = { context.diagnose($0) }
        leaveToCompiler = {}
    }

    /// Whether checks find an error.
    static func findsError(_ checks: (DiagnosticReporter) -> Void) -> Bool {
        var hasErrors = false
        checks(
            DiagnosticReporter {
                hasErrors = hasErrors || $0.diagMessage.severity == .error
            } leaveToCompiler: {
                hasErrors = true
            })
        return hasErrors
    }

    private init(report: @escaping (Diagnostic) -> Void, leaveToCompiler: @escaping () -> Void) {
        self.report = report
        self.leaveToCompiler = leaveToCompiler
    }

    func diagnose(_ message: MacroDiagnostic, at node: some SyntaxProtocol, fixIts: [FixIt] = []) {
        report(Diagnostic(node: node, message: message, fixIts: fixIts))
    }
}

extension MacroExpansionContext {
    func diagnose(_ message: MacroDiagnostic, at node: some SyntaxProtocol, fixIts: [FixIt] = []) {
        diagnose(Diagnostic(node: node, message: message, fixIts: fixIts))
    }
}

extension FixIt {
    /// A fix-it that replaces one node by another.
    static func replace(
        _ message: String, id: String, old: some SyntaxProtocol, new: some SyntaxProtocol
    ) -> FixIt {
        FixIt(
            message: MacroFixIt(id, message),
            changes: [.replace(oldNode: Syntax(old), newNode: Syntax(new))])
    }

    /// A fix-it that removes `attribute` from `declaration`.
    static func remove(_ attribute: AttributeSyntax, from declaration: some WithAttributesSyntax) -> FixIt {
        let kept = declaration.attributes.filter { element in
            guard case .attribute(let other) = element else { return true }
            return other.id != attribute.id
        }
        var edited = declaration
        edited.attributes = AttributeListSyntax(kept.map { $0 })
        edited.leadingTrivia = declaration.leadingTrivia
        return .replace(
            "remove '@\(attribute.attributeName.trimmedDescription)'", id: "removeAttribute",
            old: declaration, new: edited)
    }

    /// A fix-it that removes the modifier `modifier` from `declaration`.
    static func remove(modifier: DeclModifierSyntax, from declaration: VariableDeclSyntax) -> FixIt {
        var edited = declaration
        edited.modifiers = DeclModifierListSyntax(
            declaration.modifiers.filter { $0.id != modifier.id }.map { $0 })
        edited.leadingTrivia = declaration.leadingTrivia
        return .replace(
            "remove '\(modifier.trimmedDescription)'", id: "removeModifier", old: declaration, new: edited)
    }

    /// A fix-it that puts `attribute` in front of `declaration`, on the same line.
    static func add(attribute: String, to declaration: VariableDeclSyntax) -> FixIt {
        var edited = declaration
        edited.leadingTrivia = []
        let element = AttributeListSyntax.Element(
            AttributeSyntax(
                attributeName: IdentifierTypeSyntax(name: .identifier(attribute)), trailingTrivia: .space))
        edited.attributes.insert(element, at: edited.attributes.startIndex)
        edited.leadingTrivia = declaration.leadingTrivia
        return .replace("add '@\(attribute)'", id: "addAttribute", old: declaration, new: edited)
    }
}
