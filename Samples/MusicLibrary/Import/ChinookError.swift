/// A row of the file: its table, and its number counted from 1.
struct ChinookPlace: Equatable, Sendable, CustomStringConvertible {
    let table: String
    let row: Int

    var description: String { "table \(table), row \(row)" }
}

/// What is wrong with a Chinook file; each case is described in one line that says where.
enum ChinookError: Error, Equatable, CustomStringConvertible {
    case unreadable(file: String)
    /// The text is not JSON, or not of the shape "tables of rows of values".
    case malformed(reason: String)
    case missingTable(String)
    case unknownTable(String)
    case missingColumn(ChinookPlace, String)
    case unknownColumn(ChinookPlace, String)
    case wrongType(ChinookPlace, String, expected: String, found: String)
    /// The row has the identifier of an earlier row of its table.
    case duplicateKey(ChinookPlace, String, key: Int)
    /// The column refers to a row that does not exist.
    case danglingKey(ChinookPlace, String, table: String, key: Int)

    /// The error for what the JSON decoder threw.
    init(_ error: any Error) {
        switch error {
        case DecodingError.typeMismatch(_, let context), DecodingError.valueNotFound(_, let context),
            DecodingError.keyNotFound(_, let context):
            self = .malformed(reason: "\(context.debugDescription) At \(Self.path(context.codingPath)).")
        case DecodingError.dataCorrupted(let context):
            self = .malformed(reason: context.debugDescription)
        default:
            self = .malformed(reason: "\(error)")
        }
    }

    var description: String {
        switch self {
        case .unreadable(let file):
            "cannot read \(file)"
        case .malformed(let reason):
            "not a Chinook JSON file: \(reason)"
        case .missingTable(let table):
            "the table \(table) is missing"
        case .unknownTable(let table):
            "unknown table \(table)"
        case .missingColumn(let place, let column):
            "\(place): the column \(column) is missing"
        case .unknownColumn(let place, let column):
            "\(place): unknown column \(column)"
        case .wrongType(let place, let column, let expected, let found):
            "\(place), column \(column): expected \(expected), found \(found)"
        case .duplicateKey(let place, let column, let key):
            "\(place), column \(column): an earlier row has the key \(key) too"
        case .danglingKey(let place, let column, let table, let key):
            "\(place), column \(column): the table \(table) has no row with the key \(key)"
        }
    }

    private static func path(_ keys: [any CodingKey]) -> String {
        if keys.isEmpty { return "the top" }
        return keys.map { $0.intValue.map { "row \($0 + 1)" } ?? $0.stringValue }.joined(separator: ", ")
    }
}
