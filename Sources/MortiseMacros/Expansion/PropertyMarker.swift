import SwiftDiagnostics
import SwiftSyntax
import SwiftSyntaxMacros

/// `@Attribute`, `@Relationship` or `@Transient` where it was written, and whether it can mean anything there.
struct PropertyMarker<Context: MacroExpansionContext> {
    let node: AttributeSyntax
    let declaration: any DeclSyntaxProtocol
    let context: Context

    private var name: String { "@\(node.baseName)" }

    /// Reports a marker on something that is not a stored property of a model class.
    func check() {
        guard let variable = declaration.as(VariableDeclSyntax.self) else {
            report("describes a stored property; remove it here", id: "markerOnOtherDeclaration")
            return
        }
        guard isInModelClass else {
            report(
                "applies only to a stored property in the body of a '@Model' class; "
                    + "remove it, or mark the class '@Model'",
                id: "markerOutsideModel", from: variable)
            return
        }
        if variable.modifiers.isTypeLevel {
            report(
                "cannot be on a static property, which no instance keeps; remove it", id: "markerOnStatic",
                from: variable)
        } else if !variable.isStoredInstanceProperty {
            let isTransient = node.baseName == "Transient"
            report(
                isTransient
                    ? "has no effect on a computed property, which is never stored; remove it"
                    : "cannot be on a computed property, which is never stored; remove it", id: "markerOnComputed",
                severity: isTransient ? .warning : .error, from: variable)
        }
    }

    private var isInModelClass: Bool {
        guard let owner = context.lexicalContext.first else { return false }
        return owner.as(ClassDeclSyntax.self)?.attributes.attribute(named: "Model") != nil
    }

    private func report(
        _ text: String, id: String, severity: DiagnosticSeverity = .error, from variable: VariableDeclSyntax? = nil
    ) {
        let fixIts = variable.map { variable in
            variable.attributes.attribute(named: node.baseName).map { [FixIt.remove($0, from: variable)] } ?? []
        }
        context.diagnose(MacroDiagnostic(id, "'\(name)' \(text)", severity: severity), at: node, fixIts: fixIts ?? [])
    }
}
