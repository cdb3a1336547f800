public import Foundation
import Synchronization

/// The periods of one length in a calendar, such as its months: each date lies in one of them.
///
/// The calendar's time zone, first weekday and days of a year's first week count. Two are equal if their calendars are.
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

    /// The periods of a calendar.
    public init(_ unit: Unit, in calendar: Calendar) {
        self.unit = unit
        self.calendar = calendar
    }

    /// The beginning of the period in which a date lies. A date that is not a number, or is more than 6,000 years away, is the
    /// beginning of a period of its own.
    public func start(of date: Date) -> Date {
        let seconds = date.timeIntervalSinceReferenceDate
        guard abs(seconds) < Self.reach else { return date }
        return known.start(of: seconds) {
            calendar.dateInterval(of: unit.component, for: date).map { ($0.start, $0.end) }
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

extension CalendarPeriod: Codable {
    private enum CodingKeys: CodingKey { case unit, calendar }

    /// Decodes unit and calendar.
    /// - Throws: what the decoder throws.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            try container.decode(Unit.self, forKey: .unit), in: try container.decode(Calendar.self, forKey: .calendar))
    }

    /// Encodes unit and calendar.
    /// - Throws: what the encoder throws.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(unit, forKey: .unit)
        try container.encode(calendar, forKey: .calendar)
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

    func start(of seconds: Double, calculating interval: () -> (start: Date, end: Date)?) -> Date? {
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
        guard let (start, end) = interval() else { return nil }
        let (first, behind) = (start.timeIntervalSinceReferenceDate, end.timeIntervalSinceReferenceDate)
        // Where clocks are turned, a calendar may give an interval that does not have the date.
        guard first <= seconds, seconds < behind else { return start }
        known.withLock { known in
            if known.starts.count >= Self.most { known = Known() }
            let place = Self.place(of: first, in: known.starts)
            // Another thread may have added it.
            if place > 0, known.starts[place - 1] == first { return }
            known.starts.insert(first, at: place)
            known.ends.insert(behind, at: place)
            known.last = place
        }
        return start
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
