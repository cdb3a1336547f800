import SwiftDiagnostics
import SwiftParser
import SwiftSyntax
import SwiftSyntaxBuilder
import SwiftSyntaxMacroExpansion
import SwiftSyntaxMacros
import SwiftSyntaxMacrosGenericTestSupport
import Testing

/// What the compiler passes to `@Model` on a class that has no model above it.
private let rootConformances: [TypeSyntax] = ["PersistentModel", "Sendable"]

/// The public macros; with `isSubclass`, as for a class whose superclass is a model.
func macroSpecs(isSubclass: Bool = false) -> [String: MacroSpec] {
    [
        "Model": MacroSpec(type: ModelMacro.self, conformances: isSubclass ? [] : rootConformances),
        "Attribute": MacroSpec(type: AttributeMacro.self),
        "Relationship": MacroSpec(type: RelationshipMacro.self),
        "Transient": MacroSpec(type: TransientMacro.self),
        "Unique": MacroSpec(type: UniqueMacro.self),
        "Index": MacroSpec(type: IndexMacro.self),
        "ModelActor": MacroSpec(type: ModelActorMacro.self, conformances: ["ModelActor"]),
    ]
}

/// The macros that `@Model` puts on members.
let accessorSpecs: [String: MacroSpec] = [
    "_PersistedProperty": MacroSpec(type: PersistedPropertyMacro.self),
    "_ModelInitializer": MacroSpec(type: ModelInitializerMacro.self),
]

/// Expects that `source` expands to `expected` without diagnostics.
func expectExpansion(
    _ source: String, _ expected: String, specs: [String: MacroSpec] = macroSpecs(),
    at location: Testing.SourceLocation = #_sourceLocation
) {
    assertMacroExpansion(
        source, expandedSource: expected, macroSpecs: specs,
        failureHandler: { Issue.record("\($0.message)", sourceLocation: location) })
}

/// What macros make of `source`.
func expansion(of source: String, specs: [String: MacroSpec] = macroSpecs()) -> String {
    let file = Parser.parse(source: source)
    let context = BasicMacroExpansionContext(
        sourceFiles: [file: .init(moduleName: "TestModule", fullFilePath: "test.swift")])
    return file.expand(macroSpecs: specs) { syntax in
        BasicMacroExpansionContext(sharingWith: context, lexicalContext: syntax.allMacroLexicalContexts())
    }.description
}

/// A diagnostic that a test found, with the source that each of its fix-its makes.
struct FoundDiagnostic {
    let id: String
    let message: String
    let severity: DiagnosticSeverity
    /// The text that the diagnostic points at.
    let node: String
    let fixes: [(message: String, source: String)]
}

/// Expands the macros in `source` and returns their diagnostics in the order of their reporting.
func diagnostics(of source: String, isSubclass: Bool = false) -> [FoundDiagnostic] {
    let file = Parser.parse(source: source)
    let context = BasicMacroExpansionContext(
        sourceFiles: [file: .init(moduleName: "TestModule", fullFilePath: "test.swift")])
    _ = file.expand(macroSpecs: macroSpecs(isSubclass: isSubclass)) { syntax in
        BasicMacroExpansionContext(sharingWith: context, lexicalContext: syntax.allMacroLexicalContexts())
    }
    return context.diagnostics.map { diagnostic in
        FoundDiagnostic(
            id: (diagnostic.diagMessage as? MacroDiagnostic)?.id ?? "foreign",
            message: diagnostic.message,
            severity: diagnostic.diagMessage.severity,
            node: diagnostic.node.trimmedDescription,
            fixes: diagnostic.fixIts.map { ($0.message.message, apply($0, to: source, in: context)) })
    }
}

private func apply(_ fixIt: FixIt, to source: String, in context: BasicMacroExpansionContext) -> String {
    var bytes = Array(source.utf8)
    for change in fixIt.changes {
        guard case .replace(let old, let new) = change else { continue }
        let start = context.location(for: old.position, anchoredAt: old, fileName: "test.swift").offset
        bytes.replaceSubrange(start..<(start + old.totalLength.utf8Length), with: Array(new.description.utf8))
    }
    return String(decoding: bytes, as: UTF8.self)
}

/// Expects exactly one diagnostic in `source`, with the given fix-its.
func expectDiagnostic(
    _ id: String, _ message: String, _ severity: DiagnosticSeverity = .error, on node: String? = nil,
    in source: String, isSubclass: Bool = false,
    fixes: [(message: String, source: String)] = [], at location: Testing.SourceLocation = #_sourceLocation
) {
    let found = diagnostics(of: source, isSubclass: isSubclass)
    #expect(found.map(\.id) == [id], sourceLocation: location)
    guard let first = found.first else { return }
    #expect(first.message == message, sourceLocation: location)
    #expect(first.severity == severity, sourceLocation: location)
    if let node { #expect(first.node == node, sourceLocation: location) }
    #expect(first.fixes.map(\.message) == fixes.map(\.message), sourceLocation: location)
    for (actual, expected) in zip(first.fixes, fixes) {
        #expect(actual.source == expected.source, sourceLocation: location)
    }
}

/// Expects that the macros in `source` have nothing to say.
func expectNoDiagnostics(
    in source: String, isSubclass: Bool = false, at location: Testing.SourceLocation = #_sourceLocation
) {
    #expect(diagnostics(of: source, isSubclass: isSubclass).map(\.message) == [], sourceLocation: location)
}

/// What marks storage that the compiler cannot check, where it has a mark.
let safe = UnsafeStorage.attribute
