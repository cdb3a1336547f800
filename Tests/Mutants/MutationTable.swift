#if Mutants
import SwiftSyntax

/// What is changed in a store's sources, as tables: one row, one mutant wherever it applies.
enum MutationTable {
    /// Comparisons, and what each is exchanged for.
    static let comparisons = [
        "<": ["<=", ">="], "<=": ["<", ">"], ">": [">=", "<="], ">=": [">", "<"], "==": ["!="], "!=": ["=="],
    ]
    static let connectives = ["&&": "||", "||": "&&"]
    /// Members that are exchanged for others of the same shape.
    static let members = [
        "first": "last", "last": "first", "min": "max", "max": "min", "prefix": "suffix", "suffix": "prefix",
        "dropFirst": "dropLast", "dropLast": "dropFirst", "allSatisfy": "contains",
    ]
    /// Calls that are left out of a chain, so that what they are called on remains.
    static let steps: Set = [
        "filter", "dropFirst", "dropLast", "prefix", "suffix", "reversed", "sorted", "union", "uppercased",
    ]
    /// Functions of two values.
    static let functions = ["max": "min", "min": "max"]
    /// Values of enums: what a plan claims, and what an error is said to be.
    static let words = [
        "exact": "superset", "superset": "exact", "total": "none", "locked": "damaged", "damaged": "locked",
        "failedInputOutput": "damaged", "unsupported": "damaged", "conflict": "damaged", "denied": "damaged",
    ]

    /// What is exchanged in a literal of SQL, wherever it occurs.
    static let sql: [(original: String, changed: String)] = [
        (" AND ", " OR "), (" OR ", " AND "), (" IS NOT ?", " IS ?"), (" IS ?", " = ?"), ("IS NOT NULL", "IS NULL"),
        (" IS NOT NULL AND ", " IS NULL OR "), (" DESC", ""), ("ORDER BY r.id", "ORDER BY r.id DESC"),
        ("LIMIT ? OFFSET ?", "LIMIT ? + 1 OFFSET ?"), ("LIMIT ? OFFSET ?", "LIMIT ? - 1 OFFSET ?"),
        ("LIMIT ? OFFSET ?", "LIMIT -1 + 0 * ? OFFSET ?"), ("LIMIT ? OFFSET ?", "LIMIT ? OFFSET 0 * ?"),
        ("LIMIT ? OFFSET ?", "LIMIT ? OFFSET ? + 1"), ("BEGIN IMMEDIATE", "BEGIN"), (" IN (", " NOT IN ("),
        ("IN (SELECT", "NOT IN (SELECT"), ("NOT ", ""), (" DEFAULT \\(text)", ""), ("version + 1", "version"),
        ("last + 1", "last"), ("last + 1", "last + 2"), ("FULL", "OFF"), ("WAL", "DELETE"), ("0 AS last", "1 AS last"),
        (" COLLATE \\(kind)", ""), (" PRIMARY KEY", ""), ("id = ?", "id >= ?"), ("entity = ?", "entity <> ?"),
        ("?, 0)", "?, 1)"), (" GLOB ", " NOT GLOB "),
        ("SELECT * FROM \\(", "SELECT DISTINCT r.id, entity, version FROM \\("),
        (" RETURNING last", " RETURNING last - 1 AS last"), ("NULL AS schema", "'' AS schema"),
        ("entity || '/' || r.id ", "entity || '/' || r.version "),
    ]

    /// Literals that are exchanged as a whole.
    static let literals: [String: [String]] = [
        "<": ["<="], "<=": ["<"], ">": [">="], ">=": [">"], "BEGIN": ["BEGIN IMMEDIATE"], "COMMIT": ["ROLLBACK"],
        "ROLLBACK": ["COMMIT"], "TEXT": ["INTEGER"], "INTEGER": ["TEXT"], "''": ["'"], "1": ["0"], "0": ["1"],
        "NULL": ["'0'"], "r.id": ["r.id DESC"], ",": [";"], "^\\($0)": ["\\($0)"],
    ]

    /// Declarations in which nothing is changed: a store may claim less, and what it says for people is its own affair.
    static let leftOut: Set = [
        "capabilities", "description", "scanned", "report", "message", "title", "damage", "name",
    ]
    /// Arguments in which nothing is changed, for the same reason.
    static let argumentsLeftOut: Set = ["detail", "scanned", "named", "report"]
    /// Calls whose texts are those of errors.
    static let errors: Set = ["SQLiteStoreError", "misfit", "damage", "unreadable"]
    /// Calls that are statements even where they are all that a closure does.
    static let effects: Set = ["append", "adopt", "close", "insert", "remove", "removeAll", "removeItem", "run"]
}

/// A change of a store's sources that makes it another one.
struct Mutant: Codable {
    let number: Int
    let file: String
    let line: Int
    /// The operator's name.
    let kind: String
    let original: String
    let changed: String
    /// The whole line of the source.
    let context: String
    /// Which of the same changes of the same text in its line this is, from 1.
    let occurrence: Int

    /// The place and the change, in one line.
    var text: String { "\(number) \(file):\(line) \(kind): \(Self.short(original)) → \(Self.short(changed))" }

    private static func short(_ text: String) -> String {
        let line = text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        return "`\(line.count > 100 ? line.prefix(97) + "…" : line)`"
    }
}
#endif
