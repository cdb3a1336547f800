#if Mutants
import SwiftOperators
import SwiftParser
import SwiftSyntax

/// Writes a source in which every change is there and switched off: `Mutant.isOn(17)` switches one on when the program runs.
///
/// A part that changes becomes a choice, `(Mutant.isOn(17) ? (a <= b) : (a < b))`. What is chosen when a mutant is on has no
/// other mutants in it, so that the text stays short; the last part has those of its own parts.
final class MutantWriter {
    private(set) var mutants: [Mutant] = []
    /// What does not compile.
    private let leftOut: Set<Int>
    private var next: Int
    private var file = ""
    private var lines: [Substring] = []
    private var converter = SourceLocationConverter(fileName: "", tree: Parser.parse(source: ""))

    init(leavingOut leftOut: Set<Int>) {
        self.leftOut = leftOut
        next = 1
    }

    /// The source with its mutants.
    func rewrite(_ source: String, file: String) throws -> String {
        self.file = file
        lines = source.split(separator: "\n", omittingEmptySubsequences: false)
        let tree = try OperatorTable.standardOperators.foldAll(Parser.parse(source: source))
        converter = SourceLocationConverter(fileName: file, tree: tree)
        return write(tree, texts: true)
    }

    /// One way to change a part.
    private typealias Change = (kind: String, text: String)

    // MARK: Walking

    /// The text of a part with its mutants. `texts` says whether literals of text in it are those of an error.
    private func write(_ node: Syntax, texts: Bool) -> String {
        if let token = node.as(TokenSyntax.self) { return token.description }
        if isLeftOut(node) { return node.description }
        let texts = texts && !isError(node)
        var inner = ""
        for child in node.children(viewMode: .sourceAccurate) {
            if let loop = node.as(ForStmtSyntax.self), child.id == loop.body.id {
                inner += write(loop, body: write(child, texts: texts))
            } else {
                inner += write(child, texts: texts)
            }
        }
        if let item = node.as(CodeBlockItemSyntax.self) { return dropping(item, inner) }
        guard let expression = node.as(ExprSyntax.self), !isPattern(node) else { return inner }
        return choosing(among: changes(of: expression, texts: texts), in: node, inner)
    }

    private func write(_ node: some SyntaxProtocol, texts: Bool) -> String { write(Syntax(node), texts: texts) }

    /// Imports, attributes, types and what `MutationTable` names.
    private func isLeftOut(_ node: Syntax) -> Bool {
        if node.is(ImportDeclSyntax.self) || node.is(AttributeListSyntax.self) || node.is(TypeSyntax.self) {
            return true
        }
        if let binding = node.as(PatternBindingSyntax.self) {
            return MutationTable.leftOut.contains(binding.pattern.trimmedDescription)
        }
        if let function = node.as(FunctionDeclSyntax.self) {
            return MutationTable.leftOut.contains(function.name.text)
                && function.signature.parameterClause.parameters.isEmpty
        }
        if let argument = node.as(LabeledExprSyntax.self), let label = argument.label {
            return MutationTable.argumentsLeftOut.contains(label.text)
        }
        if let assignment = node.as(InfixOperatorExprSyntax.self), assignment.operator.is(AssignmentExprSyntax.self) {
            return MutationTable.leftOut.contains(assignment.leftOperand.trimmedDescription)
        }
        // The condition of #if.
        return node.parent?.as(IfConfigClauseSyntax.self)?.condition?.id == node.id
    }

    private func isError(_ node: Syntax) -> Bool {
        if node.is(ThrowStmtSyntax.self) { return true }
        guard let call = node.as(FunctionCallExprSyntax.self) else { return false }
        return MutationTable.errors.contains(name(of: call) ?? "")
    }

    /// Whether a part is one of a pattern, which is no value.
    private func isPattern(_ node: Syntax) -> Bool {
        var place: Syntax? = node
        while let here = place {
            if here.is(PatternSyntax.self) { return true }
            if here.is(CodeBlockItemSyntax.self) { return false }
            place = here.parent
        }
        return false
    }

    private func name(of call: FunctionCallExprSyntax) -> String? {
        call.calledExpression.as(MemberAccessExprSyntax.self)?.declName.baseName.text
            ?? call.calledExpression.as(DeclReferenceExprSyntax.self)?.baseName.text
    }

    // MARK: Writing mutants

    private func add(_ kind: String, _ original: String, _ changed: String, at node: some SyntaxProtocol) -> Int? {
        let number = next
        next += 1
        if leftOut.contains(number) { return nil }
        let line = converter.location(for: node.positionAfterSkippingLeadingTrivia).line
        let same = mutants.count {
            $0.file == file && $0.line == line && $0.kind == kind && $0.original == original && $0.changed == changed
        }
        mutants.append(
            Mutant(
                number: number, file: file, line: line, kind: kind, original: original, changed: changed,
                context: lines[line - 1].trimmingPrefix { $0 == " " }.description, occurrence: same + 1))
        return number
    }

    private func choosing(among changes: [Change], in node: Syntax, _ inner: String) -> String {
        var choices = ""
        for change in changes {
            guard let number = add(change.kind, node.trimmedDescription, change.text, at: node) else { continue }
            choices += "Mutant.isOn(\(number)) ? (\(change.text)) : "
        }
        if choices.isEmpty { return inner }
        let (leading, trailing) = (node.leadingTrivia.description, node.trailingTrivia.description)
        let body = inner.dropFirst(leading.count).dropLast(trailing.count)
        return "\(leading)(\(choices)(\(body)))\(trailing)"
    }

    /// A statement that is left out when its mutant is on.
    private func dropping(_ item: CodeBlockItemSyntax, _ inner: String) -> String {
        guard isEffect(item), let number = add("statement dropped", item.trimmedDescription, "", at: item) else {
            return inner
        }
        let (leading, trailing) = (item.leadingTrivia.description, item.trailingTrivia.description)
        return
            "\(leading)if !Mutant.isOn(\(number)) { \(inner.dropFirst(leading.count).dropLast(trailing.count)) }\(trailing)"
    }

    /// Whether what a statement does is all that it is there for.
    private func isEffect(_ item: CodeBlockItemSyntax) -> Bool {
        let isGuard = item.parent?.parent?.parent?.is(GuardStmtSyntax.self) == true
        if item.item.is(ContinueStmtSyntax.self) { return !isGuard }
        guard var expression = item.item.as(ExprSyntax.self) else { return false }
        if let attempt = expression.as(TryExprSyntax.self) { expression = attempt.expression }
        let owner = item.parent?.parent
        if let infix = expression.as(InfixOperatorExprSyntax.self) {
            let isCompound = infix.operator.trimmedDescription.hasSuffix("=")
            if !infix.operator.is(AssignmentExprSyntax.self) && !isCompound { return false }
            if isLeftOut(Syntax(infix)) || MutationTable.comparisons[infix.operator.trimmedDescription] != nil {
                return false
            }
            // Properties need their first values.
            let isFirst = !infix.leftOperand.is(SubscriptCallExprSyntax.self)
            return !(isFirst && owner?.parent?.is(InitializerDeclSyntax.self) == true)
        }
        guard let call = expression.as(FunctionCallExprSyntax.self) else { return false }
        if (item.parent?.children(viewMode: .sourceAccurate).count ?? 0) > 1 || owner?.is(SwitchCaseSyntax.self) == true
        {
            return true
        }
        // A body of one expression may be its value.
        if owner?.is(ClosureExprSyntax.self) == true { return MutationTable.effects.contains(name(of: call) ?? "") }
        if let function = owner?.parent?.as(FunctionDeclSyntax.self) { return function.signature.returnClause == nil }
        return owner?.is(CodeBlockSyntax.self) == true
    }

    /// A loop that is left out, or ends after its first round.
    private func write(_ loop: ForStmtSyntax, body: String) -> String {
        var text = body
        if let number = add(
            "loop ends after its first round", loop.sequence.trimmedDescription, "the first of them", at: loop)
        {
            let trailing = loop.body.trailingTrivia.description
            let inside = text.dropLast(trailing.count).dropLast()
            let isLine = inside.reversed().prefix { $0.isWhitespace }.contains("\n")
            text = "\(inside)\(isLine ? "" : "; ")if Mutant.isOn(\(number)) { break } }\(trailing)"
        }
        if loop.whereClause == nil, let number = add("loop left out", loop.sequence.trimmedDescription, "[]", at: loop)
        {
            let trailing = loop.sequence.trailingTrivia.isEmpty ? " " : ""
            text = "\(trailing)where !Mutant.isOn(\(number)) \(text)"
        }
        return text
    }

    // MARK: What changes

    private func changes(of node: ExprSyntax, texts: Bool) -> [Change] {
        // An operator is an expression of its own, and so is the type of an empty array that is made.
        let isMade = node.is(ArrayExprSyntax.self) && node.parent?.is(FunctionCallExprSyntax.self) == true
        if node.is(BinaryOperatorExprSyntax.self) || isMade { return [] }
        var changes: [Change] = []
        let text = node.trimmedDescription
        if isCondition(node) { changes += [("condition always true", "true"), ("condition never true", "false")] }
        if isBound(node) { changes.append(("never bound", "nil")) }
        if let word = connective(around: node) {
            changes.append(word == "&&" ? ("operand dropped", "true") : ("operand dropped", "false"))
        }
        if let infix = node.as(InfixOperatorExprSyntax.self) { changes += changesOfInfix(infix) }
        if let prefix = node.as(PrefixOperatorExprSyntax.self), prefix.operator.text == "!" {
            changes.append(("negation dropped", prefix.expression.trimmedDescription))
        }
        if let literal = node.as(BooleanLiteralExprSyntax.self) {
            changes.append(("truth exchanged", literal.literal.text == "true" ? "false" : "true"))
        }
        if let literal = node.as(IntegerLiteralExprSyntax.self), !text.hasPrefix("0o") {
            changes += changesOfNumber(literal)
        }
        if let literal = node.as(StringLiteralExprSyntax.self), texts { changes += changesOfText(literal) }
        if let array = node.as(ArrayExprSyntax.self), array.elements.count <= 8 {
            changes += array.elements.indices.map { place in
                let rest = array.elements.indices.filter { $0 != place }.map {
                    array.elements[$0].expression.trimmedDescription
                }
                return ("element dropped", "[\(rest.joined(separator: ", "))]")
            }
        }
        if let dictionary = node.as(DictionaryExprSyntax.self), case .elements(let elements) = dictionary.content {
            changes += elements.indices.map { place in
                let rest = elements.indices.filter { $0 != place }.map { elements[$0] }
                let pairs = rest.map { "\($0.key.trimmedDescription): \($0.value.trimmedDescription)" }
                return ("element dropped", pairs.isEmpty ? "[:]" : "[\(pairs.joined(separator: ", "))]")
            }
        }
        if let call = node.as(FunctionCallExprSyntax.self) { changes += changesOfCall(call) }
        if let member = node.as(MemberAccessExprSyntax.self) { changes += changesOfMember(member) }
        var seen: Set<String> = [text]
        return changes.filter { seen.insert($0.text).inserted }
    }

    /// Whether a part decides alone: a condition, or the one of a choice.
    private func isCondition(_ node: ExprSyntax) -> Bool {
        if node.is(BooleanLiteralExprSyntax.self) { return false }
        guard let parent = node.parent else { return false }
        if parent.is(ConditionElementSyntax.self) || parent.is(WhereClauseSyntax.self) { return true }
        return parent.as(TernaryExprSyntax.self)?.condition.id == node.id
    }

    /// Whether a part is the value of `if let` or `guard let`.
    private func isBound(_ node: ExprSyntax) -> Bool {
        node.parent?.is(InitializerClauseSyntax.self) == true
            && node.parent?.parent?.is(OptionalBindingConditionSyntax.self) == true
    }

    /// The word whose operand a part is.
    private func connective(around node: ExprSyntax) -> String? {
        func word(_ node: Syntax?) -> String? {
            let word = node?.as(InfixOperatorExprSyntax.self)?.operator.trimmedDescription
            return MutationTable.connectives[word ?? ""] == nil ? nil : word
        }
        guard let parent = word(node.parent), parent != word(Syntax(node)) else { return nil }
        return parent
    }

    private func changesOfInfix(_ infix: InfixOperatorExprSyntax) -> [Change] {
        let sign = infix.operator.trimmedDescription
        let (left, right) = (infix.leftOperand.trimmedDescription, infix.rightOperand.trimmedDescription)
        if let others = MutationTable.comparisons[sign] {
            return others.map { ("comparison", "\(left) \($0) \(right)") }
        }
        if let other = MutationTable.connectives[sign] { return [("and or", "(\(left)) \(other) (\(right))")] }
        switch sign {
        case "|": return [("option dropped", left), ("option dropped", right)]
        case "??": return [("default always", right)]
        case "..<": return [("range end", "\(left)..<(\(right)) - 1")]
        default: return []
        }
    }

    private func changesOfNumber(_ literal: IntegerLiteralExprSyntax) -> [Change] {
        let digits = literal.literal.text.replacing("_", with: "")
        guard let value = digits.hasPrefix("0x") ? Int(digits.dropFirst(2), radix: 16) : Int(digits) else { return [] }
        var changes: [Change] = [("number + 1", "\(value + 1)")]
        if value > 0 { changes.append(("number - 1", "\(value - 1)")) }
        if value >= 10, !digits.hasPrefix("0x") {
            changes += [("limit × 1000", "\(value * 1000)"), ("limit 1", "1")]
        }
        return changes
    }

    private func changesOfText(_ literal: StringLiteralExprSyntax) -> [Change] {
        let quote = literal.openingQuote.text
        let text = literal.segments.trimmedDescription
        if let others = MutationTable.literals[text] {
            return others.map { ("text exchanged", quote + $0 + quote) }
        }
        // Bytes and characters of their own.
        if literal.parent?.as(LabeledExprSyntax.self)?.label?.text == "ascii" { return [] }
        var changes: [Change] = []
        for (original, changed) in MutationTable.sql {
            for range in text.ranges(of: original) where text.contains(where: \.isUppercase) || original == " AND " {
                changes.append(("SQL", quote + text[..<range.lowerBound] + changed + text[range.upperBound...] + quote))
            }
        }
        if !changes.isEmpty { return changes }
        // A set of characters.
        if literal.parent?.is(MemberAccessExprSyntax.self) == true, text.contains("\\") {
            let characters = literal.segments.trimmedDescription.split(separator: "")
            var parts: [String] = []
            for character in characters {
                if parts.last == "\\" { parts[parts.count - 1] += character } else { parts.append(String(character)) }
            }
            if parts.count > 1 {
                return parts.indices.map { place in
                    let rest = parts.indices.filter { $0 != place }.map { parts[$0] }
                    return ("character dropped", quote + rest.joined() + quote)
                }
            }
        }
        let isWord = !text.isEmpty && text.allSatisfy { $0.isLetter || "\\()$.0/".contains($0) }
        return isWord ? [("word changed", quote + text + "_" + quote)] : []
    }

    private func changesOfCall(_ call: FunctionCallExprSyntax) -> [Change] {
        var changes: [Change] = []
        let text = call.trimmedDescription
        if let member = call.calledExpression.as(MemberAccessExprSyntax.self), let base = member.base {
            let name = member.declName.baseName.text
            let head = call.calledExpression.trimmedDescription
            let arguments = text.dropFirst(head.count)
            if let other = MutationTable.members[name] {
                changes.append(("exchanged", "\(base.trimmedDescription).\(other)\(arguments)"))
            }
            if MutationTable.steps.contains(name) { changes.append(("step left out", base.trimmedDescription)) }
        }
        if let function = call.calledExpression.as(DeclReferenceExprSyntax.self),
            let other = MutationTable.functions[function.baseName.text], let first = call.arguments.first
        {
            changes += [
                ("exchanged", other + text.dropFirst(function.trimmedDescription.count)),
                ("bound dropped", first.expression.trimmedDescription),
            ]
        }
        return changes
    }

    private func changesOfMember(_ member: MemberAccessExprSyntax) -> [Change] {
        if member.parent?.as(FunctionCallExprSyntax.self)?.calledExpression.id == member.id { return [] }
        let name = member.declName.baseName.text
        guard let base = member.base else {
            return MutationTable.words[name].map { [("word exchanged", ".\($0)")] } ?? []
        }
        return MutationTable.members[name].map { [("exchanged", "\(base.trimmedDescription).\($0)")] } ?? []
    }
}
#endif
