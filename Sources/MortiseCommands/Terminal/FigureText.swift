#if Tool
import Foundation

/// Numbers as people read them.
enum FigureText {
    /// `1,234,567`.
    static func count(_ number: some BinaryInteger) -> String {
        let digits = String(number.magnitude)
        var result = ""
        for (index, digit) in digits.enumerated() {
            if index > 0, (digits.count - index) % 3 == 0 { result += "," }
            result.append(digit)
        }
        return (number < 0 ? "-" : "") + result
    }

    /// `12.3 MB`.
    static func bytes(_ count: Int64) -> String {
        guard abs(count) >= 1_000 else { return "\(count) bytes" }
        var value = Double(count)
        var unit = 0
        let units = ["bytes", "kB", "MB", "GB", "TB", "PB", "EB"]
        while abs(value) >= 999.95, unit < units.count - 1 {
            value /= 1_000
            unit += 1
        }
        return decimal(value, 1) + " " + units[unit]
    }

    /// `1.2 ms`, `3.4 s`, `2 min 05 s`.
    static func duration(_ seconds: Double) -> String {
        if seconds < 0.000_001 { return "\(Int(seconds * 1e9)) ns" }
        if seconds < 0.001 { return decimal(seconds * 1e6, 1) + " µs" }
        if seconds < 1 { return decimal(seconds * 1_000, 1) + " ms" }
        if seconds < 60 { return decimal(seconds, 1) + " s" }
        guard seconds < 360_000 else { return "more than 100 h" }
        let whole = Int(seconds)
        func two(_ number: Int) -> String { (number < 10 ? "0" : "") + "\(number)" }
        if whole < 3_600 { return "\(whole / 60) min \(two(whole % 60)) s" }
        return "\(whole / 3_600) h \(two(whole / 60 % 60)) min"
    }

    private static func decimal(_ value: Double, _ places: Int) -> String {
        String(format: "%.\(places)f", value)
    }

    /// A figure whose name begins with a noun in the plural: `1 transaction dropped`, `2 transactions dropped`.
    static func figure(_ number: Int64, _ name: String) -> String {
        let words = name.split(separator: " ", maxSplits: 1)
        guard number == 1, let noun = words.first, noun.hasSuffix("s") else { return "\(count(number)) \(name)" }
        return (["1", String(noun.dropLast())] + words.dropFirst().map(String.init)).joined(separator: " ")
    }

    static func plural(_ number: some BinaryInteger, _ noun: String, _ plural: String? = nil) -> String {
        "\(count(number)) \(number == 1 ? noun : plural ?? noun + "s")"
    }
}

extension Duration {
    var seconds: Double {
        let (seconds, attoseconds) = components
        return Double(seconds) + Double(attoseconds) * 1e-18
    }
}
#endif
