#if Tool
/// Names and texts of a schema as Swift has them. Whatever a schema says stays a name, a literal or a comment.
enum SwiftName {
    /// Words that are no names without backticks.
    private static let keywords: Set<String> = [
        "Any", "Self", "as", "associatedtype", "await", "break", "case", "catch", "class", "continue", "default",
        "defer",
        "deinit", "do", "else", "enum", "extension", "fallthrough", "false", "fileprivate", "for", "func", "guard",
        "if",
        "import", "in", "init", "inout", "internal", "is", "let", "nil", "operator", "precedencegroup", "private",
        "protocol",
        "public", "repeat", "rethrows", "return", "self", "static", "struct", "subscript", "super", "switch", "throw",
        "throws", "true", "try", "typealias", "var", "where", "while",
        // Names at most places, and something else at some.
        "actor", "any", "async", "borrowing", "consume", "consuming", "copy", "discard", "each", "isolated", "macro",
        "nonisolated", "open", "package", "sending", "some", "unowned", "unsafe", "weak", "yield",
    ]
    /// Keywords that are no labels without backticks.
    private static let noLabels: Set<String> = ["inout", "let", "var"]

    /// Whether a text is an identifier of Swift, keywords included, that shows itself: without invisible characters.
    static func isIdentifier(_ name: String) -> Bool {
        guard let first = name.unicodeScalars.first, name != "_" else { return false }
        return isHead(first) && name.unicodeScalars.dropFirst().allSatisfy { isHead($0) || isTail($0) }
    }

    private static func isHead(_ scalar: Unicode.Scalar) -> Bool {
        if scalar.isASCII { return scalar == "_" || scalar.properties.isAlphabetic }
        switch scalar.properties.generalCategory {
        case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .letterNumber,
            .otherSymbol:
            return heads.contains { $0.contains(scalar.value) }
        default: return false
        }
    }

    private static func isTail(_ scalar: Unicode.Scalar) -> Bool {
        if scalar.isASCII { return ("0"..."9").contains(scalar) }
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .spacingMark, .decimalNumber, .otherNumber:
            return (heads + tails).contains { $0.contains(scalar.value) }
        default: return false
        }
    }

    /// As The Swift Programming Language has them.
    private static let heads: [ClosedRange<UInt32>] = [
        0xA8...0xA8, 0xAA...0xAA, 0xAF...0xAF, 0xB2...0xB5, 0xB7...0xBA, 0xBC...0xBE, 0xC0...0xD6, 0xD8...0xF6,
        0xF8...0x2FF,
        0x370...0x167F, 0x1681...0x180D, 0x180F...0x1DBF, 0x1E00...0x1FFF, 0x2070...0x20CF, 0x2100...0x218F,
        0x2460...0x24FF, 0x2776...0x2793, 0x2C00...0x2DFF, 0x2E80...0x2FFF, 0x3004...0x3007, 0x3021...0x302F,
        0x3031...0x303F, 0x3040...0xD7FF, 0xF900...0xFD3D, 0xFD40...0xFDCF, 0xFDF0...0xFE1F, 0xFE30...0xFE44,
        0xFE47...0xFFFD, 0x10000...0x1FFFD, 0x20000...0x2FFFD, 0x30000...0x3FFFD,
    ]
    private static let tails: [ClosedRange<UInt32>] = [
        0x300...0x36F, 0x1DC0...0x1DFF, 0x20D0...0x20FF, 0xFE20...0xFE2F,
    ]

    /// An identifier where it is declared or used.
    static func quoted(_ name: String) -> String { keywords.contains(name) ? "`\(name)`" : name }

    static func isKeyword(_ name: String) -> Bool { keywords.contains(name) }

    /// An identifier as the label of an argument.
    static func label(_ name: String) -> String { noLabels.contains(name) ? "`\(name)`" : name }

    // MARK: Texts

    /// A literal. Characters that an editor or a terminal does not show, or obeys, are escaped.
    static func literal(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case "\r": result += "\\r"
            case "\t": result += "\\t"
            case " ": result += " "
            default: result += isShown(scalar) ? String(scalar) : escaped(scalar)
            }
        }
        return result + "\""
    }

    /// Lines of comments behind a mark such as `///`; none of them ends early.
    static func comment(_ text: String, _ mark: String) -> [String] {
        text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).map { line in
            let shown = line.unicodeScalars.reduce(into: "") { result, scalar in
                result += scalar == "\t" ? " " : scalar == " " || isShown(scalar) ? String(scalar) : escaped(scalar)
            }
            return shown.isEmpty ? mark : "\(mark) \(shown)"
        }
    }

    private static func escaped(_ scalar: Unicode.Scalar) -> String { "\\u{\(String(scalar.value, radix: 16))}" }

    private static func isShown(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .spaceSeparator, .surrogate, .privateUse,
            .unassigned:
            false
        default: true
        }
    }

    /// A type's name made of that of a property: `homeAddress` becomes `HomeAddress`.
    static func typeName(of property: String) -> String { property.prefix(1).uppercased() + property.dropFirst() }
}
#endif
