import MortiseCore

/// Why a tree cannot be written so that it could be read back.
enum TreeFault: Error, Equatable {
    case nestingTooDeep
    case tooLarge
    /// A value that has no place in a tree, or a number that JSON cannot write.
    case unsuitable(String)
}

extension JSONWriter {
    /// Appends the tree of a `coded` attribute on one line, keys ordered by UTF-8 code units.
    ///
    /// `depth` is the number of arrays and objects already open. Integers that fit `Int64` read back as `integer`,
    /// whichever case they were.
    mutating func tree(_ value: StoredValue, depth: Int, budget: inout TreeBudget) throws {
        try tree(value, depth: depth, start: written, budget: &budget)
    }

    private mutating func tree(_ value: StoredValue, depth: Int, start: Int, budget: inout TreeBudget) throws {
        switch value {
        case .null: try punctuation("null")
        case .bool(let value): try bool(value)
        case .integer(let value): try integer(value)
        case .unsigned(let value): try unsigned(value)
        case .double(let value):
            guard value.isFinite else { throw TreeFault.unsuitable("a number that is not finite") }
            try double(value)
        case .string(let value):
            let before = written
            try string(value)
            try spend(TreeBudget.string(length: written - before - 2), from: start, of: &budget)
        case .array(let elements):
            try open(depth: depth, start: start, budget: &budget)
            try punctuation("[")
            for index in elements.indices {
                if index > 0 { try punctuation(", ") }
                try spend(TreeBudget.element, parts: 1, from: start, of: &budget)
                try tree(elements[index], depth: depth + 1, start: start, budget: &budget)
            }
            try punctuation("]")
        case .object(let members):
            try open(depth: depth, start: start, budget: &budget)
            try punctuation("{")
            let keys = members.keys.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
            for index in keys.indices {
                if index > 0 { try punctuation(", ") }
                let before = written
                try string(keys[index])
                try spend(
                    TreeBudget.member + TreeBudget.string(length: written - before - 2), parts: 2, from: start,
                    of: &budget)
                try punctuation(": ")
                try tree(members[keys[index]] ?? .null, depth: depth + 1, start: start, budget: &budget)
            }
            try punctuation("}")
        default: throw TreeFault.unsuitable(value.caseName)
        }
    }

    private func open(depth: Int, start: Int, budget: inout TreeBudget) throws {
        guard depth < JSONReader.maximumDepth else { throw TreeFault.nestingTooDeep }
        try spend(TreeBudget.container, parts: 1, from: start, of: &budget)
    }

    private func spend(_ cost: Int, parts: Int = 0, from start: Int, of budget: inout TreeBudget) throws {
        guard budget.spend(cost, parts: parts, textLength: written - start) else { throw TreeFault.tooLarge }
    }
}

extension StoredValue {
    /// The name of the case, for messages.
    var caseName: String {
        switch self {
        case .null: "null"
        case .bool: "bool"
        case .integer: "integer"
        case .unsigned: "unsigned"
        case .float: "float"
        case .double: "double"
        case .decimal: "decimal"
        case .string: "string"
        case .data: "data"
        case .date: "date"
        case .uuid: "uuid"
        case .url: "url"
        case .identifier: "identifier"
        case .identifiers: "identifiers"
        case .array: "array"
        case .object: "object"
        }
    }
}
