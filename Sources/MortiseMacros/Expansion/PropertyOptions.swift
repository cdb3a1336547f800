import SwiftSyntax
import SwiftSyntaxBuilder
import SwiftSyntaxMacros

/// The function in which a marker keeps its arguments for the schema: the compiler does not expand a marker whose arguments
/// are mistaken, so that it says so once, in the source.
struct PropertyOptions {
    let property: ModelProperty

    /// The call that `schemaMetadata` makes; nil for a property without arguments.
    var call: String? {
        marker.map { _ in "_propertyOptions(\(label): ())" }
    }

    /// With an underscore, because a keyword as a label is a warning in backticks, and some an error without.
    private var label: String { TokenSyntax.quoted("_\(property.name)") }

    /// What the marker `node` adds to the class.
    static func peers(
        of node: AttributeSyntax, on declaration: some DeclSyntaxProtocol, in context: some MacroExpansionContext
    ) -> [DeclSyntax] {
        guard let property = declaration.as(VariableDeclSyntax.self)?.modelProperty,
            let marker = PropertyOptions(property: property).marker, marker.baseName == node.baseName,
            !property.declaration.attributes.isRepeated(node, in: context),
            let owner = context.lexicalContext.first?.as(ClassDeclSyntax.self), !context.isInFunction,
            ModelDeclaration(owner, in: context)?.isRefused == false,
            !PropertyChecks.refuse(property.declaration, className: owner.name.trimmed.text)
        else { return [] }
        return [PropertyOptions(property: property).function(in: owner.name.trimmed.text)]
    }

    /// The marker that adds the function, the first of its kind.
    private var marker: AttributeSyntax? {
        if let relationship = property.relationship { return relationship }
        return property.attributeArguments.flatMap { _ in
            property.declaration.attributes.attribute(named: "Attribute")
        }
    }

    private func function(in className: String) -> DeclSyntax {
        let signature = "private nonisolated static func _propertyOptions(\(label): Swift.Void)"
        guard let relationship = property.relationship else {
            return """
                \(raw: signature) -> MortiseCore.Schema.Attribute {
                    MortiseCore.Schema.Attribute(\(raw: property.attributeArguments ?? ""))
                }
                """
        }
        let metadata = "MortiseCore.Schema.Relationship(\(relationship.labeledArguments.trimmedDescription))"
        guard let inverse = relationship.argument("inverse"), inverse.keyPath != nil else {
            return """
                \(raw: signature) -> MortiseCore.Schema.Relationship {
                    \(raw: metadata)
                }
                """
        }
        return """
            \(raw: signature) -> MortiseCore.Schema.Relationship {
                MortiseCore.RelatedModel(\\\(raw: className).\(raw: property.identifier)).checkInverse(
                    MortiseCore.RelatedModel(\(inverse.trimmed))
                ) {
                    $0
                } back: {
                    $0
                }
                return \(raw: metadata)
            }
            """
    }
}
