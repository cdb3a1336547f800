package import Foundation

/// Dates as text in the form of ISO 8601, to the last bit in both directions.
package enum TimestampText {
    private static let secondsFromUnixToReference: Int64 = 978_307_200

    /// The date in UTC, such as `2026-05-01T10:00:00Z`, with as many decimals as distinguish it from its neighbors;
    /// for -0.0 and for dates in years without four digits, the seconds since the beginning of 2001, such as `1e+300`.
    package static func text(of date: Date) -> String {
        let interval = date.timeIntervalSinceReferenceDate
        let digits = "\(interval)"
        let isNegativeZero = interval == 0 && interval.sign == .minus
        guard interval.isFinite, interval >= -63_113_904_000, interval < 252_423_993_600, !digits.contains("e"),
            !isNegativeZero
        else { return digits }
        let parts = digits.split(separator: ".")
        var seconds = Int64(parts[0]) ?? 0
        var fraction = parts.count > 1 && parts[1] != "0" ? String(parts[1]) : ""
        if digits.hasPrefix("-"), !fraction.isEmpty {
            // Down to the second before, and up again by what is left of one.
            seconds -= 1
            fraction = complement(fraction)
        }
        let unix = seconds + secondsFromUnixToReference
        let day = unix.floorDivided(by: 86_400)
        let second = unix - day * 86_400
        let (year, month, dayOfMonth) = civil(day)
        func two(_ number: Int64) -> String { (number < 10 ? "0" : "") + "\(number)" }
        let yearText = String(repeating: "0", count: max(0, 4 - "\(year)".count)) + "\(year)"
        return "\(yearText)-\(two(month))-\(two(dayOfMonth))T\(two(second / 3_600)):\(two(second / 60 % 60)):"
            + two(second % 60) + (fraction.isEmpty ? "" : "." + fraction) + "Z"
    }

    /// Parses `YYYY-MM-DD`, optionally followed by `Thh:mm`, `:ss`, decimals, and `Z` or an offset such as `+02:00`.
    /// Without an offset the time is UTC. Nil for anything else, and for days that do not exist.
    package static func date(_ text: String) -> Date? {
        var rest = Substring(text).utf8
        func number(_ count: Int) -> Int64? {
            let digits = rest.prefix(count)
            guard digits.count == count, digits.allSatisfy({ (48...57).contains($0) }) else { return nil }
            rest = rest.dropFirst(count)
            return Int64(Substring(digits))
        }
        func skip(_ character: Character) -> Bool {
            guard let byte = character.asciiValue, rest.first == byte else { return false }
            rest = rest.dropFirst()
            return true
        }
        guard let year = number(4), skip("-"), let month = number(2), skip("-"), let day = number(2),
            (1...12).contains(month), day >= 1, civil(days(year, month, day)) == (year, month, day)
        else { return nil }
        var seconds = days(year, month, day) * 86_400
        var fraction = ""
        if skip("T") || skip("t") || skip(" ") {
            guard let hour = number(2), skip(":"), let minute = number(2), hour < 24, minute < 60 else { return nil }
            seconds += hour * 3_600 + minute * 60
            if skip(":") {
                guard let second = number(2), second < 60 else { return nil }
                seconds += second
                if skip(".") {
                    let digits = rest.prefix { (48...57).contains($0) }
                    guard !digits.isEmpty, digits.count <= 40 else { return nil }
                    fraction = String(Substring(digits))
                    rest = rest.dropFirst(digits.count)
                }
            }
            if !skip("Z"), !skip("z"), !rest.isEmpty {
                let isEast = skip("+")
                guard isEast || skip("-"), let hours = number(2), skip(":"), let minutes = number(2), hours < 24,
                    minutes < 60
                else { return nil }
                seconds -= (hours * 3_600 + minutes * 60) * (isEast ? 1 : -1)
            }
        }
        guard rest.isEmpty else { return nil }
        var interval = seconds - secondsFromUnixToReference
        var digits = fraction
        var sign = ""
        if interval < 0 {
            sign = "-"
            let hasFraction = fraction.contains { $0 != "0" }
            interval = -interval - (hasFraction ? 1 : 0)
            if hasFraction { digits = complement(fraction) }
        }
        return Double("\(sign)\(interval).\(digits.isEmpty ? "0" : digits)").map(
            Date.init(timeIntervalSinceReferenceDate:))
    }

    /// One minus the fraction, digit by digit.
    private static func complement(_ fraction: String) -> String {
        var digits = fraction.utf8.map { 9 - ($0 - 48) }
        var place = digits.count - 1
        while place >= 0 {
            if digits[place] < 9 {
                digits[place] += 1
                break
            }
            digits[place] = 0
            place -= 1
        }
        while digits.count > 1, digits.last == 0 { digits.removeLast() }
        return String(decoding: digits.map { $0 + 48 }, as: UTF8.self)
    }

    // Days since 1970 in the Gregorian calendar, counted in eras of 400 years from the first of March.

    private static func days(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
        let shifted = month <= 2 ? year - 1 : year
        let era = shifted.floorDivided(by: 400)
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    private static func civil(_ days: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let shifted = days + 719_468
        let era = shifted.floorDivided(by: 146_097)
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        let month = shiftedMonth + (shiftedMonth < 10 ? 3 : -9)
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        return (year, month, dayOfYear - (153 * shiftedMonth + 2) / 5 + 1)
    }
}

extension Int64 {
    fileprivate func floorDivided(by divisor: Int64) -> Int64 {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? quotient - 1 : quotient
    }
}
