import SwiftDiagnostics
import SwiftSyntax

/// Reports what the `#Unique` and `#Index` in the body of a model class say twice.
struct ConstraintRepetitions {
    let model: ModelDeclaration
    let reporter: DiagnosticReporter

    func run() {
        var known: Set<[String]> = []
        for constraint in model.constraints where !ConstraintChecks.refuse(constraint, of: model) {
            let name = constraint.macroName.text
            for (kind, array) in constraint.arguments.flatMap({ $0.expression.arraysOfKeyPaths(kind: "binary") }) {
                let properties = array.elements.compactMap { $0.expression.keyPath?.components.last }
                guard properties.count == array.elements.count, !properties.isEmpty else { continue }
                checkProperties(of: array, properties, in: name)
                // The order of properties means nothing to uniqueness.
                let content = name == "Unique" ? properties.sorted() : [kind] + properties
                if known.insert([name] + content).inserted { continue }
                report("'#\(name)' has '\(array.trimmedDescription)' already; remove one of them", at: array)
            }
        }
    }

    private func checkProperties(of array: ArrayExprSyntax, _ properties: [String], in name: String) {
        var known: Set<String> = []
        for (property, element) in zip(properties, array.elements) where !known.insert(property).inserted {
            report("'#\(name)' has '\(property)' twice in one array; remove one of them", at: element.expression)
        }
    }

    private func report(_ text: String, at node: some SyntaxProtocol) {
        reporter.diagnose(MacroDiagnostic("repeatedConstraint", text, severity: .warning), at: node)
    }
}

extension ExprSyntax {
    /// The arrays in an argument of `#Unique` or `#Index`, with the kind of index that each is for: `[…]`, `.rtree([…])`.
    fileprivate func arraysOfKeyPaths(kind: String) -> [(kind: String, array: ArrayExprSyntax)] {
        if let array = self.as(ArrayExprSyntax.self) { return [(kind, array)] }
        guard let call = self.as(FunctionCallExprSyntax.self),
            let member = call.calledExpression.as(MemberAccessExprSyntax.self)
        else { return [] }
        return call.arguments.flatMap { $0.expression.arraysOfKeyPaths(kind: member.declName.baseName.text) }
    }
}
