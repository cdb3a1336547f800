import SwiftSyntax
import SwiftSyntaxBuilder
import SwiftSyntaxMacros

/// `@Model`: makes a class a persistent model.
open class ModelMacro {}

extension ModelMacro: MemberMacro {
    /// Adds the members of a model: its state, initializers and schema metadata.
    public static func expansion(
        of node: AttributeSyntax,
        providingMembersOf declaration: some DeclGroupSyntax,
        conformingTo protocols: [TypeSyntax],
        in context: some MacroExpansionContext
    ) throws -> [DeclSyntax] {
        guard let model = ModelDeclaration(declaration) else {
            context.diagnose(.modelOnWrongKind(declaration), at: node, fixIts: .modelOnWrongKind(declaration))
            return []
        }
        let hasModelSuperclass = model.hasModelSuperclass(missing: protocols)
        ModelChecks(model: model, hasModelSuperclass: hasModelSuperclass, context: context).run()
        return ModelMembers(
            model: model, superclass: hasModelSuperclass ? model.firstInheritedType : nil
        ).declarations
    }
}

extension ModelMacro: MemberAttributeMacro {
    /// Marks the stored properties, so that they are persisted.
    public static func expansion(
        of node: AttributeSyntax,
        attachedTo declaration: some DeclGroupSyntax,
        providingAttributesFor member: some DeclSyntaxProtocol,
        in context: some MacroExpansionContext
    ) throws -> [AttributeSyntax] {
        guard let model = ModelDeclaration(declaration) else { return [] }
        if let initializer = member.as(InitializerDeclSyntax.self) {
            // Swift runs no observers for assignments in a class's own designated initializers, and what an initializer gives
            // a property before `self` is complete does not go through its setter.
            guard model.hasObservedProperties || model.mayBeGivenModels, initializer.body != nil,
                !initializer.modifiers.contains(.convenience)
            else { return [] }
            if !model.mayBeGivenModels { return ["@_ModelInitializer"] }
            return model.hasObservedProperties
                ? ["@_ModelInitializer(links: true)"] : ["@_ModelInitializer(links: true, observes: false)"]
        }
        guard let variable = member.as(VariableDeclSyntax.self), let property = variable.modelProperty,
            let slot = model.properties.firstIndex(where: { $0.name == property.name })
        else { return [] }
        return ["@_PersistedProperty(\(literal: slot))"]
    }
}

extension ModelMacro: ExtensionMacro {
    /// Adds the conformance to `PersistentModel`.
    public static func expansion(
        of node: AttributeSyntax,
        attachedTo declaration: some DeclGroupSyntax,
        providingExtensionsOf type: some TypeSyntaxProtocol,
        conformingTo protocols: [TypeSyntax],
        in context: some MacroExpansionContext
    ) throws -> [ExtensionDeclSyntax] {
        guard declaration.is(ClassDeclSyntax.self) else { return [] }
        let missing = Set(protocols.compactMap(\.baseName))
        var extensions: [ExtensionDeclSyntax] = []
        if missing.contains("PersistentModel") {
            // Where the default isolation is the main actor, the conformance and `Observable`, which it implies, stay off it.
            extensions.append(
                try ExtensionDeclSyntax(
                    "nonisolated extension \(type.trimmed): MortiseCore.PersistentModel {}"))
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
