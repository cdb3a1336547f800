import Foundation
import MortiseCore

extension ConformanceCase {
    /// Stores one sample for each value and asks for some of them by their place.
    private static func comparison<Value: Sendable>(
        _ id: String, _ requirement: String, hint: String, _ values: [Value],
        of property: @escaping @Sendable () -> ReferenceWritableKeyPath<ValueSample, Value>,
        _ questions: @escaping @Sendable () -> [(Predicate<ValueSample>, [Int])]
    ) -> ConformanceCase {
        ConformanceCase("comparison.\(id)", level: .core, requirement: requirement, hint: hint) { c in
            let a = try c.session()
            a.change("insert \(values.count) samples") {
                for (place, value) in values.enumerated() {
                    let sample = ValueSample()
                    sample[keyPath: property()] = value
                    sample.words = ["\(place)"]
                    a.context.insert(sample)
                }
            }
            try a.save()
            let b = try c.session()
            for (predicate, places) in questions() {
                let found = try b.fetch(FetchDescriptor(predicate: predicate))
                try c.expect(
                    found.map { $0.words.first ?? "" }, is: places.map { "\($0)" }, "places of the values that match:")
                try c.expect(
                    try b.count(FetchDescriptor(predicate: predicate)), is: places.count, "count of what matches:")
            }
        }
    }

    private static let numberHint = "The number is compared in a type that cannot hold it."

    private static let linksWithBases: [URL] = {
        let bases = ["https://example.com/", "https://example.com/b/"].map { URL(string: $0) }
        return [
            URL(string: "https://example.com/a"), URL(string: "a", relativeTo: bases[0]),
            URL(string: "../a", relativeTo: bases[1]), URL(string: "/a", relativeTo: bases[0]),
        ].compactMap { $0 }
    }()

    static let comparisonCases: [ConformanceCase] = [
        comparison(
            "large-integers", "Integers beyond 2^53 are compared to the last digit.", hint: numberHint,
            [Int64.min, (1 << 53), (1 << 53) + 1, .max - 1, .max], of: { \.large }
        ) {
            let odd: Int64 = (1 << 53) + 1
            let last = Int64.max
            return [(#Predicate { $0.large == odd }, [2]), (#Predicate { $0.large < last }, [0, 1, 2, 3])]
        },
        comparison(
            "unsigned-integers", "Unsigned integers beyond the signed ones are larger than these.", hint: numberHint,
            [UInt64(0), 1, UInt64(Int64.max), UInt64(Int64.max) + 1, .max], of: { \.wide }
        ) {
            let one: UInt64 = 1
            let largest = UInt64.max
            return [(#Predicate { $0.wide > one }, [2, 3, 4]), (#Predicate { $0.wide == largest }, [4])]
        },
        comparison(
            "floats", "A Float is equal to itself.", hint: "A Float is compared with its value as a Double.",
            [Float(0.1), 0.25, 1.0 / 3], of: { \.single }
        ) {
            let tenth: Float = 0.1
            let third: Float = 1.0 / 3
            return [(#Predicate { $0.single == tenth }, [0]), (#Predicate { $0.single >= third }, [2])]
        },
        comparison(
            "doubles", "Doubles are compared to the last bit.",
            hint: "The number passes through text of too few digits.",
            [0.1 + 0.2, 0.3, 1e300, -1e300], of: { \.real }
        ) {
            let sum = 0.1 + 0.2
            let third = 0.3
            return [(#Predicate { $0.real == sum }, [0]), (#Predicate { $0.real <= third }, [1, 3])]
        },
        comparison(
            "nan", "NaN equals nothing, not even itself, and is neither less nor greater.",
            hint: "NaN is kept as null, or as a number like others.", [Double.nan, 1, .infinity, -.infinity],
            of: { \.real }
        ) {
            let none = Double(signOf: 1, magnitudeOf: .nan)
            return [
                (#Predicate { $0.real == none }, []), (#Predicate { $0.real != none }, [0, 1, 2, 3]),
                (#Predicate { $0.real < 2 }, [1, 3]), (#Predicate { $0.real >= -5 }, [1, 2]),
            ]
        },
        comparison(
            "negative-zero", "-0.0 equals 0.0.", hint: "Bits are compared.", [-0.0, 0.0, 1], of: { \.real }
        ) { [(#Predicate { $0.real == 0 }, [0, 1]), (#Predicate { $0.real < 0 }, [])] },
        comparison(
            "decimals", "Decimals are compared to the last of 38 digits.", hint: numberHint,
            [
                Decimal(string: "0.1") ?? 0, Decimal(string: "12345678901234567890123456789012345678") ?? 0,
                Decimal(string: "12345678901234567890123456789012345679") ?? 0,
            ], of: { \.amount }
        ) {
            let large = Decimal(string: "12345678901234567890123456789012345678") ?? 0
            return [(#Predicate { $0.amount == large }, [1]), (#Predicate { $0.amount > large }, [2])]
        },
        comparison(
            "dates", "Dates are compared to the last bit.",
            hint: "Dates are compared by whole seconds or milliseconds.",
            [0, 0.1, 0.100_000_1, -1e9].map { Date(timeIntervalSinceReferenceDate: $0) }, of: { \.moment }
        ) {
            let tenth = Date(timeIntervalSinceReferenceDate: 0.1)
            return [(#Predicate { $0.moment == tenth }, [1]), (#Predicate { $0.moment > tenth }, [2])]
        },
        comparison(
            "uuids", "UUIDs are equal where all of their bytes are.", hint: "The last bytes are not compared.",
            [
                UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16)),
                UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 17)),
            ],
            of: { \.token }
        ) {
            let wanted = UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16))
            return [(#Predicate<ValueSample> { $0.token == wanted }, [0])]
        },
        comparison(
            "data", "Data is equal where all of its bytes are.", hint: "A prefix or a digest is compared.",
            [Data(repeating: 7, count: 40), Data(repeating: 7, count: 39) + [8], Data()], of: { \.bytes }
        ) {
            let wanted = Data(repeating: 7, count: 40)
            let empty = Data()
            return [(#Predicate { $0.bytes == wanted }, [0]), (#Predicate { $0.bytes == empty }, [2])]
        },
        comparison(
            "urls", "URLs are equal where they are written alike.",
            hint: "URLs are normalized before they are compared.",
            ["https://example.com/A", "https://example.com/a", "https://example.com/a/"].compactMap { URL(string: $0) },
            of: { \.link }
        ) {
            let wanted = URL(string: "https://example.com/a") ?? URL(fileURLWithPath: "/")
            return [(#Predicate { $0.link == wanted }, [1])]
        },
        comparison(
            "urls-with-bases", "A URL with a base is equal to one with the same base and text, and to no other.",
            hint: "URLs are compared by the text of what they lead to.",
            linksWithBases, of: { \.link }
        ) {
            linksWithBases.enumerated().map { place, wanted in (#Predicate { $0.link == wanted }, [place]) }
        },
        comparison(
            "text-with-nul", "Texts are compared beyond a NUL.",
            hint: "The text is handed to something that ends at NUL.",
            ["a\u{0}b", "a\u{0}c", "a"], of: { \.text }
        ) {
            let wanted = "a\u{0}b"
            return [(#Predicate { $0.text == wanted }, [0]), (#Predicate { $0.text > wanted }, [1])]
        },
        comparison(
            "text-with-spaces", "Spaces at the end of a text count.",
            hint: "Texts are padded, as columns of type CHAR are.",
            ["a", "a ", " a"], of: { \.text }
        ) { [(#Predicate { $0.text == "a" }, [0]), (#Predicate { $0.text == "a " }, [1])] },
        comparison(
            "text-beyond-the-basic-plane", "Text is ordered by scalars, not by code units.",
            hint: "Text is compared in UTF-16.", ["\u{FF5E}", "😀", "a"], of: { \.text }
        ) {
            let wave = "\u{FF5E}"
            return [(#Predicate { $0.text > wave }, [1]), (#Predicate { $0.text == wave }, [0])]
        },
        comparison(
            "booleans", "true and false are distinct.", hint: "Any number but 0 is true, or false is null.",
            [true, false, true], of: { \.flag }
        ) { [(#Predicate { $0.flag == true }, [0, 2]), (#Predicate { $0.flag == false }, [1])] },
        comparison(
            "enums-of-numbers", "An enum of numbers is compared by its raw value.",
            hint: "Cases are kept by position, or in too few bits.", [Priority.low, .normal, .high],
            of: { \.priority }
        ) {
            let high = 1_000_000_000_000
            return [(#Predicate { $0.priority.rawValue == high }, [2]), (#Predicate { $0.priority.rawValue < 0 }, [0])]
        },
    ]
}
