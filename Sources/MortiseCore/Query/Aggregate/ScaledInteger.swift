public import Foundation

/// A whole number times a power of ten: a decimal that calculations do not have to take apart.
public struct ScaledInteger: Sendable, Hashable {
    /// The whole number.
    public var mantissa: Int128
    /// The power of ten, which is one that `Decimal` has: from -128 to 127.
    public var exponent: Int

    /// Makes a number from its parts.
    public init(mantissa: Int128, exponent: Int) {
        self.mantissa = mantissa
        self.exponent = exponent
    }

    /// The same number; exact.
    public var decimal: Decimal {
        if mantissa == 0 { return 0 }
        let magnitude = mantissa.magnitude
        var significand = Decimal(UInt64(truncatingIfNeeded: magnitude))
        let high = UInt64(truncatingIfNeeded: magnitude >> 64)
        if high > 0 { significand += Decimal(high) * (Decimal(UInt64.max) + 1) }
        return Decimal(sign: mantissa < 0 ? .minus : .plus, exponent: exponent, significand: significand)
    }
}

/// A sum of scaled integers, as long as it is exact.
struct ScaledSum {
    private(set) var total = ScaledInteger(mantissa: 0, exponent: 0)
    /// Whether the sum goes on elsewhere, and nothing can be added here.
    var hasEnded = false

    /// - Returns: false if the sum would not be exact; it is then as before.
    mutating func add(_ number: ScaledInteger) -> Bool {
        if hasEnded { return false }
        if number.exponent == total.exponent {
            let (sum, overflows) = total.mantissa.addingReportingOverflow(number.mantissa)
            if !overflows { total.mantissa = sum }
            return !overflows
        }
        if total.mantissa == 0 {
            total = number
            return true
        }
        let exponent = min(total.exponent, number.exponent)
        guard let left = Self.mantissa(total, exponent), let right = Self.mantissa(number, exponent) else {
            return false
        }
        let (sum, overflows) = left.addingReportingOverflow(right)
        if !overflows { total = ScaledInteger(mantissa: sum, exponent: exponent) }
        return !overflows
    }

    /// The mantissa of a number for a lower exponent; nil if it does not fit.
    private static func mantissa(_ number: ScaledInteger, _ exponent: Int) -> Int128? {
        var (mantissa, left) = (number.mantissa, number.exponent - exponent)
        // Ten to the power of 39 is more than any.
        if left > 38 { return nil }
        while left > 0 {
            let (product, overflows) = mantissa.multipliedReportingOverflow(by: 10)
            if overflows { return nil }
            mantissa = product
            left -= 1
        }
        return mantissa
    }
}
