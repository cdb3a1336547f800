import SwiftSyntax

/// A stored instance property of a model class that the framework keeps: one slot, one entry of the metadata.
struct ModelProperty {
    let declaration: VariableDeclSyntax
    let binding: PatternBindingSyntax
    /// The name as written in source, in backticks if it is a keyword.
    let identifier: String

    /// The name without backticks.
    var name: String {
        identifier.hasPrefix("`") ? String(identifier.dropFirst().dropLast()) : identifier
    }

    /// The declared type; nil if it is inferred from the initial value.
    var type: TypeSyntax? { binding.typeAnnotation?.type }

    /// The declared type, or that of an initial value whose form alone tells it; nil if only the compiler knows.
    var knownType: String? { type?.trimmedDescription ?? initialValue?.literalType }

    /// The property that stands for the storage, which has size 0. It is named otherwise where that name is taken.
    func storageName(isTaken: Bool) -> String { TokenSyntax.quoted((isTaken ? "_stored_" : "_") + name) }

    /// Whether something else may declare `_name`: an attribute that is a property wrapper, for one.
    var hasForeignAttribute: Bool { declaration.attributes.hasForeign }

    /// The property that accesses the value without running observers; nil without observers, or for an unknown type.
    var unobservedName: String? {
        guard isObserved, knownType != nil else { return nil }
        return Self.unobservedName(of: name)
    }

    static func unobservedName(of name: String) -> String { TokenSyntax.quoted("_unobserved_\(name)") }

    /// Whether the property has observers.
    var isObserved: Bool { binding.accessorBlock != nil }

    var isConstant: Bool { declaration.bindingSpecifier.tokenKind == .keyword(.let) }

    /// The initial value as written.
    var initialValue: ExprSyntax? { binding.initializer?.value }

    /// Whether the compiler warns of uses of the property.
    var isDeprecated: Bool {
        declaration.attributes.attributes(named: "available").contains { attribute in
            attribute.tokens(viewMode: .sourceAccurate).contains {
                $0.tokenKind == .keyword(.deprecated) || $0.text == "deprecated"
            }
        }
    }

    /// The function that makes the key paths of a deprecated property: in what belongs to the property, nothing warns of it.
    var keyPathsName: String { TokenSyntax.quoted("_keyPaths_\(name)") }

    /// The arguments of all `@Attribute`s as those of one, in the order of its parameters; nil without any.
    var attributeArguments: String? {
        let attributes = declaration.attributes.attributes(named: "Attribute")
        guard attributes.count > 1 else { return attributes.first?.labeledArguments.trimmedDescription }
        let written = attributes.flatMap(\.labeledArguments)
        let labels = [nil, "originalName", "hashModifier"]
        return labels.flatMap { label in
            written.filter { $0.label?.text == label }.map { $0.with(\.trailingComma, nil).trimmedDescription }
        }.joined(separator: ", ")
    }

    /// The names of the options of all `@Attribute`s: `unique` of `.unique`.
    var options: Set<String> {
        Set(declaration.attributes.attributes(named: "Attribute").flatMap(\.optionNames))
    }

    /// The markers that can have a name of the version before.
    var renamings: [(name: String, argument: ExprSyntax)] {
        ["Attribute", "Relationship"].flatMap(declaration.attributes.attributes(named:)).compactMap { marker in
            guard let argument = marker.argument("originalName"), let name = argument.literalText else { return nil }
            return (name, argument)
        }
    }

    var relationship: AttributeSyntax? { declaration.attributes.attribute(named: "Relationship") }

    /// Whether the value passes through a value transformer: `@Attribute(.transformable(by: …))`.
    var isTransformable: Bool { declaration.isTransformable }
}

extension VariableDeclSyntax {
    /// Whether the declaration is a stored instance variable: neither computed nor of the type.
    ///
    /// Observers leave a property stored.
    var isStoredInstanceProperty: Bool {
        !modifiers.isTypeLevel && bindings.allSatisfy { $0.accessorBlock?.isComputed != true }
    }

    /// Whether `@Model` keeps the property: a stored one, neither `@Transient` nor an override.
    ///
    /// Declarations that `@Model` rejects count as well, so that one mistake does not cause a second message.
    var isPersisted: Bool {
        isStoredInstanceProperty && attributes.attribute(named: "Transient") == nil && !modifiers.contains(.override)
            && !modifiers.contains(.lazy) && attributes.attribute(named: "ObservationIgnored") == nil
    }

    var isTransformable: Bool {
        attributes.attributes(named: "Attribute").flatMap(\.labeledArguments).contains { argument in
            guard argument.label == nil else { return false }
            let called = argument.expression.as(FunctionCallExprSyntax.self)?.calledExpression ?? argument.expression
            return called.as(MemberAccessExprSyntax.self)?.declName.baseName.text == "transformable"
        }
    }

    /// The kept property this declaration declares; nil if it keeps none or declares more than one.
    var modelProperty: ModelProperty? {
        guard isPersisted, bindings.count == 1, let binding = bindings.first,
            let pattern = binding.pattern.as(IdentifierPatternSyntax.self)
        else { return nil }
        return ModelProperty(declaration: self, binding: binding, identifier: pattern.identifier.text)
    }
}

extension AttributeSyntax {
    fileprivate var optionNames: [String] {
        labeledArguments.filter { $0.label == nil }.compactMap { argument in
            let called = argument.expression.as(FunctionCallExprSyntax.self)?.calledExpression ?? argument.expression
            return called.as(MemberAccessExprSyntax.self)?.declName.baseName.text
        }
    }
}

extension AccessorBlockSyntax {
    /// Whether the accessors make the property computed; `willSet` and `didSet` alone do not.
    var isComputed: Bool {
        switch accessors {
        case .getter: true
        case .accessors(let list): list.contains { !$0.isObserver }
        }
    }
}

extension AccessorDeclSyntax {
    var isObserver: Bool {
        accessorSpecifier.tokenKind == .keyword(.willSet) || accessorSpecifier.tokenKind == .keyword(.didSet)
    }
}
