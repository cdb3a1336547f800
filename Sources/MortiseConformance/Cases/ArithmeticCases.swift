import Foundation
import MortiseCore

/// Arithmetic at the bounds of integers, in a store as in memory.
extension ConformanceCase {
    private static let overflowHint =
        "The engine makes a fraction, a wider integer or nothing of what does not fit. Claim arithmetic of integers as residual."

    private static func isOverflow(_ error: any Error) -> Bool {
        if case .arithmeticOverflow? = error as? QueryEvaluationError { true } else { false }
    }

    private static func overflow(
        _ id: String, _ requirement: String, _ predicate: @escaping @Sendable () -> Predicate<Item>
    ) -> ConformanceCase {
        impossible(
            "arithmetic.\(id)", requirement, hint: overflowHint, "arithmeticOverflow", matching: isOverflow, predicate)
    }

    /// A case with samples, whose questions of the second list cannot be answered.
    private static func bounds(
        _ id: String, _ requirement: String, hint: String = overflowHint,
        _ fill: @escaping @Sendable (ValueSample) -> Void,
        finds: @escaping @Sendable () -> [(String, Predicate<ValueSample>)],
        overflows: @escaping @Sendable () -> [(String, Predicate<ValueSample>)]
    ) -> ConformanceCase {
        ConformanceCase("arithmetic.\(id)", level: .full, requirement: requirement, hint: hint) { c in
            let sample = ValueSample()
            fill(sample)
            try c.session().store(sample)
            for (text, predicate) in finds() {
                let found = try c.session().count(FetchDescriptor(predicate: predicate))
                try c.expect(found, is: 1, "samples with \(text):")
            }
            for (text, predicate) in overflows() {
                let b = try c.session()
                try c.expectError("QueryEvaluationError.arithmeticOverflow of \(text)", matching: isOverflow) {
                    _ = try b.fetch(FetchDescriptor(predicate: predicate))
                }
                let d = try c.session()
                try c.expectError("QueryEvaluationError.arithmeticOverflow of a count of \(text)", matching: isOverflow)
                {
                    _ = try d.count(FetchDescriptor(predicate: predicate))
                }
            }
        }
    }

    static let arithmeticCases: [ConformanceCase] = [
        overflow("sum-overflow", "A sum that does not fit throws, and is neither a fraction nor negative.") {
            let most = Int.max
            return #Predicate { $0.size + most > 0 }
        },
        overflow("difference-overflow", "A difference that does not fit throws.") {
            let least = Int.min
            return #Predicate { $0.size - least > 0 }
        },
        overflow("product-overflow", "A product that does not fit throws.") {
            let many = 4_000_000_000_000_000_000
            return #Predicate { $0.size * many > 5 }
        },
        overflow("overflow-as-an-operand", "A sum that does not fit throws inside of other arithmetic, too.") {
            let most = Int.max
            return #Predicate { ($0.size + most) - most == 1 }
        },
        overflow("overflow-behind-a-negation", "A sum that does not fit throws under a negation.") {
            let most = Int.max
            return #Predicate { !($0.size + most < 0) }
        },
        bounds(
            "least-integer",
            "The opposite, the quotient and the remainder of the least integer throw where they do not fit.",
            {
                $0.large = .min
                $0.whole = .min
                $0.tiny = .min
            },
            finds: {
                let one: Int64 = 1
                return [("large / 1 < 0", #Predicate { $0.large / one < 0 })]
            },
            overflows: {
                let (one, wide, small): (Int, Int64, Int8) = (-1, -1, -1)
                return [
                    ("-whole", #Predicate { -$0.whole > 0 }), ("whole / -1", #Predicate { $0.whole / one > 0 }),
                    ("whole % -1", #Predicate { $0.whole % one == 0 }),
                    ("large * -1", #Predicate { $0.large * wide > 0 }),
                    ("-tiny", #Predicate { -$0.tiny > 0 }), ("tiny / -1", #Predicate { $0.tiny / small > 0 }),
                ]
            }),
        bounds(
            "small-integers", "Arithmetic of small integers is that of their own type, not of a wider one.",
            {
                $0.tiny = 100
                $0.small = 30_000
                $0.medium = 2_000_000_000
                $0.byte = 200
                $0.word = 60_000
                $0.half = 4_000_000_000
            },
            finds: {
                let (tiny, byte, small): (Int8, UInt8, Int16) = (27, 55, 2_767)
                return [
                    ("tiny + 27 == 127", #Predicate { $0.tiny + tiny == 127 }),
                    ("byte + 55 == 255", #Predicate { $0.byte + byte == 255 }),
                    ("small + 2767 == 32767", #Predicate { $0.small + small == 32_767 }),
                ]
            },
            overflows: {
                let (tiny, byte, small): (Int8, UInt8, Int16) = (28, 56, 2_768)
                let (medium, word, half): (Int32, UInt16, UInt32) = (2, 6_000, 2)
                return [
                    ("tiny + 28", #Predicate { $0.tiny + tiny > 0 }), ("byte + 56", #Predicate { $0.byte + byte > 0 }),
                    ("small + 2768", #Predicate { $0.small + small > 0 }),
                    ("medium * 2", #Predicate { $0.medium * medium > 0 }),
                    ("word + 6000", #Predicate { $0.word + word > 0 }),
                    ("half * 2", #Predicate { $0.half * half > 0 }),
                ]
            }),
        bounds(
            "unsigned-integers", "Unsigned integers have no negative differences, and reach beyond the signed ones.",
            {
                $0.wide = .max
                $0.half = 1
            },
            finds: {
                let one: UInt64 = 1
                let limit = UInt64(Int64.max)
                return [
                    ("wide - 1 > Int64.max", #Predicate { $0.wide - one > limit }),
                    ("wide / 1 > Int64.max", #Predicate { $0.wide / one > limit }),
                ]
            },
            overflows: {
                let (one, two): (UInt64, UInt32) = (1, 2)
                return [
                    ("wide + 1", #Predicate { $0.wide + one > 0 }), ("half - 2", #Predicate { $0.half - two > 0 }),
                ]
            }),
        bounds(
            "fractions-do-not-overflow", "Floating-point arithmetic gives an infinity where a number is too large.",
            hint: "An infinity was read as null, or as an error.",
            {
                $0.real = .greatestFiniteMagnitude
                $0.single = .greatestFiniteMagnitude
            },
            finds: {
                let (ten, single) = (10.0, Float(10))
                return [
                    ("real * 10 > 0", #Predicate { $0.real * ten > 0 }),
                    ("real * -10 < 0", #Predicate { $0.real * -ten < 0 }),
                    ("single * 10 > 0", #Predicate { $0.single * single > 0 }),
                ]
            }, overflows: { [] }),
        ConformanceCase(
            "arithmetic.overflow-behind-a-condition", level: .full,
            requirement: "A condition before one that may overflow guards it.",
            hint: "Conditions are evaluated in another order than written."
        ) { c in
            try storeItems(c)
            let most = Int.max
            let guarded = FetchDescriptor<Item>(predicate: #Predicate { $0.size == 0 && $0.size + most > 0 })
            try c.expect(try c.session().fetch(guarded).map(\.name), is: ["e\u{301}crin"], "names:")
        },
        ConformanceCase(
            "arithmetic.planned-guards", level: .full, capability: .queries,
            requirement:
                "A store that claims a condition that may overflow evaluates it where those before it hold, and only there.",
            hint: "Conditions are evaluated in another order than written, or all at once."
        ) { c in
            try storeEntries(c)
            let probe = try PlanProbe(c)
            let rank = try probe.property("rank")
            let most = QueryExpression.constant(.integer(.max))
            let beyond = QueryExpression.compare(
                .greater, .arithmetic(.add, .coalesce(rank, .constant(.integer(0))), most, .int64),
                .constant(.integer(0)))
            try probe.check(
                StoreQuery("Entry", conjuncts: [.compare(.equal, rank, .constant(.integer(-7))), beyond]))
            try probe.check(
                StoreQuery(
                    "Entry",
                    conjuncts: [.compare(.equal, try probe.property("name"), .constant(.string("none"))), beyond]))
        },
        ConformanceCase(
            "arithmetic.totals-of-groups", level: .full,
            requirement: "The total of a group throws if it does not fit, and no total that fits does.",
            hint: "The engine sums into a wider integer or a fraction."
        ) { c in
            func store(_ values: [(text: String, large: Int64, byte: UInt8)], _ c: CaseContext) throws {
                let a = try c.session()
                for value in values {
                    let sample = ValueSample()
                    (sample.text, sample.large, sample.byte) = value
                    a.context.insert(sample)
                }
                a.change("insert \(values.count) samples") {}
                try a.save()
            }
            // In this order the total of "a" is too large before it fits, and so is that of "b" below.
            try store(
                [("a", .max, 200), ("b", .min, 0), ("a", 5, 55), ("b", -5, 255), ("a", -6, 0), ("b", 6, 0)], c)
            let samples = FetchDescriptor<ValueSample>()
            func totals() throws -> [Int64] {
                try c.session().context.aggregate(samples, by: \.text, .sum(\.large)).map(\.values)
            }
            try c.expect(try totals(), is: [.max - 1, .min + 1], "totals of large:")
            let bytes = try c.session().context.aggregate(samples, by: \.text, .sum(\.byte)).map(\.values)
            try c.expect(bytes, is: [255, 255], "totals of byte:")
            try store([("b", 0, 1), ("a", 2, 0)], c)
            try c.expectError("QueryEvaluationError.arithmeticOverflow", matching: isOverflow) { _ = try totals() }
            try c.expectError("QueryEvaluationError.arithmeticOverflow", matching: isOverflow) {
                _ = try c.session().context.aggregate(samples, by: \.text, .sum(\.byte))
            }
        },
        ConformanceCase(
            "arithmetic.total-overflow", level: .full,
            requirement:
                "A total that does not fit the property's type throws, and one that fits when all is added does not.",
            hint: "The engine sums into a wider integer or a fraction."
        ) { c in
            let (one, two, three) = (ValueSample(), ValueSample(), ValueSample())
            (one.large, two.large, three.large) = (.max, 1, -1)
            (one.tiny, two.tiny, three.tiny) = (100, 27, 0)
            let a = try c.session()
            try a.store(one, two)
            c.note("total of large and tiny")
            try c.expect(
                try a.context.aggregate(FetchDescriptor<ValueSample>(), .sum(\.tiny)), is: 127, "total of tiny:")
            try c.expectError("QueryEvaluationError.arithmeticOverflow", matching: isOverflow) {
                _ = try c.session().context.aggregate(FetchDescriptor<ValueSample>(), .sum(\.large))
            }
            three.tiny = 1
            try a.store(three)
            try c.expect(
                try c.session().context.aggregate(FetchDescriptor<ValueSample>(), .sum(\.large)), is: .max,
                "total of large:")
            try c.expectError("QueryEvaluationError.arithmeticOverflow", matching: isOverflow) {
                _ = try c.session().context.aggregate(FetchDescriptor<ValueSample>(), .sum(\.tiny))
            }
        },
    ]
}
