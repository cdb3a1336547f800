import Foundation

/// The key by which decimals are compared and sorted: bytes in the order of the numbers. Equal numbers have equal keys.
///
/// A byte for the sort of number (NaN, negative, zero, positive in this order), two for the exponent of the first digit, and
/// one for each two digits. In a negative number all bytes after the first are complemented, and 0xFF follows: of two that
/// begin alike, the one with more digits is less.
enum DecimalKey {
    private enum Sort {
        static let notANumber: UInt8 = 0x00
        static let negative: UInt8 = 0x10
        static let zero: UInt8 = 0x20
        static let positive: UInt8 = 0x30
    }

    /// Exponents of a decimal go from -128 to 165.
    private static let bias = 1_024

    /// The key of a number, of its digits with at most one point; nil for any other text.
    static func key(ofDigits text: String) -> Data? {
        if text == "NaN" { return Data([Sort.notANumber]) }
        var digits: [UInt8] = []
        var exponent: Int?
        var isNegative = false
        var wholeDigits = 0
        var point = false
        for (place, byte) in text.utf8.enumerated() {
            switch byte {
            case UInt8(ascii: "-") where place == 0: isNegative = true
            case UInt8(ascii: ".") where !point: point = true
            case UInt8(ascii: "0")...UInt8(ascii: "9"):
                if !point { wholeDigits += 1 }
                let digit = byte - UInt8(ascii: "0")
                if digit == 0, digits.isEmpty {
                    // A zero before the first digit moves it to the right of the point, or is written for nothing.
                    if point { exponent = (exponent ?? 0) - 1 } else { wholeDigits -= 1 }
                } else {
                    digits.append(digit)
                }
            default: return nil
            }
        }
        while digits.last == 0 { digits.removeLast() }
        if digits.isEmpty { return Data([Sort.zero]) }
        let first = wholeDigits > 0 ? wholeDigits : exponent ?? 0
        var key = [isNegative ? Sort.negative : Sort.positive]
        let biased = UInt16(clamping: first + bias)
        key += [UInt8(biased >> 8), UInt8(truncatingIfNeeded: biased)]
        for place in stride(from: 0, to: digits.count, by: 2) {
            key.append(digits[place] * 10 + (place + 1 < digits.count ? digits[place + 1] : 0) + 1)
        }
        if isNegative {
            for place in key.indices.dropFirst() { key[place] = ~key[place] }
            key.append(0xFF)
        }
        return Data(key)
    }
}
