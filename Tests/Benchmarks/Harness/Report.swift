import Foundation

/// What the program prints and writes.
enum Report {
    /// Prints a line at once, also into a pipe.
    static func say(_ line: String = "") {
        FileHandle.standardOutput.write(Data((line + "\n").utf8))
    }

    static func printHeader() {
        say(columns("way", "median a unit", "spread", "Mortise takes"))
    }

    /// Prints the ways of one row at one size. The last column is the first way's cost in terms of each other.
    static func print(_ row: Row, _ measurements: [Measurement]) {
        guard let own = measurements.first else { return }
        say()
        say("\(row.name): \(row.title), a \(row.unit)" + (row.isSized ? " of \(own.records.grouped)" : ""))
        for measurement in measurements {
            let isOwn = measurement.way == own.way
            say(
                columns(
                    measurement.way, cost(measurement), spread(of: measurement),
                    isOwn
                        ? ""
                        : (own.perUnit / measurement.perUnit).formatted(measurement.perUnit > own.perUnit ? 4 : 2) + "x"
                ))
        }
    }

    private static func columns(_ way: String, _ median: String, _ spread: String, _ ratio: String) -> String {
        "  " + way.padding(toLength: 44, withPad: " ", startingAt: 0) + left(median, 14) + left(spread, 10)
            + (ratio.isEmpty ? "" : left(ratio, 16))
    }

    private static func left(_ text: String, _ width: Int) -> String {
        String(repeating: " ", count: max(1, width - text.count)) + text
    }

    private static func cost(_ measurement: Measurement) -> String {
        if measurement.quantity == .bytes { return measurement.perUnit.formatted(1) + " B" }
        let nanoseconds = measurement.perUnit
        return switch nanoseconds {
        case ..<1_000: nanoseconds.formatted(nanoseconds < 10 ? 2 : 1) + " ns"
        case ..<1_000_000: (nanoseconds / 1_000).formatted(2) + " µs"
        default: (nanoseconds / 1_000_000).formatted(2) + " ms"
        }
    }

    /// How far the slowest repetition is from the fastest, in terms of the median.
    private static func spread(of measurement: Measurement) -> String {
        guard let fastest = measurement.samples.first, let slowest = measurement.samples.last else { return "" }
        let share = (slowest - fastest) / max(measurement.median, 1)
        return "\(Int((share * 100).rounded()))%"
    }

    /// - Throws: what the file system throws.
    static func writeCSV(_ measurements: [Measurement], to path: String) throws {
        var text = "row,way,records,unit,units,repetitions,quantity,median_per_unit,least,greatest\n"
        for measurement in measurements {
            let fields = [
                measurement.row, "\"\(measurement.way)\"", "\(measurement.records)", measurement.unit,
                "\(measurement.units)", "\(measurement.samples.count)", measurement.quantity == .bytes ? "B" : "ns",
                measurement.perUnit.formatted(3), (measurement.samples.first ?? 0).formatted(0),
                (measurement.samples.last ?? 0).formatted(0),
            ]
            text += fields.joined(separator: ",") + "\n"
        }
        try Data(text.utf8).write(to: URL(fileURLWithPath: path), options: .atomic)
    }
}

extension Double {
    /// With so many digits after a point, whatever the locale.
    func formatted(_ digits: Int) -> String { String(format: "%.\(digits)f", self) }
}

extension Int {
    /// With a comma after every three digits.
    var grouped: String {
        var text = ""
        for (place, digit) in String(self).reversed().enumerated() {
            if place > 0, place % 3 == 0 { text.append(",") }
            text.append(digit)
        }
        return String(text.reversed())
    }
}
