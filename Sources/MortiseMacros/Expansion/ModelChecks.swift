import SwiftDiagnostics
import SwiftSyntax

/// Reports what a model class cannot be, as far as its syntax tells.
struct ModelChecks {
    let model: ModelDeclaration
    /// The superclass, if it is a model.
    let superclass: TypeSyntax?
    /// What is around the class, the innermost first.
    let surroundings: [Syntax]
    let reporter: DiagnosticReporter

    func run() {
        checkClass()
        checkSurroundings()
        checkConditionalProperties()
        for variable in model.variables {
            PropertyChecks(variable: variable, className: model.name, reporter: reporter).run()
        }
        checkConstants()
        checkOriginalNames()
        let conditional = model.syntax.memberBlock.members.compactMap { $0.decl.as(IfConfigDeclSyntax.self) }
        for constraint in model.constraints + conditional.flatMap(\.containedConstraints) {
            ConstraintChecks(constraint: constraint, model: model, reporter: reporter).run()
        }
        ConstraintRepetitions(model: model, reporter: reporter).run()
        checkInitializers()
    }

    private func checkClass() {
        if let generics = model.syntax.genericParameterClause {
            reporter.diagnose(
                MacroDiagnostic(
                    "genericModel",
                    "a '@Model' class cannot be generic, because a store keeps one entity for each class; "
                        + "declare a class for each kind of value"),
                at: generics)
        }
        if let actor = model.syntax.attributes.attribute(named: "MainActor") {
            reporter.diagnose(
                MacroDiagnostic(
                    "isolatedModel",
                    "a '@Model' class belongs to its context and not to an actor; "
                        + "remove '@MainActor', or put it on the methods that need it",
                    severity: model.isSwift6 ? .error : .warning),
                at: actor, fixIts: [.remove(actor, from: model.syntax)])
        }
        for inherited in model.syntax.inheritanceClause?.inheritedTypes ?? [] {
            // `@unchecked Sendable` says that the author answers for it.
            guard inherited.type.baseName == "Sendable" else { continue }
            reporter.diagnose(
                MacroDiagnostic(
                    "sendableModel",
                    "a '@Model' class is used only where its context is; remove 'Sendable' and pass "
                        + "'persistentModelID' to another context", severity: .warning),
                at: inherited)
        }
    }

    private func checkSurroundings() {
        guard model.syntax.genericParameterClause == nil, let outer = surroundings.first(where: \.isGeneric),
            let named = outer.asProtocol((any NamedDeclSyntax).self)
        else { return }
        reporter.diagnose(
            MacroDiagnostic(
                "modelInGenericType",
                "a '@Model' class cannot be inside the generic '\(named.name.unescaped)', because a store keeps one entity "
                    + "for each class; move it out"),
            at: model.syntax.name)
    }

    private func checkConditionalProperties() {
        for member in model.syntax.memberBlock.members {
            guard let block = member.decl.as(IfConfigDeclSyntax.self) else { continue }
            for variable in block.containedVariables where variable.isPersisted {
                reporter.diagnose(
                    MacroDiagnostic(
                        "conditionalProperty",
                        "a property that the store keeps cannot be inside '#if', because '@Model' cannot tell "
                            + "whether it exists; move it out, or mark it '@Transient'"),
                    at: variable, fixIts: [.add(attribute: "Transient", to: variable)])
            }
        }
    }

    private func checkConstants() {
        for property in model.properties where model.refusesConstant(property) {
            let keyword = property.declaration.bindingSpecifier
            reporter.diagnose(
                MacroDiagnostic(
                    "constantProperty",
                    "a property that the store keeps cannot be 'let', because it is set when the model is fetched; "
                        + "write 'var', or 'private(set) var'"),
                at: keyword,
                fixIts: [
                    .replace(
                        "replace 'let' with 'var'", id: "useVariable", old: keyword,
                        new: keyword.with(\.tokenKind, .keyword(.var)))
                ])
        }
    }

    private func checkOriginalNames() {
        var successors: [String: String] = [:]
        for property in model.properties {
            for (name, argument) in property.renamings {
                if name == property.name {
                    reporter.diagnose(
                        MacroDiagnostic(
                            "ownOriginalName",
                            "'originalName' has no effect, because it is the property's name; remove it",
                            severity: .warning),
                        at: argument)
                }
                let successor = successors[name] ?? property.name
                successors[name] = successor
                guard successor != property.name else { continue }
                reporter.diagnose(
                    MacroDiagnostic(
                        "repeatedOriginalName",
                        "'\(name)' of the version before becomes '\(successor)' already, and cannot become "
                            + "'\(property.name)' as well; correct 'originalName', or remove it"),
                    at: argument)
            }
        }
    }

    private func checkInitializers() {
        if let initializer = model.backingDataInitializer(superclass: superclass) {
            reporter.diagnose(
                MacroDiagnostic(
                    "backingDataInitializer",
                    "'@Model' adds 'init(backingData:)', which makes a model of stored values; remove this one, or give it "
                        + "another label"),
                at: initializer.initKeyword)
        }
        guard model.hasNoInitializer else { return }
        if superclass != nil {
            reporter.diagnose(
                MacroDiagnostic(
                    "missingSubclassInitializer",
                    "'@Model' requires an initializer in a subclass; "
                        + "write one that sets its properties and calls 'super.init'"),
                at: model.syntax.name, fixIts: [MemberwiseInitializer(model: model, callsSuper: true).fixIt])
        } else if !model.isDefaultInitializable {
            reporter.diagnose(
                MacroDiagnostic(
                    "missingInitializer",
                    "'@Model' requires an initializer, because some properties have no initial value; "
                        + "write one, or give each property an initial value"),
                at: model.syntax.name, fixIts: [MemberwiseInitializer(model: model, callsSuper: false).fixIt])
        }
    }
}

extension AttributeSyntax {
    /// The value of the argument labeled `label`.
    func argument(_ label: String) -> ExprSyntax? {
        labeledArguments.first { $0.label?.text == label }?.expression
    }
}

extension IfConfigDeclSyntax {
    /// The variables declared in any of the clauses, nested `#if` included.
    fileprivate var containedVariables: [VariableDeclSyntax] {
        clauses.flatMap { clause -> [VariableDeclSyntax] in
            guard case .decls(let members) = clause.elements else { return [] }
            return members.flatMap { member -> [VariableDeclSyntax] in
                if let variable = member.decl.as(VariableDeclSyntax.self) { return [variable] }
                return member.decl.as(IfConfigDeclSyntax.self)?.containedVariables ?? []
            }
        }
    }
}

extension MacroDiagnostic {
    static func modelOnWrongKind(_ declaration: some DeclGroupSyntax) -> MacroDiagnostic {
        let kind =
            switch declaration.kind {
            case .structDecl: "a struct"
            case .enumDecl: "an enum"
            case .actorDecl: "an actor"
            case .protocolDecl: "a protocol"
            default: "an extension"
            }
        if declaration.is(ExtensionDeclSyntax.self) {
            return MacroDiagnostic(
                "modelOnExtension", "write '@Model' in front of the class itself, which declares the properties",
                severity: .note)
        }
        return MacroDiagnostic(
            "modelOnNonClass", "'@Model' cannot be attached to \(kind); declare the model as 'final class'")
    }
}

extension [FixIt] {
    /// Replaces `struct` or `actor` by `final class`.
    static func modelOnWrongKind(_ declaration: some DeclGroupSyntax) -> [FixIt] {
        let keyword: TokenSyntax
        if let type = declaration.as(StructDeclSyntax.self) {
            keyword = type.structKeyword
        } else if let type = declaration.as(ActorDeclSyntax.self) {
            keyword = type.actorKeyword
        } else {
            return []
        }
        let replacement = TokenSyntax.identifier(
            "final class", leadingTrivia: keyword.leadingTrivia, trailingTrivia: keyword.trailingTrivia)
        return [
            .replace("replace '\(keyword.text)' with 'final class'", id: "useClass", old: keyword, new: replacement)
        ]
    }
}
