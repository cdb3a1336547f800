import Foundation
import MortiseCore
import PackageTestSupport
import Testing

/// The dates of periods are written down where people know them, and compared with the calendar's where they do not.
@Suite struct CalendarPeriodTests {
    private static func calendar(
        _ zone: String, _ identifier: Calendar.Identifier = .gregorian, firstWeekday: Int = 2, firstWeek: Int = 4
    ) throws -> Calendar {
        var calendar = Calendar(identifier: identifier)
        calendar.timeZone = try #require(TimeZone(identifier: zone))
        calendar.firstWeekday = firstWeekday
        calendar.minimumDaysInFirstWeek = firstWeek
        return calendar
    }

    private static func date(_ text: String) throws -> Date { try Date(text, strategy: .iso8601) }

    @Test(arguments: [
        (CalendarPeriod.Unit.year, "2024-12-31T22:59:59Z", "2023-12-31T23:00:00Z"),
        (.year, "2024-12-31T23:00:00Z", "2024-12-31T23:00:00Z"),
        (.quarter, "2025-06-30T21:59:59Z", "2025-03-31T22:00:00Z"),
        (.month, "2024-02-29T12:00:00Z", "2024-01-31T23:00:00Z"),
        // The week over the turn of a year.
        (.week, "2025-01-01T12:00:00Z", "2024-12-29T23:00:00Z"),
        // Days of 23 and of 25 hours.
        (.day, "2025-03-30T21:30:00Z", "2025-03-29T23:00:00Z"), (.day, "2025-03-30T22:00:00Z", "2025-03-30T22:00:00Z"),
        (.day, "2025-10-26T22:59:59Z", "2025-10-25T22:00:00Z"), (.hour, "2025-10-26T01:30:00Z", "2025-10-26T01:00:00Z"),
    ])
    func periodsBeginWhenPeopleSay(_ unit: CalendarPeriod.Unit, _ date: String, _ start: String) throws {
        let period = CalendarPeriod(unit, in: try Self.calendar("Europe/Berlin"))
        #expect(try period.start(of: Self.date(date)) == Self.date(start))
    }

    @Test func weeksBeginOnTheCalendarsFirstWeekday() throws {
        let sundays = CalendarPeriod(.week, in: try Self.calendar("GMT", firstWeekday: 1))
        let mondays = CalendarPeriod(.week, in: try Self.calendar("GMT", firstWeekday: 2))
        let sunday = try Self.date("2025-06-15T10:00:00Z")
        #expect(try sundays.start(of: sunday) == Self.date("2025-06-15T00:00:00Z"))
        #expect(try mondays.start(of: sunday) == Self.date("2025-06-09T00:00:00Z"))
    }

    /// Defect: what was asked before decided, where a calendar's intervals overlap.
    @Test func anAnswerDoesNotDependOnEarlierOnes() throws {
        var random = SeededGenerator(seed: testSeed())
        let places: [(String, Calendar.Identifier, String)] = [
            ("Asia/Pyongyang", .gregorian, "2015-08-14T15:00:00Z"),
            ("Australia/Lord_Howe", .gregorian, "2024-04-06T15:00:00Z"),
            ("Australia/Lord_Howe", .gregorian, "2024-10-05T15:30:00Z"),
            ("Asia/Tokyo", .japanese, "2019-04-30T15:00:00Z"),
            ("America/Sao_Paulo", .gregorian, "2018-11-04T03:00:00Z"),
            ("Asia/Jerusalem", .hebrew, "2024-03-29T00:00:00Z"),
            ("Asia/Shanghai", .chinese, "2023-03-22T00:00:00Z"), ("Pacific/Apia", .gregorian, "2011-12-30T10:00:00Z"),
        ]
        for (zone, identifier, middle) in places {
            let calendar = try Self.calendar(zone, identifier)
            let components: [(CalendarPeriod.Unit, Calendar.Component)] = [
                (.year, .year), (.quarter, .quarter), (.month, .month), (.week, .weekOfYear), (.day, .day),
                (.hour, .hour),
            ]
            for (unit, component) in components {
                let period = CalendarPeriod(unit, in: calendar)
                let around = try Self.date(middle)
                for number in 0..<300 {
                    let reach = number % 2 == 0 ? 7_200 : 400 * 86_400
                    let date = around + Double(random.below(2 * reach) - reach)
                    let expected = calendar.dateInterval(of: component, for: date)?.start
                    #expect(period.start(of: date) == expected, "\(unit) of \(date) in \(zone), \(identifier)")
                }
            }
        }
    }

    @Test func datesThatNoCalendarKnowsArePeriodsOfTheirOwn() throws {
        let month = CalendarPeriod(.month, in: try Self.calendar("GMT"))
        for seconds in [Double.infinity, -.infinity, 1e300, -1e15] {
            let date = Date(timeIntervalSinceReferenceDate: seconds)
            #expect(month.start(of: date) == date)
        }
        #expect(month.start(of: Date(timeIntervalSinceReferenceDate: .nan)).timeIntervalSinceReferenceDate.isNaN)
        // More periods than are kept.
        let hour = CalendarPeriod(.hour, in: try Self.calendar("GMT"))
        for number in 0..<10_000 {
            let start = Date(timeIntervalSinceReferenceDate: Double(number) * 3_600)
            #expect(hour.start(of: start + 1_800) == start)
        }
    }

    /// A process in another zone has to find the same periods.
    @Test func periodsMeanTheSameWhereTheyAreDecoded() throws {
        let calendars = [
            Calendar.current, .autoupdatingCurrent, try Self.calendar("Asia/Kathmandu", .iso8601, firstWeekday: 4),
            try Self.calendar("GMT", .japanese, firstWeek: 1), Calendar(identifier: .buddhist),
        ]
        for calendar in calendars {
            for unit in CalendarPeriod.Unit.allCases {
                let period = CalendarPeriod(unit, in: calendar)
                let coded = try JSONEncoder().encode(period)
                #expect(!String(decoding: coded, as: UTF8.self).contains("current"))
                let decoded = try JSONDecoder().decode(CalendarPeriod.self, from: coded)
                #expect(decoded == period && decoded.hashValue == period.hashValue)
                #expect(decoded.calendar.identifier == calendar.identifier)
                #expect(decoded.calendar.firstWeekday == calendar.firstWeekday)
                #expect(decoded.calendar.minimumDaysInFirstWeek == calendar.minimumDaysInFirstWeek)
                #expect(decoded.calendar.timeZone.identifier == calendar.timeZone.identifier)
                #expect(decoded.start(of: .distantPast) == period.start(of: .distantPast))
            }
        }
    }

    @Test func everyCalendarHasAName() throws {
        let all: [Calendar.Identifier] = [
            .buddhist, .chinese, .coptic, .ethiopicAmeteAlem, .ethiopicAmeteMihret, .gregorian, .hebrew, .indian,
            .islamic,
            .islamicCivil, .islamicTabular, .islamicUmmAlQura, .iso8601, .japanese, .persian, .republicOfChina,
        ]
        for identifier in all {
            let period = CalendarPeriod(.day, in: Calendar(identifier: identifier))
            let coded = try JSONEncoder().encode(period)
            #expect(try JSONDecoder().decode(CalendarPeriod.self, from: coded) == period)
        }
    }

    @Test(arguments: [
        #"{"unit":"age","calendar":"gregorian","zone":"GMT","firstWeekday":1,"minimumDaysInFirstWeek":1}"#,
        #"{"unit":"day","calendar":"mayan","zone":"GMT","firstWeekday":1,"minimumDaysInFirstWeek":1}"#,
        #"{"unit":"day","calendar":"gregorian","zone":"Mars/Base","firstWeekday":1,"minimumDaysInFirstWeek":1}"#,
        #"{"unit":"week","calendar":"gregorian","zone":"GMT","firstWeekday":-8,"minimumDaysInFirstWeek":1}"#,
        #"{"unit":"week","calendar":"gregorian","zone":"GMT","firstWeekday":1,"minimumDaysInFirstWeek":99}"#,
    ])
    func nonsenseIsNotDecoded(_ text: String) {
        #expect(throws: DecodingError.self) { try JSONDecoder().decode(CalendarPeriod.self, from: Data(text.utf8)) }
    }
}
