import Foundation
import MortiseCore

/// Values at the edges of their kinds: infinite, not a number, with a payload, with a base.
extension ConformanceCase {
    private static func date(_ seconds: Double) -> Date { Date(timeIntervalSinceReferenceDate: seconds) }
    private static let odd = Double(bitPattern: 0x7FF8_0000_0000_0123)
    private static let negativeNaN = Double(bitPattern: 0xFFF8_0000_0000_0000)

    /// Stores a sample for each value and checks their order and what is found.
    private static func asked<Value: Sendable>(
        _ id: String, _ requirement: String, hint: String, _ values: [Value],
        of property: @escaping @Sendable () -> ReferenceWritableKeyPath<ValueSample, Value>,
        upwards: [Int], downwards: [Int], _ key: @escaping @Sendable (SortOrder) -> SortDescriptor<ValueSample>,
        _ questions: @escaping @Sendable () -> [(Predicate<ValueSample>, [Int])]
    ) -> ConformanceCase {
        ConformanceCase("values.\(id)", level: .core, requirement: requirement, hint: hint) { c in
            let a = try c.session()
            a.change("insert \(values.count) samples") {
                for (place, value) in values.enumerated() {
                    let sample = ValueSample()
                    sample[keyPath: property()] = value
                    sample.text = "\(place)"
                    a.context.insert(sample)
                }
            }
            try a.save()
            let b = try c.session()
            func places(_ descriptor: FetchDescriptor<ValueSample>) throws -> [Int] {
                try b.fetch(descriptor).map { Int($0.text) ?? -1 }
            }
            try c.expect(try places(FetchDescriptor(sortBy: [key(.forward)])), is: upwards, "places, upwards:")
            try c.expect(try places(FetchDescriptor(sortBy: [key(.reverse)])), is: downwards, "places, downwards:")
            for (predicate, expected) in questions() {
                try c.expect(try places(FetchDescriptor(predicate: predicate)), is: expected, "places of what matches:")
                try c.expect(try b.count(FetchDescriptor(predicate: predicate)), is: expected.count, "count of it:")
            }
        }
    }

    static let specialValueCases: [ConformanceCase] = [
        ConformanceCase(
            "values.dates-without-end", level: .core,
            requirement:
                "Infinite dates, dates that are not a number, and the greatest finite ones come back to the last bit.",
            hint: "The date passes through a calendar, or is taken for the distant future."
        ) { c in
            let seconds: [Double] = [
                .infinity, -.infinity, .nan, odd, negativeNaN, .greatestFiniteMagnitude, -.greatestFiniteMagnitude,
                1e300,
                .leastNonzeroMagnitude, -.leastNonzeroMagnitude, 63_113_904_000, -63_114_076_800,
            ]
            try c.roundTrip(seconds.map(date), of: \ValueSample.moment, "moment", make: ValueSample.init)
        },
        ConformanceCase(
            "values.optional-dates-without-end", level: .core,
            requirement: "A date that is not a number or infinite is not nil, and can be exchanged for nil and back.",
            hint: "NaN or an infinity is the store's null for dates."
        ) { c in
            try c.rewrite(
                [date(.nan), nil, date(.infinity), nil, date(-.infinity), date(odd), date(0)],
                of: \OptionalSample.moment,
                "moment"
            ) { OptionalSample(label: "x") }
        },
        ConformanceCase(
            "values.nan-with-its-bits", level: .core,
            requirement: "NaN comes back with its sign and payload, as a Double and as a Float.",
            hint: "NaN is kept as a word. Keep the bits of those that are not the usual one."
        ) { c in
            let numbers: [Double] = [
                .nan, odd, negativeNaN, Double(bitPattern: 0xFFF8_0000_0000_0001),
                Double(bitPattern: 0x7FFF_FFFF_FFFF_FFFF),
            ]
            try c.roundTrip(numbers, of: \ValueSample.real, "real", make: ValueSample.init)
        },
        ConformanceCase(
            "values.float-nan-with-its-bits", level: .core,
            requirement: "NaN of 32 bits comes back with its sign and payload.",
            hint: "A Float is kept as a Double, or NaN as a word."
        ) { c in
            let numbers: [Float] = [
                .nan, Float(bitPattern: 0x7FC0_0123), Float(bitPattern: 0xFFC0_0000), Float(bitPattern: 0x7FFF_FFFF),
                .infinity, -.infinity, .leastNonzeroMagnitude, -0.0,
            ]
            try c.roundTrip(numbers, of: \ValueSample.single, "single", make: ValueSample.init)
        },
        ConformanceCase(
            "values.optional-nan", level: .core,
            requirement: "A number that is NaN or infinite is not nil, and can be exchanged for nil and back.",
            hint: "The database keeps NaN as null."
        ) { c in
            try c.rewrite([.nan, nil, odd, .infinity, nil, -.infinity, 0], of: \OptionalSample.real, "real") {
                OptionalSample(label: "x")
            }
        },
        ConformanceCase(
            "values.decimals-at-their-ends", level: .core,
            requirement: "Decimals come back that are not a number, or have the greatest exponents and digits.",
            hint: "The decimal is kept in a type with other bounds, or NaN as 0."
        ) { c in
            let digits = "99999999999999999999999999999999999999"
            let texts = [
                "0", "-\(digits)", digits + "e89", "1e127", "-1e127", "1e-127", "-1e-127", "0.\(digits)", "1e-38",
                "\(digits)e-60",
                "3", "-0.1",
            ]
            let decimals =
                texts.compactMap { Decimal(string: $0) } + [.nan, .greatestFiniteMagnitude, .leastFiniteMagnitude]
            try c.roundTrip(decimals, of: \ValueSample.amount, "amount", make: ValueSample.init)
        },
        ConformanceCase(
            "values.optional-decimals", level: .core,
            requirement: "A decimal that is not a number is neither nil nor 0, and can be exchanged for both.",
            hint: "NaN is the store's null for decimals."
        ) { c in
            try c.rewrite([.nan, nil, 0, .nan, 1], of: \OptionalSample.amount, "amount") { OptionalSample(label: "x") }
        },
        ConformanceCase(
            "values.urls-with-a-base", level: .core,
            requirement: "A URL that is relative to a base comes back with its own text and its base.",
            hint: "The URL is kept as its absolute text."
        ) { c in
            let base = try c.require(URL(string: "https://example.com/folder/page?q#f"), "a URL")
            let nested = try c.require(URL(string: "inner/", relativeTo: base), "a URL")
            let urls = [
                "other", "../up", "?query", "#part", "/root", "//host/path", "a%20b", "https://elsewhere.example/x",
            ].compactMap {
                URL(string: $0, relativeTo: base)
            }
            let paths = [URL(string: "leaf", relativeTo: nested), URL(string: "no/base"), URL(string: "?")].compactMap {
                $0
            }
            let files = [
                URL(fileURLWithPath: "leaf", relativeTo: URL(fileURLWithPath: "/tmp/folder/", isDirectory: true)),
                URL(fileURLWithPath: "/tmp/a b"),
            ]
            try c.roundTrip(urls + paths + files, of: \ValueSample.link, "link", make: ValueSample.init)
        },
        ConformanceCase(
            "values.url-changes-of-the-base", level: .core,
            requirement: "A URL can be exchanged for one with the same absolute text and another base.",
            hint: "The store compares old and new value by their absolute texts, or keeps no base."
        ) { c in
            let whole = URL(string: "https://example.com/folder/page")
            let based = URL(string: "page", relativeTo: URL(string: "https://example.com/folder/"))
            let deep = URL(string: "folder/page", relativeTo: URL(string: "https://example.com/"))
            try c.rewrite([whole, based, deep, whole, nil, based], of: \OptionalSample.link, "link") {
                OptionalSample(label: "x")
            }
        },
        asked(
            "dates-without-end-in-questions",
            "Infinite dates are before and after all others, and one that is not a number is sorted first.",
            hint: "The date is compared in a form that has no infinity.",
            [date(1), date(.infinity), date(.nan), date(-.infinity), .distantPast, .distantFuture, date(1e300)],
            of: { \.moment }, upwards: [2, 3, 4, 0, 5, 6, 1], downwards: [1, 6, 5, 0, 4, 3, 2]
        ) {
            SortDescriptor(\.moment, order: $0)
        } _: {
            let (last, first, never) = (date(.infinity), date(-.infinity), date(.nan))
            let future = Date.distantFuture
            return [
                (#Predicate { $0.moment == last }, [1]), (#Predicate { $0.moment == first }, [3]),
                (#Predicate { $0.moment > future }, [1, 6]), (#Predicate { $0.moment == never }, []),
            ]
        },
        asked(
            "decimal-nan-in-questions",
            "A decimal that is not a number is less than every number, and is sorted first.",
            hint: "NaN is compared as 0, as null, or as a text.",
            [Decimal(1), .nan, Decimal(-5), 0, Decimal(string: "1e127") ?? 0], of: { \.amount },
            upwards: [1, 2, 3, 0, 4],
            downwards: [4, 0, 3, 2, 1]
        ) {
            SortDescriptor(\.amount, order: $0)
        } _: {
            let (never, zero) = (Decimal.nan, Decimal(0))
            return [
                (#Predicate { $0.amount == zero }, [3]), (#Predicate { $0.amount == never }, [1]),
                (#Predicate { $0.amount > zero }, [0, 4]), (#Predicate { $0.amount < zero }, [1, 2]),
            ]
        },
        asked(
            "nan-with-bits-in-questions",
            "Every NaN equals nothing and is sorted first, whatever its sign and payload.",
            hint: "Bits are compared, or a NaN with a sign is sorted as a number.",
            [1, odd, -.infinity, negativeNaN, .infinity, .nan], of: { \.real }, upwards: [1, 3, 5, 2, 0, 4],
            downwards: [4, 0, 2, 1, 3, 5]
        ) {
            SortDescriptor(\.real, order: $0)
        } _: {
            let (one, never) = (odd, Double.nan)
            return [
                (#Predicate { $0.real == one }, []), (#Predicate { $0.real == never }, []),
                (#Predicate { $0.real != one }, [0, 1, 2, 3, 4, 5]), (#Predicate { $0.real < 0 }, [2]),
                (#Predicate { $0.real >= 0 }, [0, 4]),
            ]
        },
    ]
}
