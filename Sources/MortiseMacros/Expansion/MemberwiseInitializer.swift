import SwiftDiagnostics
import SwiftSyntax
import SwiftSyntaxBuilder

/// The initializer offered to a model class that has none.
struct MemberwiseInitializer {
    let model: ModelDeclaration
    /// Whether the class must go on to its superclass, whose arguments only the author knows.
    let callsSuper: Bool

    /// Adds the initializer at the end of the class.
    var fixIt: FixIt {
        var block = model.syntax.memberBlock
        let indentation = memberIndentation
        let text = ([""] + lines.map { $0.isEmpty ? $0 : indentation + $0 }).joined(separator: "\n")
        let initializer = MemberBlockItemSyntax(
            decl: DeclSyntax("\(raw: text)").with(
                \.leadingTrivia, .newlines(2) + Trivia(pieces: [.spaces(indentation.count)])))
        block.members.append(initializer)
        return .replace(
            "add an initializer", id: "addInitializer", old: model.syntax.memberBlock, new: block)
    }

    private var lines: [String] {
        let parameters = settable.map { binding in
            let type = binding.typeAnnotation?.type.trimmedDescription ?? ""
            let value = binding.initializer.map { " = \($0.value.trimmedDescription)" }
            let missing = binding.typeAnnotation?.type.isNilByDefault == true ? " = nil" : ""
            return "\(binding.pattern.trimmedDescription): \(type)\(value ?? missing)"
        }
        let superParameters = callsSuper ? ["<#superclass parameters#>"] : []
        let signature = "\(model.access.member)init(\((parameters + superParameters).joined(separator: ", "))) {"
        let assignments = settable.map { binding in
            let name = binding.pattern.trimmedDescription
            return "    self.\(name) = \(name)"
        }
        let superCall = callsSuper ? ["    super.init(<#superclass arguments#>)"] : []
        return [signature] + assignments + superCall + ["}"]
    }

    /// The bindings that become parameters: stored, and with a written type.
    private var settable: [PatternBindingSyntax] {
        model.variables.filter { variable in
            variable.isStoredInstanceProperty && !variable.modifiers.contains(.lazy)
                && !variable.modifiers.contains(.override)
                && !(variable.attributes.attribute(named: "Transient") != nil
                    && variable.haveInitialValues)
        }
        .flatMap { variable in
            variable.bindings.filter { binding in
                guard binding.typeAnnotation != nil, binding.pattern.is(IdentifierPatternSyntax.self) else {
                    return false
                }
                return variable.bindingSpecifier.tokenKind == .keyword(.var) || binding.initializer == nil
            }
        }
    }

    private var memberIndentation: String {
        let trivia = model.syntax.memberBlock.members.first?.leadingTrivia ?? []
        let width = trivia.reversed().prefix { !$0.isNewline }.reduce(0) { sum, piece in
            if case .spaces(let count) = piece { return sum + count }
            return sum
        }
        return String(repeating: " ", count: width == 0 ? 4 : width)
    }
}
