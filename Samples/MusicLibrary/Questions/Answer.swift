import Foundation

/// An answer, as JSON writes it: a number, a text, a list, or an object.
enum Answer: Hashable, Sendable {
    case number(Decimal)
    case text(String)
    case list([Answer])
    case object([String: Answer])

    static func number(_ count: Int) -> Answer { .number(Decimal(count)) }
    static func texts(_ texts: [String]) -> Answer { .list(texts.map { .text($0) }) }

    /// The answer as a line of text, without the marks of JSON.
    var line: String {
        switch self {
        case .number(let number): "\(number)"
        case .text(let text): text
        case .list(let answers): answers.map(\.line).joined(separator: answers.contains { $0.isList } ? "; " : ", ")
        case .object(let answers): answers.sorted { $0.key < $1.key }.map { "\($0) \($1.line)" }.joined(separator: ", ")
        }
    }

    private var isList: Bool { if case .list = self { true } else { false } }
}

extension Answer: Codable {
    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let number = try? container.decode(Decimal.self) {
            self = .number(number)
        } else if let text = try? container.decode(String.self) {
            self = .text(text)
        } else if let answers = try? container.decode([Answer].self) {
            self = .list(answers)
        } else {
            self = .object(try container.decode([String: Answer].self))
        }
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .number(let number): try container.encode(number)
        case .text(let text): try container.encode(text)
        case .list(let answers): try container.encode(answers)
        case .object(let answers): try container.encode(answers)
        }
    }
}
