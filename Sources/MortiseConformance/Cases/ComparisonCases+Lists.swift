import Foundation
import MortiseCore

/// Values that differ in their last digit or byte, asked for by every operator, and among captured ones.
extension ConformanceCase {
    private typealias Question<Model: PersistentModel, Value> = (
        text: String, predicate: Predicate<Model>, holds: (Value) -> Bool
    )

    /// Stores a model for each value, and compares what each question finds with what Swift says of the values.
    private static func ask<Model: PersistentModel, Value>(
        _ c: CaseContext, _ values: [Value], of property: ReferenceWritableKeyPath<Model, Value>,
        place: ReferenceWritableKeyPath<Model, String>, make: () -> Model, _ questions: [Question<Model, Value>]
    ) throws {
        let a = try c.session()
        a.change("insert \(values.count) \(Model.self)s with values of their own") {
            for (number, value) in values.enumerated() {
                let model = make()
                model[keyPath: property] = value
                model[keyPath: place] = "\(number)"
                a.context.insert(model)
            }
        }
        try a.save()
        let b = try c.session()
        for (number, question) in questions.enumerated() {
            let expected = values.indices.filter { question.holds(values[$0]) }.map { "\($0)" }
            let descriptor = FetchDescriptor(predicate: question.predicate)
            let found = try b.context.fetch(descriptor).map { $0[keyPath: place] }
            if found != expected {
                throw c.failure(
                    expected: "the values at \(expected) for \(question.text)", found: "those at \(found)")
            }
            if number % 3 == 0 {
                try c.expect(try b.context.fetchCount(descriptor), is: expected.count, "count for \(question.text):")
            }
        }
        c.note("ask \(questions.count) questions")
    }

    private static func compared(
        _ id: String, _ requirement: String, hint: String, body: @escaping @Sendable (CaseContext) throws -> Void
    ) -> ConformanceCase {
        ConformanceCase("comparison.\(id)", level: .core, requirement: requirement, hint: hint, body: body)
    }

    private static func date(_ seconds: Double) -> Date { Date(timeIntervalSinceReferenceDate: seconds) }

    /// A microsecond, a bit and a half millisecond apart, in this century and before 1970.
    private static let seconds: [Double] = {
        let starts: [Double] = [700_000_000.123456, -978_307_200.5]
        let steps: [Double] = [1e-6, -1e-6, 4e-4, -4e-4, 6e-4]
        return starts.flatMap { start in [start, start.nextUp] + steps.map { start + $0 } }
    }()

    private static func dateQuestions(_ date: Date) -> [Question<ValueSample, Date>] {
        let text = "\(date.timeIntervalSinceReferenceDate) s"
        return [
            ("== \(text)", #Predicate { $0.moment == date }, { $0 == date }),
            ("!= \(text)", #Predicate { $0.moment != date }, { $0 != date }),
            ("< \(text)", #Predicate { $0.moment < date }, { $0 < date }),
            ("<= \(text)", #Predicate { $0.moment <= date }, { $0 <= date }),
            ("> \(text)", #Predicate { $0.moment > date }, { $0 > date }),
            (">= \(text)", #Predicate { $0.moment >= date }, { $0 >= date }),
            ("\(text) <", #Predicate { date < $0.moment }, { date < $0 }),
            ("\(text) ==", #Predicate { date == $0.moment }, { date == $0 }),
            ("not < \(text)", #Predicate { !($0.moment < date) }, { $0 >= date }),
        ]
    }

    static let captureCases: [ConformanceCase] = operatorCases + listCases + byteCases

    // MARK: Operators

    private static let operatorCases: [ConformanceCase] = [
        compared(
            "dates-by-every-operator",
            "Dates a microsecond apart, and less, are told apart by every operator, whichever side they are on.",
            hint:
                "What is asked for is rounded to milliseconds, or written with fewer digits than what is stored. A condition "
                + "needs the operand as it is."
        ) { c in
            let dates = seconds.map(date)
            try ask(
                c, dates, of: \ValueSample.moment, place: \.text, make: ValueSample.init, dates.flatMap(dateQuestions))
        },
        compared(
            "optional-dates", "Optional dates a microsecond apart are told apart, and from nil.",
            hint: "What is asked for is rounded, or nil is the first of 2001."
        ) { c in
            let dates = [nil] + seconds.prefix(7).map { Optional(date($0)) } + [date(0)]
            let questions: [[Question<OptionalSample, Date?>]] = dates.map { wanted in
                let text = wanted.map { "\($0.timeIntervalSinceReferenceDate) s" } ?? "nil"
                return [
                    ("== \(text)", #Predicate { $0.moment == wanted }, { $0 == wanted }),
                    ("!= \(text)", #Predicate { $0.moment != wanted }, { $0 != wanted }),
                ]
            }
            try ask(
                c, dates, of: \OptionalSample.moment, place: \.label, make: { OptionalSample(label: "") },
                questions.flatMap { $0 })
        },
        compared(
            "dates-between", "A range of a microsecond holds the dates within it, and not those beside it.",
            hint: "The bounds of a range are rounded, or both of them count."
        ) { c in
            let dates = seconds.map(date)
            let questions: [[Question<ValueSample, Date>]] = dates.map { first in
                let last = first + 1.5e-6
                let text = "\(first.timeIntervalSinceReferenceDate) s and 1.5 µs later"
                return [
                    (
                        "from \(text)", #Predicate { $0.moment >= first && $0.moment < last },
                        { $0 >= first && $0 < last }
                    ),
                    (
                        "after \(text)", #Predicate { $0.moment > first && $0.moment <= last },
                        { $0 > first && $0 <= last }
                    ),
                    (
                        "outside of \(text)", #Predicate { $0.moment < first || $0.moment > last },
                        { $0 < first || $0 > last }
                    ),
                ]
            }
            try ask(
                c, dates, of: \ValueSample.moment, place: \.text, make: ValueSample.init, questions.flatMap { $0 })
        },
    ]

    // MARK: Captured lists

    private static let listHint =
        "A list is compared otherwise than a single value: by text, by bits, or in a type that cannot hold its values."

    private static let listCases: [ConformanceCase] = [
        compared(
            "captured-fractions",
            "0.0 and -0.0 are found among each other, NaN among none, and the rest to the last bit.",
            hint: listHint
        ) { c in
            let numbers: [Double] = [-0.0, 0, 1, .nan, 0.1 + 0.2, 0.3, .infinity, -1e300, .leastNonzeroMagnitude]
            let lists: [[Double]] = [
                [0, 1], [-0.0], [-0.0, 7], [.nan, 1], [0.3], [0.1 + 0.2, .infinity, -0.0], [], [.leastNonzeroMagnitude],
                [-1e300],
            ]
            let questions: [[Question<ValueSample, Double>]] = lists.map { list in
                [
                    ("among \(list)", #Predicate { list.contains($0.real) }, { list.contains($0) }),
                    ("not among \(list)", #Predicate { !list.contains($0.real) }, { !list.contains($0) }),
                ]
            }
            try ask(
                c, numbers, of: \ValueSample.real, place: \.text, make: ValueSample.init, questions.flatMap { $0 })
        },
        compared(
            "captured-floats", "Numbers of 32 bits are found among captured ones, zeros of either sign too.",
            hint: listHint
        ) { c in
            let numbers: [Float] = [-0.0, 0, 1, .nan, 0.1, 1.0 / 3, .infinity, .leastNonzeroMagnitude]
            let lists: [[Float]] = [[0, 1], [-0.0], [.nan, 1], [0.1], [1.0 / 3, -0.0], [], [.leastNonzeroMagnitude]]
            let questions: [[Question<ValueSample, Float>]] = lists.map { list in
                [
                    ("among \(list)", #Predicate { list.contains($0.single) }, { list.contains($0) }),
                    ("not among \(list)", #Predicate { !list.contains($0.single) }, { !list.contains($0) }),
                ]
            }
            try ask(
                c, numbers, of: \ValueSample.single, place: \.text, make: ValueSample.init, questions.flatMap { $0 })
        },
        compared(
            "captured-optional-fractions", "Nil is among captured values where nil is, and is not 0.", hint: listHint
        ) { c in
            let numbers: [Double?] = [-0.0, nil, 0, .nan, 1, nil]
            let lists: [[Double?]] = [[0], [-0.0, 1], [nil], [nil, 0], [.nan], []]
            let questions: [[Question<OptionalSample, Double?>]] = lists.map { list in
                [
                    ("among \(list)", #Predicate { list.contains($0.real) }, { list.contains($0) }),
                    ("not among \(list)", #Predicate { !list.contains($0.real) }, { !list.contains($0) }),
                ]
            }
            try ask(
                c, numbers, of: \OptionalSample.real, place: \.label, make: { OptionalSample(label: "") },
                questions.flatMap { $0 })
        },
        compared(
            "captured-dates", "Dates are found among captured ones to the last bit.", hint: listHint
        ) { c in
            let dates = seconds.map(date) + [date(-0.0), date(0), date(.infinity)]
            let lists =
                dates.map { [$0] } + [[], [dates[0], dates[7]], [dates[2], date(5)], dates.suffix(2) + [dates[1]]]
            let questions: [[Question<ValueSample, Date>]] = lists.map { list in
                let text = "\(list.map(\.timeIntervalSinceReferenceDate))"
                return [
                    ("among \(text)", #Predicate { list.contains($0.moment) }, { list.contains($0) }),
                    ("not among \(text)", #Predicate { !list.contains($0.moment) }, { !list.contains($0) }),
                ]
            }
            try ask(
                c, dates, of: \ValueSample.moment, place: \.text, make: ValueSample.init, questions.flatMap { $0 })
        },
        compared(
            "captured-decimals", "Decimals are found among captured ones, however they are written.", hint: listHint
        ) { c in
            func decimal(_ texts: String...) -> [Decimal] { texts.compactMap { Decimal(string: $0) } }
            let numbers = decimal(
                "1.1", "1.10", "100", "1e2", "0", "-0.5", "12345678901234567890123456789012345678",
                "12345678901234567890123456789012345679", "0.1", "1e-38", "1.0000000000000000000000000000001")
            let lists =
                [
                    decimal("1.1"), decimal("1.100"), decimal("1e2", "5"), decimal("100.0"), decimal("0"),
                    decimal("0.00"),
                ]
                + [
                    decimal("12345678901234567890123456789012345678"), decimal("-0.50", "0.10"), decimal("1"), [],
                    decimal("1e-38"),
                ]
            let questions: [[Question<ValueSample, Decimal>]] = lists.map { list in
                [
                    ("among \(list)", #Predicate { list.contains($0.amount) }, { list.contains($0) }),
                    ("not among \(list)", #Predicate { !list.contains($0.amount) }, { !list.contains($0) }),
                ]
            }
            let single: [[Question<ValueSample, Decimal>]] = numbers.map { wanted in
                [("== \(wanted)", #Predicate { $0.amount == wanted }, { $0 == wanted })]
            }
            try ask(
                c, numbers, of: \ValueSample.amount, place: \.text, make: ValueSample.init,
                (questions + single).flatMap { $0 })
        },
        compared(
            "captured-large-integers", "Large integers are found among captured ones to the last digit.", hint: listHint
        ) { c in
            let numbers: [UInt64] = [1 << 53, (1 << 53) + 1, .max, .max - 1, 1 << 63, 0]
            let lists: [[UInt64]] = numbers.map { [$0] } + [[.max, 0], [1 << 53, .max - 1], []]
            let questions: [[Question<ValueSample, UInt64>]] = lists.map { list in
                [
                    ("among \(list)", #Predicate { list.contains($0.wide) }, { list.contains($0) }),
                    ("not among \(list)", #Predicate { !list.contains($0.wide) }, { !list.contains($0) }),
                ]
            }
            try ask(
                c, numbers, of: \ValueSample.wide, place: \.text, make: ValueSample.init, questions.flatMap { $0 })
        },
    ]

    // MARK: Long bytes and addresses

    private static let byteCases: [ConformanceCase] = [
        compared(
            "long-data", "Data that differs in its last byte is told apart, however long it is.",
            hint: "The first bytes are compared, or the length."
        ) { c in
            let values = [255, 300, 2_000, 10_000, 66_000].flatMap { count in
                [Data(repeating: 7, count: count) + [1], Data(repeating: 7, count: count) + [2]]
            }
            let questions: [[Question<ValueSample, Data>]] = values.map { wanted in
                let (list, other) = ([wanted], [Data(), wanted])
                return [
                    ("== \(wanted.count) bytes", #Predicate { $0.bytes == wanted }, { $0 == wanted }),
                    ("!= \(wanted.count) bytes", #Predicate { $0.bytes != wanted }, { $0 != wanted }),
                    ("among one of \(wanted.count) bytes", #Predicate { list.contains($0.bytes) }, { $0 == wanted }),
                    ("not among them", #Predicate { !other.contains($0.bytes) }, { $0 != wanted }),
                ]
            }
            try ask(
                c, values, of: \ValueSample.bytes, place: \.text, make: ValueSample.init, questions.flatMap { $0 })
        },
        compared(
            "long-urls", "URLs that differ in their last character are told apart, however long they are.",
            hint: "The first characters are compared."
        ) { c in
            let values = [255, 300, 2_000, 10_000].flatMap { count in
                ["a", "b"].compactMap { end in
                    URL(string: "https://example.com/" + String(repeating: "x", count: count) + end)
                }
            }
            let questions: [[Question<ValueSample, URL>]] = values.map { wanted in
                let list = [wanted]
                let length = wanted.absoluteString.count
                return [
                    ("== \(length) characters", #Predicate { $0.link == wanted }, { $0 == wanted }),
                    ("!= \(length) characters", #Predicate { $0.link != wanted }, { $0 != wanted }),
                    ("among one of \(length) characters", #Predicate { list.contains($0.link) }, { $0 == wanted }),
                ]
            }
            try ask(c, values, of: \ValueSample.link, place: \.text, make: ValueSample.init, questions.flatMap { $0 })
        },
    ]
}
