#if Inspector
import Foundation
import MortiseCore

/// Values and figures as the tool writes them, for the inspector.
package enum InspectedText {
    package static func plain(_ value: StoredValue) -> String { ValueText.plain(value) }
    package static func json(_ value: StoredValue) -> String { ValueText.json(value) }
    package static func quoted(_ text: String) -> String { ValueText.quoted(text) }
    package static func csv(_ text: String) -> String { ValueText.csv(text) }
    package static func key(_ record: PersistentIdentifier) -> String { ValueText.key(record) }
    package static func date(_ date: Date) -> String { TimestampText.text(of: date) }
    package static func count(_ number: Int) -> String { FigureText.count(number) }
    package static func bytes(_ count: Int64) -> String { FigureText.bytes(count) }
    package static func duration(_ seconds: Double) -> String { FigureText.duration(seconds) }
    package static func plural(_ number: Int, _ noun: String, _ plural: String? = nil) -> String {
        FigureText.plural(number, noun, plural)
    }

    /// A record as it is shown, to notice that it has changed before it is deleted.
    package static func text(of record: InspectedRecord) -> String { InspectedStore.text(record) }

    /// A property's kind and what is said of it, as `mortise schema show` has them.
    package static func words(_ property: StoredProperty) -> String { property.words }

    /// The text of a value in a predicate; nil for a value that none can name.
    package static func literal(_ value: StoredValue) -> String? {
        switch value {
        case .null: "nil"
        case .bool, .integer, .unsigned, .decimal: plain(value)
        case .float(let number): number.isFinite ? plain(value) : nil
        case .double(let number): number.isFinite ? plain(value) : nil
        case .date, .uuid, .url, .data: "\"\(plain(value))\""
        case .string(let text): literal(text)
        case .identifier(let record): json(.identifier(record))
        case .identifiers, .array, .object: nil
        }
    }

    private static func literal(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            case _ where scalar.value < 0x20 || scalar.value == 0x7F:
                result += "\\u{\(String(scalar.value, radix: 16))}"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }
}
#endif
