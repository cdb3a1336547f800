import SwiftSyntax
import SwiftSyntaxBuilder

/// The observers written on a kept property.
///
/// Adding accessors to a property makes the compiler drop its observers, so the generated setter runs their bodies. What
/// Swift lets access the value directly, the observers themselves and the initializers of the class, goes through a second
/// property, `_unobserved_name`, which the generated setter uses as well.
struct PropertyObservers {
    private let property: ModelProperty
    private let willSet: AccessorDeclSyntax?
    private let didSet: AccessorDeclSyntax?

    /// Nil if the accessors hold no observer.
    init?(_ block: AccessorBlockSyntax, of property: ModelProperty) {
        guard case .accessors(let list) = block.accessors else { return nil }
        self.property = property
        willSet = list.first { $0.accessorSpecifier.tokenKind == .keyword(.willSet) }
        didSet = list.first { $0.accessorSpecifier.tokenKind == .keyword(.didSet) }
        if willSet == nil, didSet == nil { return nil }
    }

    /// The setter that runs the observers around the write.
    func setter(access: SlotAccess, preparation: String) -> AccessorDeclSyntax {
        let direct = property.unobservedName
        let value = direct.map { "self.\($0)" } ?? "_observed.value"
        let before = willSet.map { run($0, parameter: "newValue", argument: "_newValue", value: value) }
        let needsOldValue = didSet.map(\.usesOldValue) ?? false
        let after = didSet.map {
            run($0, parameter: needsOldValue ? "oldValue" : nil, argument: "_oldValue", value: value)
        }

        var statements: [String] = []
        let bodies = [before, after].compactMap { $0 }
        if bodies.contains(where: \.usesModel) { statements.append("let _model = self") }
        if direct == nil, needsOldValue || bodies.contains(where: \.touchesProperty) {
            statements.append(
                """
                let _observed = MortiseCore.ObservedProperty(like: _newValue) {
                    self.\(access.read)
                } write: { value in
                    self.\(access.write("value"))
                }
                """)
        }
        if let before { statements.append(before.call) }
        if needsOldValue { statements.append("let _oldValue = \(value)") }
        // The other property has the setter that the compiler checks.
        statements.append(direct == nil ? access.write("_newValue") : "\(value) = _newValue")
        if let after { statements.append(after.call) }

        return """
            set(_newValue) {
                \(raw: preparation)\(raw: statements.joined(separator: "\n"))
            }
            """
    }

    private struct Body {
        /// The call of a closure that holds an observer's body, in which `return` leaves only the observer.
        let call: String
        let touchesProperty: Bool
        let usesModel: Bool
    }

    private func run(_ observer: AccessorDeclSyntax, parameter: String?, argument: String, value: String) -> Body {
        let rewriter = SelfReferenceRewriter(
            [property.name: value], shadowing: parameter.map { [observer.parameters?.name.text ?? $0] } ?? [],
            model: "_model")
        let body = rewriter.rewrite(observer.body?.statements ?? [])
        let name = observer.parameters?.name.text ?? parameter
        let signature = parameter == nil ? "() -> Swift.Void in" : "(\(name ?? "_")) -> Swift.Void in"
        return Body(
            call: "({ \(signature)\n\(body.trimmed)\n})(\(parameter == nil ? "" : argument))",
            touchesProperty: rewriter.found, usesModel: rewriter.usesModel)
    }
}

extension AccessorDeclSyntax {
    /// Whether a `didSet` reads the value it replaces: it names the parameter or mentions `oldValue`.
    fileprivate var usesOldValue: Bool {
        parameters != nil
            || body?.tokens(viewMode: .sourceAccurate).contains { $0.tokenKind == .identifier("oldValue") } == true
    }
}
