import Foundation
import MortiseCore

/// A date is a moment, whatever clocks show: where a process runs, and at hours that come twice or never.
extension ConformanceCase {
    private static let clockHint =
        "Dates are kept as the time that a clock shows. Keep a number of seconds, or a text with its distance from Greenwich."

    /// Seconds since 2001, in UTC: around the hours that summer time gives and takes, where days are left out, and others.
    private static let turns: [Double] = {
        // 1:00 UTC on 25 October 2026, when clocks in Berlin go back from 3:00 to 2:00, and 29 March 2026, when they go on.
        let berlin: [Double] = [814_582_800, 796_438_800]
        // Likewise in New York, and on Lord Howe, where half an hour comes twice; Samoa left out a day in 2011.
        let others: [Double] = [815_205_600, 794_646_000, 797_007_600, 346_932_000]
        let around = (berlin + others).flatMap { turn in
            [-5_400, -1_800, -0.000_001, 0, 1_800.5, 5_400].map { turn + $0 }
        }
        // Before there were time zones, before 1970, a leap second, and far from now.
        return around + [-3_470_000_000, -978_307_201, 157_766_399.999, 504_921_600, 3_187_296_000, 0, -0.5]
    }()

    static let timeZoneCases: [ConformanceCase] = [
        ConformanceCase(
            "values.dates-at-changes-of-clocks", level: .core,
            requirement: "Dates come back to the last bit at hours that come twice or never where clocks are changed.",
            hint: clockHint
        ) { c in
            try c.roundTrip(
                turns.map { Date(timeIntervalSinceReferenceDate: $0) }, of: \ValueSample.moment, "moment",
                make: ValueSample.init)
        },
        ConformanceCase(
            "values.dates-in-other-time-zones", level: .core, capability: .reopening,
            requirement:
                "What a process in one time zone saves, processes in others read, find and keep as the same moments.",
            hint: clockHint
        ) { c in
            let a = try c.session()
            a.change("insert \(turns.count) entries with dates") {
                for seconds in turns { a.context.insert(OtherTimeZone.entry(seconds)) }
            }
            try a.save()
            try c.close()
            var saved = turns.map { "\($0)" }
            var offsets: Set<String> = []
            for (place, zone) in ["Europe/Berlin", "Asia/Tokyo", "America/St_Johns"].enumerated() {
                let dates = turns.map { $0 + Double(place + 1) }
                let answer = try OtherTimeZone.save(dates, in: zone, c)
                try c.expect(
                    answer.error == nil, "a process in \(zone) that opens the storage and saves",
                    found: answer.error ?? "")
                try c.expect(answer.saved, is: dates.map { "\($0)" }, "dates saved in \(zone):")
                try c.expect(
                    answer.misread.isEmpty, "all \(saved.count) dates, read in \(zone)",
                    found: "\(answer.misread.count) other ones: \(answer.misread.prefix(3).joined(separator: "; "))")
                saved += answer.saved
                offsets.insert(answer.offsets ?? "")
            }
            let found = try c.session().all(Entry.self)
            try c.expect(found.map(\.name), is: saved, "dates after all:")
            let misread = found.compactMap(OtherTimeZone.difference)
            try c.expect(
                misread.isEmpty, "all \(saved.count) dates, read here",
                found: "\(misread.count) other ones: \(misread.prefix(3).joined(separator: "; "))")
            if offsets.count < 3 { throw Untried(reason: "this system does not know the time zones of processes") }
        },
    ]
}
