import Foundation
import MortiseCore

/// Values that are easily lost on their way, exchanged one for another in a record that is there, and beside one another.
extension ConformanceCase {
    private static let updateHint =
        "What is acknowledged has been replaced by something near it. Write an update in the same form as an insertion."

    /// A record has one value after the other, each by a save of its own.
    private static func exchanged<Value>(
        _ id: String, _ requirement: String,
        _ property: @escaping @Sendable () -> ReferenceWritableKeyPath<CodedSample, Value>,
        _ values: @escaping @Sendable () -> [Value]
    ) -> ConformanceCase {
        ConformanceCase(
            "values.coded-\(id)-exchanged", level: .core, requirement: requirement, hint: updateHint
        ) { c in
            let values = values()
            try c.rewrite(values, of: property(), id, make: CodedSample.init)
            if c.subject.capabilities.contains(.reopening) {
                try c.reopen()
                let last = try c.require(values.last, "a value")
                try c.expect(try c.session().only(CodedSample.self)[keyPath: property()], is: last, "the last \(id):")
            }
        }
    }

    private static func date(_ seconds: Double) -> Date { Date(timeIntervalSinceReferenceDate: seconds) }
    private static let odd = Double(bitPattern: 0x7FF8_0000_0000_0123)
    private static let negativeNaN = Double(bitPattern: 0xFFF8_0000_0000_0000)

    static let valueUpdateCases: [ConformanceCase] =
        codedUpdateCases + [
            ConformanceCase(
                "values.optionals-at-their-ends", level: .core,
                requirement:
                    "Optional values that are infinite or not a number stand beside nil in one record, and are kept apart from it.",
                hint: updateHint
            ) { c in
                let base = URL(string: "https://example.com/folder/")
                let rows: [(moment: Date?, amount: Decimal?, real: Double?, single: Float?, link: URL?)] = [
                    (date(.nan), nil, .nan, nil, URL(string: "page", relativeTo: base)),
                    (nil, .nan, nil, .nan, nil), (date(.infinity), 0, -.infinity, .infinity, URL(string: "page")),
                    (date(-.infinity), nil, negativeNaN, Float(bitPattern: 0xFFC0_0000), base),
                    (nil, nil, nil, nil, nil),
                ]
                func fill(_ sample: OptionalSample, _ place: Int) {
                    let row = rows[place]
                    (sample.moment, sample.amount, sample.real) = (row.moment, row.amount, row.real)
                    (sample.single, sample.link) = (row.single, row.link)
                }
                let a = try c.session()
                let samples = rows.indices.map { OptionalSample(label: "\($0)") }
                a.change("insert \(rows.count) samples") {
                    for (place, sample) in samples.enumerated() {
                        fill(sample, place)
                        a.context.insert(sample)
                    }
                }
                try a.save()
                func check(_ moment: String, _ rowOf: (Int) -> Int) throws {
                    let found = try c.session().all(OptionalSample.self)
                    try c.expect(found.map(\.label), is: rows.indices.map { "\($0)" }, "labels \(moment):")
                    for (place, sample) in found.enumerated() {
                        let row = rows[rowOf(place)]
                        try c.expect(sample.moment, is: row.moment, "date of sample \(place) \(moment):")
                        try c.expect(sample.amount, is: row.amount, "decimal of sample \(place) \(moment):")
                        try c.expect(sample.real, is: row.real, "double of sample \(place) \(moment):")
                        try c.expect(sample.single, is: row.single, "float of sample \(place) \(moment):")
                        try c.expect(sample.link, is: row.link, "URL of sample \(place) \(moment):")
                    }
                }
                try check("as inserted") { $0 }
                a.change("give each sample the values of the one before") {
                    for (place, sample) in samples.enumerated() { fill(sample, (place + 4) % rows.count) }
                }
                try a.save()
                try check("after an update of all") { ($0 + 4) % rows.count }
                if c.subject.capabilities.contains(.reopening) {
                    try c.reopen()
                    try check("after reopening") { ($0 + 4) % rows.count }
                }
            },
            ConformanceCase(
                "values.bits-exchanged", level: .core,
                requirement:
                    "NaN of other bits, data that is no text, and a URL of another base replace what was there.",
                hint: updateHint
            ) { c in
                let link = URL(fileURLWithPath: "/")
                let steps: [(real: Double, single: Float, bytes: Data, link: URL)] = [
                    (.nan, .nan, Data([0xC3, 0x28, 0, 0xFF]), URL(string: "https://example.com/folder/page") ?? link),
                    (
                        negativeNaN, Float(bitPattern: 0xFFC0_0000), Data([0xFF]),
                        URL(string: "page", relativeTo: URL(string: "https://example.com/folder/")) ?? link
                    ),
                    (
                        odd, Float(bitPattern: 0x7FC0_0123), Data([0xFE, 0xFF, 0x80]),
                        URL(string: "folder/page", relativeTo: URL(string: "https://example.com/")) ?? link
                    ),
                ]
                let a = try c.session()
                let sample = ValueSample()
                try a.store(sample)
                for (number, step) in steps.enumerated() {
                    a.change("exchange double, float, data and URL, step \(number)") {
                        (sample.real, sample.single, sample.bytes, sample.link) =
                            (step.real, step.single, step.bytes, step.link)
                    }
                    try a.save()
                    let found = try c.session().only(ValueSample.self)
                    try c.expect(found.real, is: step.real, "the double after step \(number):")
                    try c.expect(found.single, is: step.single, "the float after step \(number):")
                    try c.expect(found.bytes, is: step.bytes, "the data after step \(number):")
                    try c.expect(found.link, is: step.link, "the URL after step \(number):")
                }
            },
            ConformanceCase(
                "values.ends-beside-conditions", level: .core,
                requirement:
                    "Infinite dates and numbers that are none are asked for beside other conditions, and by what they differ from.",
                hint: "They are compared in the form in which they are kept. ValueSemantics compares as Swift does."
            ) { c in
                let seconds: [Double] = [
                    .infinity, Date.distantFuture.timeIntervalSinceReferenceDate, .nan, 0, -.infinity, 1,
                ]
                let reals: [Double] = [negativeNaN, odd, .nan, 0, -1, 2]
                let amounts: [Decimal] = [.nan, 0, 1, .nan, -1, 2]
                let a = try c.session()
                a.change("insert 6 samples") {
                    for place in seconds.indices {
                        let sample = ValueSample()
                        (sample.moment, sample.real, sample.amount) = (
                            date(seconds[place]), reals[place], amounts[place]
                        )
                        sample.text = "\(place)"
                        a.context.insert(sample)
                    }
                }
                try a.save()
                let b = try c.session()
                func expect(_ places: [Int], _ what: String, _ predicate: Predicate<ValueSample>) throws {
                    try c.expect(
                        try b.fetch(FetchDescriptor(predicate: predicate)).map(\.text), is: places.map { "\($0)" },
                        "places of \(what):")
                }
                let (future, forever, first) = (Date.distantFuture, date(.infinity), date(0))
                try expect([0, 2, 3, 4, 5], "dates other than the distant future", #Predicate { $0.moment != future })
                try expect(
                    [0, 3], "the infinite date, or the text 3", #Predicate { $0.moment == forever || $0.text == "3" })
                try expect(
                    [1, 4], "dates before the infinite one, without two",
                    #Predicate {
                        $0.moment < forever && $0.text != "3" && $0.text != "5"
                    })
                try expect([0, 1, 2, 4, 5], "dates other than the first", #Predicate { $0.moment != first })
                let (zero, none) = (0.0, Decimal(0))
                try expect([4], "numbers below 0", #Predicate { $0.real < zero })
                try expect([0, 1, 2, 4, 5], "numbers that are not 0", #Predicate { $0.real != zero })
                try expect(
                    [5], "numbers above 0, or without the text 5 none",
                    #Predicate {
                        $0.real > zero && $0.text != "4"
                    })
                try expect([0, 2, 3, 4, 5], "decimals other than 0", #Predicate { $0.amount != none })
                try expect(
                    [1, 3], "decimals equal to 0, or the text 3", #Predicate { $0.amount == none || $0.text == "3" })
            },
        ]

    private static let codedUpdateCases: [ConformanceCase] = [
        exchanged("gaps", "Nils in an array are exchanged for values and back.", { \.gaps }) {
            [[nil], [1, nil], [1], [1, nil, nil], [nil, 0], [0, nil]]
        },
        exchanged("empty-parts", "Empty arrays inside of others come and go by updates.", { \.grid }) {
            [[[]], [[], [[]]], [[[1]], []], [[[], [1]]], [[], []]]
        },
        exchanged("numbers-as-keys", "Keys that are integers are exchanged for others.", { \.numbered }) {
            [[1: "one"], [1: "one", 2: "two"], [0: "zero", 1: "one"], [1: "first"]]
        },
        exchanged("cases-as-keys", "Keys that are cases of an enum are exchanged for others.", { \.tinted }) {
            [[.white: 1, .green: 2], [.red: 3, .white: 1], [.white: 3, .green: 1, .red: 2]]
        },
        exchanged(
            "keys", "A key is exchanged for one that differs by spaces, or in how a number is written.", { \.texts }
        ) {
            [["a": "1"], [" a": "1"], ["a ": "1"], ["01": "1"], ["1": "1"], ["1.0": "1"]]
        },
        exchanged("nested-numbers", "Numbers inside of a value are exchanged for greater ones.", { \.nest }) {
            [UInt64.max, UInt64(Int64.max) + 1, 1].map { wide in
                var nest = Nest(name: "n", place: Place(name: "p", latitude: -0.0))
                (nest.wide, nest.least) = (wide, .min)
                return nest
            }
        },
    ]
}
