#if Inspector
import Foundation
import MortiseCommands
import MortiseCore

/// Stored values as a page shows them: each kind so that it cannot be taken for another one.
struct ValueHTML {
    /// How many characters of a value a table shows, and how many a page of one record.
    static let brief = 120
    static let long = 4_000

    let limit: Int
    /// Whether the rest of long values is known to be elsewhere, so that nothing is said of their length.
    var isCutBefore = false

    /// The value; a text that is longer than the limit is cut, with a link to the whole where one is given.
    func callAsFunction(_ value: StoredValue, whole: Link? = nil) -> HTML {
        switch value {
        case .null: "<span class=\"v nil\">nil</span>"
        case .string(let text):
            text.isEmpty
                ? "<span class=\"v empty\" title=\"a text without characters\">empty</span>"
                : "<span class=\"v text\">\(shown(text))</span>\(rest(text.utf8.count, isCut(text), whole))"
        case .data(let bytes): data(bytes, whole)
        case .bool(let value): "<span class=\"v bool\">\(value ? "true" : "false")</span>"
        case .float(let number):
            self.number(number.isFinite && !(number == 0 && number.sign == .minus), "\(number)")
        case .double(let number): self.number(number.isFinite && !(number == 0 && number.sign == .minus), "\(number)")
        case .integer, .unsigned, .decimal: number(true, InspectedText.plain(value))
        case .array, .object: coded(InspectedText.json(value), whole)
        case .date, .uuid: "<span class=\"v mono\">\(InspectedText.plain(value))</span>"
        case .url(let url): "<span class=\"v mono\">\(shown(url.absoluteString))</span>"
        case .identifier, .identifiers: "<span class=\"v mono\">\(cut(InspectedText.plain(value)))</span>"
        }
    }

    private func number(_ isPlain: Bool, _ text: String) -> HTML {
        isPlain
            ? "<span class=\"v number\">\(text)</span>"
            : "<span class=\"v odd\" title=\"not an ordinary number\">\(text)</span>"
    }

    private func data(_ bytes: Data, _ whole: Link?) -> HTML {
        let most = limit > Self.brief ? 256 : 16
        let digits = bytes.prefix(most).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }
        let text = digits.enumerated().map { ($0.offset > 0 && $0.offset % 4 == 0 ? " " : "") + $0.element }.joined()
        let isCut = bytes.count > most
        let link: HTML? = isCut ? whole.map { " <a class=\"whole\" href=\"\($0)\">all bytes</a>" } : nil
        return """
            <span class="v data"><b>\(InspectedText.bytes(Int64(bytes.count)))</b> \
            <code>\(text)\(isCut ? "…" : "")</code></span>\(link)
            """
    }

    private func coded(_ json: String, _ whole: Link?) -> HTML {
        "<code class=\"v coded\" title=\"a coded value\">\(cut(json))</code>\(rest(json.utf8.count, isCut(json), whole))"
    }

    private func isCut(_ text: String) -> Bool {
        text.utf8.count > limit && text.unicodeScalars.dropFirst(limit).first != nil
    }

    private func cut(_ text: String) -> String {
        isCut(text) ? String(String.UnicodeScalarView(text.unicodeScalars.prefix(limit))) + "…" : text
    }

    private func rest(_ bytes: Int, _ isCut: Bool, _ whole: Link?) -> HTML? {
        guard isCut, !isCutBefore else { return nil }
        let size = InspectedText.bytes(Int64(bytes))
        guard let whole else { return " <small class=\"cut\">\(size)</small>" }
        return " <a class=\"whole\" href=\"\(whole)\">all \(size)</a>"
    }

    /// Text with everything visible that would move, hide or turn what is around it.
    private func shown(_ text: String) -> HTML {
        var pieces: [HTML] = []
        var plain = String.UnicodeScalarView()
        func flush() {
            if !plain.isEmpty { pieces.append("\(String(plain))") }
            plain = String.UnicodeScalarView()
        }
        for scalar in text.unicodeScalars.prefix(limit) {
            if Self.isVisible(scalar) {
                plain.append(scalar)
            } else {
                flush()
                let digits = String(scalar.value, radix: 16, uppercase: true)
                let code = "U+" + String(repeating: "0", count: max(0, 4 - digits.count)) + digits
                pieces.append("<i class=\"scalar\" title=\"\(code)\">\(code)</i>")
            }
        }
        if isCut(text) { plain.append("…") }
        flush()
        return pieces.joined()
    }

    static func isVisible(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control: scalar == "\n" || scalar == "\t"
        case .format, .lineSeparator, .paragraphSeparator, .privateUse, .unassigned, .surrogate: scalar == "\u{200D}"
        default: true
        }
    }

    /// What a value is to the last bit, where its ordinary form does not say so; nil where it does.
    static func exact(_ value: StoredValue) -> String? {
        switch value {
        case .double(let number):
            number.isNaN || number == 0 ? "bits 0x" + hexadecimal(number.bitPattern, 16) : nil
        case .float(let number):
            number.isNaN || number == 0 ? "bits 0x" + hexadecimal(UInt64(number.bitPattern), 8) : nil
        case .date(let date): "\(date.timeIntervalSinceReferenceDate) s since 2001"
        // To count characters takes long in a long text.
        case .string(let text) where text.utf8.count > 100_000: InspectedText.bytes(Int64(text.utf8.count))
        case .string(let text):
            text.utf8.count > 40 || text.utf8.count != text.count
                ? "\(InspectedText.plural(text.count, "character")), \(InspectedText.plural(text.unicodeScalars.count, "scalar")), \(InspectedText.bytes(Int64(text.utf8.count)))"
                : nil
        default: nil
        }
    }

    private static func hexadecimal(_ bits: UInt64, _ width: Int) -> String {
        let digits = String(bits, radix: 16)
        return String(repeating: "0", count: width - digits.count) + digits
    }
}
#endif
