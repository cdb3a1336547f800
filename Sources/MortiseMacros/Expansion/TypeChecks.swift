import SwiftDiagnostics
import SwiftSyntax
import SwiftSyntaxBuilder

/// Reports a kept property whose type or relationship cannot be stored, as far as its syntax tells.
struct TypeChecks {
    let property: ModelProperty
    let className: String
    let reporter: DiagnosticReporter

    func run() {
        checkOptions()
        guard let type = property.type else {
            checkInferredType()
            return
        }
        if type.isExistential, let relationship = property.relationship {
            reportUnrelated(relationship, type)
            return
        }
        if let kind = type.unstorableKind, !property.isTransformable {
            reporter.diagnose(
                MacroDiagnostic(
                    "unstorableType",
                    "\(kind) cannot be stored; use a Codable struct or enum, or mark the property '@Transient'"),
                at: type, fixIts: [.add(attribute: "Transient", to: property.declaration)])
        }
        if let relationship = property.relationship {
            checkRelationship(relationship, type: type)
        }
    }

    /// Options that cannot hold together, or mean nothing on the property's type.
    private func checkOptions() {
        let names = property.options
        guard let first = property.declaration.attributes.attribute(named: "Attribute"), !names.isEmpty else { return }
        if names.isSuperset(of: ["unique", "ephemeral"]) {
            reporter.diagnose(
                MacroDiagnostic(
                    "conflictingOptions",
                    "'\(property.name)' cannot be '.unique' and '.ephemeral', because the store keeps no value to compare; "
                        + "keep one of them"),
                at: first)
        }
        guard let type = property.type ?? property.initialValue?.literalType.map({ "\(raw: $0)" }) else { return }
        let holdsMany = type.collectionElement != nil || type.coercible.holdsPairs
        if names.contains("unique"), holdsMany, !property.isTransformable {
            reporter.diagnose(
                MacroDiagnostic(
                    "uniqueCollection",
                    "'\(property.name)' cannot be '.unique', because it holds many values; name a property that holds one"
                ),
                at: first)
        }
        let value = type.unwrappedOptional ?? type
        let isData = value.baseName == "Data" || property.isTransformable
        if names.contains("externalStorage"), value.isScalar || holdsMany, !isData {
            let written = type.trimmedDescription.replacing("Swift.", with: "")
            reporter.diagnose(
                MacroDiagnostic(
                    "externalScalar", "'.externalStorage' has no effect on '\(written)'; it is for 'Data'",
                    severity: .warning),
                at: first)
        }
    }

    private func checkInferredType() {
        if let value = property.initialValue, !value.hasNoTypeOfItsOwn { return }
        reporter.diagnose(
            MacroDiagnostic(
                "missingType", "'\(property.name)' needs a type annotation; write 'var \(property.identifier): Type'"),
            at: property.binding.pattern)
    }

    private func checkRelationship(_ relationship: AttributeSyntax, type: TypeSyntax) {
        let held = type.collectionElement ?? type.unwrappedOptional ?? type
        let model = held.unwrappedOptional ?? held
        if model.isScalar, model.baseName != className {
            reporter.diagnose(
                MacroDiagnostic(
                    "scalarRelationship",
                    "'@Relationship' cannot hold '\(type.trimmedDescription)', which is not a model; "
                        + "remove it, or use '@Attribute'"),
                at: relationship, fixIts: [.remove(relationship, from: property.declaration)])
            return
        }
        if model.is(DictionaryTypeSyntax.self) || model.is(ArrayTypeSyntax.self) {
            reportUnrelated(relationship, type)
            return
        }
        if let element = type.collectionElement, let replacement = type.plainArray(of: element) {
            reporter.diagnose(
                MacroDiagnostic(
                    "relationshipCollection",
                    "a to-many relationship is an array of models; write '\(replacement.trimmedDescription)'"),
                at: type,
                fixIts: [
                    .replace(
                        "write '\(replacement.trimmedDescription)'", id: "useArrayOfModels", old: type,
                        new: replacement.with(\.trailingTrivia, type.trailingTrivia))
                ])
        }
        guard checkInversePath(relationship) else { return }
        checkInverseRoot(relationship, model: model)
        checkInverseTarget(relationship, model: model)
        checkCounts(relationship)
    }

    private func reportUnrelated(_ relationship: AttributeSyntax, _ type: TypeSyntax) {
        reporter.diagnose(
            MacroDiagnostic(
                "scalarRelationship",
                "'@Relationship' cannot hold '\(type.trimmedDescription)'; "
                    + "a relationship is a model, an optional model or an array of models"),
            at: relationship, fixIts: [.remove(relationship, from: property.declaration)])
    }

    private func checkInversePath(_ relationship: AttributeSyntax) -> Bool {
        guard let inverse = relationship.argument("inverse"), let components = inverse.keyPath?.components,
            components.count > 1
        else { return true }
        reporter.diagnose(
            MacroDiagnostic(
                "inversePath",
                "the inverse cannot follow '\(inverse.trimmedDescription)'; name a relationship of the other model itself"
            ),
            at: inverse)
        return false
    }

    private func checkInverseRoot(_ relationship: AttributeSyntax, model: TypeSyntax) {
        guard let inverse = relationship.argument("inverse"), let keyPath = inverse.keyPath, keyPath.root == nil
        else { return }
        let rooted: ExprSyntax = "\\\(model.trimmed).\(raw: keyPath.components.joined(separator: "."))"
        reporter.diagnose(
            MacroDiagnostic(
                "inverseWithoutRoot",
                "the inverse needs the model it belongs to; write '\(rooted.trimmedDescription)'"),
            at: inverse,
            fixIts: [
                .replace("write '\(rooted.trimmedDescription)'", id: "addRoot", old: inverse, new: rooted)
            ])
    }

    private func checkInverseTarget(_ relationship: AttributeSyntax, model: TypeSyntax) {
        guard let inverse = relationship.argument("inverse"), let keyPath = inverse.keyPath,
            keyPath.root?.baseName == className, keyPath.components == [property.name],
            let name = model.baseName, name != className
        else { return }
        reporter.diagnose(
            MacroDiagnostic(
                "ownInverse",
                "'\(inverse.trimmedDescription)' is this relationship itself; name the property of '\(name)' "
                    + "that leads back here"),
            at: inverse)
    }

    private func checkCounts(_ relationship: AttributeSyntax) {
        for label in ["minimumModelCount", "maximumModelCount"] {
            guard let count = relationship.integer(label), count < 0, let argument = relationship.argument(label) else {
                continue
            }
            reporter.diagnose(
                MacroDiagnostic(
                    "modelCounts", "'\(label)' cannot be \(count); write a number from 0 on, or leave it out"),
                at: argument)
            return
        }
        guard let minimum = relationship.integer("minimumModelCount"),
            let maximum = relationship.integer("maximumModelCount"), maximum > 0, minimum > maximum
        else { return }
        reporter.diagnose(
            MacroDiagnostic(
                "modelCounts",
                "'minimumModelCount' is greater than 'maximumModelCount'; exchange \(minimum) and \(maximum)"),
            at: relationship)
    }
}

extension TypeSyntax {
    /// Whether the type is a dictionary, optional or not.
    fileprivate var holdsPairs: Bool {
        let type = unwrappedOptional ?? self
        return type.is(DictionaryTypeSyntax.self) || type.baseName == "Dictionary"
    }
}

extension AttributeSyntax {
    fileprivate func integer(_ label: String) -> Int? {
        argument(label).flatMap { Int($0.trimmedDescription.filter { $0 != "_" }) }
    }
}

extension ExprSyntax {
    /// Whether the expression takes its type from its surroundings: `nil`, `[]`, `[:]`, `.member`.
    fileprivate var hasNoTypeOfItsOwn: Bool {
        if self.is(NilLiteralExprSyntax.self) { return true }
        if let array = self.as(ArrayExprSyntax.self) { return array.elements.isEmpty }
        if let dictionary = self.as(DictionaryExprSyntax.self), case .colon = dictionary.content { return true }
        if let call = self.as(FunctionCallExprSyntax.self) { return call.calledExpression.hasNoTypeOfItsOwn }
        if let member = self.as(MemberAccessExprSyntax.self) { return member.base?.hasNoTypeOfItsOwn ?? true }
        return false
    }
}

extension TypeSyntax {
    /// Whether the type, or that of its elements, is `any` or `some` of a protocol.
    fileprivate var isExistential: Bool {
        let type = collectionElement ?? unwrappedOptional ?? self
        guard let tuple = type.as(TupleTypeSyntax.self), tuple.elements.count == 1, let only = tuple.elements.first
        else {
            return type.is(SomeOrAnyTypeSyntax.self)
        }
        return only.type.isExistential
    }

    /// What the type is, if no value of it can be stored; nil for types that may be storable.
    fileprivate var unstorableKind: String? {
        if unwrappedOptional?.unwrappedOptional != nil { return "an optional of an optional" }
        let type = collectionElement ?? unwrappedOptional ?? self
        if let tuple = type.as(TupleTypeSyntax.self) {
            if tuple.elements.count == 1, let only = tuple.elements.first, only.firstName == nil {
                return only.type.unstorableKind
            }
            return "a tuple"
        }
        if let attributed = type.as(AttributedTypeSyntax.self) { return attributed.baseType.unstorableKind }
        if type.is(FunctionTypeSyntax.self) { return "a function" }
        if type.is(MetatypeTypeSyntax.self) { return "a metatype" }
        if type.is(SomeOrAnyTypeSyntax.self) { return "a value of type '\(type.trimmedDescription)'" }
        if type.baseName == "Any" || type.baseName == "AnyObject" || type.baseName == "AnyHashable" {
            return "a value of type '\(type.trimmedDescription)'"
        }
        return nil
    }
}

extension TypeSyntax {
    /// The array to write instead of a set or an array of optionals; nil if the type is an array of `element` already.
    fileprivate func plainArray(of element: TypeSyntax) -> TypeSyntax? {
        let collection = unwrappedOptional ?? self
        let isSet = collection.genericArgument(of: "Set") != nil
        guard isSet || element.unwrappedOptional != nil else { return nil }
        let mark = unwrappedOptional == nil ? "" : "?"
        return "[\((element.unwrappedOptional ?? element).trimmed)]\(raw: mark)"
    }
}

extension AttributeListSyntax {
    /// The first attribute known to be a property wrapper.
    var propertyWrapper: AttributeSyntax? {
        for case .attribute(let attribute) in self where ReservedNames.propertyWrappers.contains(attribute.baseName) {
            return attribute
        }
        return nil
    }
}
