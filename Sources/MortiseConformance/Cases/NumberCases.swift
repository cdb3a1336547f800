import Foundation
import MortiseCore

extension ConformanceCase {
    static let numberCases: [ConformanceCase] = [
        ConformanceCase(
            "values.large-integers-are-exact", level: .core,
            requirement: "Integers beyond 2^53 keep every bit.",
            hint: "The number passes through Double or a JSON reader that makes one of it."
        ) { c in
            let two53: Int64 = 1 << 53
            try c.roundTrip(
                [two53 - 1, two53, two53 + 1, -two53 - 1, two53 * 512 + 1], of: \ValueSample.large, "large",
                make: ValueSample.init)
        },
        ConformanceCase(
            "values.doubles-to-the-last-bit", level: .core,
            requirement:
                "Doubles come back with the same bits: NaN, both zeros, infinities, subnormals and long fractions.",
            hint: "The number passes through decimal text of too few digits, or NaN is stored as null."
        ) { c in
            let numbers: [Double] = [
                .nan, -0.0, 0.0, .infinity, -.infinity, .leastNonzeroMagnitude, .leastNormalMagnitude,
                .greatestFiniteMagnitude, 0.1, 1.0 / 3, .pi, 1e22, 123_456_789.123_456_79, .ulpOfOne,
            ]
            try c.roundTrip(numbers, of: \ValueSample.real, "real", make: ValueSample.init)
        },
        ConformanceCase(
            "values.nan-is-not-nil", level: .core,
            requirement: "An optional number that is NaN comes back as NaN, and nil as nil.",
            hint: "Databases turn NaN into NULL; store it in another form."
        ) { c in
            try c.roundTrip(
                [Double.nan, nil, 0, -0.0, .infinity], of: \OptionalSample.real, "real",
                make: { OptionalSample(label: "x") })
        },
        ConformanceCase(
            "values.floats-to-the-last-bit", level: .core,
            requirement: "Floats come back with the same bits.",
            hint: "A Float that is kept as Double has to come back through Float's own rounding."
        ) { c in
            try c.roundTrip(
                [
                    Float.nan, -0.0, .infinity, .leastNonzeroMagnitude, .greatestFiniteMagnitude, 0.1, 1.0 / 3, .pi,
                    16_777_215,
                ], of: \ValueSample.single, "single", make: ValueSample.init)
        },
        ConformanceCase(
            "values.decimals-of-38-digits", level: .core,
            requirement: "A Decimal comes back with all of its 38 digits, large, small and negative.",
            hint: "The number passes through Double. Keep its text."
        ) { c in
            let texts = [
                "0", "0.1", "-0.1", "12345678901234567890123456789012345678",
                "0.12345678901234567890123456789012345678",
                "-99999999999999999999999999999999999999", "1e-100", "9e120",
                "3.14159265358979323846264338327950288419",
            ]
            try c.roundTrip(
                texts.compactMap { Decimal(string: $0) }, of: \ValueSample.amount, "amount", make: ValueSample.init)
        },
        ConformanceCase(
            "values.sign-of-zero-can-be-updated", level: .core,
            requirement: "An update from 0.0 to -0.0 is a change, and is stored.",
            hint: "The store compares old and new value with == to save a write; 0.0 == -0.0."
        ) { c in
            try c.rewrite([0.0, -0.0, 0.0, .nan, -0.0], of: \ValueSample.real, "real", make: ValueSample.init)
        },
    ]
}
