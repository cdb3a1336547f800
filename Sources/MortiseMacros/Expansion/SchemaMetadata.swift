import SwiftSyntax
import SwiftSyntaxBuilder

/// The members that describe a model class to the schema.
///
/// A subclass reads its inherited properties through key paths rooted in itself, which are unequal to those rooted in
/// the superclass. A class that can be subclassed therefore emits its entries generically.
struct SchemaMetadata {
    let model: ModelDeclaration
    let superclass: TypeSyntax?

    private static let entryType = "MortiseCore.Schema.PropertyMetadata"

    var declarations: [DeclSyntax] {
        model.isFinal ? finalDeclarations : openDeclarations
    }

    private var overridden: String { superclass == nil ? "" : "override " }

    private var finalDeclarations: [DeclSyntax] {
        let access = model.access.member
        var members: [DeclSyntax] = [
            """
            \(raw: access)\(raw: overridden)static var schemaMetadata: [\(raw: Self.entryType)] {
                \(raw: body(list(propertyEntries(root: model.name) + constraintEntries)))
            }
            """
        ]
        if let superclass {
            members += [
                inheritedMetadata(of: superclass, specifier: "static", access: access),
                slotCount(specifier: "static", access: access),
            ]
        }
        return members
    }

    private var openDeclarations: [DeclSyntax] {
        let access = model.access.overridable
        let own = "_ownSchemaMetadata(for: \(model.name).self)"
        let constraints = constraintEntries.isEmpty ? "" : " + \(list(constraintEntries))"
        let inherited = superclass.map { "\($0.trimmedDescription)._schemaMetadata(for: _MortiseModel.self) + " } ?? ""
        var members: [DeclSyntax] = [
            """
            \(raw: access)\(raw: overridden)class var schemaMetadata: [\(raw: Self.entryType)] {
                \(raw: body(own + constraints))
            }
            """,
            """
            \(raw: model.access.member)class func _schemaMetadata<_MortiseModel: \(raw: model.name)>(
                for _: _MortiseModel.Type
            ) -> [\(raw: Self.entryType)] {
                \(raw: inherited)_ownSchemaMetadata(for: _MortiseModel.self)
            }
            """,
            """
            private static func _ownSchemaMetadata<_MortiseModel: \(raw: model.name)>(
                for _: _MortiseModel.Type
            ) -> [\(raw: Self.entryType)] {
                \(raw: list(propertyEntries(root: "_MortiseModel")))
            }
            """,
        ]
        if let superclass {
            members.append(inheritedMetadata(of: superclass, specifier: "class", access: access))
        } else {
            members.append(
                """
                \(raw: access)class var _inheritedSchemaMetadata: [\(raw: Self.entryType)] {
                    []
                }
                """)
        }
        members.append(slotCount(specifier: "class", access: access))
        return members
    }

    /// The body of `schemaMetadata`: the entries, and those that hold under a condition.
    private func body(_ entries: String) -> String {
        let conditional = ConditionalMembers.statements(for: model.syntax.memberBlock.members, entry(of:))
        if conditional.isEmpty { return entries }
        return (["var metadata: [\(Self.entryType)] = \(entries)"] + conditional + ["return metadata"])
            .joined(separator: "\n")
    }

    private func inheritedMetadata(of superclass: TypeSyntax, specifier: String, access: String) -> DeclSyntax {
        """
        \(raw: access)override \(raw: specifier) var _inheritedSchemaMetadata: [\(raw: Self.entryType)] {
            \(superclass.trimmed)._schemaMetadata(for: \(raw: model.name).self)
        }
        """
    }

    private func slotCount(specifier: String, access: String) -> DeclSyntax {
        let inherited = superclass.map { "\($0.trimmedDescription)._modelSlotCount + " } ?? ""
        return """
            \(raw: access)\(raw: overridden)\(raw: specifier) var _modelSlotCount: Swift.Int {
                \(raw: inherited)\(raw: model.properties.count)
            }
            """
    }

    private func list(_ entries: [String]) -> String {
        guard !entries.isEmpty else { return "[]" }
        return "[\n" + entries.map { "\($0)" }.joined(separator: ",\n") + "\n]"
    }

    private func propertyEntries(root: String) -> [String] {
        model.properties.filter { !model.refuses($0) }.map { property in
            let keyPaths = "\(property.keyPathsName)(of: \(root).self)"
            var arguments = [
                "name: \(StringLiteralExprSyntax(content: property.name))",
                "keypath: " + (property.isDeprecated ? "\(keyPaths).plain" : "\\\(root).\(property.identifier)"),
                "chained: " + (property.isDeprecated ? "\(keyPaths).chained" : "\\\(root)?.?.\(property.identifier)"),
            ]
            if let value = property.initialValue { arguments.append("defaultValue: \(argument(value, of: property))") }
            if let options = PropertyOptions(property: property).call { arguments.append("metadata: \(options)") }
            return "\(Self.entryType)(\(arguments.joined(separator: ", ")))"
        }
    }

    /// An initial value as an argument of type `Any`.
    private func argument(_ value: ExprSyntax, of property: ModelProperty) -> String {
        let type = property.type?.coercible.trimmedDescription
        let written = value.trimmedDescription
        // `if` and `switch` are expressions only where a value is returned or assigned.
        if value.is(IfExprSyntax.self) || value.is(SwitchExprSyntax.self) {
            return "{\(type.map { " () -> \($0) in" } ?? "") \(written) }()"
        }
        // Without the coercion an implicit member such as `.clear` would be looked up in `Any`.
        return type.map { "(\(written)) as \($0)" } ?? written
    }

    private var constraintEntries: [String] {
        model.constraints.filter { !ConstraintChecks.refuse($0, of: model) }.map(entry(of:)) + originalNameEntry
    }

    /// The name that the entity had, for a class that says it: no subclass overrides what a protocol gives its superclass.
    private var originalNameEntry: [String] {
        let property = "originalEntityName"
        let isSaid = model.variables.contains { $0.declares(property) }
        let name = "MortiseCore.Schema.OriginalEntityName"
        return isSaid
            ? [
                "\(Self.entryType)(name: \"\(name)\", keypath: \\MortiseCore.Schema.encodingVersion, "
                    + "metadata: \(name)(\(model.name).\(property)))"
            ] : []
    }

    private func entry(of constraint: MacroExpansionDeclSyntax) -> String {
        let name = "MortiseCore.Schema.\(constraint.macroName.text)"
        let generics = constraint.genericArgumentClause?.trimmedDescription ?? "<\(model.name)>"
        // The compiler finds an inherited property by its root alone, and reports an unknown name once.
        let written =
            model.firstInheritedType == nil
            ? constraint.arguments.trimmedDescription
            : KeyPathRooting(model.name).rewrite(constraint.arguments).trimmedDescription
        return "\(Self.entryType)(name: \"\(name)\", keypath: \\MortiseCore.Schema.encodingVersion, "
            + "metadata: \(name)\(generics)(\(written)))"
    }
}

/// Gives key paths without a root the class as theirs.
private final class KeyPathRooting: SyntaxRewriter {
    private let root: TypeSyntax

    init(_ name: String) {
        root = "\(raw: name)"
        super.init(viewMode: .sourceAccurate)
    }

    override func visit(_ node: KeyPathExprSyntax) -> ExprSyntax {
        ExprSyntax(node.root == nil ? node.with(\.root, root) : node)
    }
}
