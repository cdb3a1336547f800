import Foundation
import MortiseCore

extension ConformanceCase {
    /// Stores one sample for each value and sorts them; `order` are the places of the values, upwards.
    private static func order<Value: Sendable>(
        _ id: String, _ requirement: String, hint: String, _ values: [Value], order: [Int], downwards: [Int]? = nil,
        of property: @escaping @Sendable () -> ReferenceWritableKeyPath<ValueSample, Value>,
        _ key: @escaping @Sendable (SortOrder) -> SortDescriptor<ValueSample>
    ) -> ConformanceCase {
        ConformanceCase("order.\(id)", level: .core, requirement: requirement, hint: hint) { c in
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
            func places(_ order: SortOrder) throws -> [String] {
                try b.fetch(FetchDescriptor<ValueSample>(sortBy: [key(order)])).map { $0.words.first ?? "" }
            }
            try c.expect(try places(.forward), is: order.map { "\($0)" }, "places of the values, upwards:")
            try c.expect(
                try places(.reverse), is: (downwards ?? order.reversed()).map { "\($0)" },
                "places of the values, downwards:")
        }
    }

    static let orderCases: [ConformanceCase] = [
        order(
            "integers", "Integers are sorted as numbers, the negative ones first.", hint: "Numbers are sorted as text.",
            [Int64(9), 10, -1, .min, .max], order: [3, 2, 0, 1, 4], of: { \.large }
        ) { SortDescriptor(\.large, order: $0) },
        order(
            "unsigned-integers", "Unsigned integers beyond the signed ones come last.",
            hint: "Unsigned integers are sorted as signed ones.", [UInt64.max, 0, UInt64(Int64.max) + 1, 5],
            order: [1, 3, 2, 0], of: { \.wide }
        ) { SortDescriptor(\.wide, order: $0) },
        order(
            "floats", "Floats are sorted as numbers, infinities at the ends.", hint: "Bits are sorted.",
            [Float(-1), -2, .infinity, 0.5, -.infinity], order: [4, 1, 0, 3, 2], of: { \.single }
        ) { SortDescriptor(\.single, order: $0) },
        order(
            "doubles", "Doubles are sorted to the last bit.", hint: "Doubles are rounded before they are sorted.",
            [0.1 + 0.2, 0.3, .leastNonzeroMagnitude, 0], order: [3, 2, 1, 0], of: { \.real }
        ) { SortDescriptor(\.real, order: $0) },
        order(
            "nan", "NaN comes before every number, and after every one downwards.",
            hint: "Comparisons with NaN are false, so nothing is in order.", [1, .nan, -.infinity, .infinity],
            order: [1, 2, 0, 3], of: { \.real }
        ) { SortDescriptor(\.real, order: $0) },
        order(
            "negative-zero", "-0.0 and 0.0 are equal in an order, and keep that of insertion.",
            hint: "Bits are sorted, or ties are turned around.", [0.0, -0.0, -1], order: [2, 0, 1],
            downwards: [0, 1, 2], of: { \.real }
        ) { SortDescriptor(\.real, order: $0) },
        order(
            "decimals", "Decimals are sorted by all of their digits.", hint: "Decimals are sorted as text or doubles.",
            ["10", "9", "12345678901234567890123456789012345679", "12345678901234567890123456789012345678", "-3"]
                .map { Decimal(string: $0) ?? 0 }, order: [4, 1, 0, 3, 2], of: { \.amount }
        ) { SortDescriptor(\.amount, order: $0) },
        order(
            "dates", "Dates are sorted to the last bit.", hint: "Dates are sorted by whole seconds.",
            [0.75, 0.25, -1, 0.5].map { Date(timeIntervalSinceReferenceDate: $0) }, order: [2, 1, 3, 0],
            of: { \.moment }
        ) { SortDescriptor(\.moment, order: $0) },
        order(
            "uuids", "UUIDs are sorted by their bytes.", hint: "The last bytes are sorted first.",
            [
                UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 200)),
                UUID(uuid: (200, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)),
                UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 9)),
            ], order: [2, 0, 1], of: { \.token }
        ) { SortDescriptor(\.token, order: $0) },
        order(
            "text", "Text is sorted by scalars, capitals before small letters.",
            hint: "The store's collation is another one, or compares UTF-16.",
            ["b", "B", "a", "😀", "\u{FF5E}", "é", ""],
            order: [6, 1, 2, 0, 5, 4, 3], of: { \.text }
        ) { SortDescriptor(\.text, comparator: .lexical, order: $0) },
        ConformanceCase(
            "order.through-a-relationship", level: .core,
            requirement: "A fetch is sorted by a property of a to-one relationship's target, nil first.",
            hint: "Records without a target are left out by an inner join."
        ) { c in
            try storeItems(c)
            let order = [SortDescriptor(\Item.crate?.label), SortDescriptor(\Item.size, order: .reverse)]
            try c.expect(
                try c.session().fetch(FetchDescriptor<Item>(sortBy: order)).map(\.name),
                is: ["bellows", "engine", "timber", "Candle", "e\u{301}crin", "bell", "horn", "anvil"],
                "names in order:")
        },
        ConformanceCase(
            "order.of-a-family", level: .core,
            requirement: "Records of a class and its subclasses are sorted among each other.",
            hint: "Each entity's records are sorted by themselves."
        ) { c in
            try storeItems(c)
            let order = [SortDescriptor(\Item.size, order: .reverse)]
            try c.expect(
                try c.session().fetch(FetchDescriptor<Item>(sortBy: order)).map(\.size),
                is: [7, 6, 5, 4, 3, 2, 1, 0], "sizes in order:")
        },
        ConformanceCase(
            "order.after-a-filter", level: .core,
            requirement: "What a predicate leaves is sorted, and cut after that.",
            hint: "The window is taken of the order of insertion."
        ) { c in
            try storeItems(c)
            var descriptor = FetchDescriptor<Item>(
                predicate: #Predicate { $0.size > 1 }, sortBy: [SortDescriptor(\.size, order: .reverse)])
            descriptor.fetchOffset = 1
            descriptor.fetchLimit = 2
            try c.expect(try c.session().fetch(descriptor).map(\.size), is: [6, 5], "sizes:")
        },
    ]
}
