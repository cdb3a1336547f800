#if Inspector
import Foundation
import MortiseCommands
import MortiseCore

/// What is wrong with a value that was typed.
struct FieldFault: Error {
    let property: String
    let reason: String
}

/// A value of a record in a form. Its names have the number of the slot: those of properties may be anything.
struct EditField {
    private let slot: RecordLayout.Slot
    private let place: Int
    private let value: StoredValue
    /// How long a value may be to be changed in a page.
    private static let longest = 100_000

    init(_ record: InspectedRecord, _ place: Int) {
        slot = record.layout.slots[place]
        self.place = place
        value = record.values[place].value
    }

    private var takesNil: Bool { slot.property.isOptional && !slot.role.isToMany }

    private var isEditable: Bool {
        slot.property.attribute?.options.contains(.ephemeral) != true && text.utf8.count <= Self.longest
    }

    /// A text with what a form does not carry is written as in JSON.
    private var isQuoted: Bool {
        guard case .string(let text) = value else { return false }
        return text.unicodeScalars.contains { !ValueHTML.isVisible($0) }
    }

    private var text: String {
        if case .string(let text) = value, isQuoted { return InspectedText.quoted(text) }
        return InspectedText.plain(value)
    }

    func html(_ given: [String: String], _ fault: FieldFault?) -> HTML {
        guard isEditable else {
            return """
                <div class="field"><span class="label">\(slot.name)<small>\(kind)</small></span>\
                <p class="note">too long to be changed here</p></div>
                """
        }
        let shown = Self.sent(given["v\(place)"] ?? text)
        let isNil = given.isEmpty ? value.isNull : given["n\(place)"] != nil
        let checked: HTML = isNil ? " checked" : ""
        let none: HTML? =
            takesNil
            ? "<label class=\"nil\"><input type=\"checkbox\" name=\"n\(place)\" value=\"1\"\(checked)> nil</label>"
            : nil
        let invalid: HTML = fault?.property == slot.name ? " aria-invalid=\"true\" autofocus" : ""
        let isLong = slot.property.attribute?.kind == .coded || shown.utf8.count > 60 || shown.contains("\n")
        // A line end right after the tag is left out by browsers.
        let input: HTML =
            isLong
            ? "<textarea name=\"v\(place)\" id=\"v\(place)\" rows=\"4\" spellcheck=\"false\"\(invalid)>\n\(shown)</textarea>"
            : "<input name=\"v\(place)\" id=\"v\(place)\" value=\"\(shown)\" spellcheck=\"false\"\(invalid)>"
        let mode: HTML = isQuoted ? "json" : "text"
        return """
            <div class="field"><label class="label" for="v\(place)">\(slot.name)<small>\(kind)</small></label>\(input)\(none)\
            <input type="hidden" name="p\(place)" value="\(slot.name)"><input type="hidden" name="m\(place)" value="\(mode)">\
            <input type="hidden" name="b\(place)" value="\(given["b\(place)"] ?? InspectedText.json(value))">\
            <input type="hidden" name="o\(place)" value="\(given["o\(place)"] ?? Self.sent(text))"></div>
            """
    }

    private var kind: String {
        if let relationship = slot.property.relationship {
            return relationship.isToMany
                ? "numbers of \(relationship.destination)" : "number of \(relationship.destination)"
        }
        return InspectedText.words(slot.property) + (isQuoted ? ", as in JSON" : "")
    }

    /// What was typed, if it is another value than was shown.
    /// - Throws: `FieldFault`.
    func assignment(_ form: [String: String]) throws -> StagedChanges.Assignment? {
        guard let typed = form["v\(place)"], form["p\(place)"] == slot.name, let base = form["b\(place)"] else {
            return nil
        }
        let (isNil, wasNil) = (form["n\(place)"] != nil, takesNil && base == "null")
        let hasOtherText = Self.sent(typed) != form["o\(place)"].map(Self.sent)
        if !hasOtherText, isNil == wasNil { return nil }
        // Who types into a field that was nil means what is typed.
        if isNil, !wasNil { return .init(property: slot.name, text: nil, base: base) }
        if slot.role == .toOne, typed.allSatisfy(\.isWhitespace) {
            return .init(property: slot.name, text: nil, base: base)
        }
        var text = Self.sent(typed)
        if form["m\(place)"] == "json" {
            let read = try? JSONSerialization.jsonObject(with: Data(text.utf8), options: .fragmentsAllowed)
            guard let read = read as? String else {
                throw FieldFault(property: slot.name, reason: "expected a text as JSON has it, in quotation marks")
            }
            text = read
        }
        return .init(property: slot.name, text: text, base: base)
    }

    /// Forms send line ends as two characters.
    private static func sent(_ text: String) -> String { text.replacingOccurrences(of: "\r\n", with: "\n") }
}
#endif
