import Foundation
import Testing

/// The Chinook data set and its reference answers.
enum Chinook {
    static let folder = Package.root.appending(path: "Samples/MusicLibrary/Chinook")
    static let data = folder.appending(path: "ChinookData.json")

    private struct Reference: Decodable {
        let answer: JSONValue
    }

    /// The answers of a file by their questions' keys.
    static func answers(in file: URL) throws -> [String: JSONValue] {
        try JSONDecoder().decode([String: Reference].self, from: Data(contentsOf: file)).mapValues(\.answer)
    }

    /// The reference answers by their questions' keys: those that come with the data, and those that SQLite has found.
    static func reference() throws -> [String: JSONValue] {
        let given = try answers(in: folder.appending(path: "answers.json"))
        return try given.merging(answers(in: folder.appending(path: "answers-by-sql.json"))) { first, _ in first }
    }
}

/// Any JSON value, compared by its content; numbers by their decimal digits.
enum JSONValue: Decodable, Equatable {
    case null
    case bool(Bool)
    case number(Decimal)
    case string(String)
    case array([JSONValue])
    case object([String: JSONValue])

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(Bool.self) {
            self = .bool(value)
        } else if let value = try? container.decode(Decimal.self) {
            self = .number(value)
        } else if let value = try? container.decode(String.self) {
            self = .string(value)
        } else if let value = try? container.decode([JSONValue].self) {
            self = .array(value)
        } else {
            self = .object(try container.decode([String: JSONValue].self))
        }
    }
}
