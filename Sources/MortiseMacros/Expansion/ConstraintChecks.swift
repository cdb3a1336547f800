import SwiftDiagnostics
import SwiftSyntax
import SwiftSyntaxBuilder
import SwiftSyntaxMacros

/// Reports what a `#Unique` or `#Index` in the body of a model class cannot name, as far as syntax tells.
struct ConstraintChecks {
    let constraint: MacroExpansionDeclSyntax
    let model: ModelDeclaration
    let reporter: DiagnosticReporter

    /// Whether the constraint is refused, so that the schema is made without it.
    static func refuse(_ constraint: MacroExpansionDeclSyntax, of model: ModelDeclaration) -> Bool {
        DiagnosticReporter.findsError { reporter in
            ConstraintChecks(constraint: constraint, model: model, reporter: reporter).run()
        }
    }

    private var name: String { "#\(constraint.macroName.text)" }

    func run() {
        guard checkRoot() else { return }
        guard !constraint.arguments.isEmpty else {
            reportMissingKeyPaths(at: constraint)
            return
        }
        for argument in constraint.arguments {
            check(argument.expression)
        }
    }

    /// Reports a constraint of another model; false if there is nothing more to check.
    private func checkRoot() -> Bool {
        guard let argument = constraint.genericArgumentClause?.arguments.first?.argument,
            let written = Syntax(argument).as(TypeSyntax.self),
            let base = written.baseName, base != model.name, base != "Self"
        else { return true }
        let own = TypeSyntax(IdentifierTypeSyntax(name: .identifier(model.name)))
        reporter.diagnose(
            MacroDiagnostic(
                "constraintOfOtherModel",
                "'\(name)<\(written.trimmedDescription)>' is in the body of '\(model.name)'; write "
                    + "'\(name)<\(model.name)>', "
                    + "or move it to '\(written.trimmedDescription)'"),
            at: written,
            fixIts: [.replace("write '\(model.name)'", id: "useOwnModel", old: written, new: own)])
        return false
    }

    private func check(_ expression: ExprSyntax) {
        if let call = expression.as(FunctionCallExprSyntax.self) {
            for argument in call.arguments { check(argument.expression) }
        } else if let array = expression.as(ArrayExprSyntax.self) {
            if array.elements.isEmpty { reportMissingKeyPaths(at: array) }
            for element in array.elements { check(keyPath: element.expression) }
        } else if expression.keyPath != nil {
            let array: ExprSyntax = "[\(expression.trimmed)]"
            reporter.diagnose(
                MacroDiagnostic(
                    "constraintWithoutArray",
                    "'\(name)' takes arrays of key paths; write '\(array.trimmedDescription)'"),
                at: expression,
                fixIts: [.replace("put the key path in an array", id: "useArray", old: expression, new: array)])
        }
    }

    private func reportMissingKeyPaths(at node: some SyntaxProtocol) {
        reporter.diagnose(
            MacroDiagnostic(
                "constraintWithoutKeyPath",
                "'\(name)' needs a key path; write '\(name)<\(model.name)>([\\.property])'"),
            at: node)
    }

    private func check(keyPath expression: ExprSyntax) {
        guard let components = expression.keyPath?.components, let first = components.first else { return }
        if components.count > 1 {
            reporter.diagnose(
                MacroDiagnostic(
                    "constraintOnPath",
                    "'\(name)' cannot follow '\(expression.trimmedDescription)'; name a property of '\(model.name)' itself"
                ),
                at: expression)
            return
        }
        guard let property = model.properties.first(where: { $0.name == first }) else {
            if model.variables.contains(where: { $0.declares(first) && $0.modifiers.contains(.override) }) {
                reporter.diagnose(
                    MacroDiagnostic(
                        "constraintOnOverride",
                        "'\(name)' cannot name '\(first)', which '\(model.name)' overrides, because the key path leads to "
                            + "the override; move the constraint to the superclass"),
                    at: expression)
                return
            }
            // An inherited property cannot be seen from here.
            let isOwn = model.variables.contains { $0.declares(first) }
            guard isOwn || model.firstInheritedType == nil else { return }
            if !isOwn, expression.keyPath?.root != nil {
                // A key path with its root is one error of the compiler.
                reporter.leaveToCompiler()
                return
            }
            reporter.diagnose(
                MacroDiagnostic(
                    "constraintOnUnstoredProperty",
                    "'\(first)' is not a stored property of '\(model.name)'; name a property that the store keeps"),
                at: expression)
            return
        }
        if property.options.contains("ephemeral") {
            let isUnique = name == "#Unique"
            reporter.diagnose(
                MacroDiagnostic(
                    "constraintOnEphemeral",
                    isUnique
                        ? "'#Unique' cannot name '\(first)', which is '.ephemeral', because the store keeps no value to "
                            + "compare; remove one of them"
                        : "'#Index' has no effect on '\(first)', which is '.ephemeral'; remove one of them",
                    severity: isUnique ? .error : .warning),
                at: expression)
            return
        }
        if let type = property.type, type.collectionElement != nil || type.coercible.is(DictionaryTypeSyntax.self) {
            reporter.diagnose(
                MacroDiagnostic(
                    "constraintOnCollection",
                    "'\(name)' cannot name '\(first)', which holds many values; name a property that holds one"),
                at: expression)
        }
    }
}

/// Where `#Unique` and `#Index` may stand.
enum ConstraintPlacement {
    static func check(_ node: some FreestandingMacroExpansionSyntax, in context: some MacroExpansionContext) {
        let owner = context.lexicalContext.first?.as(ClassDeclSyntax.self)
        guard owner?.attributes.attribute(named: "Model") == nil else { return }
        let name = node.macroName.text
        context.diagnose(
            MacroDiagnostic(
                "constraintOutsideModel",
                "'#\(name)' belongs in the body of the '@Model' class whose properties it names; move it there"),
            at: node)
    }
}
