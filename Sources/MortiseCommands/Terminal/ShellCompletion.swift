#if Tool
import MortiseCore

/// What may stand next in a line of `mortise shell`: verbs and entities first, then the properties of the entity that the line names,
/// through relationships too.
struct ShellCompletion {
    private let schema: StoredSchema
    private let layouts: [String: RecordLayout]
    private let verbs: [String]
    private static let words = [
        "where", "sort", "limit", "and", "or", "not", "in", "between", "contains", "beginsWith", "endsWith", "matches",
        "is", "nil", "any", "all", "none", "count",
    ]

    init(_ schema: StoredSchema, verbs: [String]) {
        self.schema = schema
        self.verbs = verbs
        layouts = schema.recordLayouts()
    }

    /// - Parameter before: the line up to the cursor.
    /// - Returns: where the word begins, and all words that could stand there, whatever of it is typed.
    func callAsFunction(_ before: String) -> (start: String.Index, words: [String]) {
        let start =
            before.lastIndex { !$0.isLetter && !$0.isNumber && !"_.$".contains($0) }.map(before.index(after:))
            ?? before.startIndex
        let entities = schema.entities.map(\.name)
        let earlier = before[..<start].split { !$0.isLetter && !$0.isNumber && $0 != "_" }.map(String.init)
        guard let entity = earlier.first(where: { layouts[$0] != nil }) else {
            return (start, earlier.isEmpty ? verbs + entities : entities)
        }
        var steps = before[start...].split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        steps.removeLast()
        // Inside of "any stops (…" the names are those of the members.
        let isInside = before.count { $0 == "(" } > before.count { $0 == ")" }
        let members = isInside ? earlier.compactMap { list($0, of: entity) } : []
        if steps.isEmpty { return (start, Self.words + ([entity] + members).flatMap(properties)) }
        var reached = Set([entity] + members)
        for step in steps {
            reached = Set(
                reached.compactMap { name in
                    layouts[name].flatMap { layout in layout.slot(named: step).map { layout.slots[$0] } }?
                        .property.relationship?.destination
                })
        }
        let path = steps.joined(separator: ".") + "."
        return (start, Set(reached.flatMap(properties)).map { path + $0 })
    }

    private func properties(of entity: String) -> [String] { layouts[entity]?.slots.map(\.name) ?? [] }

    /// Where a to-many relationship leads to; nil for any other property.
    private func list(_ name: String, of entity: String) -> String? {
        layouts[entity]?.slots.first { $0.name == name && $0.role.isToMany }?.property.relationship?.destination
    }
}
#endif
