import SwiftDiagnostics
import SwiftSyntax
import SwiftSyntaxMacros

/// Reports what a variable in the body of a model class cannot be, as far as its syntax tells.
struct PropertyChecks<Context: MacroExpansionContext> {
    let variable: VariableDeclSyntax
    let className: String
    let context: Context

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
            TypeChecks(property: property, className: className, context: context).run()
        }
    }

    private var isTransient: Bool { variable.attributes.attribute(named: "Transient") != nil }

    private func report(_ id: String, _ text: String, at node: (some SyntaxProtocol)?, fixIts: [FixIt] = []) {
        if let node {
            context.diagnose(MacroDiagnostic(id, text), at: node, fixIts: fixIts)
        } else {
            context.diagnose(MacroDiagnostic(id, text), at: variable, fixIts: fixIts)
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
            } else if ReservedNames.expansionMembers.contains(name)
                || ReservedNames.expansionMembers.contains("_\(name)")
            {
                report(
                    "expansionName",
                    "'\(name)' collides with a member that '@Model' adds; "
                        + "give the property another name",
                    at: pattern)
            }
        }
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
        for binding in variable.bindings where !binding.hasInitialValue && !variable.modifiers.contains(.lazy) {
            var fixIts: [FixIt] = []
            if let type = binding.typeAnnotation?.type {
                let optional = type.madeOptional
                fixIts = [
                    .replace(
                        "make the type '\(optional.trimmedDescription)'", id: "makeOptional", old: type,
                        new: optional.with(\.trailingTrivia, type.trailingTrivia))
                ]
            }
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
