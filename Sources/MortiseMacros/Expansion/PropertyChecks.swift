import SwiftDiagnostics
import SwiftSyntax

/// Reports what a variable in the body of a model class cannot be, as far as its syntax tells.
struct PropertyChecks {
    let variable: VariableDeclSyntax
    let className: String
    let reporter: DiagnosticReporter

    func run() {
        guard !variable.modifiers.isTypeLevel, !variable.modifiers.contains(.override) else { return }
        checkNames()
        guard variable.isStoredInstanceProperty else { return }
        checkMarkers()
        if isTransient {
            checkTransientValue()
            return
        }
        guard checkDeclarationForm() else { return }
        if let property = variable.modelProperty {
            guard checkKeyPath(of: property) else { return }
            TypeChecks(property: property, className: className, reporter: reporter).run()
        }
    }

    /// Whether the property is refused. One mistake is one error: nothing more is said or made of the property.
    static func refuse(_ variable: VariableDeclSyntax, className: String) -> Bool {
        DiagnosticReporter.findsError { reporter in
            PropertyChecks(variable: variable, className: className, reporter: reporter).run()
        }
    }

    private var isTransient: Bool { variable.attributes.attribute(named: "Transient") != nil }

    private func report(_ id: String, _ text: String, at node: (some SyntaxProtocol)?, fixIts: [FixIt] = []) {
        if let node {
            reporter.diagnose(MacroDiagnostic(id, text), at: node, fixIts: fixIts)
        } else {
            reporter.diagnose(MacroDiagnostic(id, text), at: variable, fixIts: fixIts)
        }
    }

    private func checkNames() {
        for binding in variable.bindings {
            guard let pattern = binding.pattern.as(IdentifierPatternSyntax.self) else { continue }
            let name = pattern.identifier.unescaped
            if ReservedNames.protocolMembers.contains(name) {
                report(
                    "reservedName", "'\(name)' is a member of 'PersistentModel'; give the property another name",
                    at: pattern)
            } else if ReservedNames.expansionMembers.contains(name) {
                report(
                    "expansionName",
                    "'\(name)' collides with a member that '@Model' adds; "
                        + "give the property another name",
                    at: pattern)
            }
        }
    }

    private func checkKeyPath(of property: ModelProperty) -> Bool {
        guard property.name == "Type" || property.name == "Protocol" else { return true }
        report(
            "unreachableName",
            "a property that the store keeps cannot be named '\(property.name)', because Swift has no key path to it; "
                + "give it another name",
            at: property.binding.pattern)
        return false
    }

    private func checkMarkers() {
        checkAttributes()
        for name in ["Transient", "Relationship"] {
            let repeated = variable.attributes.attributes(named: name).dropFirst()
            guard let second = repeated.first else { continue }
            report(
                "repeatedMarker", "'@\(name)' is repeated on one property; put all options in one",
                at: second, fixIts: [.remove(second, from: variable)])
        }
        let markers = ["Transient", "Attribute", "Relationship"].compactMap { variable.attributes.attribute(named: $0) }
        guard markers.count > 1 else { return }
        let names = markers.map { "'@\($0.baseName)'" }
        let reason =
            isTransient
            ? "a transient property is never stored" : "a property holds either a value or related models"
        report(
            "conflictingMarkers", "\(names[0]) and \(names[1]) cannot be on one property, because \(reason); keep one",
            at: markers[1], fixIts: markers.map { .remove($0, from: variable) })
    }

    /// The options of several `@Attribute`s are joined; a name can only be given once.
    private func checkAttributes() {
        let attributes = variable.attributes.attributes(named: "Attribute")
        for label in ["originalName", "hashModifier"] {
            guard let second = attributes.filter({ $0.argument(label) != nil }).dropFirst().first else { continue }
            report(
                "repeatedMarker", "two '@Attribute's of one property have '\(label)'; keep one of them", at: second,
                fixIts: [.remove(second, from: variable)])
        }
    }

    private func checkTransientValue() {
        for binding in variable.bindings where !variable.hasInitialValue(binding) && !variable.modifiers.contains(.lazy)
        {
            let fixIts = binding.typeAnnotation.map { [variable.fixItMakingNil(binding, $0)] } ?? []
            report(
                "transientWithoutValue",
                "a '@Transient' property needs an initial value or an optional type, because a fetched model is made "
                    + "without your initializer",
                at: binding.pattern, fixIts: fixIts)
        }
    }

    /// Reports a declaration that no accessors can be added to; false if there is nothing more to check.
    private func checkDeclarationForm() -> Bool {
        if let lazy = variable.modifiers.modifier(.lazy) {
            report(
                "lazyProperty",
                "a property that the store keeps cannot be 'lazy'; remove 'lazy', "
                    + "or mark the property '@Transient'",
                at: lazy,
                fixIts: [.remove(modifier: lazy, from: variable), .add(attribute: "Transient", to: variable)])
            return false
        }
        if let ignored = variable.attributes.attribute(named: "ObservationIgnored") {
            let transient = AttributeSyntax(attributeName: IdentifierTypeSyntax(name: .identifier("Transient")))
            report(
                "observationIgnored",
                "'@Model' observes each property that the store keeps; write '@Transient' for one that it leaves out",
                at: ignored,
                fixIts: [
                    .replace(
                        "replace '@ObservationIgnored' with '@Transient'", id: "useTransient", old: ignored,
                        new: transient.with(\.leadingTrivia, ignored.leadingTrivia)
                            .with(\.trailingTrivia, ignored.trailingTrivia)),
                    .remove(ignored, from: variable),
                ])
            return false
        }
        if let actor = variable.attributes.attribute(named: "MainActor") {
            report(
                "isolatedProperty",
                "a property that the store keeps belongs to the model's context and not to an actor; remove '@MainActor', "
                    + "or mark the property '@Transient'",
                at: actor, fixIts: [.remove(actor, from: variable), .add(attribute: "Transient", to: variable)])
            return false
        }
        for keyword in [Keyword.weak, .unowned] {
            guard let modifier = variable.modifiers.modifier(keyword) else { continue }
            report(
                "weakProperty",
                "a property that the store keeps cannot be '\(modifier.name.text)'; remove it: related models are "
                    + "held by their context",
                at: modifier, fixIts: [.remove(modifier: modifier, from: variable)])
            return false
        }
        if variable.bindings.count > 1 {
            report(
                "severalProperties", "'@Model' needs each property in a declaration of its own", at: variable,
                fixIts: variable.separated.map { [$0] } ?? [])
            return false
        }
        if let pattern = variable.bindings.first?.pattern, !pattern.is(IdentifierPatternSyntax.self) {
            report(
                "tuplePattern", "'@Model' cannot keep a tuple pattern; declare each property on its own", at: pattern)
            return false
        }
        if let wrapper = variable.attributes.propertyWrapper {
            let name = wrapper.attributeName.trimmedDescription
            report(
                "propertyWrapper",
                "a property that the store keeps cannot have the property wrapper '@\(name)'; remove it, "
                    + "or mark the property '@Transient'",
                at: wrapper, fixIts: [.remove(wrapper, from: variable)])
            return false
        }
        return true
    }
}

extension VariableDeclSyntax {
    /// A fix-it after which a binding is nil by itself.
    fileprivate func fixItMakingNil(_ binding: PatternBindingSyntax, _ annotation: TypeAnnotationSyntax) -> FixIt {
        let type = annotation.type
        let isLet = bindingSpecifier.tokenKind == .keyword(.let)
        var changes: [FixIt.Change] = []
        if isLet {
            changes.append(
                .replace(
                    oldNode: Syntax(bindingSpecifier),
                    newNode: Syntax(
                        TokenSyntax.keyword(
                            .var, leadingTrivia: bindingSpecifier.leadingTrivia,
                            trailingTrivia: bindingSpecifier.trailingTrivia))))
        }
        let optional = type.unwrappedOptional.map(\.madeOptional) ?? type.madeOptional
        if !type.isNilByDefault {
            changes.append(
                .replace(
                    oldNode: Syntax(type), newNode: Syntax(optional.with(\.trailingTrivia, type.trailingTrivia))))
        }
        let name = binding.pattern.trimmedDescription
        return FixIt(
            message: MacroFixIt(
                "makeOptional",
                isLet
                    ? "write 'var \(name): \(optional.trimmedDescription)'"
                    : "make the type '\(optional.trimmedDescription)'"),
            changes: changes)
    }

    /// A fix-it that gives each binding its own declaration; nil if a binding has accessors.
    fileprivate var separated: FixIt? {
        guard bindings.allSatisfy({ $0.accessorBlock == nil }) else { return nil }
        // In `var a, b: Int` the type applies to both names.
        var type: TypeAnnotationSyntax?
        var declarations: [String] = []
        for binding in bindings.reversed() {
            type = binding.typeAnnotation ?? (binding.initializer == nil ? type : nil)
            var single = binding.trimmed
            single.trailingComma = nil
            single.typeAnnotation = type?.trimmed
            var declaration = self.trimmed
            declaration.bindings = [single]
            declarations.insert(declaration.trimmedDescription, at: 0)
        }
        let indentation = leadingTrivia.pieces.reversed().prefix { !$0.isNewline }.reversed()
            .filter { if case .spaces = $0 { true } else { false } }
        let separator = "\n" + Trivia(pieces: indentation).description
        let text = TokenSyntax.identifier(
            declarations.joined(separator: separator), leadingTrivia: leadingTrivia, trailingTrivia: trailingTrivia)
        return .replace("declare each property on its own", id: "separateProperties", old: self, new: text)
    }
}
