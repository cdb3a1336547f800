import SwiftDiagnostics
import SwiftParser
import SwiftParserDiagnostics
import SwiftSyntax
import SwiftSyntaxBuilder
import SwiftSyntaxMacroExpansion
import SwiftSyntaxMacros

/// A source whose macros are to be expanded.
struct ExpansionRequest: Decodable {
    var source: String
    /// Whether the public macros are expanded.
    var expandsPublicMacros: Bool
    /// Whether the macros that `@Model` puts on members are expanded.
    var expandsMemberMacros: Bool
    /// Whether the superclass of each model is a model.
    var isSubclass: Bool

    var specs: [String: MacroSpec] {
        // What the compiler passes to `@Model` on a class that has no model above it.
        let conformances: [TypeSyntax] = isSubclass ? [] : ["PersistentModel", "Sendable"]
        var specs: [String: MacroSpec] = [:]
        if expandsPublicMacros {
            specs = [
                "Model": MacroSpec(type: ModelMacro.self, conformances: conformances),
                "Attribute": MacroSpec(type: AttributeMacro.self),
                "Relationship": MacroSpec(type: RelationshipMacro.self),
                "Transient": MacroSpec(type: TransientMacro.self),
                "Unique": MacroSpec(type: UniqueMacro.self),
                "Index": MacroSpec(type: IndexMacro.self),
                "ModelActor": MacroSpec(type: ModelActorMacro.self, conformances: ["ModelActor"]),
            ]
        }
        if expandsMemberMacros {
            specs["_PersistedProperty"] = MacroSpec(type: PersistedPropertyMacro.self)
            specs["_ModelInitializer"] = MacroSpec(type: ModelInitializerMacro.self)
        }
        return specs
    }
}

/// What the macros in a source make of it.
struct Expansion: Encodable {
    struct Found: Encodable {
        struct Fix: Encodable {
            var message: String
            /// The whole source with the fix.
            var source: String
        }

        var id: String
        var message: String
        var severity: String
        /// The text that the diagnostic points at.
        var node: String
        var fixes: [Fix]
    }

    var source: String
    /// What the parser finds wrong with the expanded source.
    var syntaxErrors: [String]
    /// In the order of their reporting.
    var diagnostics: [Found]

    init(of request: ExpansionRequest) {
        let file = Parser.parse(source: request.source)
        let context = BasicMacroExpansionContext(
            sourceFiles: [file: .init(moduleName: "TestModule", fullFilePath: "test.swift")])
        let expanded = file.expand(macroSpecs: request.specs) { syntax in
            BasicMacroExpansionContext(sharingWith: context, lexicalContext: syntax.allMacroLexicalContexts())
        }
        source = expanded.description
        syntaxErrors = ParseDiagnosticsGenerator.diagnostics(for: expanded).map(\.message)
        diagnostics = context.diagnostics.map { diagnostic in
            Found(
                id: (diagnostic.diagMessage as? MacroDiagnostic)?.id ?? "foreign", message: diagnostic.message,
                severity: "\(diagnostic.diagMessage.severity)", node: diagnostic.node.trimmedDescription,
                fixes: diagnostic.fixIts.map {
                    Found.Fix(message: $0.message.message, source: Self.apply($0, to: request.source, in: context))
                })
        }
    }

    private static func apply(_ fixIt: FixIt, to source: String, in context: BasicMacroExpansionContext) -> String {
        var bytes = Array(source.utf8)
        for change in fixIt.changes {
            guard case .replace(let old, let new) = change else { continue }
            let start = context.location(for: old.position, anchoredAt: old, fileName: "test.swift").offset
            bytes.replaceSubrange(start..<(start + old.totalLength.utf8Length), with: Array(new.description.utf8))
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
