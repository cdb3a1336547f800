import PackageTestSupport
import Testing

/// Which macros a test has expanded.
struct MacroSet {
    var expandsPublicMacros = true
    var expandsMemberMacros = false
    /// Whether the superclass of each model is a model.
    var isSubclass = false

    /// The public macros.
    static let declared = MacroSet()
    /// The public macros on classes whose superclass is a model.
    static let subclass = MacroSet(isSubclass: true)
    /// The macros that `@Model` puts on members.
    static let accessors = MacroSet(expandsPublicMacros: false, expandsMemberMacros: true)
    /// The public ones and those that `@Model` puts on members.
    static let all = MacroSet(expandsMemberMacros: true)
}

/// A diagnostic that a test found.
struct FoundDiagnostic: Decodable {
    struct Fix: Decodable {
        let message: String
        /// The whole source with the fix.
        let source: String
    }

    let id: String
    let message: String
    let severity: Severity
    /// The text that the diagnostic points at.
    let node: String
    let fixes: [Fix]
}

/// As `DiagnosticSeverity` of swift-syntax.
enum Severity: String, Decodable {
    case error, warning, note, remark
}

/// What the macros in a source make of it.
struct MacroExpansion: Decodable {
    let source: String
    let syntaxErrors: [String]
    /// In the order of their reporting.
    let diagnostics: [FoundDiagnostic]

    private struct Request: Encodable {
        let source: String
        let expandsPublicMacros: Bool
        let expandsMemberMacros: Bool
        let isSubclass: Bool
    }

    /// Records an issue where the program that expands macros does not answer.
    init(of source: String, _ macros: MacroSet) {
        do {
            self = try SourceTools.answer(
                to: "expand",
                Request(
                    source: source, expandsPublicMacros: macros.expandsPublicMacros,
                    expandsMemberMacros: macros.expandsMemberMacros, isSubclass: macros.isSubclass))
        } catch {
            Issue.record(error)
            self.source = ""
            syntaxErrors = []
            diagnostics = []
        }
    }
}

/// Expects that `source` expands to `expected` without diagnostics.
func expectExpansion(
    _ source: String, _ expected: String, _ macros: MacroSet = .declared,
    at location: Testing.SourceLocation = #_sourceLocation
) {
    let expansion = MacroExpansion(of: source, macros)
    #expect(expansion.syntaxErrors == [], sourceLocation: location)
    #expect(expansion.diagnostics.map(\.message) == [], sourceLocation: location)
    #expect(
        words(of: expansion.source) == words(of: expected), "expanded to:\n\(expansion.source)",
        sourceLocation: location)
}

/// A source's words, however its lines are broken and indented, which expansions leave as it comes.
private func words(of source: String) -> [Substring] {
    source.replacing("{}", with: "{ }").split(whereSeparator: \.isWhitespace)
}

/// What macros make of `source`.
func expansion(of source: String, _ macros: MacroSet = .declared) -> String {
    MacroExpansion(of: source, macros).source
}

/// Expands the macros in `source` and returns their diagnostics in the order of their reporting.
func diagnostics(of source: String, isSubclass: Bool = false) -> [FoundDiagnostic] {
    MacroExpansion(of: source, MacroSet(isSubclass: isSubclass)).diagnostics
}

/// Expects exactly one diagnostic in `source`, with the given fix-its.
func expectDiagnostic(
    _ id: String, _ message: String, _ severity: Severity = .error, on node: String? = nil,
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
#if compiler(>=6.2)
let safe = "@safe "
#else
let safe = ""
#endif
