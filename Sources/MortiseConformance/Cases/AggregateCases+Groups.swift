import Foundation
import MortiseCore

extension ConformanceCase {
    private static let groupHint =
        "The store groups by its own form of a value. AggregateGroups decides which values are one group."

    // MARK: Groups

    static let aggregateGroupCases: [ConformanceCase] = [
        ConformanceCase(
            "aggregates.group-of-nil", level: .core,
            requirement:
                "Records without a value are a group of their own, the first, beside those of zero and of an empty text.",
            hint: "Nil is left out of the groups, or is one group with 0, false or an empty text."
        ) { c in
            let token = UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
            let samples = (0..<5).map { OptionalSample(label: "\($0)") }
            // The second and the fourth have no value.
            for place in [0, 2, 4] {
                let sample = samples[place]
                (sample.whole, sample.real, sample.single) = (place - 2, Double(place - 2), Float(place - 2))
                (sample.wide, sample.amount, sample.flag) = (UInt64(place), Decimal(place - 2), place > 2)
                (sample.text, sample.token) = (["", "", "", "", "nil"][place], token)
                sample.moment = Date(timeIntervalSinceReferenceDate: Double(place - 2))
                sample.tint = place > 2 ? .green : .red
            }
            try AggregateProbe.insert(samples, c)
            let all = FetchDescriptor<OptionalSample>()
            let context = try c.session().context
            func check<Key: PersistentScalar>(
                _ name: String, _ key: KeyPath<OptionalSample, Key?>, _ expected: [String]
            ) throws {
                let groups = try context.aggregate(all, by: key, .count).map {
                    "\(AggregateProbe.text($0.key)): \($0.values)"
                }
                try AggregateProbe.expectGroups(c, "OptionalSample", by: name, in: groups, are: expected)
            }
            try check("whole", \.whole, ["nil: 2", "-2: 1", "0: 1", "2: 1"])
            try check("wide", \.wide, ["nil: 2", "0: 1", "2: 1", "4: 1"])
            try check("real", \.real, ["nil: 2", "-2.0: 1", "0.0: 1", "2.0: 1"])
            try check("single", \.single, ["nil: 2", "-2.0: 1", "0.0: 1", "2.0: 1"])
            try check("amount", \.amount, ["nil: 2", "-2: 1", "0: 1", "2: 1"])
            try check("flag", \.flag, ["nil: 2", "false: 2", "true: 1"])
            try check("text", \.text, ["nil: 2", "\"\": 2", "\"nil\": 1"])
            try check("moment", \.moment, ["nil: 2", "day -2.0: 1", "day 0.0: 1", "day 2.0: 1"])
            try check("token", \.token, ["nil: 2", "\(StoredValue.uuid(token)): 3"])
            let tints = try context.aggregate(all, by: \.tint, .count).map {
                "\(AggregateProbe.text($0.key?.rawValue)): \($0.values)"
            }
            try AggregateProbe.expectGroups(
                c, "OptionalSample", by: "tint", in: tints, are: ["nil: 2", "\"green\": 1", "\"red\": 2"])
        },
        ConformanceCase(
            "aggregates.groups-of-zeros-and-nan", level: .core,
            requirement: "0.0 and -0.0 are one group, and so are all NaN, which come first.",
            hint: "Groups are formed by bits, or by text. \(groupHint)"
        ) { c in
            let numbers: [Double] = [
                0, .nan, -0.0, 1, -.infinity, Double(bitPattern: 0xFFF8_0000_0000_0123), -1, -0.0, .infinity, 0,
            ]
            try AggregateProbe.insert(
                numbers.map { number in
                    let sample = ValueSample()
                    (sample.real, sample.single) = (number, Float(number))
                    sample.moment = Date(timeIntervalSinceReferenceDate: number)
                    return sample
                }, c)
            let all = FetchDescriptor<ValueSample>()
            let context = try c.session().context
            let expected = ["NaN: 2", "-inf: 1", "-1.0: 1", "0.0: 4", "1.0: 1", "inf: 1"]
            func check<Key: PersistentScalar>(
                _ name: String, _ key: KeyPath<ValueSample, Key>, _ expected: [String]
            ) throws {
                let groups = try context.aggregate(all, by: key, .count).map {
                    "\(AggregateProbe.text($0.key)): \($0.values)"
                }
                try AggregateProbe.expectGroups(c, "ValueSample", by: name, in: groups, are: expected)
            }
            try check("real", \.real, expected)
            try check("single", \.single, expected)
            try check("moment", \.moment, expected.map { "day \($0)" })
        },
        ConformanceCase(
            "aggregates.groups-to-the-last-bit", level: .core,
            requirement: "Values that differ in their last digit or bit are different groups.",
            hint: "Groups are formed by values of fewer digits: milliseconds, a Double, a short text. \(groupHint)"
        ) { c in
            let large = Decimal(string: "12345678901234567890123456789012345678") ?? 0
            let date = 700_000_000.123456
            try AggregateProbe.insert(
                (0..<3).map { place in
                    let sample = ValueSample()
                    sample.large = (1 << 53) + Int64(min(place, 1))
                    sample.wide = .max - UInt64(min(place, 1))
                    sample.real = place == 0 ? 0.3 : 0.1 + 0.2
                    sample.amount = large + (place == 0 ? 0 : 1)
                    sample.moment = Date(timeIntervalSinceReferenceDate: place == 0 ? date : date + 0.000_001)
                    return sample
                }, c)
            let all = FetchDescriptor<ValueSample>()
            let context = try c.session().context
            func check<Key: PersistentScalar>(
                _ name: String, _ key: KeyPath<ValueSample, Key>, _ expected: [(Key, Int)]
            ) throws {
                let groups = try context.aggregate(all, by: key, .count).map {
                    "\(AggregateProbe.text($0.key)): \($0.values)"
                }
                try AggregateProbe.expectGroups(
                    c, "ValueSample", by: name, in: groups,
                    are: expected.map { "\(AggregateProbe.text($0.0)): \($0.1)" })
            }
            try check("large", \.large, [(1 << 53, 1), ((1 << 53) + 1, 2)])
            try check("wide", \.wide, [(.max - 1, 2), (.max, 1)])
            try check("real", \.real, [(0.3, 1), (0.1 + 0.2, 2)])
            try check("amount", \.amount, [(large, 1), (large + 1, 2)])
            try check(
                "moment", \.moment,
                [
                    (Date(timeIntervalSinceReferenceDate: date), 1),
                    (Date(timeIntervalSinceReferenceDate: date + 0.000_001), 2),
                ])
        },
        ConformanceCase(
            "aggregates.groups-by-period", level: .core,
            requirement: "Dates are grouped by days, weeks and months of the calendar that is asked for.",
            hint: "The store groups by days of its own time zone, or by weeks that begin on another day. \(groupHint)"
        ) { c in
            // Around midnights of several zones, the turn of a year and a Sunday.
            let start = Date(timeIntervalSince1970: 1_735_597_800)
            let dates = (0..<40).map { start + Double($0) * 20_000 }
            try AggregateProbe.insert(
                dates.map { date in
                    let sample = ValueSample()
                    sample.moment = date
                    return sample
                }, c)
            let context = try c.session().context
            for (zone, firstWeekday) in [("Asia/Kathmandu", 2), ("Pacific/Honolulu", 1), ("Europe/Berlin", 7)] {
                var calendar = Calendar(identifier: .gregorian)
                calendar.timeZone = try c.require(TimeZone(identifier: zone), "the time zone \(zone)")
                calendar.firstWeekday = firstWeekday
                for unit in [CalendarPeriod.Unit.day, .week, .month] {
                    let period = CalendarPeriod(unit, in: calendar)
                    let expected = Dictionary(grouping: dates, by: period.start).mapValues(\.count)
                    let groups = try context.groups(
                        FetchDescriptor<ValueSample>(), by: .start(of: unit, \.moment, in: calendar), computing: .count)
                    try c.expect(
                        groups.map { "\(AggregateProbe.text($0.key)): \($0.values)" },
                        is: expected.sorted { $0.key < $1.key }.map { "\(AggregateProbe.text($0.key)): \($0.value)" },
                        "groups by \(unit.rawValue) in \(zone), and how many each has:")
                }
            }
        },
        ConformanceCase(
            "aggregates.groups-by-related-record", level: .core,
            requirement:
                "Records are grouped by the record to which they lead, and those that lead to none are a group.",
            hint: "The store groups by a property of the related record, or leaves out null. \(groupHint)"
        ) { c in
            // Two writers of one name are two groups.
            let writers = ["b", "a", "b"].map { Writer($0) }
            let books = (0..<9).map { Book("\($0)", author: $0 % 4 == 3 ? nil : writers[$0 % 4]) }
            let a = try c.session()
            a.change("insert \(writers.count) Writers and \(books.count) Books") {
                for writer in writers { a.context.insert(writer) }
                for book in books { a.context.insert(book) }
            }
            try a.save()
            let b = try c.session()
            let groups = try b.context.groups(FetchDescriptor<Book>(), by: \.author, computing: .count)
            let counts = Dictionary(grouping: books) { $0.author?.persistentModelID }.mapValues(\.count)
            try c.expect(
                groups.map { "\($0.key?.persistentModelID.string ?? "nil"): \($0.values)" }.sorted(),
                is: counts.map { "\($0.key?.string ?? "nil"): \($0.value)" }.sorted(),
                "groups by author, and how many each has:")
        },
        ConformanceCase(
            "aggregates.groups-of-two-properties", level: .full, capability: .aggregates,
            requirement: "A store that groups by two properties tells every pair from every other, those with nil too.",
            hint: "The keys of a group are joined into one text, or a pair with nil is left out."
        ) { c in
            let pairs: [(name: String, note: String?)] = [
                ("a,b", "c"), ("a", "b,c"), ("a", nil), ("a", ""), ("", "a"), ("a", "nil"), ("a", nil), ("ab", "c"),
                ("a", "bc"), ("a|b", "c"), ("a", "b|c"), ("a\u{0}b", "c"), ("a", "b\u{0}c"), ("a", "b,c"),
            ]
            try AggregateProbe.insert(pairs.map { Entry($0.name, note: $0.note) }, c)
            guard let stored = try AggregateProbe.stored(c, "Entry", by: ["name", "note"], [.count], of: "note") else {
                return
            }
            var counts: [[String]: Int] = [:]
            for pair in pairs {
                counts[[AggregateProbe.text(pair.name), AggregateProbe.text(pair.note)], default: 0] += 1
            }
            try c.expect(
                stored.sorted(), is: counts.map { $0.key.joined(separator: ", ") + ": \($0.value)" }.sorted(),
                "groups by name and note, and how many each has:")
        },
    ]

    // MARK: Ends

    static let aggregateEndCases: [ConformanceCase] = [
        ConformanceCase(
            "aggregates.nan-among-numbers", level: .core,
            requirement:
                "NaN is the least and the greatest only where there is no number; it makes sum and average NaN.",
            hint: "NaN is compared like a number, or left out like nil."
        ) { c in
            let values: [(label: String, number: Double?)] = [
                ("mixed", .nan), ("alone", .nan), ("mixed", 2), ("mixed", nil), ("mixed", -3), ("alone", .nan),
                ("number", 5), ("mixed", .nan), ("number", -.infinity),
            ]
            try AggregateProbe.insert(
                values.map { label, number in
                    let sample = OptionalSample(label: label)
                    (sample.real, sample.single) = (number, number.map(Float.init))
                    return sample
                }, c)
            let all = FetchDescriptor<OptionalSample>()
            let groups = [
                "\"alone\": 2 NaN NaN NaN NaN", "\"mixed\": 5 NaN NaN -3.0 2.0", "\"number\": 2 -inf -inf -inf 5.0",
            ]
            try AggregateProbe.expectTotals(
                c, of: "real",
                AggregateProbe.totals(c, all, .sum(\.real), .average(\.real), .minimum(\.real), .maximum(\.real)),
                are: groups, and: "9 NaN NaN -inf 5.0")
            try AggregateProbe.expectTotals(
                c, of: "single",
                AggregateProbe.totals(
                    c, all, .sum(\.single), .average(\.single), .minimum(\.single), .maximum(\.single)),
                are: groups, and: "9 NaN NaN -inf 5.0")
        },
        ConformanceCase(
            "aggregates.ends-to-the-last-bit", level: .core,
            requirement:
                "The least and the greatest of dates, decimals, large integers and long texts are told to the last digit.",
            hint: "Ends are looked for among values of fewer digits, or by the beginning of a text."
        ) { c in
            let large = Decimal(string: "12345678901234567890123456789012345678") ?? 0
            let long = String(repeating: "x", count: 10_000)
            // The least is neither the first nor the last, and so is the greatest.
            let places = [2, 3, 1, 4, 2]
            try AggregateProbe.insert(
                places.map { place in
                    let sample = ValueSample()
                    sample.moment = Date(timeIntervalSinceReferenceDate: 700_000_000.123 + Double(place) / 1e6)
                    sample.amount = large + Decimal(place)
                    sample.large = 1 << 60 + Int64(place)
                    sample.wide = .max - 10 + UInt64(place)
                    sample.text = long + "\(place)"
                    return sample
                }, c)
            let context = try c.session().context
            func check<Value: PersistentScalar & Comparable>(
                _ name: String, _ property: KeyPath<ValueSample, Value>, _ value: (Int) -> Value
            ) throws {
                let found = try context.aggregate(
                    FetchDescriptor<ValueSample>(), .minimum(property), .maximum(property))
                let expected = [value(1), value(4)]
                try c.expect([found.0, found.1], is: expected, "least and greatest \(name):")
                let stored = try AggregateProbe.stored(c, "ValueSample", by: [], [.minimum, .maximum], of: name)
                if let stored {
                    try c.expect(
                        stored, is: [expected.map { AggregateProbe.text($0) }.joined(separator: " ")],
                        "the store's least and greatest \(name):")
                }
            }
            try check("moment", \.moment) {
                Date(timeIntervalSinceReferenceDate: 700_000_000.123 + Double($0) / 1e6)
            }
            try check("amount", \.amount) { large + Decimal($0) }
            try check("large", \.large) { 1 << 60 + Int64($0) }
            try check("wide", \.wide) { .max - 10 + UInt64($0) }
            try check("text", \.text) { long + "\($0)" }
        },
    ]
}
