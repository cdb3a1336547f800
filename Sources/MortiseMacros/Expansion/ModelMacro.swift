import SwiftSyntax
import SwiftSyntaxBuilder
import SwiftSyntaxMacros

/// `@Model`: makes a class a persistent model.
struct ModelMacro: UnformattedMacro {}

extension ModelMacro: MemberMacro {
    /// Adds the members of a model: its state, initializers and schema metadata.
    static func expansion(
        of node: AttributeSyntax,
        providingMembersOf declaration: some DeclGroupSyntax,
        conformingTo protocols: [TypeSyntax],
        in context: some MacroExpansionContext
    ) throws -> [DeclSyntax] {
        if declaration.attributes.isRepeated(node, in: context) {
            context.diagnose(
                MacroDiagnostic("repeatedModel", "'@Model' is repeated on one class; remove one of them"), at: node)
            return []
        }
        if context.isInFunction { return [] }
        guard let model = ModelDeclaration(declaration, in: context) else {
            // The compiler itself refuses an extension.
            context.diagnose(.modelOnWrongKind(declaration), at: node, fixIts: .modelOnWrongKind(declaration))
            return []
        }
        if WholeClassChecks(model: model, reporter: DiagnosticReporter(context)).refuse() { return [] }
        let superclass = model.hasModelSuperclass(missing: protocols) ? model.firstInheritedType : nil
        ModelChecks(
            model: model, superclass: superclass, surroundings: context.lexicalContext,
            reporter: DiagnosticReporter(context)
        ).run()
        return ModelMembers(model: model, superclass: superclass).declarations
    }
}

extension ModelMacro: MemberAttributeMacro {
    /// Marks the stored properties, so that they are persisted.
    static func expansion(
        of node: AttributeSyntax,
        attachedTo declaration: some DeclGroupSyntax,
        providingAttributesFor member: some DeclSyntaxProtocol,
        in context: some MacroExpansionContext
    ) throws -> [AttributeSyntax] {
        guard let model = ModelDeclaration(declaration, in: context), !context.isInFunction,
            !model.isRefused, !declaration.attributes.isRepeated(node, in: context)
        else { return [] }
        if let initializer = member.as(InitializerDeclSyntax.self) {
            let isDesignated = !initializer.modifiers.contains(.convenience)
            let links =
                isDesignated && model.mayBeGivenModels
                && ForgottenProperties(of: model, in: initializer)?.areCertain != true
            return body(of: initializer, initializer.body, links: links, in: model)
        }
        if let deinitializer = member.as(DeinitializerDeclSyntax.self) {
            return body(of: deinitializer, deinitializer.body, links: false, in: model)
        }
        guard let variable = member.as(VariableDeclSyntax.self), let property = variable.modelProperty,
            let slot = model.properties.firstIndex(where: { $0.name == property.name }),
            !model.refusesConstant(property)
        else { return [] }
        if property.hasForeignAttribute {
            // The compiler shows the comment with its error.
            return [
                """
                // A property wrapper is only for '@Transient' properties: remove it, or add '@Transient'.
                @_PersistedProperty(\(literal: slot), storage: \(literal: property.storageName(isTaken: true)))
                """
            ]
        }
        if model.isStorageTaken(of: property) {
            return ["@_PersistedProperty(\(literal: slot), storage: \(literal: property.storageName(isTaken: true)))"]
        }
        return ["@_PersistedProperty(\(literal: slot))"]
    }

    /// What has the body of an initializer or `deinit` rewritten; nothing if it stays as it is.
    private static func body(
        of declaration: some DeclSyntaxProtocol, _ body: CodeBlockSyntax?, links: Bool, in model: ModelDeclaration
    ) -> [AttributeSyntax] {
        guard body != nil else { return [] }
        let observed = model.observedNames
        var arguments = links ? ["links: true"] : []
        if !observed.isEmpty, DirectAccess(to: observed, in: declaration).isNeeded(in: body) {
            let names = observed.map { "\(StringLiteralExprSyntax(content: $0))" }
            arguments.append("observed: [\(names.joined(separator: ", "))]")
        }
        // A `deinit` without statements sets nothing, unless the superclass calls what is overridden here.
        let isDeinitializer =
            declaration.is(DeinitializerDeclSyntax.self)
            && (body?.statements.isEmpty == false || model.overridesMethods)
        if arguments.isEmpty, !isDeinitializer { return [] }
        return ["@_ModelInitializer(\(raw: arguments.joined(separator: ", ")))"]
    }
}

extension ModelMacro: ExtensionMacro {
    /// Adds the conformance to `PersistentModel`.
    static func expansion(
        of node: AttributeSyntax,
        attachedTo declaration: some DeclGroupSyntax,
        providingExtensionsOf type: some TypeSyntaxProtocol,
        conformingTo protocols: [TypeSyntax],
        in context: some MacroExpansionContext
    ) throws -> [ExtensionDeclSyntax] {
        let missing = Set(protocols.compactMap(\.baseName))
        if declaration.is(ActorDeclSyntax.self), missing.contains("Sendable") {
            return [try ExtensionDeclSyntax("extension \(type.trimmed): Swift.Sendable {}")]
        }
        guard let model = ModelDeclaration(declaration, in: context), !model.isRefused,
            !declaration.attributes.isRepeated(node, in: context)
        else { return [] }
        var extensions: [ExtensionDeclSyntax] = []
        if missing.contains("PersistentModel") {
            // What is wrong with a class on the main actor has been said.
            let isIsolated = context.isSwift6 && declaration.attributes.attribute(named: "MainActor") != nil
            let attribute = isIsolated ? "@preconcurrency " : ""
            // Where the default isolation is the main actor, the conformance and `Observable`, which it implies, stay off it.
            extensions.append(
                try ExtensionDeclSyntax(
                    "nonisolated extension \(type.trimmed): \(raw: attribute)MortiseCore.PersistentModel {}"))
        }
        if missing.contains("Sendable") {
            extensions.append(
                try ExtensionDeclSyntax(
                    """
                    @available(*, unavailable, message: "a model stays with its context; pass its 'persistentModelID'")
                    extension \(type.trimmed): Swift.Sendable {}
                    """))
        }
        return extensions
    }
}
