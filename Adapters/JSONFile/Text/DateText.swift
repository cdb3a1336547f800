import Foundation

/// Dates as text: ISO 8601 in UTC, with as many digits of the second as give back every bit of the date.
///
/// A date is a double, the seconds since 2001-01-01T00:00:00Z. Its shortest decimal is split into whole seconds,
/// which the calendar turns into year to second, and the digits after the point, which are kept as they are. Reading
/// puts the same decimal together again, and the double nearest to that is the date. Dates that this cannot show
/// (outside the years 0 to 9999, -0.0, nearer to the reference date than a decimal without exponent, not finite) are
/// written as numbers.
package enum DateText {
    /// Appends a date: a string, or the number of seconds if the date has no string form.
    package static func write(_ date: Date, to writer: inout JSONWriter) throws {
        let seconds = date.timeIntervalSinceReferenceDate
        guard seconds >= earliest, seconds < latest, seconds.bitPattern != (-0.0 as Double).bitPattern else {
            return try writer.double(seconds)
        }
        let whole = seconds.rounded(.down)
        guard whole != seconds else {
            return try write(Int64(whole), fraction: [], to: &writer)
        }
        let text = seconds.description.utf8
        guard let point = text.firstIndex(of: UInt8(ascii: ".")), !text.contains(UInt8(ascii: "e")) else {
            return try writer.double(seconds)
        }
        var fraction = Array(text[text.index(after: point)...])
        if seconds < 0 { complement(&fraction) }
        try write(Int64(whole), fraction: fraction, to: &writer)
    }

    private static func write(_ seconds: Int64, fraction: [UInt8], to writer: inout JSONWriter) throws {
        let (days, second) = seconds.floorDivided(by: 86_400)
        let civil = CivilDate(daysSinceReferenceDate: days)
        try writer.reserve(48 + fraction.count)
        writer.put(UInt8(ascii: "\""))
        writer.pair(civil.year / 100)
        writer.pair(civil.year % 100)
        writer.put(UInt8(ascii: "-"))
        writer.pair(civil.month)
        writer.put(UInt8(ascii: "-"))
        writer.pair(civil.day)
        writer.put(UInt8(ascii: "T"))
        let time = Int(second)
        writer.pair(time / 3600)
        writer.put(UInt8(ascii: ":"))
        writer.pair(time / 60 % 60)
        writer.put(UInt8(ascii: ":"))
        writer.pair(time % 60)
        if !fraction.isEmpty {
            writer.put(UInt8(ascii: "."))
            for digit in fraction { writer.put(digit) }
        }
        writer.put(UInt8(ascii: "Z"))
        writer.put(UInt8(ascii: "\""))
    }

    /// Parses `YYYY-MM-DDThh:mm:ss[.digits]Z`; nil for every other text, and for days that do not exist. Years are 0000
    /// to 9999 (proleptic Gregorian), seconds 00 to 59, and there are at most 40 further digits.
    package static func date(from text: UnsafeRawBufferPointer) -> Date? {
        guard (20...61).contains(text.count), text[text.count - 1] == UInt8(ascii: "Z"), isPunctuated(text) else {
            return nil
        }
        // Anything that is no digit is noticed once, for all of them.
        var isDigits = true
        func pair(_ index: Int) -> Int {
            let (tens, ones) = (text[index] &- 0x30, text[index &+ 1] &- 0x30)
            if tens > 9 || ones > 9 { isDigits = false }
            return Int(tens) &* 10 &+ Int(ones)
        }
        let civil = CivilDate(year: pair(0) &* 100 &+ pair(2), month: pair(5), day: pair(8))
        let (hour, minute, second) = (pair(11), pair(14), pair(17))
        guard isDigits, civil.isValid, hour < 24, minute < 60, second < 60 else { return nil }
        let whole = civil.daysSinceReferenceDate * 86_400 + Int64(hour * 3600 + minute * 60 + second)
        guard text.count > 20 else { return Date(timeIntervalSinceReferenceDate: Double(whole)) }
        let fraction = UnsafeRawBufferPointer(rebasing: text[20..<(text.count - 1)])
        return Date(timeIntervalSinceReferenceDate: nearest(whole, fraction) ?? exact(whole, Array(fraction)))
    }

    /// The double nearest to whole seconds and decimals; nil if that takes more than 64 bits.
    private static func nearest(_ whole: Int64, _ fraction: UnsafeRawBufferPointer) -> Double? {
        guard fraction.count <= 19 else { return nil }
        var value = whole
        for digit in fraction {
            let (tens, overflow) = value.multipliedReportingOverflow(by: 10)
            let (sum, carry) = tens.addingReportingOverflow(Int64(digit &- 0x30))
            guard !overflow, !carry else { return nil }
            value = sum
        }
        let magnitude = JSONReader.nearest(significand: value.magnitude, exponent: -fraction.count)
        return value < 0 ? magnitude.map { -$0 } : magnitude
    }

    private static func exact(_ whole: Int64, _ digits: [UInt8]) -> Double {
        var fraction = digits
        let isNegative = whole < 0
        var seconds = whole.magnitude
        if isNegative, fraction.contains(where: { $0 != UInt8(ascii: "0") }) {
            complement(&fraction)
            seconds -= 1
        }
        let text = "\(isNegative ? "-" : "")\(seconds)." + String(decoding: fraction, as: UTF8.self)
        return Double(text) ?? Double(whole)
    }

    /// 0000-01-01T00:00:00Z.
    private static let earliest = -63_145_526_400.0
    /// 10000-01-01T00:00:00Z.
    private static let latest = 252_423_993_600.0

    /// Whether the separators are where they have to be, and after a point nothing but digits.
    private static func isPunctuated(_ text: UnsafeRawBufferPointer) -> Bool {
        let isDated = text[4] == UInt8(ascii: "-") && text[7] == UInt8(ascii: "-") && text[10] == UInt8(ascii: "T")
        guard isDated, text[13] == UInt8(ascii: ":"), text[16] == UInt8(ascii: ":") else { return false }
        if text.count == 20 { return true }
        guard text[19] == UInt8(ascii: "."), text.count > 21 else { return false }
        return text[20..<(text.count - 1)].allSatisfy { $0 &- 0x30 <= 9 }
    }

    /// Turns the digits of a fraction f into those of 1 - f.
    private static func complement(_ digits: inout [UInt8]) {
        guard let last = digits.lastIndex(where: { $0 != UInt8(ascii: "0") }) else { return }
        for index in 0..<last { digits[index] = 0x69 &- digits[index] }
        digits[last] = 0x6A &- digits[last]
    }
}

/// A day of the proleptic Gregorian calendar.
private struct CivilDate {
    var year: Int
    var month: Int
    var day: Int

    private static let referenceDay: Int64 = 730_791

    init(year: Int, month: Int, day: Int) {
        (self.year, self.month, self.day) = (year, month, day)
    }

    /// Whether the calendar has the day.
    var isValid: Bool {
        guard year >= 0, (1...12).contains(month), day >= 1 else { return false }
        let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
        let days = month == 2 ? (isLeap ? 29 : 28) : month == 4 || month == 6 || month == 9 || month == 11 ? 30 : 31
        return day <= days
    }

    // Both directions count in eras of 400 years whose years begin in March, so that the leap day comes last.

    var daysSinceReferenceDate: Int64 {
        let shifted = Int64(month > 2 ? year : year - 1)
        let (era, yearOfEra) = shifted.floorDivided(by: 400)
        let dayOfYear = (153 * Int64((month + 9) % 12) + 2) / 5 + Int64(day) - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - Self.referenceDay
    }

    init(daysSinceReferenceDate days: Int64) {
        let (era, dayOfEra) = (days + Self.referenceDay).floorDivided(by: 146_097)
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        day = Int(dayOfYear - (153 * shiftedMonth + 2) / 5 + 1)
        month = Int(shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9)
        year = Int(era * 400 + yearOfEra) + (month <= 2 ? 1 : 0)
    }
}

extension Int64 {
    fileprivate func floorDivided(by divisor: Int64) -> (quotient: Int64, remainder: Int64) {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }
}
