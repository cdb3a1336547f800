import SwiftSyntax
import SwiftSyntaxBuilder

/// What `@Model` adds where members of the class are inside `#if`: it holds under the same conditions.
enum ConditionalMembers {
    /// The initializer without parameters, where the class has no other: in each clause of an `#if` that has none.
    static func emptyInitializer(for model: ModelDeclaration) -> [DeclSyntax] {
        let blocks = model.syntax.memberBlock.members.compactMap { $0.decl.as(IfConfigDeclSyntax.self) }
        return emptyInitializer(blocks.filter(\.mayHaveInitializer)).map { ["\(raw: $0)"] } ?? []
    }

    /// Nil if there is nothing to add.
    private static func emptyInitializer(_ blocks: [IfConfigDeclSyntax]) -> String? {
        guard let block = blocks.first else { return "init() {}" }
        let rest = Array(blocks.dropFirst())
        var lines: [String] = []
        for clause in block.clauses {
            lines.append(clause.head)
            guard case .decls(let members) = clause.elements else { continue }
            if members.contains(where: { $0.decl.is(InitializerDeclSyntax.self) }) { continue }
            let inner = members.compactMap { $0.decl.as(IfConfigDeclSyntax.self) }.filter(\.mayHaveInitializer)
            if let text = emptyInitializer(inner + rest) { lines.append(text) }
        }
        if block.clauses.last?.poundKeyword.tokenKind != .poundElse, let text = emptyInitializer(rest) {
            lines += ["#else", text]
        }
        return (lines + ["#endif"]).joined(separator: "\n")
    }

    /// Statements that append to `metadata` the entries of members inside `#if`.
    static func statements(
        for members: MemberBlockItemListSyntax, _ entry: (MacroExpansionDeclSyntax) -> String
    ) -> [String] {
        members.compactMap { $0.decl.as(IfConfigDeclSyntax.self) }.filter(\.hasConstraints).map { block in
            let clauses = block.clauses.map { clause -> String in
                guard case .decls(let members) = clause.elements else { return clause.head }
                let own = members.compactMap(\.constraint).map { "metadata.append(\(entry($0)))" }
                return ([clause.head] + own + statements(for: members, entry)).joined(separator: "\n")
            }
            return (clauses + ["#endif"]).joined(separator: "\n")
        }
    }
}

extension IfConfigClauseSyntax {
    /// `#if os(Linux)`, `#elseif DEBUG` or `#else`.
    fileprivate var head: String {
        [poundKeyword.text, condition?.trimmedDescription].compactMap { $0 }.joined(separator: " ")
    }

    fileprivate func contains(_ isWanted: (MemberBlockItemSyntax) -> Bool) -> Bool {
        guard case .decls(let members) = elements else { return false }
        return members.contains { member in
            isWanted(member)
                || member.decl.as(IfConfigDeclSyntax.self)?.clauses.contains { $0.contains(isWanted) } == true
        }
    }
}

extension IfConfigDeclSyntax {
    /// Whether a clause has an initializer, nested `#if` included.
    var mayHaveInitializer: Bool { clauses.contains { $0.contains { $0.decl.is(InitializerDeclSyntax.self) } } }
    /// Whether a clause has a `deinit`, nested `#if` included.
    var mayHaveDeinitializer: Bool { clauses.contains { $0.contains { $0.decl.is(DeinitializerDeclSyntax.self) } } }
    /// Whether a clause has `#Unique` or `#Index`, nested `#if` included.
    fileprivate var hasConstraints: Bool { clauses.contains { $0.contains { $0.constraint != nil } } }

    /// The `#Unique` and `#Index` declarations in any of the clauses.
    var containedConstraints: [MacroExpansionDeclSyntax] {
        clauses.flatMap { clause -> [MacroExpansionDeclSyntax] in
            guard case .decls(let members) = clause.elements else { return [] }
            return members.flatMap { member in
                member.constraint.map { [$0] }
                    ?? member.decl.as(IfConfigDeclSyntax.self)?.containedConstraints ?? []
            }
        }
    }
}
