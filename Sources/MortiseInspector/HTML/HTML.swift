#if Inspector
/// A piece of a page. What stands in a literal is markup; what is interpolated is text, and escaped, unless it is a piece itself.
///
/// There is no other way to make one, so that nothing from a store can become markup. Attributes have to be written in double
/// quotation marks.
struct HTML: ExpressibleByStringInterpolation, Sendable {
    fileprivate(set) var markup: String

    init(stringLiteral value: StaticString) { markup = "\(value)" }

    init(stringInterpolation: Interpolation) { markup = stringInterpolation.markup }

    fileprivate init(markup: String) { self.markup = markup }

    struct Interpolation: StringInterpolationProtocol {
        fileprivate var markup = ""

        init(literalCapacity: Int, interpolationCount: Int) { markup.reserveCapacity(literalCapacity * 2) }

        mutating func appendLiteral(_ literal: StaticString) { markup += "\(literal)" }
        mutating func appendInterpolation(_ text: String) { HTML.escape(text, into: &markup) }
        mutating func appendInterpolation(_ number: Int) { markup += "\(number)" }
        mutating func appendInterpolation(_ piece: HTML) { markup += piece.markup }
        mutating func appendInterpolation(_ piece: HTML?) { markup += piece?.markup ?? "" }
        mutating func appendInterpolation(_ pieces: [HTML]) { for piece in pieces { markup += piece.markup } }
    }

    static func + (a: HTML, b: HTML) -> HTML { HTML(markup: a.markup + b.markup) }

    static func += (a: inout HTML, b: HTML) { a.markup += b.markup }

    /// By Unicode scalars: a quotation mark that a combining mark follows is one character and ends an attribute all the same.
    private static func escape(_ text: String, into markup: inout String) {
        var scalars = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": scalars.append(contentsOf: "&amp;".unicodeScalars)
            case "<": scalars.append(contentsOf: "&lt;".unicodeScalars)
            case ">": scalars.append(contentsOf: "&gt;".unicodeScalars)
            case "\"": scalars.append(contentsOf: "&quot;".unicodeScalars)
            case "'": scalars.append(contentsOf: "&#39;".unicodeScalars)
            // A page keeps it as a line end only where it is written so.
            case "\r": scalars.append(contentsOf: "&#13;".unicodeScalars)
            // No page can have them; where it matters, `ValueHTML` shows which one it is.
            case _ where scalar.value < 0x20 && scalar != "\n" && scalar != "\t": scalars.append("\u{FFFD}")
            default: scalars.append(scalar)
            }
        }
        markup.unicodeScalars.append(contentsOf: scalars)
    }
}

extension Sequence where Element == HTML {
    /// The pieces in one, with another one between them.
    func joined(_ separator: HTML = "") -> HTML {
        var result: HTML = ""
        for (number, piece) in enumerated() {
            if number > 0 { result += separator }
            result += piece
        }
        return result
    }
}
#endif
