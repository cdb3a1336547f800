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
                \(raw: list(propertyEntries(root: model.name) + constraintEntries))
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
                \(raw: own)\(raw: constraints)
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
        model.properties.map { property in
            var arguments = [
                "name: \"\(property.name)\"", "keypath: \\\(root).\(property.identifier)",
                "chained: \\\(root)?.?.\(property.identifier)",
            ]
            if let value = property.initialValue?.trimmedDescription {
                // Without the coercion an implicit member such as `.clear` would be looked up in `Any`.
                let typed = property.type.map { "(\(value)) as \($0.coercible.trimmedDescription)" } ?? value
                arguments.append("defaultValue: \(typed)")
            }
            if let relationship = property.relationship {
                let written = relationship.labeledArguments.trimmedDescription
                arguments.append("metadata: MortiseCore.Schema.Relationship(\(written))")
            } else if let written = property.attributeArguments {
                arguments.append("metadata: MortiseCore.Schema.Attribute(\(written))")
            }
            return "\(Self.entryType)(\(arguments.joined(separator: ", ")))"
        }
    }

    private var constraintEntries: [String] {
        model.constraints.map { constraint in
            let name = "MortiseCore.Schema.\(constraint.macroName.text)"
            let generics = constraint.genericArgumentClause?.trimmedDescription ?? "<\(model.name)>"
            let written = constraint.arguments.trimmedDescription
            return "\(Self.entryType)(name: \"\(name)\", keypath: \\MortiseCore.Schema.encodingVersion, "
                + "metadata: \(name)\(generics)(\(written)))"
        }
    }
}
