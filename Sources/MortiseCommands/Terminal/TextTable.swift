#if Tool
/// Rows in aligned columns.
struct TextTable {
    private let headings: [String]
    private let isNumeric: [Bool]
    private var widths: [Int]

    init(_ headings: [String], numeric: [Bool]) {
        self.headings = headings
        isNumeric = numeric
        widths = headings.map(\.columns)
    }

    /// Makes room for a row; all rows are measured before the first is printed.
    mutating func measure(_ cells: [String]) {
        for (column, cell) in cells.enumerated() where column < widths.count {
            widths[column] = max(widths[column], cell.columns)
        }
    }

    /// Narrows the widest columns until all fit into a line.
    mutating func fit(_ width: Int) {
        let gaps = 2 * max(widths.count - 1, 0)
        while widths.reduce(gaps, +) > width, let widest = widths.indices.max(by: { widths[$0] < widths[$1] }),
            widths[widest] > 8
        {
            widths[widest] -= 1
        }
    }

    func heading() -> String { line(headings) }

    func line(_ cells: [String]) -> String {
        var text = ""
        for (column, cell) in cells.enumerated() where column < widths.count {
            let shown = cell.cut(to: widths[column])
            let padding = String(repeating: " ", count: max(0, widths[column] - shown.columns))
            let isLast = column == cells.count - 1
            if isNumeric[column] { text += padding + shown } else { text += isLast ? shown : shown + padding }
            if !isLast { text += "  " }
        }
        return text
    }
}

extension String {
    /// How many columns of a terminal the text takes.
    var columns: Int { reduce(0) { $0 + $1.columns } }

    /// The text broken into lines of at most `width` columns, at spaces where it can be. An empty text is a single empty line.
    func wrapped(to width: Int) -> [String] {
        var lines: [String] = []
        var rest = self[...]
        while true {
            var (end, used) = (rest.startIndex, 0)
            var space: Index?
            while end < rest.endIndex, used + rest[end].columns <= width || end == rest.startIndex {
                used += rest[end].columns
                if rest[end] == " " { space = end }
                end = rest.index(after: end)
            }
            guard end < rest.endIndex else { return lines + [String(rest)] }
            if rest[end] == " " { space = end }
            let last = space.flatMap { $0 > rest.startIndex ? $0 : nil } ?? end
            lines.append(String(rest[..<last]))
            rest = rest[last...]
            if rest.first == " " { rest = rest.dropFirst() }
        }
    }

    /// The text, or its beginning and a mark where it takes more columns.
    func cut(to width: Int) -> String {
        if utf8.count <= width || columns <= width { return self }
        var result = ""
        var used = 0
        for character in self {
            used += character.columns
            if used > width - 1 { break }
            result.append(character)
        }
        return result + "…"
    }
}

extension Character {
    /// Two for the wide characters of East Asia and for pictures, one for all others.
    fileprivate var columns: Int {
        guard let scalar = unicodeScalars.first, scalar.value >= 0x1100 else { return 1 }
        switch scalar.value {
        case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F,
            0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x1F300...0x1F64F, 0x1F680...0x1F6FF, 0x1F900...0x1FAFF,
            0x20000...0x3FFFD:
            return 2
        default: return 1
        }
    }
}
#endif
