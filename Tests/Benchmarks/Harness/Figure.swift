import Foundation

/// A figure of what a record costs against how many there are: one panel for each row, one line for each way.
struct Figure {
    private let rows: [(row: Row, lines: [Line])]

    private struct Line {
        let way: String
        let points: [(records: Double, nanoseconds: Double)]
    }

    /// The rows that were measured at two sizes or more, with at most four ways each: the framework's first.
    init(_ rows: [Row], _ measurements: [Measurement]) {
        self.rows = rows.compactMap { row in
            let own = measurements.filter { $0.row == row.name && $0.quantity == .time }
            var ways: [String] = []
            for measurement in own where !ways.contains(measurement.way) { ways.append(measurement.way) }
            let lines = ways.prefix(4).map { way in
                Line(
                    way: way,
                    points: own.filter { $0.way == way }.sorted { $0.records < $1.records }
                        .map { (Double($0.records), max($0.perUnit, 0.01)) })
            }
            return lines.contains { $0.points.count > 1 } ? (row, lines) : nil
        }
    }

    private static let (panelWidth, panelHeight, margin) = (300.0, 210.0, 46.0)
    private static let columns = 3
    // Told apart without colour too: by their dashes.
    private static let strokes = [("#0b6e4f", ""), ("#c1440e", "6 3"), ("#3b5b92", "2 3"), ("#7a7a7a", "9 3 2 3")]

    var svg: String {
        let lineCount = (rows.count + Self.columns - 1) / Self.columns
        let (width, height) = (Self.panelWidth * Double(Self.columns), Self.panelHeight * Double(max(lineCount, 1)))
        var text = """
            <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(width.formatted(0)) \(height.formatted(0))" \
            font-family="sans-serif" font-size="9">
            <rect width="100%" height="100%" fill="white"/>

            """
        for (place, (row, lines)) in rows.enumerated() {
            let x = Self.panelWidth * Double(place % Self.columns)
            let y = Self.panelHeight * Double(place / Self.columns)
            text += "<g transform=\"translate(\(x.formatted(0)) \(y.formatted(0)))\">\n"
            text += panel(row, lines)
            text += "</g>\n"
        }
        return text + "</svg>\n"
    }

    private func panel(_ row: Row, _ lines: [Line]) -> String {
        let points = lines.flatMap(\.points)
        let records = (points.map(\.records).min() ?? 1, points.map(\.records).max() ?? 10)
        // Whole powers of ten above and below.
        let lowest = floor(log10(points.map(\.nanoseconds).min() ?? 1))
        let highest = max(ceil(log10(points.map(\.nanoseconds).max() ?? 10)), lowest + 1)
        let (left, top) = (Self.margin, 26.0)
        let (width, height) = (Self.panelWidth - left - 12, Self.panelHeight - top - 62)
        func x(_ count: Double) -> Double {
            left + width * (log10(count) - log10(records.0)) / max(log10(records.1) - log10(records.0), 1e-9)
        }
        func y(_ cost: Double) -> Double { top + height * (highest - log10(cost)) / (highest - lowest) }

        var text = "<text x=\"8\" y=\"15\" font-size=\"10\" font-weight=\"bold\">\(escaped(row.title))</text>\n"
        var power = lowest
        while power <= highest {
            let line = y(pow(10, power)).formatted(1)
            text +=
                "<line x1=\"\(left)\" x2=\"\((left + width).formatted(1))\" y1=\"\(line)\" y2=\"\(line)\" stroke=\"#ddd\"/>"
                + "<text x=\"\(left - 4)\" y=\"\(line)\" dy=\"3\" text-anchor=\"end\">\(label(pow(10, power)))</text>\n"
            power += 1
        }
        for count in Set(points.map(\.records)).sorted() {
            text +=
                "<text x=\"\(x(count).formatted(1))\" y=\"\((top + height + 12).formatted(1))\" text-anchor=\"middle\">"
                + "\(Int(count).grouped)</text>\n"
        }
        for (line, stroke) in zip(lines, Self.strokes) {
            let path = line.points.map { "\(x($0.records).formatted(1)),\(y($0.nanoseconds).formatted(1))" }
            text +=
                "<polyline points=\"\(path.joined(separator: " "))\" fill=\"none\" stroke=\"\(stroke.0)\" "
                + "stroke-width=\"1.6\" stroke-dasharray=\"\(stroke.1)\"/>\n"
        }
        for (place, (line, stroke)) in zip(lines, Self.strokes).enumerated() {
            let (x, y) = (left + Double(place % 2) * width / 2 - 30, top + height + 26 + Double(place / 2) * 12)
            text +=
                "<line x1=\"\(x)\" x2=\"\(x + 18)\" y1=\"\(y - 3)\" y2=\"\(y - 3)\" stroke=\"\(stroke.0)\" "
                + "stroke-width=\"1.6\" stroke-dasharray=\"\(stroke.1)\"/>"
                + "<text x=\"\(x + 21)\" y=\"\(y)\" font-size=\"8\">\(escaped(String(line.way.prefix(30))))</text>\n"
        }
        return text
    }

    private func label(_ nanoseconds: Double) -> String {
        switch nanoseconds {
        case ..<1: "\(nanoseconds) ns"
        case ..<1e3: "\(Int(nanoseconds)) ns"
        case ..<1e6: "\(Int(nanoseconds / 1e3)) µs"
        default: "\(Int(nanoseconds / 1e6)) ms"
        }
    }

    private func escaped(_ text: String) -> String {
        text.replacing("&", with: "&amp;").replacing("<", with: "&lt;")
    }
}
