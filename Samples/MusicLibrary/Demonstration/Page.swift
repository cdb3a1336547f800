import Foundation

/// Text for a terminal of eighty columns.
struct Page {
    static let width = 80
    static let locale = Locale(identifier: "en_US")

    func line(_ text: String) { Swift.print(text) }

    /// A heading, under an empty line.
    func print(_ heading: String) {
        line("")
        line(heading)
        line(String(repeating: "-", count: heading.count))
    }

    /// Cells of given widths; negative ones are flush left. A cell that is too long is cut.
    func row(_ cells: [String], _ widths: [Int]) {
        var text = ""
        for (cell, width) in zip(cells, widths) {
            let room = abs(width)
            let cut = cell.count > room ? cell.prefix(room - 3) + "..." : cell[...]
            let space = String(repeating: " ", count: room - cut.count)
            text += (text.isEmpty ? "" : "  ") + (width < 0 ? cut + space : space + cut)
        }
        while text.last == " " { text.removeLast() }
        line(text)
    }

    /// A paragraph, broken between words.
    func note(_ text: String, indentation: Int = 2) {
        let own = text.prefix { $0 == " " }.count
        let space = String(repeating: " ", count: indentation + own)
        var current = ""
        for word in text.split(separator: " ") {
            if !current.isEmpty, space.count + current.count + 1 + word.count > Self.width {
                line(space + current)
                current = "  "
            }
            current += (current.isEmpty || current == "  " ? "" : " ") + word
        }
        if !current.isEmpty { line(space + current) }
    }

    func time(_ duration: Duration) -> String {
        let seconds = duration / .seconds(1)
        return seconds < 1
            ? "\((seconds * 1000).formatted(.number.precision(.fractionLength(seconds < 0.01 ? 1 : 0)).locale(Self.locale))) ms"
            : "\(seconds.formatted(.number.precision(.fractionLength(2)).locale(Self.locale))) s"
    }

    func bytes(_ count: Int64) -> String {
        "\((Double(count) / 1_000_000).formatted(.number.precision(.fractionLength(1)).locale(Self.locale))) MB"
    }
}
