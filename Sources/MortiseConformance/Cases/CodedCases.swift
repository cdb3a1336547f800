import Foundation
import MortiseCore

/// What `Codable` values are made of: nils, numbers, texts and keys that look like something else, values inside values.
extension ConformanceCase {
    private static let treeHint =
        "A coded value is a tree of nulls, Booleans, numbers, texts, arrays and objects. Each leaf and each key is kept as it is."

    private static func coded<Value>(
        _ id: String, _ requirement: String,
        _ property: @escaping @Sendable () -> ReferenceWritableKeyPath<CodedSample, Value>,
        _ values: @escaping @Sendable () -> [Value]
    ) -> ConformanceCase {
        ConformanceCase("values.coded-\(id)", level: .core, requirement: requirement, hint: treeHint) { c in
            try c.roundTrip(values(), of: property(), id, make: CodedSample.init)
        }
    }

    private static func nest(_ depth: Int) -> Nest {
        var nest = Nest(name: "depth \(depth)", place: Place(name: "p\(depth)", latitude: Double(depth)))
        if depth > 0 { nest.inner = [nest, Self.nest(depth - 1), Nest()] }
        return nest
    }

    /// Texts that are something else where a format has no kinds.
    private static let likeOtherKinds = [
        "", " ", "null", "nil", "true", "false", "0", "1", "-0", "1.0", "1e3", "007", "9007199254740993", "nan", "NaN",
        "inf",
        "-inf", "nan:7ff8000000000123", "[]", "{}", "\"\"", "2001-01-01T00:00:00Z", "AAAA", "https://example.com", "é",
        "e\u{301}",
        "a\u{0}b",
    ]

    static let codedCases: [ConformanceCase] = [
        coded("nils", "Nils in an array are kept, each in its place.", { \.gaps }) {
            [[], [nil], [1, nil, 3], [nil, nil], [nil, 0, nil, -1, nil], [9_007_199_254_740_993, nil]]
        },
        coded("nils-of-dictionaries", "A key whose value is nil is kept, and is not a missing key.", { \.marks }) {
            [[:], ["a": nil], ["a": nil, "b": 0, "": nil], ["a": 1]]
        },
        coded(
            "fractions",
            "Fractions in an array are kept to the last bit: infinities, NaN, -0.0, the least and the greatest.",
            {
                \.reals
            }
        ) {
            [
                [], [.nan], [.infinity, -.infinity, -0.0, 0.0], [odd, negative],
                [0.1 + 0.2, 1.0 / 3, .leastNonzeroMagnitude, .greatestFiniteMagnitude],
                [1, 2, 3, -4, 1e22, 9_007_199_254_740_992, 1e300, 0x1p63],
            ]
        },
        coded("integers", "Integers in an array are kept to the last digit, beyond 2^53 too.", { \.wholes }) {
            [[.min, .max, 0, -1, 1], [9_007_199_254_740_993, -9_007_199_254_740_993, 1 << 62 + 1], []]
        },
        coded("empty-parts", "Empty arrays and dictionaries inside of others are kept.", { \.grid }) {
            [[], [[]], [[], [[]], []], [[[]], [[1], []], [[], [2, 3]]], [[[1, 2], [3]], [[4]]]]
        },
        coded("empty-tables", "Empty dictionaries inside of dictionaries are kept.", { \.table }) {
            [[:], ["": [:]], ["a": [:], "b": ["": 0]], ["a": ["b": .nan, "c": -0.0], "b": ["b": 1.5]]]
        },
        coded("texts-like-other-kinds", "A text that looks like a number, a null or a date stays a text.", { \.words })
        {
            [likeOtherKinds, ["1", "2"], ["true"], ["null"]]
        },
        coded(
            "values-like-other-kinds", "A text in a dictionary that looks like something else stays a text.",
            { \.texts }
        ) {
            [Dictionary(uniqueKeysWithValues: likeOtherKinds.prefix(24).enumerated().map { ("key \($0)", $1) })]
        },
        coded(
            "keys",
            "Keys of dictionaries are kept as they are: empty, with spaces, points and case, and like numbers and nulls.",
            { \.texts }
        ) {
            [
                [
                    "": "empty", " ": "space", "  a ": "spaces", "a": "a", "A": "A", "a.b": "point", "a/b": "slash",
                    "a[0]": "index",
                ],
                ["0": "zero", "1": "one"],
                ["1": "one", "01": "leading zero", "1.0": "fraction", "-1": "negative", "1e0": "power"],
                [
                    "null": "null", "true": "true", "nil": "nil", "$ref": "r", "@id": "i", "__proto__": "p",
                    "type": "t", "value": "v",
                ],
                ["relative": "r", "base": "b"],
                ["case": "c", "string": "s", "integer": "i", "array": "a", "object": "o"],
                ["\"": "quote", "\\": "backslash", "\n": "line", "\u{0}": "nul", "é": "e", "日本": "j", "😀": "far"],
                ["e\u{301}": "decomposed"], ["\u{E9}": "composed"],
            ]
        },
        coded("keys-that-are-numbers", "Dictionaries with integers as keys keep them.", { \.numbered }) {
            [
                [:], [0: "zero"], [1: "one", 2: "two", 3: "three"],
                [.min: "least", .max: "greatest", -1: "", 10: "ten", 9: "nine"],
            ]
        },
        coded("keys-that-are-cases", "Dictionaries with an enum's cases as keys keep them.", { \.tinted }) {
            [[:], [.red: 1], [.white: -1, .green: .max, .red: .min]]
        },
        coded("nested-values", "A value keeps what it is made of, and values of its own type inside of it.", { \.nest })
        {
            var all = Nest(
                name: "e\u{301}", inner: [], place: Place(name: "", latitude: -0.0, tags: ["", "a"], note: nil))
            all.flags = [true, false, true]
            all.wide = .max
            all.least = .min
            all.single = 0.1
            all.real = odd
            all.date = Date(timeIntervalSinceReferenceDate: 0.1)
            all.bytes = Data([0, 255, 1])
            all.link = URL(string: "page", relativeTo: URL(string: "https://example.com/folder/")) ?? all.link
            all.amount = Decimal(string: "12345678901234567890123456789012345678") ?? 0
            all.token = UUID(uuid: (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 255))
            all.shape = .path([.nothing, .circle(radius: .infinity, center: nil)], isClosed: false)
            var never = Nest(name: "never")
            never.date = Date(timeIntervalSinceReferenceDate: .nan)
            never.amount = .nan
            never.single = .infinity
            never.wide = UInt64(Int64.max) + 1
            never.flags = [false]
            var infinite = Nest(name: "infinite")
            infinite.date = Date(timeIntervalSinceReferenceDate: -.infinity)
            infinite.single = -.infinity
            return [nil, Nest(), all, never, infinite, nest(4)]
        },
        coded(
            "enums-with-values", "An enum with associated values comes back as the case it was, with its values.",
            { \.shapes }
        ) {
            let place = Place(name: "p", latitude: 1, tags: [], note: "")
            return [
                [], [.nothing], [.circle(radius: 1.5, center: place), .circle(radius: -0.0, center: nil)],
                [.path([], isClosed: true), .path([.path([.nothing], isClosed: false)], isClosed: true)],
            ]
        },
        ConformanceCase(
            "values.coded-updates", level: .core,
            requirement:
                "A change inside a coded value is stored: of a nil, of the sign of zero, of a key's form, of depth.",
            hint: "The store compares old and new value by == or by a text of it, and leaves out the write."
        ) { c in
            try c.rewrite(
                [["a": nil], ["a": 0], [:], ["A": 0], ["a": nil, "b": nil]], of: \CodedSample.marks, "marks",
                make: CodedSample.init)
        },
        ConformanceCase(
            "values.coded-updates-of-equal-values", level: .core,
            requirement: "A coded value is exchanged for one that == holds for equal, and that is not the same.",
            hint: "The store compares old and new value by ==, and leaves out the write."
        ) { c in
            try c.rewrite(
                [[0.0], [-0.0], [0.0, .nan], [.nan], [odd], [0.0]], of: \CodedSample.reals, "reals",
                make: CodedSample.init)
        },
        ConformanceCase(
            "values.coded-keys-in-another-form", level: .core,
            requirement: "A key of a dictionary is exchanged for a canonically equivalent one.",
            hint: "The store compares old and new value by ==, or keys are composed."
        ) { c in
            try c.rewrite(
                [["e\u{301}": "x"], ["\u{E9}": "x"], ["\u{E9}": "e\u{301}"], ["\u{E9}": "\u{E9}"]],
                of: \CodedSample.texts, "texts",
                make: CodedSample.init)
        },
    ]

    private static let odd = Double(bitPattern: 0x7FF8_0000_0000_0123)
    private static let negative = Double(bitPattern: 0xFFF8_0000_0000_0000)
}
