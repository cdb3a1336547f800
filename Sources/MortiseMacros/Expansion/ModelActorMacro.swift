import SwiftDiagnostics
import SwiftSyntax
import SwiftSyntaxBuilder
import SwiftSyntaxMacros

/// `@ModelActor`: gives an actor its own model context.
struct ModelActorMacro: UnformattedMacro {}

extension ModelActorMacro: MemberMacro {
    /// Adds executor, container and initializer.
    static func expansion(
        of node: AttributeSyntax,
        providingMembersOf declaration: some DeclGroupSyntax,
        conformingTo protocols: [TypeSyntax],
        in context: some MacroExpansionContext
    ) throws -> [DeclSyntax] {
        guard let actor = declaration.as(ActorDeclSyntax.self) else {
            context.diagnose(
                MacroDiagnostic(
                    "modelActorOnNonActor",
                    "'@ModelActor' can only be attached to an actor; declare the type as 'actor'"),
                at: node, fixIts: FixIt.useActor(for: declaration))
            return []
        }
        let access = AccessLevel(of: actor.modifiers).member
        var members: [DeclSyntax] = [
            "\(raw: access)nonisolated let modelExecutor: any MortiseCore.ModelExecutor",
            "\(raw: access)nonisolated let modelContainer: MortiseCore.ModelContainer",
        ]
        if actor.needsInitializer {
            context.diagnose(
                MacroDiagnostic(
                    "modelActorWithoutInitializer",
                    "'@ModelActor' requires an initializer, because some properties have no initial value; write one that "
                        + "sets them, 'modelContainer' and 'modelExecutor'"),
                at: actor.name, fixIts: [actor.fixItAddingInitializer])
            // Without an initializer the compiler would say so as well.
            members.append("init(modelContainer: MortiseCore.ModelContainer) {\n    Swift.fatalError()\n}")
        } else if !actor.declaresContainerInitializer {
            members.append(
                """
                \(raw: access)init(modelContainer: MortiseCore.ModelContainer) {
                    let modelContext = MortiseCore.ModelContext(modelContainer)
                    self.modelExecutor = MortiseCore.DefaultSerialModelExecutor(modelContext: modelContext)
                    self.modelContainer = modelContainer
                }
                """)
        }
        return members
    }
}

extension ModelActorMacro: ExtensionMacro {
    /// Adds the conformance to `ModelActor`.
    static func expansion(
        of node: AttributeSyntax,
        attachedTo declaration: some DeclGroupSyntax,
        providingExtensionsOf type: some TypeSyntaxProtocol,
        conformingTo protocols: [TypeSyntax],
        in context: some MacroExpansionContext
    ) throws -> [ExtensionDeclSyntax] {
        guard declaration.is(ActorDeclSyntax.self), !protocols.isEmpty else { return [] }
        return [try ExtensionDeclSyntax("extension \(type.trimmed): MortiseCore.ModelActor {}")]
    }
}

extension ActorDeclSyntax {
    private var stored: [VariableDeclSyntax] {
        memberBlock.members.compactMap { $0.decl.as(VariableDeclSyntax.self) }.filter(\.isStoredInstanceProperty)
    }

    private var initializers: [InitializerDeclSyntax] {
        memberBlock.members.compactMap { $0.decl.as(InitializerDeclSyntax.self) }
    }

    /// Whether the initializer of the macro would leave properties without a value, and the actor has no other.
    fileprivate var needsInitializer: Bool { !stored.allSatisfy(\.haveInitialValues) && initializers.isEmpty }

    /// Whether the body has its own `init(modelContainer:)`, or stored properties that ours could not initialize.
    fileprivate var declaresContainerInitializer: Bool {
        let ours = initializers.contains { initializer in
            let parameters = initializer.signature.parameterClause.parameters
            return parameters.count == 1 && parameters.first?.firstName.text == "modelContainer"
        }
        return ours || (!stored.allSatisfy(\.haveInitialValues) && !initializers.isEmpty)
    }

    /// Adds an initializer that takes the container and the properties without a value.
    fileprivate var fixItAddingInitializer: FixIt {
        let missing = stored.filter { !$0.haveInitialValues }.flatMap(\.bindings)
        let names = missing.map(\.pattern.trimmedDescription)
        let parameters = missing.map { binding in
            "\(binding.pattern.trimmedDescription): \(binding.typeAnnotation?.type.trimmedDescription ?? "<#Type#>")"
        }
        let lines =
            ["init(\((["modelContainer: ModelContainer"] + parameters).joined(separator: ", "))) {"]
            + names.map { "    self.\($0) = \($0)" }
            + [
                "    self.modelContainer = modelContainer",
                "    self.modelExecutor = DefaultSerialModelExecutor(modelContext: ModelContext(modelContainer))", "}",
            ]
        var block = memberBlock
        let text = lines.map { "    \($0)" }.joined(separator: "\n")
        block.members.append(
            MemberBlockItemSyntax(decl: DeclSyntax("\(raw: text)").with(\.leadingTrivia, .newlines(2) + .spaces(4))))
        return .replace("add an initializer", id: "addInitializer", old: memberBlock, new: block)
    }
}

extension FixIt {
    /// Replaces `class` or `struct` by `actor`.
    fileprivate static func useActor(for declaration: some DeclGroupSyntax) -> [FixIt] {
        let keyword: TokenSyntax
        if let type = declaration.as(ClassDeclSyntax.self) {
            keyword = type.classKeyword
        } else if let type = declaration.as(StructDeclSyntax.self) {
            keyword = type.structKeyword
        } else {
            return []
        }
        let actor = TokenSyntax.keyword(
            .actor, leadingTrivia: keyword.leadingTrivia, trailingTrivia: keyword.trailingTrivia)
        return [.replace("replace '\(keyword.text)' with 'actor'", id: "useActor", old: keyword, new: actor)]
    }
}
