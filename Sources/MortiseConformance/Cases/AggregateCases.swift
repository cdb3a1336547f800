import Foundation
import MortiseCore

/// What an aggregation makes of values that are missing, equal in another form, or not numbers. Each case asks a context, and
/// the store itself where it claims to aggregate.
extension ConformanceCase {
    private static let nilHint =
        "Nil is added or counted as 0, or a total of nothing is nil. Nil is no value: only count counts its record."
    private static let groupHint =
        "The store groups by its own form of a value. AggregateGroups decides which values are one group."

    // MARK: Results as text

    private static func text(_ value: StoredValue) -> String {
        switch value {
        case .null: "nil"
        case .bool(let value): "\(value)"
        case .integer(let value): "\(value)"
        case .unsigned(let value): "\(value)"
        case .float(let value): value.isNaN ? "NaN" : "\(value == 0 ? 0 : value)"
        case .double(let value): value.isNaN ? "NaN" : "\(value == 0 ? 0 : value)"
        case .decimal(let value): value.isNaN ? "NaN" : "\(value)"
        case .date(let value): "day \(text(.double(value.timeIntervalSinceReferenceDate)))"
        case .string(let value):
            value.utf8.count < 40
                ? "\"\(value)\"" : "\"\(value.prefix(8))…\(value.suffix(2))\" of \(value.utf8.count) bytes"
        default: "\(value)"
        }
    }

    private static func text<Value: PersistentScalar>(_ value: Value?) -> String {
        text(value?.storedValue ?? .null)
    }

    /// What a context finds for a property: each group by label, with count, sum, average, minimum and maximum.
    private static func totals<Value: PersistentScalar & AdditiveArithmetic & Comparable, Average: PersistentScalar>(
        _ c: CaseContext, _ descriptor: FetchDescriptor<OptionalSample>, _ sum: Aggregate<OptionalSample, Value>,
        _ average: Aggregate<OptionalSample, Average?>, _ minimum: Aggregate<OptionalSample, Value?>,
        _ maximum: Aggregate<OptionalSample, Value?>
    ) throws -> (groups: [String], all: String) {
        let context = try c.session().context
        let found = try context.aggregate(descriptor, by: \.label, .count, sum, average, minimum, maximum)
        let groups = found.map { group in
            let (count, sum, average, least, greatest) = group.values
            return "\(text(group.key)): \(count) \(text(sum)) \(text(average)) \(text(least)) \(text(greatest))"
        }
        let all = try context.aggregate(descriptor, .count, sum, average, minimum, maximum)
        return (groups, "\(all.0) \(text(all.1)) \(text(all.2)) \(text(all.3)) \(text(all.4))")
    }

    // MARK: The store itself

    private enum Function { case count, sum, average, minimum, maximum }

    /// The store's own groups: the keys, then the functions of a property.
    /// - Returns: nil if the store leaves that to the framework.
    private static func stored(
        _ c: CaseContext, _ entity: String, by keys: [String], _ functions: [Function], of name: String,
        where conditions: [QueryExpression] = []
    ) throws -> [String]? {
        guard c.subject.capabilities.contains(.aggregates) else { return nil }
        let layout = try c.require(
            ConformanceModels.schema.stored.recordLayouts()[entity], "an entity \(entity)")
        func property(_ name: String) throws -> (expression: QueryExpression, kind: StorageKind) {
            let slot = try c.require(layout.slot(named: name), "a property \(entity).\(name)")
            let property = QueryProperty(entity: entity, name: name, slot: slot)
            return (.property(.variable(0), property), layout.slots[slot].property.attribute?.kind ?? .coded)
        }
        let asked = try property(name)
        let query = AggregateQuery(
            StoreQuery(entity, conjuncts: conditions), by: try keys.map { try property($0).expression },
            functions.map { function in
                switch function {
                case .count: .count
                case .sum: .sum(asked.expression, asked.kind)
                case .average: .average(asked.expression, asked.kind)
                case .minimum: .minimum(asked.expression)
                case .maximum: .maximum(asked.expression)
                }
            })
        return try c.store.aggregate(query)?.groups.map { group in
            let values = group.values.map(text).joined(separator: " ")
            return keys.isEmpty ? values : group.keys.map(text).joined(separator: ", ") + ": " + values
        }
    }

    /// How many records each group has, by the store where it says so, and by what the context says.
    private static func expectGroups(
        _ c: CaseContext, _ entity: String, by name: String, in context: [String], are expected: [String]
    ) throws {
        try c.expect(context, is: expected, "groups by \(name), and how many each has:")
        if let stored = try stored(c, entity, by: [name], [.count], of: name) {
            try c.expect(stored, is: expected, "the store's groups by \(name), and how many each has:")
        }
    }

    private static func insert<M: PersistentModel>(_ models: [M], _ c: CaseContext) throws {
        let a = try c.session()
        a.change("insert \(models.count) \(M.self)s") { for model in models { a.context.insert(model) } }
        try a.save()
    }

    // MARK: Nil

    /// Four groups: with nil among numbers above and below zero, of nil alone, and of nil and zero.
    private static let numbers: [(label: String, number: Int?)] = [
        ("above", 2), ("nil", nil), ("below", -1), ("above", nil), ("zero", 0), ("below", nil), ("below", -2),
        ("nil", nil), ("above", 6), ("zero", nil), ("above", nil),
    ]

    private static func samples() -> [OptionalSample] {
        numbers.map { label, number in
            let sample = OptionalSample(label: label)
            sample.whole = number
            sample.single = number.map(Float.init)
            sample.real = number.map(Double.init)
            sample.amount = number.map { Decimal($0) }
            sample.wide = number.flatMap { UInt64(exactly: $0) }
            return sample
        }
    }

    /// Where `real` is whether the kind has fractions, and `signed` whether it has numbers below zero.
    private static func expectedTotals(real: Bool, averages: String = ".0", signed: Bool = true) -> [String] {
        let point = real ? ".0" : ""
        let below =
            signed ? "3 -3\(point) -1.5 -2\(point) -1\(point)" : "3 0\(point) nil nil nil"
        return [
            "\"above\": 4 8\(point) 4\(averages) 2\(point) 6\(point)", "\"below\": \(below)",
            "\"nil\": 2 0\(point) nil nil nil", "\"zero\": 2 0\(point) 0\(averages) 0\(point) 0\(point)",
        ]
    }

    private static func expectTotals(
        _ c: CaseContext, of name: String, _ found: (groups: [String], all: String), are groups: [String],
        and all: String
    ) throws {
        try c.expect(found.groups, is: groups, "count, sum, average, minimum and maximum of \(name) by label:")
        try c.expect(found.all, is: all, "count, sum, average, minimum and maximum of \(name):")
        let functions: [Function] = [.count, .sum, .average, .minimum, .maximum]
        if let stored = try stored(c, "OptionalSample", by: ["label"], functions, of: name) {
            try c.expect(stored, is: groups, "the store's own of \(name) by label:")
        }
        if let stored = try stored(c, "OptionalSample", by: [], functions, of: name) {
            try c.expect(stored, is: [all], "the store's own of \(name):")
        }
    }

    static let aggregateCases: [ConformanceCase] = nilCases + groupCases + extremeCases

    private static let nilCases: [ConformanceCase] = [
        ConformanceCase(
            "aggregates.nil-in-integers", level: .core,
            requirement: "Sums, averages and ends of integers leave out nil; the sum of nothing is 0, the rest is nil.",
            hint: nilHint
        ) { c in
            try insert(samples(), c)
            let all = FetchDescriptor<OptionalSample>()
            try expectTotals(
                c, of: "whole",
                totals(c, all, .sum(\.whole), .average(\.whole), .minimum(\.whole), .maximum(\.whole)),
                are: expectedTotals(real: false), and: "11 5 1.0 -2 6")
            try expectTotals(
                c, of: "wide", totals(c, all, .sum(\.wide), .average(\.wide), .minimum(\.wide), .maximum(\.wide)),
                are: expectedTotals(real: false, signed: false), and: "11 8 2.6666666666666665 0 6")
        },
        ConformanceCase(
            "aggregates.nil-in-fractions", level: .core,
            requirement: "Sums, averages and ends of fractions and decimals leave out nil, as those of integers do.",
            hint: nilHint
        ) { c in
            try insert(samples(), c)
            let all = FetchDescriptor<OptionalSample>()
            let real = expectedTotals(real: true)
            try expectTotals(
                c, of: "real", totals(c, all, .sum(\.real), .average(\.real), .minimum(\.real), .maximum(\.real)),
                are: real, and: "11 5.0 1.0 -2.0 6.0")
            try expectTotals(
                c, of: "single",
                totals(c, all, .sum(\.single), .average(\.single), .minimum(\.single), .maximum(\.single)),
                are: real, and: "11 5.0 1.0 -2.0 6.0")
            try expectTotals(
                c, of: "amount",
                totals(c, all, .sum(\.amount), .average(\.amount), .minimum(\.amount), .maximum(\.amount)),
                are: expectedTotals(real: false, averages: ""), and: "11 5 1 -2 6")
        },
        ConformanceCase(
            "aggregates.of-nothing", level: .core,
            requirement:
                "Of no records, and of records that have no value, the sum is 0 and the average and ends are nil.",
            hint: nilHint
        ) { c in
            func check(_ label: String, _ count: Int) throws {
                let some = FetchDescriptor<OptionalSample>(predicate: #Predicate { $0.label == label })
                let whole: (groups: [String], all: String) = try totals(
                    c, some, .sum(\.whole), .average(\.whole), .minimum(\.whole), .maximum(\.whole))
                try c.expect(whole.all, is: "\(count) 0 nil nil nil", "of whole, where there are \(count) records:")
                let amount: (groups: [String], all: String) = try totals(
                    c, some, .sum(\.amount), .average(\.amount), .minimum(\.amount), .maximum(\.amount))
                try c.expect(amount.all, is: "\(count) 0 nil nil nil", "of amount, where there are \(count) records:")
                let probe = try PlanProbe(c)
                let condition = QueryExpression.compare(
                    .equal, try probe.property("label", of: "OptionalSample"), .constant(.string(label)))
                let functions: [Function] = [.count, .sum, .average, .minimum, .maximum]
                let query = StoreQuery("OptionalSample", conjuncts: [condition])
                guard c.subject.capabilities.contains(.aggregates), try probe.plan(query).isExact,
                    let stored = try stored(c, "OptionalSample", by: [], functions, of: "whole", where: [condition])
                else { return }
                try c.expect(stored, is: ["\(count) 0 nil nil nil"], "the store's own, of \(count) records:")
            }
            try check("absent", 0)
            try insert(samples(), c)
            try check("absent", 0)
            try check("nil", 2)
        },
    ]

    // MARK: Groups

    private static let groupCases: [ConformanceCase] = [
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
            try insert(samples, c)
            let all = FetchDescriptor<OptionalSample>()
            let context = try c.session().context
            func check<Key: PersistentScalar>(
                _ name: String, _ key: KeyPath<OptionalSample, Key?>, _ expected: [String]
            ) throws {
                let groups = try context.aggregate(all, by: key, .count).map { "\(text($0.key)): \($0.values)" }
                try expectGroups(c, "OptionalSample", by: name, in: groups, are: expected)
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
                "\(text($0.key?.rawValue)): \($0.values)"
            }
            try expectGroups(
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
            try insert(
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
                let groups = try context.aggregate(all, by: key, .count).map { "\(text($0.key)): \($0.values)" }
                try expectGroups(c, "ValueSample", by: name, in: groups, are: expected)
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
            try insert(
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
                let groups = try context.aggregate(all, by: key, .count).map { "\(text($0.key)): \($0.values)" }
                try expectGroups(
                    c, "ValueSample", by: name, in: groups, are: expected.map { "\(text($0.0)): \($0.1)" })
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
            "aggregates.groups-of-two-properties", level: .full, capability: .aggregates,
            requirement: "A store that groups by two properties tells every pair from every other, those with nil too.",
            hint: "The keys of a group are joined into one text, or a pair with nil is left out."
        ) { c in
            let pairs: [(name: String, note: String?)] = [
                ("a,b", "c"), ("a", "b,c"), ("a", nil), ("a", ""), ("", "a"), ("a", "nil"), ("a", nil), ("ab", "c"),
                ("a", "bc"), ("a|b", "c"), ("a", "b|c"), ("a\u{0}b", "c"), ("a", "b\u{0}c"), ("a", "b,c"),
            ]
            try insert(pairs.map { Entry($0.name, note: $0.note) }, c)
            guard let stored = try stored(c, "Entry", by: ["name", "note"], [.count], of: "note") else { return }
            var counts: [[String]: Int] = [:]
            for pair in pairs { counts[[text(pair.name), text(pair.note)], default: 0] += 1 }
            try c.expect(
                stored.sorted(), is: counts.map { $0.key.joined(separator: ", ") + ": \($0.value)" }.sorted(),
                "groups by name and note, and how many each has:")
        },
    ]

    // MARK: Ends

    private static let extremeCases: [ConformanceCase] = [
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
            try insert(
                values.map { label, number in
                    let sample = OptionalSample(label: label)
                    (sample.real, sample.single) = (number, number.map(Float.init))
                    return sample
                }, c)
            let all = FetchDescriptor<OptionalSample>()
            let groups = [
                "\"alone\": 2 NaN NaN NaN NaN", "\"mixed\": 5 NaN NaN -3.0 2.0", "\"number\": 2 -inf -inf -inf 5.0",
            ]
            try expectTotals(
                c, of: "real", totals(c, all, .sum(\.real), .average(\.real), .minimum(\.real), .maximum(\.real)),
                are: groups, and: "9 NaN NaN -inf 5.0")
            try expectTotals(
                c, of: "single",
                totals(c, all, .sum(\.single), .average(\.single), .minimum(\.single), .maximum(\.single)),
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
            try insert(
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
                let stored = try stored(c, "ValueSample", by: [], [.minimum, .maximum], of: name)
                if let stored {
                    try c.expect(
                        stored, is: [expected.map { text($0) }.joined(separator: " ")],
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
