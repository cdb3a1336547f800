import SwiftSyntax
import SwiftSyntaxMacros

/// A class marked `@Model`, as the roles of the macro see it.
struct ModelDeclaration {
    let syntax: ClassDeclSyntax
    /// Whether the class is compiled in the Swift 6 mode.
    let isSwift6: Bool

    init?(_ declaration: some DeclSyntaxProtocol, in context: some MacroExpansionContext) {
        guard let syntax = declaration.as(ClassDeclSyntax.self) else { return nil }
        self.syntax = syntax
        isSwift6 = context.isSwift6
    }

    var name: String { syntax.name.trimmed.text }
    var isFinal: Bool { syntax.modifiers.contains(.final) }
    var access: AccessLevel { AccessLevel(of: syntax.modifiers) }

    /// The kept properties in the order of their declaration; the index of one is its slot within the class.
    var properties: [ModelProperty] { variables.compactMap(\.modelProperty) }

    /// Whether there is an error in a property, which is reported by the member role alone.
    func refuses(_ property: ModelProperty) -> Bool {
        refusesConstant(property) || PropertyChecks.refuse(property.declaration, className: name)
    }

    /// Whether a property is a constant, to which the Swift 6 mode lets nothing add accessors.
    func refusesConstant(_ property: ModelProperty) -> Bool { isSwift6 && property.isConstant }

    /// Whether nothing is made of the class: whatever is would not compile.
    var isRefused: Bool {
        DiagnosticReporter.findsError { WholeClassChecks(model: self, reporter: $0).run() }
    }

    /// All variables declared directly in the body, whatever their kind.
    var variables: [VariableDeclSyntax] {
        syntax.memberBlock.members.compactMap { $0.decl.as(VariableDeclSyntax.self) }
    }

    /// The initializers written in the body, outside `#if`.
    var initializers: [InitializerDeclSyntax] {
        syntax.memberBlock.members.compactMap { $0.decl.as(InitializerDeclSyntax.self) }
    }

    /// An initializer that `@Model` adds itself, `init(backingData: any BackingData<Model>)`, written in the body.
    func backingDataInitializer(superclass: TypeSyntax?) -> InitializerDeclSyntax? {
        initializers.first { initializer in
            let parameters = initializer.signature.parameterClause.parameters
            guard let only = parameters.first, parameters.count == 1, only.firstName.text == "backingData",
                let type = only.type.as(SomeOrAnyTypeSyntax.self), type.someOrAnySpecifier.tokenKind == .keyword(.any)
            else { return false }
            let names = superclass.map {
                [$0.trimmedDescription, "\($0.trimmedDescription).Root", "\(name).Root", "Root"]
            }
            let ours = [""] + (names ?? [name, "Self"]).map { "<\($0)>" }
            return type.constraint.baseName == "BackingData" && ours.contains(type.constraint.genericArguments)
        }
    }

    /// The `#Unique` and `#Index` declarations in the body, in order, outside `#if`.
    var constraints: [MacroExpansionDeclSyntax] { syntax.memberBlock.members.compactMap(\.constraint) }

    /// The names of kept properties with observers that initializers can pass by.
    var observedNames: [String] { properties.filter { $0.unobservedName != nil }.map(\.name) }

    /// The name of a property's storage.
    func storageName(of property: ModelProperty) -> String {
        property.storageName(isTaken: isStorageTaken(of: property))
    }

    /// Whether `_name` is declared in the class, or may be.
    func isStorageTaken(of property: ModelProperty) -> Bool {
        let name = "_\(property.name)"
        return property.hasForeignAttribute || ReservedNames.expansionMembers.contains(name)
            || syntax.memberBlock.members.contains { member in
                if let variable = member.decl.as(VariableDeclSyntax.self) { return variable.declares(name) }
                return member.decl.asProtocol((any NamedDeclSyntax).self)?.name.unescaped == name
            }
    }

    /// Whether an initializer may give a model, or an array of them, to a property before `self` is complete: as far as the
    /// syntax tells, which does not know models from other types. An initial value does not keep an initializer from that.
    var mayBeGivenModels: Bool {
        properties.contains { property in
            guard !property.isTransformable else { return false }
            guard let type = property.type else { return property.initialValue?.mayBeModel == true }
            return type.mayHoldModels
        }
    }

    /// Whether an initializer calls one of a superclass.
    var callsSuperInitializer: Bool {
        initializers.contains { initializer in
            initializer.body?.tokens(viewMode: .sourceAccurate).contains { token in
                token.tokenKind == .keyword(.super)
                    && token.parent?.parent?.as(MemberAccessExprSyntax.self)?.declName.baseName.tokenKind
                        == .keyword(.`init`)
            } == true
        }
    }

    /// Whether a method or property of a superclass, which its `deinit` may call, is overridden.
    var overridesMethods: Bool {
        syntax.memberBlock.members.contains { member in
            let isInitializer = member.decl.is(InitializerDeclSyntax.self)
            return !isInitializer
                && member.decl.asProtocol((any WithModifiersSyntax).self)?.modifiers.contains(.override) == true
        }
    }

    /// Whether the class has a `deinit`, on which the macro has its mark, or may have one.
    var hasDeinitializer: Bool {
        syntax.memberBlock.members.contains { member in
            member.decl.is(DeinitializerDeclSyntax.self)
                || member.decl.as(IfConfigDeclSyntax.self)?.mayHaveDeinitializer == true
        }
    }

    /// The first name of the inheritance clause, the only one that can be a superclass.
    var firstInheritedType: TypeSyntax? { syntax.inheritanceClause?.inheritedTypes.first?.type }

    /// The state that initial values of this class's own properties go to.
    ///
    /// A member attribute cannot ask whether the first inherited type is a class or a protocol. With an inheritance
    /// clause the property therefore goes through names whose meaning the member role decides, which can.
    var stateNames: StateNames { StateNames(mayHaveSuperclass: firstInheritedType != nil, className: name) }

    /// Whether the superclass is a model, told from the conformances the compiler finds missing.
    ///
    /// A class that writes `PersistentModel`, or a protocol that refines it, in its own inheritance clause has that
    /// conformance as well; only the `Sendable` conformance can come from nowhere but a model above.
    func hasModelSuperclass(missing protocols: [TypeSyntax]) -> Bool {
        guard firstInheritedType != nil else { return false }
        // A class that writes both conformances itself misses neither.
        let inherited = Set(syntax.inheritanceClause?.inheritedTypes.map(\.type.unattributed.baseName) ?? [])
        if inherited.isSuperset(of: ["PersistentModel", "Sendable"]) { return false }
        let names = protocols.map { $0.baseName }
        return !names.contains("PersistentModel") && !names.contains("Sendable")
    }
}

/// The names through which accessors reach the state of their own class.
struct StateNames {
    /// Whether the names are decided by the member role.
    let mayHaveSuperclass: Bool
    let className: String

    /// The stored property that init accessors write to.
    var initialState: String { mayHaveSuperclass ? "_ownState" : "_modelState" }

    /// The statement that getters and setters begin with; empty if they need none.
    var preparation: String { mayHaveSuperclass ? "_adoptOwnValues()\n" : "" }

    /// The expression of the slot of the property at `index` in its class.
    func slot(_ index: String) -> String { mayHaveSuperclass ? "\(className)._firstSlot + \(index)" : index }
}

extension MemberBlockItemSyntax {
    /// The member as `#Unique` or `#Index`; nil if it is another.
    var constraint: MacroExpansionDeclSyntax? {
        guard let macro = decl.as(MacroExpansionDeclSyntax.self),
            macro.macroName.text == "Unique" || macro.macroName.text == "Index"
        else { return nil }
        return macro
    }
}

extension VariableDeclSyntax {
    func declares(_ name: String) -> Bool {
        bindings.contains { $0.pattern.as(IdentifierPatternSyntax.self)?.identifier.unescaped == name }
    }
}

extension TypeSyntax {
    /// The type without attributes such as `@unchecked`.
    fileprivate var unattributed: TypeSyntax { self.as(AttributedTypeSyntax.self)?.baseType ?? self }
}

extension TypeSyntax {
    /// Whether the type may be a model, an optional model or an array of models.
    fileprivate var mayHoldModels: Bool {
        let held = collectionElement ?? unwrappedOptional ?? self
        let model = held.unwrappedOptional ?? held
        return model.baseName != nil && !model.isScalar
    }
}

extension ExprSyntax {
    /// Whether a property with this initial value, and without a written type, may be a relationship.
    fileprivate var mayBeModel: Bool {
        if let call = self.as(FunctionCallExprSyntax.self) { return call.calledExpression.mayBeModel }
        if let array = self.as(ArrayExprSyntax.self) {
            return array.elements.first.map { $0.expression.mayBeModel } ?? false
        }
        if let name = self.as(DeclReferenceExprSyntax.self) {
            return !ReservedNames.scalarTypes.contains(name.baseName.text)
        }
        return self.is(MemberAccessExprSyntax.self)
    }
}
