#if Tool
/// A word, number, text or sign of a predicate's text.
struct PredicateToken: Hashable, Sendable {
    enum Kind: Hashable, Sendable {
        /// A name, or a keyword unless it is quoted by backticks.
        case word(String, isQuoted: Bool)
        /// Digits as they stand, without underscores.
        case number(String)
        case text(String)
        case sign(String)
        case end
    }

    let kind: Kind
    let place: TextPlace

    /// The word in lower case, where it may be a keyword.
    var keyword: String? {
        if case .word(let word, isQuoted: false) = kind { word.lowercased() } else { nil }
    }
    func isSign(_ sign: String) -> Bool { kind == .sign(sign) }

    /// The token as messages name it.
    var shown: String {
        switch kind {
        case .word(let word, _): "\"\(word.shown())\""
        case .number(let digits): digits.shown()
        case .text(let text): "the text \"\(text.shown(limit: 20))\""
        case .sign(let sign): "\"\(sign)\""
        case .end: "the end"
        }
    }
}

/// Cuts the text of a predicate into tokens.
struct PredicateLexer {
    /// No text longer than this is looked at, in UTF-8.
    static let longestText = 64 << 10

    private let text: String
    private let characters: [Character]
    private var position = 0

    /// - Throws: `PredicateTextError` for a text that is too long.
    init(_ text: String) throws(PredicateTextError) {
        self.text = text
        guard text.utf8.count <= Self.longestText else {
            throw PredicateTextError(
                "", TextPlace(start: 0, count: 1),
                "the text has \(text.utf8.count) bytes; the limit is \(Self.longestText)")
        }
        characters = Array(text)
    }

    /// All tokens, the last one `end`.
    /// - Throws: `PredicateTextError`.
    mutating func tokens() throws(PredicateTextError) -> [PredicateToken] {
        var found: [PredicateToken] = []
        while true {
            while let next = peek(), next.isWhitespace { position += 1 }
            let start = position
            guard let next = peek() else {
                found.append(PredicateToken(kind: .end, place: TextPlace(start: start, count: 0)))
                return found
            }
            let kind = try token(next)
            found.append(PredicateToken(kind: kind, place: TextPlace(start: start, count: position - start)))
        }
    }

    private func peek(_ ahead: Int = 0) -> Character? {
        position + ahead < characters.count ? characters[position + ahead] : nil
    }

    private func fault(_ start: Int, _ message: String) -> PredicateTextError {
        PredicateTextError(text, TextPlace(start: start, count: max(position - start, 1)), message)
    }

    private mutating func token(_ next: Character) throws(PredicateTextError) -> PredicateToken.Kind {
        if next.isNameStart { return .word(name(), isQuoted: false) }
        if next.isDigit { return try number() }
        switch next {
        case "\"", "'", "\u{201C}", "\u{2018}": return .text(try quoted(next))
        case "`": return .word(try backticked(), isQuoted: true)
        default: return try sign(next)
        }
    }

    private mutating func name() -> String {
        let start = position
        position += 1
        while let next = peek(), next.isNameStart || next.isDigit { position += 1 }
        return String(characters[start..<position])
    }

    private mutating func backticked() throws(PredicateTextError) -> String {
        let start = position
        position += 1
        while let next = peek(), next != "`" { position += 1 }
        guard peek() == "`", position > start + 1 else {
            throw fault(start, "a name in backticks must end with a backtick")
        }
        position += 1
        return String(characters[(start + 1)..<(position - 1)])
    }

    private mutating func number() throws(PredicateTextError) -> PredicateToken.Kind {
        let start = position
        func digits(_ lexer: inout PredicateLexer) {
            while let next = lexer.peek(), next.isDigit || next == "_" { lexer.position += 1 }
        }
        digits(&self)
        if peek() == ".", peek(1)?.isDigit == true {
            position += 1
            digits(&self)
        }
        if peek() == "e" || peek() == "E" {
            let hasSign = peek(1) == "-" || peek(1) == "+"
            if peek(hasSign ? 2 : 1)?.isDigit == true {
                position += hasSign ? 2 : 1
                digits(&self)
            }
        }
        if let next = peek(), next.isNameStart || next == "." && peek(1)?.isDigit == true {
            throw fault(start, "invalid number; write dates, UUIDs and data in quotation marks")
        }
        return .number(String(characters[start..<position].filter { $0 != "_" }))
    }

    private mutating func quoted(_ open: Character) throws(PredicateTextError) -> String {
        let start = position
        let close: Character = open == "\u{201C}" ? "\u{201D}" : open == "\u{2018}" ? "\u{2019}" : open
        var result = ""
        position += 1
        while let next = peek() {
            position += 1
            if next == close { return result }
            result += next == "\\" ? try escape() : String(next)
        }
        throw fault(start, "the text is not closed; end it with \(close)")
    }

    private mutating func escape() throws(PredicateTextError) -> String {
        let start = position - 1
        guard let next = peek() else { throw fault(start, "the text is not closed") }
        position += 1
        switch next {
        case "n": return "\n"
        case "t": return "\t"
        case "r": return "\r"
        case "0": return "\0"
        case "\\", "\"", "'": return String(next)
        case "u":
            if peek() == "{", let end = characters[position...].prefix(12).firstIndex(of: "}"),
                let value = UInt32(String(characters[(position + 1)..<end]), radix: 16),
                let scalar = Unicode.Scalar(value)
            {
                position = end + 1
                return String(Character(scalar))
            }
        default: break
        }
        throw fault(start, "unknown escape; use \\n, \\t, \\r, \\0, \\\\, \\\", \\' or \\u{…}")
    }

    private mutating func sign(_ next: Character) throws(PredicateTextError) -> PredicateToken.Kind {
        for sign in ["==", "!=", "<>", "<=", ">=", "&&", "||"] where matches(sign) {
            position += 2
            return .sign(sign == "<>" ? "!=" : sign)
        }
        position += 1
        if "=<>!+-*/%()[]{},.$".contains(next) { return .sign(next == "=" ? "==" : String(next)) }
        throw fault(position - 1, "unexpected \"\(String(next).shown())\"")
    }

    private func matches(_ sign: String) -> Bool {
        characters[position...].starts(with: sign)
    }
}

extension Character {
    fileprivate var isNameStart: Bool { isLetter || self == "_" }
    fileprivate var isDigit: Bool { isASCII && isNumber }
}
#endif
