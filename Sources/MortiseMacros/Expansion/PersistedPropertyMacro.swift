import SwiftSyntax
import SwiftSyntaxBuilder
import SwiftSyntaxMacros

/// `@_PersistedProperty(slot)`, which `@Model` puts on each property it keeps.
open class PersistedPropertyMacro {}

extension PersistedPropertyMacro: AccessorMacro {
    /// Replaces storage by accessors that read and write the model's state.
    public static func expansion(
        of node: AttributeSyntax,
        providingAccessorsOf declaration: some DeclSyntaxProtocol,
        in context: some MacroExpansionContext
    ) throws -> [AccessorDeclSyntax] {
        guard let property = declaration.as(VariableDeclSyntax.self)?.modelProperty,
            let index = node.labeledArguments.first?.expression.trimmedDescription
        else { return [] }
        let owner = context.modelClass
        let names = StateNames(
            mayHaveSuperclass: owner?.inheritanceClause != nil, className: owner?.name.text ?? "Self")
        let access = SlotAccess(
            keyPath: "\\.\(property.identifier)", slot: names.slot(index), isTransformable: property.isTransformable)
        let initialize = property.isTransformable ? "initializeTransformable" : "initialize"

        return [
            """
            @storageRestrictions(accesses: \(raw: names.initialState), initializes: _\(raw: property.name))
            init(initialValue) {
                \(raw: names.initialState).\(raw: initialize)(at: \(raw: access.slot), to: initialValue)
                _\(raw: property.name) = MortiseCore.NoStorage()
            }
            """,
            """
            get {
                \(raw: names.preparation)access(keyPath: \(raw: context.sharedKeyPath(to: property) ?? access.keyPath))
                return \(raw: access.read)
            }
            """,
            setter(of: property, access: access, preparation: names.preparation),
        ]
    }

    private static func setter(
        of property: ModelProperty, access: SlotAccess, preparation: String
    ) -> AccessorDeclSyntax {
        if let block = property.binding.accessorBlock, let observers = PropertyObservers(block, of: property) {
            return observers.setter(access: access, preparation: preparation)
        }
        return """
            set {
                \(raw: preparation)withMutation(keyPath: \(raw: access.keyPath)) {
                    \(raw: access.write("newValue"))
                }
            }
            """
    }
}

extension PersistedPropertyMacro: PeerMacro {
    /// Adds the storage of the property's observers, if it has any.
    public static func expansion(
        of node: AttributeSyntax,
        providingPeersOf declaration: some DeclSyntaxProtocol,
        in context: some MacroExpansionContext
    ) throws -> [DeclSyntax] {
        guard let property = declaration.as(VariableDeclSyntax.self)?.modelProperty else { return [] }
        var peers: [DeclSyntax] = ["nonisolated(unsafe) private var _\(raw: property.name): MortiseCore.NoStorage"]
        if let owner = context.modelClass, context.sharedKeyPath(to: property) != nil {
            let isolation = declaration.as(VariableDeclSyntax.self)?.modifiers.contains(.nonisolated) == true
            peers.append(
                """
                private \(raw: isolation ? "nonisolated " : "")static let _keyPath_\(raw: property.name) = \
                \\\(raw: owner.name.text).\(raw: property.identifier)
                """)
        }
        return peers
    }
}

extension MacroExpansionContext {
    /// The model class around a property.
    fileprivate var modelClass: ClassDeclSyntax? {
        lexicalContext.lazy.compactMap { $0.as(ClassDeclSyntax.self) }.first
    }

    /// The expression of the property's key path as a constant of its class: a literal would be looked up, retained and
    /// released at each read, which takes longer than the read itself. Nil where a class cannot have such constants,
    /// because something around it is generic.
    fileprivate func sharedKeyPath(to property: ModelProperty) -> String? {
        guard let modelClass, !lexicalContext.contains(where: \.isGeneric) else { return nil }
        return "\(modelClass.name.text)._keyPath_\(property.name)"
    }
}

extension SyntaxProtocol {
    fileprivate var isGeneric: Bool {
        asProtocol((any WithGenericParametersSyntax).self)?.genericParameterClause != nil
    }
}

/// How accessors read and write the slot of one property.
struct SlotAccess {
    /// The key path literal, rooted in the class by inference.
    let keyPath: String
    /// The expression of the slot.
    let slot: String
    let isTransformable: Bool

    var read: String { isTransformable ? "_transformableValue(at: \(slot))" : "_value(at: \(slot))" }

    func write(_ value: String) -> String {
        isTransformable ? "_setTransformableValue(\(value), at: \(slot))" : "_setValue(\(value), at: \(slot))"
    }
}
