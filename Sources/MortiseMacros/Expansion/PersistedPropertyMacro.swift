import SwiftSyntax
import SwiftSyntaxBuilder
import SwiftSyntaxMacros

/// `@_PersistedProperty(slot)`, which `@Model` puts on each property it keeps.
struct PersistedPropertyMacro: UnformattedMacro {}

extension PersistedPropertyMacro: AccessorMacro {
    /// Replaces storage by accessors that read and write the model's state.
    static func expansion(
        of node: AttributeSyntax,
        providingAccessorsOf declaration: some DeclSyntaxProtocol,
        in context: some MacroExpansionContext
    ) throws -> [AccessorDeclSyntax] {
        guard let property = declaration.as(VariableDeclSyntax.self)?.modelProperty,
            let index = node.labeledArguments.first?.expression.trimmedDescription
        else { return [] }
        if PropertyChecks.refuse(property.declaration, className: context.modelClass?.name.text ?? "") {
            return inert(storageName(of: property, node))
        }
        let names = context.stateNames
        let access = SlotAccess(
            keyPath: "\\.\(property.identifier)", slot: names.slot(index), isTransformable: property.isTransformable)
        return direct(property, access, names, node, context)
            + setters(of: property, access: access, preparation: names.preparation)
    }

    /// Accessors that compile whatever the property is, and never run.
    private static func inert(_ storage: String) -> [AccessorDeclSyntax] {
        [
            """
            @storageRestrictions(initializes: \(raw: storage))
            init(initialValue) {
                \(raw: storage) = MortiseCore.NoStorage()
            }
            """,
            """
            get {
                Swift.fatalError()
            }
            """,
            """
            set {
            }
            """,
        ]
    }

    /// The accessors that run no observers, but for the setter.
    private static func direct(
        _ property: ModelProperty, _ access: SlotAccess, _ names: StateNames, _ node: AttributeSyntax,
        _ context: some MacroExpansionContext
    ) -> [AccessorDeclSyntax] {
        let initialize = property.isTransformable ? "initializeTransformable" : "initialize"
        let storage = storageName(of: property, node)
        return [
            """
            @storageRestrictions(accesses: \(raw: names.initialState), initializes: \(raw: storage))
            init(initialValue) {
                \(raw: names.initialState).\(raw: initialize)(at: \(raw: access.slot), to: initialValue)
                \(raw: storage) = MortiseCore.NoStorage()
            }
            """,
            """
            get {
                \(raw: names.preparation)access(keyPath: \(raw: context.sharedKeyPath(to: property) ?? access.keyPath))
                return \(raw: access.read)
            }
            """,
        ]
    }

    private static func storageName(of property: ModelProperty, _ node: AttributeSyntax) -> String {
        node.argument("storage")?.literalText
            ?? property.storageName(isTaken: false)
    }

    private static func setters(
        of property: ModelProperty, access: SlotAccess, preparation: String
    ) -> [AccessorDeclSyntax] {
        if let block = property.binding.accessorBlock, let observers = PropertyObservers(block, of: property) {
            return [observers.setter(access: access, preparation: preparation)]
        }
        return plainSetters(access: access, preparation: preparation)
    }

    /// A setter, and changes in place: what the compiler would write for these is most of a model's code.
    private static func plainSetters(access: SlotAccess, preparation: String) -> [AccessorDeclSyntax] {
        [
            """
            set {
                \(raw: preparation)\(raw: access.write("newValue"))
            }
            """,
            """
            _modify {
                \(raw: preparation)yield &\(raw: access.inPlace)
            }
            """,
        ]
    }
}

extension PersistedPropertyMacro: PeerMacro {
    /// Adds the property's storage, its key path as a constant, and the property without observers, if it has any.
    static func expansion(
        of node: AttributeSyntax,
        providingPeersOf declaration: some DeclSyntaxProtocol,
        in context: some MacroExpansionContext
    ) throws -> [DeclSyntax] {
        guard let property = declaration.as(VariableDeclSyntax.self)?.modelProperty else { return [] }
        let storage = storageName(of: property, node)
        var peers: [DeclSyntax] = [
            "\(raw: UnsafeStorage.attribute)nonisolated(unsafe) private var \(raw: storage): MortiseCore.NoStorage"
        ]
        if PropertyChecks.refuse(property.declaration, className: context.modelClass?.name.text ?? "") { return peers }
        if let owner = context.modelClass, context.sharedKeyPath(to: property) != nil {
            peers.append(
                """
                private \(raw: property.isolation)static let \(raw: Self.keyPathName(of: property)) = \
                MortiseCore.SharedKeyPath(\(raw: label(of: property))\\\(raw: owner.name.text).\(raw: property.identifier))
                """)
        }
        if property.isDeprecated, let owner = context.modelClass {
            peers.append(
                """
                private nonisolated static func \(raw: property.keyPathsName)<_MortiseModel: \(raw: owner.name.text)>(
                    of _: _MortiseModel.Type
                ) -> (plain: Swift.AnyKeyPath, chained: Swift.AnyKeyPath) {
                    (\\_MortiseModel.\(raw: property.identifier), \\_MortiseModel?.?.\(raw: property.identifier))
                }
                """)
        }
        if let peer = unobservedProperty(property, node, context) { peers.append(peer) }
        return peers
    }

    /// What has the compiler check that a relationship holds models, or an array of them.
    private static func label(of property: ModelProperty) -> String {
        guard let relationship = property.relationship else { return "" }
        return relationship.limitsMembers ? "limited: " : "relationship: "
    }

    private static func unobservedProperty(
        _ property: ModelProperty, _ node: AttributeSyntax, _ context: some MacroExpansionContext
    ) -> DeclSyntax? {
        guard let name = property.unobservedName, let type = property.knownType,
            let index = node.labeledArguments.first?.expression.trimmedDescription
        else { return nil }
        let names = context.stateNames
        let access = SlotAccess(
            keyPath: "\\.\(property.identifier)", slot: names.slot(index), isTransformable: property.isTransformable)
        let accessors =
            direct(property, access, names, node, context)
            + plainSetters(access: access, preparation: names.preparation)
        return """
            private \(raw: property.isolation)var \(raw: name): \(raw: type) {
            \(raw: accessors.map(\.description).joined(separator: "\n"))
            }
            """
    }

    fileprivate static func keyPathName(of property: ModelProperty) -> String {
        TokenSyntax.quoted("_keyPath_\(property.name)")
    }
}

extension MacroExpansionContext {
    /// The model class around a property.
    fileprivate var modelClass: ClassDeclSyntax? {
        lexicalContext.lazy.compactMap { $0.as(ClassDeclSyntax.self) }.first
    }

    fileprivate var stateNames: StateNames {
        StateNames(mayHaveSuperclass: modelClass?.inheritanceClause != nil, className: modelClass?.name.text ?? "Self")
    }

    /// The expression of the property's key path as a constant of its class: a literal would be looked up, retained and
    /// released at each read, which takes longer than the read itself. Nil where a class cannot have such constants,
    /// because something around it is generic.
    fileprivate func sharedKeyPath(to property: ModelProperty) -> String? {
        guard let modelClass, !lexicalContext.contains(where: \.isGeneric) else { return nil }
        return "\(modelClass.name.text).\(PersistedPropertyMacro.keyPathName(of: property)).keyPath"
    }
}

extension ModelProperty {
    /// `nonisolated` where the property is; ends in a space or is empty.
    fileprivate var isolation: String { declaration.modifiers.contains(.nonisolated) ? "nonisolated " : "" }
}

extension SyntaxProtocol {
    var isGeneric: Bool {
        asProtocol((any WithGenericParametersSyntax).self)?.genericParameterClause != nil
    }
}

extension AttributeSyntax {
    /// Whether a relationship limits how many models it holds. One at most is what any relationship to one model says.
    fileprivate var limitsMembers: Bool {
        let open = ["minimumModelCount": ["0", "nil"], "maximumModelCount": ["0", "1", "nil"]]
        return open.contains { label, values in
            argument(label).map { !values.contains($0.trimmedDescription) } ?? false
        }
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

    var inPlace: String { isTransformable ? "self[_transformable: \(slot)]" : "self[_slot: \(slot)]" }
}
