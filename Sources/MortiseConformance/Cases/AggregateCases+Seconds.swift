import Foundation
import MortiseCore

extension ConformanceCase {
    private static let groupHint =
        "The store groups and compares by its own form of a value. AggregateGroups decides which values are one group."

    private static func store(_ c: CaseContext, _ count: Int, _ fill: (ValueSample, Int) -> Void) throws -> ModelContext
    {
        try AggregateProbe.insert(
            (0..<count).map { place in
                let sample = ValueSample()
                fill(sample, place)
                return sample
            }, c)
        return try c.session().context
    }

    /// Second looks at aggregates: within groups, of a part of the records, and by keys that are near each other.
    static let aggregateSecondCases: [ConformanceCase] = [
        ConformanceCase(
            "aggregates.ends-of-groups", level: .core,
            requirement: "Each group has the least and the greatest of its own dates and texts, to the last digit.",
            hint: groupHint
        ) { c in
            let long = String(repeating: "y", count: 600)
            let places = [3, 1, 4, 2, 5, 0]
            let context = try store(c, 6) { sample, place in
                sample.flag = place % 2 == 1
                sample.moment = Date(timeIntervalSinceReferenceDate: 700_000_000 + Double(places[place]) / 1e5)
                sample.text = long + "\(places[place])"
            }
            let groups = try context.aggregate(
                FetchDescriptor<ValueSample>(), by: \.flag, .minimum(\.moment), .maximum(\.moment), .minimum(\.text),
                .maximum(\.text))
            let found = groups.map { group in
                let (early, late, first, last) = group.values
                let steps = [early, late].map { date in
                    date.map { "\((($0.timeIntervalSinceReferenceDate - 700_000_000) * 1e5).rounded())" } ?? "nil"
                }
                return (steps + [first, last].map { $0.map { String($0.suffix(1)) } ?? "nil" }).joined(separator: " ")
            }
            try c.expect(
                found, is: ["3.0 5.0 3 5", "0.0 2.0 0 2"],
                "earliest and latest, first and last text of those without and with the flag:")
        },
        ConformanceCase(
            "aggregates.of-what-matches", level: .core,
            requirement: "Sums, averages and ends are those of the records that match, NaN among them.", hint: groupHint
        ) { c in
            let reals: [Double] = [.nan, 2, -1, 4, .nan, 0]
            let context = try store(c, 6) { sample, place in
                (sample.real, sample.whole, sample.flag) = (reals[place], [1, 2, 2, 4, 9, 0][place], place < 5)
            }
            let flagged = FetchDescriptor<ValueSample>(predicate: #Predicate { $0.flag })
            let all = try context.aggregate(
                flagged, .sum(\.real), .average(\.real), .minimum(\.real), .maximum(\.real))
            try c.expect(
                [
                    AggregateProbe.text(all.0), AggregateProbe.text(all.1), AggregateProbe.text(all.2),
                    AggregateProbe.text(all.3),
                ],
                is: ["NaN", "NaN", "-1.0", "4.0"], "sum, average, least and greatest of numbers with NaN:")
            let some = FetchDescriptor<ValueSample>(predicate: #Predicate { $0.flag && $0.whole < 9 })
            let average = try context.aggregate(some, .average(\.whole))
            try c.expect(AggregateProbe.text(average), is: "2.25", "average of 1, 2, 2 and 4:")
        },
        ConformanceCase(
            "aggregates.groups-of-near-keys", level: .core,
            requirement:
                "Dates, integers and decimals that differ by little are groups of their own, and zeros and NaN are one each.",
            hint: groupHint
        ) { c in
            let decimal = Decimal(string: "12345678901234567890123.1") ?? 0
            let reals: [Double] = [0, -0.0, .nan, Double(bitPattern: 0xFFF8_0000_0000_0123)]
            let context = try store(c, 4) { sample, place in
                sample.flag = true
                sample.moment = Date(timeIntervalSinceReferenceDate: [0, -0.0, 1e-4, 2e-4][place])
                sample.large = (Int64(1) << 60) + [0, 1, 1, 0][place]
                sample.amount = decimal + [0, 1, 0, 1][place]
                sample.real = reals[place]
            }
            let flagged = FetchDescriptor<ValueSample>(predicate: #Predicate { $0.flag })
            func check<Key: PersistentScalar>(
                _ name: String, _ key: KeyPath<ValueSample, Key>, _ counts: [Int]
            ) throws {
                try c.expect(
                    try context.aggregate(flagged, by: key, .count).map(\.values), is: counts,
                    "records of each \(name):")
            }
            try check("date", \.moment, [2, 1, 1])
            try check("large integer", \.large, [2, 2])
            try check("decimal", \.amount, [2, 2])
            try check("number", \.real, [2, 2])
        },
        ConformanceCase(
            "aggregates.groups-by-day", level: .core,
            requirement: "A day begins where its calendar says, in groups of a part of the records too.",
            hint: groupHint
        ) { c in
            // 2025-01-05 was a Sunday. Twelve hours between two, in a zone east of Greenwich.
            let start = Date(timeIntervalSince1970: 1_736_035_200)
            let dates = (0..<6).map { start + Double($0) * 43_200 }
            let context = try store(c, 7) { sample, place in
                (sample.flag, sample.moment) = (place < 6, place < 6 ? dates[place] : start)
            }
            var calendar = Calendar(identifier: .gregorian)
            calendar.timeZone = try c.require(TimeZone(secondsFromGMT: 5 * 3_600), "a time zone")
            calendar.firstWeekday = 1
            let flagged = FetchDescriptor<ValueSample>(predicate: #Predicate { $0.flag })
            for unit in [CalendarPeriod.Unit.day, .week] {
                let period = CalendarPeriod(unit, in: calendar)
                let expected = Dictionary(grouping: dates, by: period.start).mapValues(\.count)
                let groups = try context.groups(
                    flagged, by: .start(of: unit, \.moment, in: calendar), computing: .count)
                try c.expect(
                    groups.map { "\(AggregateProbe.text($0.key)): \($0.values)" },
                    is: expected.sorted { $0.key < $1.key }.map { "\(AggregateProbe.text($0.key)): \($0.value)" },
                    "groups by \(unit.rawValue):")
            }
        },
        ConformanceCase(
            "aggregates.books-of-each-author", level: .core,
            requirement: "Of the records that match, those that lead to one record are a group.", hint: groupHint
        ) { c in
            let writers = ["a", "b"].map { Writer($0) }
            let books = (0..<6).map { Book("\($0)", author: $0 == 5 ? nil : writers[$0 % 2]) }
            let a = try c.session()
            a.change("insert 2 Writers and 6 Books") {
                for writer in writers { a.context.insert(writer) }
                for book in books { a.context.insert(book) }
            }
            try a.save()
            let some = FetchDescriptor<Book>(predicate: #Predicate { $0.title != "0" })
            let groups = try c.session().context.groups(some, by: \.author, computing: .count)
            try c.expect(
                groups.map { "\($0.key?.name ?? "nil"): \($0.values)" }.sorted(), is: ["a: 2", "b: 2", "nil: 1"],
                "books of each author:")
        },
    ]
}
