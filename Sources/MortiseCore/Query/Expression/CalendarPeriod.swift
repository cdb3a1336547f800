public import Foundation
import Synchronization

/// The periods of one length in a calendar, such as its months: each date lies in one of them.
///
/// The calendar's time zone, first weekday and days of a year's first week count. They are fixed when the periods are made: a
/// calendar that follows the user's settings does not, and the periods mean the same in another process.
public struct CalendarPeriod: Sendable {
    /// The length of a period.
    public enum Unit: String, Sendable, Hashable, Codable, CaseIterable {
        /// The calendar's years, quarters, months, weeks, days or hours.
        case year, quarter, month, week, day, hour
    }

    /// The length of a period.
    public let unit: Unit
    /// The calendar whose periods these are.
    public let calendar: Calendar
    private let known = KnownPeriods()

    /// The periods of a calendar, as it is now.
    public init(_ unit: Unit, in calendar: Calendar) {
        self.unit = unit
        var fixed = Calendar(identifier: calendar.identifier)
        fixed.timeZone = TimeZone(identifier: calendar.timeZone.identifier) ?? calendar.timeZone
        fixed.firstWeekday = calendar.firstWeekday
        fixed.minimumDaysInFirstWeek = calendar.minimumDaysInFirstWeek
        self.calendar = fixed
    }

    /// The beginning of the period in which a date lies. A date that is not a number, or is more than 6,000 years away, is the
    /// beginning of a period of its own.
    public func start(of date: Date) -> Date {
        let seconds = date.timeIntervalSinceReferenceDate
        guard abs(seconds) < Self.reach else { return date }
        return known.start(of: seconds) { seconds in
            calendar.dateInterval(of: unit.component, for: Date(timeIntervalSinceReferenceDate: seconds)).map {
                ($0.start.timeIntervalSinceReferenceDate, $0.end.timeIntervalSinceReferenceDate)
            }
        } ?? date
    }

    // Calendars do not know how to count further.
    private static let reach = 6_000.0 * 366 * 86_400
}

extension CalendarPeriod.Unit {
    fileprivate var component: Calendar.Component {
        switch self {
        case .year: .year
        case .quarter: .quarter
        case .month: .month
        case .week: .weekOfYear
        case .day: .day
        case .hour: .hour
        }
    }
}

extension CalendarPeriod: Hashable {
    /// Whether unit and calendar are the same.
    public static func == (a: CalendarPeriod, b: CalendarPeriod) -> Bool {
        a.unit == b.unit && a.calendar == b.calendar
    }

    /// Hashes unit and calendar.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(unit)
        hasher.combine(calendar)
    }
}

// Not the calendar's own coding: it may code the current calendar as "current", which is another one where it is decoded.
extension CalendarPeriod: Codable {
    private enum CodingKeys: CodingKey { case unit, calendar, zone, firstWeekday, minimumDaysInFirstWeek }

    private static let names: [(identifier: Calendar.Identifier, name: String)] = [
        (.buddhist, "buddhist"), (.chinese, "chinese"), (.coptic, "coptic"),
        (.ethiopicAmeteAlem, "ethiopic-amete-alem"),
        (.ethiopicAmeteMihret, "ethiopic"), (.gregorian, "gregorian"), (.hebrew, "hebrew"), (.indian, "indian"),
        (.islamic, "islamic"), (.islamicCivil, "islamic-civil"), (.islamicTabular, "islamic-tbla"),
        (.islamicUmmAlQura, "islamic-umalqura"), (.iso8601, "iso8601"), (.japanese, "japanese"), (.persian, "persian"),
        (.republicOfChina, "roc"),
    ]

    /// Decodes unit and calendar.
    /// - Throws: `DecodingError` for a calendar or a time zone that this system does not know, and for days of the week that there
    ///   are not.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        func wrong(_ key: CodingKeys, _ text: String) -> DecodingError {
            .dataCorruptedError(forKey: key, in: container, debugDescription: text)
        }
        let name = try container.decode(String.self, forKey: .calendar)
        guard let identifier = Self.names.first(where: { $0.name == name })?.identifier else {
            throw wrong(.calendar, "No calendar is called \(name.debugDescription).")
        }
        let zoneName = try container.decode(String.self, forKey: .zone)
        guard let zone = TimeZone(identifier: zoneName) else {
            throw wrong(.zone, "No time zone is called \(zoneName.debugDescription).")
        }
        var calendar = Calendar(identifier: identifier)
        calendar.timeZone = zone
        for (key, set) in [
            (CodingKeys.firstWeekday, \Calendar.firstWeekday), (.minimumDaysInFirstWeek, \.minimumDaysInFirstWeek),
        ] {
            let number = try container.decode(Int.self, forKey: key)
            guard (1...7).contains(number) else { throw wrong(key, "Expected 1 to 7, found \(number).") }
            calendar[keyPath: set] = number
        }
        self.init(try container.decode(Unit.self, forKey: .unit), in: calendar)
    }

    /// Encodes unit and calendar.
    /// - Throws: `EncodingError` for a calendar that Foundation had not when this was written; what the encoder throws.
    public func encode(to encoder: any Encoder) throws {
        guard let name = Self.names.first(where: { $0.identifier == calendar.identifier })?.name else {
            throw EncodingError.invalidValue(
                calendar, .init(codingPath: encoder.codingPath, debugDescription: "\(calendar) has no name."))
        }
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(unit, forKey: .unit)
        try container.encode(name, forKey: .calendar)
        try container.encode(calendar.timeZone.identifier, forKey: .zone)
        try container.encode(calendar.firstWeekday, forKey: .firstWeekday)
        try container.encode(calendar.minimumDaysInFirstWeek, forKey: .minimumDaysInFirstWeek)
    }
}

extension CalendarPeriod: CustomStringConvertible {
    /// The unit and the time zone, for `explain`.
    public var description: String { "\(unit.rawValue) in \(calendar.timeZone.identifier)" }
}

/// The periods that were asked for: a calendar takes a microsecond or more for each date, and most dates lie in a few periods.
private final class KnownPeriods: Sendable {
    private struct Known {
        // In ascending order, each with the end at its place in `ends`.
        var starts: [Double] = []
        var ends: [Double] = []
        var last = 0
    }
    private let known = Mutex(Known())

    /// More are forgotten: hours of many years would fill the memory.
    private static let most = 4_096

    /// The beginning of the period of a time; `interval` gives that, and the beginning of the next one.
    func start(of seconds: Double, calculating interval: (Double) -> (first: Double, behind: Double)?) -> Date? {
        let found = known.withLock { known -> Double? in
            if known.last < known.starts.count, known.starts[known.last] <= seconds, seconds < known.ends[known.last] {
                return known.starts[known.last]
            }
            let place = Self.place(of: seconds, in: known.starts) - 1
            guard place >= 0, seconds < known.ends[place] else { return nil }
            known.last = place
            return known.starts[place]
        }
        if let found { return Date(timeIntervalSinceReferenceDate: found) }
        guard let (first, behind) = interval(seconds) else { return nil }
        // Where clocks are turned and where eras begin, a calendar gives intervals that overlap, or lack the date that they are
        // of. Such a one says nothing of other dates.
        guard first <= seconds, seconds < behind, interval(first)?.first == first,
            interval(behind.nextDown)?.first == first
        else { return Date(timeIntervalSinceReferenceDate: first) }
        known.withLock { known in
            if known.starts.count >= Self.most { known = Known() }
            let place = Self.place(of: first, in: known.starts)
            // Another thread may have added it.
            if place > 0, known.starts[place - 1] == first { return }
            known.starts.insert(first, at: place)
            known.ends.insert(behind, at: place)
            known.last = place
        }
        return Date(timeIntervalSinceReferenceDate: first)
    }

    /// How many starts are at or before a time.
    private static func place(of seconds: Double, in starts: [Double]) -> Int {
        var (low, high) = (0, starts.count)
        while low < high {
            let middle = (low + high) / 2
            if starts[middle] <= seconds { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
