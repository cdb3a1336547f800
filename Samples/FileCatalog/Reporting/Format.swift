import Foundation

/// How numbers, dates, paths and tables look on the terminal; the same in every locale.
enum Format {
    /// A whole number with its thousands apart: `1,234,567`.
    static func count(_ number: Int) -> String {
        var digits = String(number.magnitude)
        var index = digits.endIndex
        while digits.distance(from: digits.startIndex, to: index) > 3 {
            index = digits.index(index, offsetBy: -3)
            digits.insert(",", at: index)
        }
        return number < 0 ? "-" + digits : digits
    }

    /// A number of things with the word for them: `1 file`, `3 folders`.
    static func count(_ number: Int, _ singular: String, _ plural: String? = nil) -> String {
        "\(count(number)) \(number == 1 ? singular : plural ?? singular + "s")"
    }

    /// A number of bytes in a decimal unit: `999 bytes`, `1.2 MB`.
    static func size(_ bytes: Int) -> String {
        if bytes < 1_000 { return count(bytes, "byte") }
        var value = Double(bytes) / 1_000
        var unit = 0
        let units = ["kB", "MB", "GB", "TB", "PB", "EB"]
        while value >= 999.95, unit < units.count - 1 {
            value /= 1_000
            unit += 1
        }
        let tenths = Int((value * 10).rounded())
        return "\(tenths / 10).\(tenths % 10) \(units[unit])"
    }

    /// A date in UTC, to the second: `2026-01-31 18:00:00`.
    static func date(_ date: Date) -> String {
        let style = Date.ISO8601FormatStyle(dateTimeSeparator: .space, timeZone: .gmt)
        return date.formatted(style.year().month().day().time(includingFractionalSeconds: false))
    }

    /// A text on one line: control characters, which a file name may hold, are escaped.
    static func line(_ text: String) -> String {
        if !text.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) { return text }
        return text.unicodeScalars.map { scalar in
            scalar.properties.generalCategory == .control ? scalar.escaped(asASCII: true) : String(scalar)
        }.joined()
    }

    /// A heading and rows of equally many cells, in columns that are as wide as they need to be.
    static func table(_ heading: [String], _ rows: [[String]], rightAligned: Set<Int> = []) -> String {
        let widths = heading.indices.map { column in ([heading] + rows).map { $0[column].count }.max() ?? 0 }
        let lines = ([heading] + rows).map { row in
            row.indices.map { column in
                let space = String(repeating: " ", count: widths[column] - row[column].count)
                if rightAligned.contains(column) { return space + row[column] }
                return column == row.count - 1 ? row[column] : row[column] + space
            }.joined(separator: "  ")
        }
        return lines.joined(separator: "\n")
    }
}
