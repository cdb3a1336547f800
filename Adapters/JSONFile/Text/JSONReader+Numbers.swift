/// A number in a text: checked, not yet of a type.
package struct JSONNumber {
    /// The first 19 significant digits as an integer.
    let significand: UInt64
    /// The power of ten by which to multiply the significand.
    let exponent: Int
    let isNegative: Bool
    /// Whether the text has neither a point nor an exponent.
    package let isInteger: Bool
    /// Whether the significand holds every digit that counts.
    let isExact: Bool
    /// The bytes of the number.
    let range: Range<Int>
}

extension JSONReader {
    /// Reads a number in RFC 8259's grammar: no `+`, no leading zeros, no bare point, no `NaN` or `Infinity`.
    package mutating func readNumber() throws(JSONFault) -> JSONNumber {
        guard try peek() == .number else { throw fault(.unexpectedByte(bytes[position], expected: "a number")) }
        let start = position
        let isNegative = bytes[position] == UInt8(ascii: "-")
        if isNegative { position &+= 1 }
        var digits = Digits()

        let first = try readDigits(into: &digits)
        if position &- first > 1, bytes[first] == UInt8(ascii: "0") {
            throw JSONFault(reason: .leadingZero, offset: first)
        }
        var isInteger = true
        if position < bytes.count, bytes[position] == UInt8(ascii: ".") {
            isInteger = false
            digits.isFraction = true
            position &+= 1
            _ = try readDigits(into: &digits)
        }
        var exponent = digits.exponent
        if position < bytes.count, bytes[position] | 0x20 == UInt8(ascii: "e") {
            isInteger = false
            position &+= 1
            var isDown = false
            if position < bytes.count, bytes[position] == UInt8(ascii: "-") || bytes[position] == UInt8(ascii: "+") {
                isDown = bytes[position] == UInt8(ascii: "-")
                position &+= 1
            }
            let start = position
            var ignored = Digits()
            _ = try readDigits(into: &ignored)
            // Beyond this every double is 0 or infinite, whatever the (bounded) number of digits before.
            var power = 0
            for index in start..<position { power = min(power &* 10 &+ Int(bytes[index] &- 0x30), 1_000_000) }
            exponent &+= isDown ? -power : power
        }
        guard position &- start <= Self.maximumNumberLength else {
            throw JSONFault(reason: .numberTooLong(limit: Self.maximumNumberLength), offset: start)
        }
        return JSONNumber(
            significand: digits.value, exponent: exponent, isNegative: isNegative, isInteger: isInteger,
            isExact: digits.isExact, range: start..<position)
    }

    private struct Digits {
        var value: UInt64 = 0
        var exponent = 0
        var isFraction = false
        var isExact = true
        var count = 0

        @inline(__always) mutating func append(_ digit: UInt8) {
            if count < 19 {
                value = value &* 10 &+ UInt64(digit)
                if value != 0 { count &+= 1 }
                if isFraction { exponent &-= 1 }
            } else {
                if digit != 0 { isExact = false }
                if !isFraction { exponent &+= 1 }
            }
        }
    }

    /// Reads one or more digits; returns where they begin.
    @inline(__always) private mutating func readDigits(into digits: inout Digits) throws(JSONFault) -> Int {
        let start = position
        while position < bytes.count {
            let digit = bytes[position] &- 0x30
            guard digit <= 9 else { break }
            digits.append(digit)
            position &+= 1
        }
        guard position > start else {
            guard position < bytes.count else { throw fault(.unexpectedEnd(expected: "a digit")) }
            throw fault(.unexpectedByte(bytes[position], expected: "a digit"))
        }
        return start
    }
}

// MARK: - Typed values

extension JSONReader {
    /// The number as a 64-bit unsigned integer; nil if it does not fit, or has a point or an exponent.
    package func unsigned(_ number: JSONNumber) -> UInt64? {
        guard number.isInteger, !number.isNegative || number.significand == 0 else { return nil }
        if number.exponent == 0 { return number.significand }
        // One digit more than the significand holds: UInt64.max has 20.
        guard number.exponent == 1 else { return nil }
        let (tens, overflow) = number.significand.multipliedReportingOverflow(by: 10)
        let (sum, carry) = tens.addingReportingOverflow(UInt64(bytes[number.range.upperBound &- 1] &- 0x30))
        return overflow || carry ? nil : sum
    }

    /// The number as a 64-bit signed integer; nil if it does not fit, or has a point or an exponent.
    package func integer(_ number: JSONNumber) -> Int64? {
        guard number.isInteger, number.exponent == 0 else { return nil }
        guard number.isNegative else { return Int64(exactly: number.significand) }
        guard number.significand <= Int64.min.magnitude else { return nil }
        return Int64(truncatingIfNeeded: 0 &- number.significand)
    }

    /// The double nearest to the number; nil if that is infinite, or zero for a number that is not.
    package func double(_ number: JSONNumber) -> Double? {
        if number.isExact,
            let magnitude = Self.nearest(significand: number.significand, exponent: number.exponent)
        {
            return number.isNegative ? -magnitude : magnitude
        }
        guard let value = Double(text(of: number)), value.isFinite, value != 0 || number.significand == 0 else {
            return nil
        }
        return value
    }

    /// The double nearest to an integer times a power of ten; nil if that takes more than 64 bits of precision.
    static func nearest(significand: UInt64, exponent: Int) -> Double? {
        if significand <= 1 << 53, (-22...22).contains(exponent) {
            // Both operands are exact, so that the one operation rounds correctly.
            let digits = Double(significand)
            return exponent < 0 ? digits / powersOfTen[-exponent] : digits * powersOfTen[exponent]
        }
        guard (-19..<0).contains(exponent) else { return nil }
        // A quotient of at least 63 bits, the lowest of them set if there is a remainder, rounds to 53 as the exact
        // quotient does.
        let divisor = integerPowersOfTen[-exponent]
        let left = significand.leadingZeroBitCount
        let right = divisor.leadingZeroBitCount
        let dividend = significand << UInt64(left)
        let (quotient, remainder) = (divisor << UInt64(right)).dividingFullWidth((dividend >> 1, dividend << 63))
        let rounded = Double(quotient | (remainder == 0 ? 0 : 1))
        return rounded * Double(sign: .plus, exponent: right - left - 63, significand: 1)
    }

    /// The float nearest to the number, rounded once; nil if that is infinite, or zero for a number that is not.
    package func float(_ number: JSONNumber) -> Float? {
        guard let value = Float(text(of: number)), value.isFinite, value != 0 || number.significand == 0 else {
            return nil
        }
        return value
    }

    private func text(of number: JSONNumber) -> String {
        String(decoding: UnsafeRawBufferPointer(rebasing: bytes[number.range]), as: UTF8.self)
    }

    static let powersOfTen: [Double] = [
        1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19,
        1e20, 1e21, 1e22,
    ]

    private static let integerPowersOfTen: [UInt64] = (0...19).map { count in
        (0..<count).reduce(1) { power, _ in power &* 10 }
    }
}
