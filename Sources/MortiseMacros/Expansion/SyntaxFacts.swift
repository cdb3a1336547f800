import SwiftSyntax
import SwiftSyntaxBuilder
import SwiftSyntaxMacros

extension AttributeListSyntax {
    /// The first attribute named `name`, with or without its module in front.
    func attribute(named name: String) -> AttributeSyntax? {
        attributes(named: name).first
    }

    /// All attributes named `name`, with or without their module in front.
    func attributes(named name: String) -> [AttributeSyntax] {
        compactMap { element in
            guard case .attribute(let attribute) = element, attribute.baseName == name else { return nil }
            return attribute
        }
    }
}

extension AttributeListSyntax {
    /// Whether an attribute is not the first of its name: what it adds is there already.
    func isRepeated(_ node: AttributeSyntax, in context: some MacroExpansionContext) -> Bool {
        let all = attributes(named: node.baseName)
        guard all.count > 1, let first = all.first else { return false }
        func place(_ node: AttributeSyntax) -> String? {
            context.location(of: node).map { "\($0.line):\($0.column)" }
        }
        return place(first) != place(node)
    }
}

extension MacroExpansionContext {
    /// Whether a declaration is local, of which the compiler says that it cannot have the conformance. Nothing is made of it,
    /// so that it says nothing else.
    var isInFunction: Bool {
        lexicalContext.contains { node in
            node.is(FunctionDeclSyntax.self) || node.is(InitializerDeclSyntax.self) || node.is(ClosureExprSyntax.self)
                || node.is(AccessorDeclSyntax.self) || node.is(SubscriptDeclSyntax.self)
                || node.is(DeinitializerDeclSyntax.self)
        }
    }
}

extension AttributeSyntax {
    /// The attribute's name without a module in front: `Model` for `@Mortise.Model`.
    var baseName: String {
        if let member = attributeName.as(MemberTypeSyntax.self) { return member.name.text }
        if let identifier = attributeName.as(IdentifierTypeSyntax.self) { return identifier.name.text }
        return attributeName.trimmedDescription
    }

    /// The arguments in parentheses; empty without parentheses.
    var labeledArguments: LabeledExprListSyntax {
        guard case .argumentList(let list) = arguments else { return [] }
        return list
    }
}

extension DeclModifierListSyntax {
    func contains(_ keyword: Keyword) -> Bool { modifier(keyword) != nil }

    func modifier(_ keyword: Keyword) -> DeclModifierSyntax? {
        first { $0.name.tokenKind == .keyword(keyword) && $0.detail?.detail.text != "set" }
    }

    /// Whether the declaration belongs to the type and not to its instances.
    var isTypeLevel: Bool { contains(.static) || contains(.class) }
}

extension TokenSyntax {
    /// The identifier without the backticks that escape a keyword.
    var unescaped: String {
        text.count > 2 && text.hasPrefix("`") && text.hasSuffix("`") ? String(text.dropFirst().dropLast()) : text
    }
}

extension TokenSyntax {
    /// A name as it can be written: in backticks where it is a raw identifier.
    static func quoted(_ name: String) -> String {
        let isPlain = name.unicodeScalars.allSatisfy { scalar in
            scalar == "_"
                || (scalar.isASCII ? Character(scalar).isLetter || Character(scalar).isNumber : true)
                    && !scalar.properties.isWhitespace
        }
        return isPlain ? name : "`\(name)`"
    }
}

extension AttributeListSyntax {
    /// Whether there is an attribute that is neither the language's nor one of ours: a property wrapper or a macro.
    var hasForeign: Bool {
        contains { element in
            guard case .attribute(let attribute) = element else { return false }
            return attribute.baseName.first?.isUppercase == true
                && !["Attribute", "Relationship", "Transient", "MainActor"].contains(attribute.baseName)
        }
    }
}

extension TypeSyntax {
    /// Whether a `var` of this type is nil without an initial value. `Optional<T>` written out has none.
    var isNilByDefault: Bool {
        self.is(OptionalTypeSyntax.self) || self.is(ImplicitlyUnwrappedOptionalTypeSyntax.self)
    }

    /// `T` for `T?`, `T!` and `Optional<T>`; nil for other types.
    var unwrappedOptional: TypeSyntax? {
        if let optional = self.as(OptionalTypeSyntax.self) { return optional.wrappedType }
        if let optional = self.as(ImplicitlyUnwrappedOptionalTypeSyntax.self) { return optional.wrappedType }
        if let named = genericArgument(of: "Optional") { return named }
        if let tuple = self.as(TupleTypeSyntax.self), tuple.elements.count == 1,
            let only = tuple.elements.first, only.firstName == nil
        {
            return only.type.unwrappedOptional
        }
        return nil
    }

    /// The element type of `[T]`, `Array<T>` and `Set<T>`, optional or not; nil for other types.
    var collectionElement: TypeSyntax? {
        let type = unwrappedOptional ?? self
        if let array = type.as(ArrayTypeSyntax.self) { return array.element }
        return type.genericArgument(of: "Array") ?? type.genericArgument(of: "Set")
    }

    /// The last component of a named type, without generic arguments: `Date` for `Foundation.Date`.
    var baseName: String? {
        if let identifier = self.as(IdentifierTypeSyntax.self) { return identifier.name.text }
        return self.as(MemberTypeSyntax.self)?.name.text
    }

    /// Whether the type is a scalar for certain, and no model that is named like one.
    var isScalar: Bool {
        if let member = self.as(MemberTypeSyntax.self), let module = member.baseType.baseName,
            ReservedNames.scalarModules.contains(module)
        {
            return true
        }
        return baseName.map(ReservedNames.scalarTypes.contains) ?? false
    }

    /// The type as it can stand after `as`, where `T!` is not allowed.
    var coercible: TypeSyntax {
        guard let optional = self.as(ImplicitlyUnwrappedOptionalTypeSyntax.self) else { return trimmed }
        return TypeSyntax(OptionalTypeSyntax(wrappedType: optional.wrappedType.trimmed))
    }

    /// `T?`, in parentheses where the grammar needs them.
    var madeOptional: TypeSyntax {
        let isAtomic = !self.is(SomeOrAnyTypeSyntax.self) && !self.is(FunctionTypeSyntax.self)
        return isAtomic ? "\(trimmed)?" : "(\(trimmed))?"
    }

    /// The generic arguments of a named type as written, in angle brackets; empty without.
    var genericArguments: String {
        let clause = self.as(IdentifierTypeSyntax.self)?.genericArgumentClause
        return (clause ?? self.as(MemberTypeSyntax.self)?.genericArgumentClause)?.trimmedDescription ?? ""
    }

    func genericArgument(of name: String) -> TypeSyntax? {
        guard let named = self.as(IdentifierTypeSyntax.self), named.name.text == name,
            let clause = named.genericArgumentClause, clause.arguments.count == 1, let only = clause.arguments.first
        else { return nil }
        return Syntax(only.argument).as(TypeSyntax.self)
    }
}

extension ExprSyntax {
    /// The text of a string literal without interpolations or escapes, as the macros write them; nil for others.
    var literalText: String? { self.as(StringLiteralExprSyntax.self)?.segments.description }

    /// The type of a literal, or of a call that makes a value of a type by its name; nil if the form does not tell.
    var literalType: String? {
        if self.is(IntegerLiteralExprSyntax.self) { return "Swift.Int" }
        if self.is(FloatLiteralExprSyntax.self) { return "Swift.Double" }
        if self.is(BooleanLiteralExprSyntax.self) { return "Swift.Bool" }
        if self.is(StringLiteralExprSyntax.self) { return "Swift.String" }
        if let negative = self.as(PrefixOperatorExprSyntax.self), negative.operator.text == "-" {
            return negative.expression.literalType.flatMap { $0 == "Swift.Int" || $0 == "Swift.Double" ? $0 : nil }
        }
        if let array = self.as(ArrayExprSyntax.self) {
            let types = Set(array.elements.map(\.expression.literalType))
            guard types.count == 1, let type = types.first ?? nil else { return nil }
            return "[\(type)]"
        }
        guard let call = self.as(FunctionCallExprSyntax.self) else { return nil }
        if let type = call.calledExpression.as(ArrayExprSyntax.self), type.elements.count == 1 {
            return type.trimmedDescription
        }
        let specialized = call.calledExpression.as(GenericSpecializationExprSyntax.self)
        let called = specialized?.expression ?? call.calledExpression
        guard let name = called.as(DeclReferenceExprSyntax.self)?.baseName.text, name.first?.isUppercase == true else {
            return nil
        }
        let isGeneric = KnownInitializers.genericTypes.contains(name)
        let tells =
            if isGeneric { specialized != nil } else if let first = call.arguments.first {
                KnownInitializers.labels[name]?.contains(first.label?.text ?? "_") == true
            } else { call.trailingClosure == nil }
        return tells ? call.calledExpression.trimmedDescription : nil
    }

    /// The root and the components of a key path literal; nil for other expressions.
    ///
    /// The parser takes the first name for the root. Further names that begin in upper case are taken for types around the
    /// model, as in `\SchemaV1.Stop.trip`; the last name is always a component.
    var keyPath: (root: TypeSyntax?, components: [String])? {
        guard let literal = self.as(KeyPathExprSyntax.self) else { return nil }
        var names = literal.components.map { component in
            component.component.as(KeyPathPropertyComponentSyntax.self)?.declName.baseName.unescaped
                ?? component.component.trimmedDescription
        }
        var root = literal.root?.trimmed
        while let outer = root, names.count > 1, names[0].first?.isUppercase == true {
            root = TypeSyntax(MemberTypeSyntax(baseType: outer, name: .identifier(names.removeFirst())))
        }
        return (root, names)
    }
}

/// Initializers of well-known types that always return a value of the type. Others may be failable, or leave it to the
/// compiler to find generic arguments.
private enum KnownInitializers {
    /// The label of the first argument, `_` where it has none.
    static let labels: [String: Set<String>] = [
        "Date": ["timeIntervalSinceReferenceDate", "timeIntervalSinceNow", "timeIntervalSince1970", "timeInterval"],
        "Data": ["_", "count", "repeating"],
        "UUID": ["uuid"],
        "URL": ["fileURLWithPath", "filePath"],
        "String": ["repeating", "describing"],
    ]
    /// Types that tell nothing without generic arguments.
    static let genericTypes: Set = ["Array", "ContiguousArray", "ArraySlice", "Set", "Dictionary", "Optional", "Range"]
}
