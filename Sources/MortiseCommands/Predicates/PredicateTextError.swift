#if Tool
public import MortiseCore

/// What is wrong with the text of a predicate or an order, and where.
public struct PredicateTextError: Error, Hashable, Sendable {
    /// The whole text.
    public let text: String
    /// Where the fault begins, in characters, from 1; one more than the text has where something is missing at its end.
    public let column: Int
    /// How many characters are at fault; at least 1.
    public let length: Int
    /// What is wrong and what to do, as one line.
    public let message: String

    init(_ text: String, _ place: TextPlace, _ message: String) {
        self.text = text
        column = place.start + 1
        length = max(place.count, 1)
        self.message = message
    }

    /// Two lines to show below the message: the text, or the part of it around the fault, and a mark under the fault.
    public var excerpt: String {
        let characters = Array(text)
        let from = max(0, min(column - 1, characters.count) - 40)
        let to = min(characters.count, column - 1 + max(length, 30))
        let shown = characters[from..<max(from, to)].map { $0.isPlain ? $0 : " " }
        let mark = String(repeating: "^", count: max(1, min(length, to - column + 1)))
        return String(shown) + "\n" + String(repeating: " ", count: column - 1 - from) + mark
    }
}

extension PredicateTextError: CustomStringConvertible, ClassifiedStoreError {
    /// The column and the message, in one line.
    public var description: String { "column \(column): \(message)" }
    /// `usage`: the predicate is at fault.
    public var errorClass: StoreErrorClass { .usage }
}

/// A part of a text, in characters from 0.
struct TextPlace: Hashable, Sendable {
    var start: Int
    var count: Int

    func through(_ other: TextPlace) -> TextPlace {
        TextPlace(start: start, count: max(other.start + other.count - start, count))
    }
}

extension Character {
    /// Whether the character can be shown without moving the cursor or changing a terminal's state.
    var isPlain: Bool {
        unicodeScalars.allSatisfy { scalar in
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned: false
            default: true
            }
        }
    }
}

extension String {
    /// The text with everything escaped that a terminal might obey, and cut where it is long.
    func shown(limit: Int = 60) -> String {
        var result = ""
        var count = 0
        for character in self {
            if count == limit { return result + "…" }
            count += 1
            if character.isPlain {
                result.append(character)
            } else {
                for scalar in character.unicodeScalars { result += "\\u{\(String(scalar.value, radix: 16))}" }
            }
        }
        return result
    }
}
#endif
