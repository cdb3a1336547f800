package import Foundation

/// Decimals as text: the plain decimal notation, exact to the last of 38 digits.
package enum DecimalText {
    /// The canonical text of a decimal: digits with at most one point, no exponent, no superfluous zeros; `NaN`.
    package static func text(of value: Decimal) -> String {
        value.isNaN ? "NaN" : value.description
    }

    /// Parses a decimal number; nil if the text is not one, or if `Decimal` would round it.
    ///
    /// Accepted are an optional minus, digits, optionally a point with digits, optionally an exponent; and `NaN`.
    package static func decimal(from text: String) -> Decimal? {
        if text == "NaN" { return .nan }
        guard let parts = Parts(text) else { return nil }
        guard !parts.digits.isEmpty else { return Decimal(0) }
        if parts.digits.count <= 19, (-128...127).contains(parts.exponent) {
            let significand = parts.digits.reduce(UInt64(0)) { $0 &* 10 &+ UInt64($1 &- 0x30) }
            return Decimal(
                sign: parts.isNegative ? .minus : .plus, exponent: parts.exponent, significand: Decimal(significand))
        }
        guard let value = Decimal(string: text, locale: nil), !value.isNaN, Parts(value.description) == parts else {
            return nil
        }
        return value
    }

    /// A decimal number taken apart, such that equal numbers have equal parts.
    private struct Parts: Equatable {
        var isNegative = false
        /// The significant digits, without zeros at either end.
        var digits: ArraySlice<UInt8>
        var exponent = 0

        init?(_ text: String) {
            guard text.utf8.count <= 1024 else { return nil }
            var rest = Array(text.utf8)[...]
            if rest.first == UInt8(ascii: "-") {
                isNegative = true
                rest.removeFirst()
            }
            func takeDigits() -> ArraySlice<UInt8>? {
                let taken = rest.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
                rest = rest[taken.endIndex...]
                return taken.isEmpty ? nil : taken
            }
            guard let whole = takeDigits() else { return nil }
            var all = Array(whole)
            if rest.first == UInt8(ascii: ".") {
                rest.removeFirst()
                guard let fraction = takeDigits() else { return nil }
                all += fraction
                exponent = -fraction.count
            }
            if let letter = rest.first, letter | 0x20 == UInt8(ascii: "e") {
                rest.removeFirst()
                let isDown = rest.first == UInt8(ascii: "-")
                if isDown || rest.first == UInt8(ascii: "+") { rest.removeFirst() }
                guard let power = takeDigits() else { return nil }
                let value = power.reduce(0) { min($0 * 10 + Int($1 &- 0x30), 100_000) }
                exponent += isDown ? -value : value
            }
            guard rest.isEmpty else { return nil }
            let kept = all.drop { $0 == UInt8(ascii: "0") }
            let trailing = kept.reversed().prefix { $0 == UInt8(ascii: "0") }.count
            digits = kept.dropLast(trailing)
            exponent += trailing
            if digits.isEmpty { (isNegative, exponent) = (false, 0) }
        }
    }
}
