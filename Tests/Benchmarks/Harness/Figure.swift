import Foundation

/// A figure of what a record costs against how many there are: one panel for each row, one line for each way.
struct Figure {
    /// What README shows: six rows on one screen, with titles of one line.
    static let overview = [
        "filter": "filter by two clauses, no index",
        "sort-limit-indexed": "the first 20 by an indexed key",
        "equality": "the record with an indexed value",
        "children": "100 children of each of 100 parents",
        "insert": "insert all and save, three indexes",
        "update": "change 1% by a predicate and save",
    ]

    private let rows: [(title: String, lines: [Line])]

    private struct Line {
        let way: String
        let points: [(records: Double, nanoseconds: Double)]
    }

    /// The rows that were measured at two sizes or more, with at most four ways each: the framework's first.
    /// - Parameters:
    ///   - rows: what was measured.
    ///   - measurements: the results.
    ///   - titles: the rows to draw, and their titles; nil draws all under their own.
    init(_ rows: [Row], _ measurements: [Measurement], titles: [String: String]? = nil) {
        self.rows = rows.compactMap { row in
            guard let title = titles.map({ $0[row.name] }) ?? row.title else { return nil }
            let own = measurements.filter { $0.row == row.name && $0.quantity == .time }
            var ways: [String] = []
            for measurement in own where !ways.contains(measurement.way) { ways.append(measurement.way) }
            // Databases before plain Swift, so that each has the same stroke in every panel.
            let databases = ways.dropFirst().filter { $0.hasPrefix("GRDB") || $0.hasPrefix("SQLite") }
            ways = ways.prefix(1) + databases + ways.dropFirst().filter { !databases.contains($0) }
            let lines = ways.prefix(4).map { way in
                Line(
                    way: way,
                    points: own.filter { $0.way == way }.sorted { $0.records < $1.records }
                        .map { (Double($0.records), max($0.perUnit, 0.01)) })
            }
            return lines.contains { $0.points.count > 1 } ? ("\(title), per \(row.unit)", lines) : nil
        }
    }

    private static let (panelWidth, panelHeight, left, top) = (340.0, 280.0, 62.0, 46.0)
    private static let columns = 3
    /// The framework's line, those of databases, then plain Swift's: told apart by their dashes too.
    private static let dashes = ["", "7 3", "2 3", "9 3 2 3"]

    // Colors are by class, so that the figure suits a page in the dark as well.
    private static let style = """
        <style>
        text { fill: #24292f; font: 12.5px system-ui, sans-serif } .title { font-weight: 600; font-size: 13px }
        .paper { fill: #ffffff } .grid { stroke: #d8dee4 } path, circle { fill: none; stroke-width: 1.8 }
        .way0 { stroke: #0a7d4f; stroke-width: 2.6 } .way1 { stroke: #c2410c } .way2 { stroke: #2f5fb3 }
        .way3 { stroke: #6e7781 } circle.way0 { fill: #0a7d4f }
        @media (prefers-color-scheme: dark) {
        text { fill: #e6edf3 } .paper { fill: #0d1117 } .grid { stroke: #30363d }
        .way0 { stroke: #3fb985 } .way1 { stroke: #f0883e } .way2 { stroke: #79b8ff } .way3 { stroke: #9aa4ae }
        circle.way0 { fill: #3fb985 } }
        </style>

        """

    var svg: String {
        let lineCount = max((rows.count + Self.columns - 1) / Self.columns, 1)
        let (width, height) = (Self.panelWidth * Double(Self.columns), Self.panelHeight * Double(lineCount) + 26)
        var text = """
            <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(width.formatted(0)) \(height.formatted(0))" \
            role="img" aria-label="Cost per record against the number of records">

            """
        text += Self.style + "<rect class=\"paper\" width=\"100%\" height=\"100%\"/>\n"
        text +=
            "<text x=\"12\" y=\"18\">Cost against the number of records, both logarithmic: lower is faster, level is "
        text += "linear. Medians of one run.</text>\n"
        for (place, (title, lines)) in rows.enumerated() {
            let x = Self.panelWidth * Double(place % Self.columns)
            let y = Self.panelHeight * Double(place / Self.columns) + 26
            text += "<g transform=\"translate(\(x.formatted(0)) \(y.formatted(0)))\">\n"
            text += panel(title, lines)
            text += "</g>\n"
        }
        return text + "</svg>\n"
    }

    private func panel(_ title: String, _ lines: [Line]) -> String {
        let points = lines.flatMap(\.points)
        let records = (points.map(\.records).min() ?? 1, points.map(\.records).max() ?? 10)
        // Whole powers of ten above and below.
        let lowest = floor(log10(points.map(\.nanoseconds).min() ?? 1))
        let highest = max(ceil(log10(points.map(\.nanoseconds).max() ?? 10)), lowest + 1)
        let (left, top) = (Self.left, Self.top)
        let (width, height) = (Self.panelWidth - left - 36, Self.panelHeight - top - 86)
        func x(_ count: Double) -> Double {
            left + width * (log10(count) - log10(records.0)) / max(log10(records.1) - log10(records.0), 1e-9)
        }
        func y(_ cost: Double) -> Double { top + height * (highest - log10(cost)) / (highest - lowest) }

        var text = ""
        for (place, line) in Self.wrapped(title, to: 44).prefix(2).enumerated() {
            text += "<text class=\"title\" x=\"12\" y=\"\(18 + 15 * place)\">\(escaped(line))</text>\n"
        }
        var power = lowest
        while power <= highest {
            let line = y(pow(10, power)).formatted(1)
            text +=
                "<line class=\"grid\" x1=\"\(left)\" x2=\"\((left + width).formatted(1))\" y1=\"\(line)\" y2=\"\(line)\"/>"
                + "<text x=\"\(left - 6)\" y=\"\(line)\" dy=\"4\" text-anchor=\"end\">\(label(pow(10, power)))</text>\n"
            power += 1
        }
        for count in Set(points.map(\.records)).sorted() {
            text +=
                "<text x=\"\(x(count).formatted(1))\" y=\"\((top + height + 17).formatted(1))\" "
                + "text-anchor=\"middle\">\(Int(count).grouped)</text>\n"
        }
        // The framework's line comes last and lies on top.
        for (place, line) in lines.enumerated().reversed() {
            let path = line.points.map { "\(x($0.records).formatted(1)) \(y($0.nanoseconds).formatted(1))" }
            text += "<path class=\"way\(place)\" d=\"M\(path.joined(separator: " L"))\"\(dash(place))/>\n"
            for point in line.points {
                text +=
                    "<circle class=\"way\(place)\" cx=\"\(x(point.records).formatted(1))\" "
                    + "cy=\"\(y(point.nanoseconds).formatted(1))\" r=\"2.2\"/>\n"
            }
        }
        for (place, line) in lines.enumerated() {
            let y = top + height + 36 + Double(place) * 14
            text +=
                "<path class=\"way\(place)\" d=\"M14 \(y - 4) H40\"\(dash(place))/>"
                + "<text x=\"47\" y=\"\(y)\">\(escaped(line.way))</text>\n"
        }
        return text
    }

    private func dash(_ place: Int) -> String {
        Self.dashes[place].isEmpty ? "" : " stroke-dasharray=\"\(Self.dashes[place])\""
    }

    /// A text in lines of at most so many characters, broken at spaces.
    private static func wrapped(_ text: String, to width: Int) -> [String] {
        var lines = [""]
        for word in text.split(separator: " ") {
            let last = lines[lines.count - 1]
            if last.isEmpty {
                lines[lines.count - 1] = String(word)
            } else if last.count + word.count < width {
                lines[lines.count - 1] += " \(word)"
            } else {
                lines.append(String(word))
            }
        }
        return lines
    }

    private func label(_ nanoseconds: Double) -> String {
        switch nanoseconds {
        case ..<1: "\(nanoseconds.formatted(nanoseconds < 0.1 ? 2 : 1)) ns"
        case ..<1e3: "\(Int(nanoseconds)) ns"
        case ..<1e6: "\(Int(nanoseconds / 1e3)) µs"
        default: "\(Int(nanoseconds / 1e6)) ms"
        }
    }

    private func escaped(_ text: String) -> String {
        text.replacing("&", with: "&amp;").replacing("<", with: "&lt;")
    }
}
