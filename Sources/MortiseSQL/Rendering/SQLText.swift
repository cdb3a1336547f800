import Foundation

/// The text of a statement, with a place for each value that it is given. The text depends on the shape of what it is made of, and
/// on no value: a database prepares it once.
package struct SQLText: Sendable, Hashable {
    /// The text.
    package private(set) var text = ""
    /// The values, in the order of their places.
    package private(set) var values: [SQLValue] = []
    /// The database.
    package let dialect: SQLDialect

    /// An empty text.
    package init(_ dialect: SQLDialect = .sqlite) { self.dialect = dialect }

    /// A text without values.
    package init(_ text: String, _ dialect: SQLDialect = .sqlite) {
        self.text = text
        self.dialect = dialect
    }

    /// What stands for a value until its number is known: no name contains it.
    private static let place = "\0"

    /// The text for PostgreSQL, with a number for each place.
    package var numbered: String {
        var found = ""
        for (number, part) in text.utf8.split(separator: 0, omittingEmptySubsequences: false).enumerated() {
            if number > 0 { found += "$\(number)" }
            found += Substring(part)
        }
        return found
    }

    package mutating func append(_ more: String) { text += more }

    package mutating func append(_ name: QuotedName) { text += name.text }

    package mutating func append(value: SQLValue) {
        text += dialect == .sqlite ? "?" : Self.typedPlace(value)
        values.append(value)
    }

    /// A place of the type of a value.
    private static func typedPlace(_ value: SQLValue) -> String {
        switch value {
        case .null: "\(place)"
        case .text: "\(place)::text COLLATE \"C\""
        default: "\(place)::\(value.typeName)"
        }
    }

    package mutating func append(_ other: SQLText) {
        text += other.text
        values += other.values
    }

    /// A name as a statement has it.
    package struct QuotedName {
        fileprivate let text: String
        package init(_ name: String) { text = SQLName.quoted(name) }
    }

    /// How a table is called in a statement.
    package static func alias(_ table: Int) -> String { "t\(table)" }

    /// Up to this many integers have a place each; more are given as one list.
    private static let fewIntegers = 8
    /// Terms of a longer chain are put in parentheses by halves, since parsers nest what is joined.
    private static let longChain = 32

    package mutating func append(_ expression: SQLExpression) {
        switch expression {
        case .value(.null): text += "NULL"
        case .value(let value): append(value: value)
        case .truth(let holds): text += truth(holds)
        case .column(let table, let name): text += "\(Self.alias(table)).\(SQLName.quoted(name))"
        case .compare(let comparison, let a, let b): append(a, " \(comparison.rawValue) ", b)
        case .isSame(let a, let b): append(a, dialect == .sqlite ? " IS " : " IS NOT DISTINCT FROM ", b)
        case .isDifferent(let a, let b): append(a, dialect == .sqlite ? " IS NOT " : " IS DISTINCT FROM ", b)
        case .isNull(let part): append(part, " IS NULL")
        case .isNotNull(let part): append(part, " IS NOT NULL")
        // SQLite keeps NaN as text, and text comes after numbers.
        case .isNaN(let part): append(part, dialect == .sqlite ? " >= ''" : " = 'NaN'::float8")
        case .isNumber(let part): append(part, Self.isNumber(dialect))
        case .isAmong(let part, let numbers): append(part, Self.isAmong(numbers))
        case .isIn(let part, let values): append(part, " IN ", values)
        case .isNotIn(let part, let values): append(part, " NOT IN ", values)
        case .hasPart(let whole, let part):
            text += dialect == .sqlite ? "instr(" : "strpos("
            append(whole)
            text += ", "
            append(part)
            text += ") > 0"
        case .and(let parts): append(parts[...], " AND ", ifEmpty: truth(true))
        case .or(let parts): append(parts[...], " OR ", ifEmpty: truth(false))
        case .choose(let test, let a, let b):
            text += "CASE WHEN "
            append(test)
            text += " THEN "
            append(a)
            if let b {
                text += " ELSE "
                append(b)
            }
            text += " END"
        case .coalesce(let a, let b):
            text += "coalesce("
            append(a)
            text += ", "
            append(b)
            text += ")"
        case .exists(let selection, let isNegated):
            text += isNegated ? "NOT EXISTS (SELECT 1" : "EXISTS (SELECT 1"
            append(selection)
            text += ")"
        case .count(let selection):
            text += "(SELECT count(*)"
            append(selection)
            text += ")"
        }
    }

    /// What says after a number that it is one. Conditions of indexes and of statements are alike.
    static func isNumber(_ dialect: SQLDialect) -> String {
        dialect == .sqlite ? " < ''" : " <> 'NaN'::float8"
    }

    /// What says after the number of an entity that it is one of some. Conditions of indexes and of statements are alike.
    static func isAmong(_ numbers: [Int]) -> String {
        " IN (\(numbers.isEmpty ? "0" : numbers.map(String.init).joined(separator: ", ")))"
    }

    private func truth(_ holds: Bool) -> String {
        dialect == .sqlite ? holds ? "1" : "0" : holds ? "TRUE" : "FALSE"
    }

    /// The tables and the condition of a selection, from the word FROM on.
    package mutating func append(_ selection: SQLSelection) {
        for (place, table) in selection.tables.enumerated() {
            text += place == 0 ? " FROM " : " LEFT JOIN "
            text += "\(SQLName.quoted(table.name)) \(Self.alias(table.number))"
            if let joined = table.joined {
                text += " ON "
                append(joined)
            }
        }
        if selection.condition == .truth(true) { return }
        text += " WHERE "
        append(selection.condition)
    }

    private mutating func append(operand: SQLExpression) {
        if operand.isWord { return append(operand) }
        text += "("
        append(operand)
        text += ")"
    }

    private mutating func append(_ a: SQLExpression, _ word: String, _ b: SQLExpression) {
        append(operand: a)
        text += word
        append(operand: b)
    }

    private mutating func append(_ a: SQLExpression, _ words: String) {
        append(operand: a)
        text += words
    }

    private mutating func append(_ parts: ArraySlice<SQLExpression>, _ word: String, ifEmpty empty: String) {
        if parts.isEmpty {
            text += empty
        } else if parts.count > Self.longChain {
            let middle = parts.startIndex + parts.count / 2
            text += "("
            append(parts[..<middle], word, ifEmpty: empty)
            text += ")\(word)("
            append(parts[middle...], word, ifEmpty: empty)
            text += ")"
        } else {
            for (place, part) in parts.enumerated() {
                if place > 0 { text += word }
                append(operand: part)
            }
        }
    }

    private mutating func append(_ part: SQLExpression, _ word: String, _ list: [SQLValue]) {
        append(operand: part)
        if dialect == .postgreSQL {
            text += word == " IN " ? " = ANY(" : " <> ALL("
            append(value: .array(list, of: list.first?.typeName ?? "int8"))
            text += ")"
            return
        }
        text += word
        if list.count > Self.fewIntegers, list.allSatisfy({ if case .integer = $0 { true } else { false } }) {
            text += "(SELECT value FROM json_each(?))"
            let numbers = list.map { if case .integer(let number) = $0 { "\(number)" } else { "null" } }
            values.append(.text("[" + numbers.joined(separator: ",") + "]"))
            return
        }
        // Lists of nearly equal length share a text: the last value is repeated.
        var places = 1
        while places < list.count { places *= 2 }
        if places > 4_096 { places = list.count }
        text += "("
        for place in 0..<places {
            text += place > 0 ? ", ?" : "?"
            values.append(list[min(place, list.count - 1)])
        }
        text += ")"
    }
}

extension SQLValue {
    /// The name of the type that PostgreSQL has for values of this sort.
    package var typeName: String {
        switch self {
        case .null, .text: "text"
        case .integer: "int8"
        case .real: "float8"
        case .float: "float4"
        case .bool: "bool"
        case .decimal: "numeric"
        case .uuid: "uuid"
        case .blob: "bytea"
        case .array(_, let type): type + "[]"
        }
    }
}

extension SQLExpression {
    /// Whether the text needs no parentheses as a part of another.
    fileprivate var isWord: Bool {
        switch self {
        case .value, .truth, .column, .coalesce, .count: true
        default: false
        }
    }
}
