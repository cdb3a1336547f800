import SwiftDiagnostics
import SwiftSyntax

/// Reports mistakes beside which nothing that `@Model` adds would compile.
struct WholeClassChecks {
    let model: ModelDeclaration
    let reporter: DiagnosticReporter

    /// Reports what there is; true if nothing can be made of the class.
    func refuse() -> Bool {
        run()
        return model.isRefused
    }

    func run() {
        if let observable = model.syntax.attributes.attribute(named: "Observable") {
            reporter.diagnose(
                MacroDiagnostic("observableModel", "'@Model' makes the class observable; remove '@Observable'"),
                at: observable, fixIts: [.remove(observable, from: model.syntax)])
        }
        // The class could not be named inside it.
        let name = model.syntax.name
        if let namesake = model.variables.first(where: { $0.declares(name.unescaped) }) {
            reporter.diagnose(
                MacroDiagnostic(
                    "namesakeOfClass",
                    "a property named like its class hides the class; give '\(name.text)' another name"),
                at: namesake.bindings)
        }
    }
}
