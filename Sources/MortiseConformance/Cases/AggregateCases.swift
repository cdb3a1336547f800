import Foundation
import MortiseCore

/// What an aggregation makes of values that are missing, equal in another form, or not numbers. Each case asks a context, and
/// the store itself where it claims to aggregate.
extension ConformanceCase {
    private static let nilHint =
        "Nil is added or counted as 0, or a total of nothing is nil. Nil is no value: only count counts its record."

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

    static let aggregateCases: [ConformanceCase] = nilCases + aggregateGroupCases + aggregateEndCases

    private static let nilCases: [ConformanceCase] = [
        ConformanceCase(
            "aggregates.nil-in-integers", level: .core,
            requirement: "Sums, averages and ends of integers leave out nil; the sum of nothing is 0, the rest is nil.",
            hint: nilHint
        ) { c in
            try AggregateProbe.insert(samples(), c)
            let all = FetchDescriptor<OptionalSample>()
            try AggregateProbe.expectTotals(
                c, of: "whole",
                AggregateProbe.totals(c, all, .sum(\.whole), .average(\.whole), .minimum(\.whole), .maximum(\.whole)),
                are: expectedTotals(real: false), and: "11 5 1.0 -2 6")
            try AggregateProbe.expectTotals(
                c, of: "wide",
                AggregateProbe.totals(c, all, .sum(\.wide), .average(\.wide), .minimum(\.wide), .maximum(\.wide)),
                are: expectedTotals(real: false, signed: false), and: "11 8 2.6666666666666665 0 6")
        },
        ConformanceCase(
            "aggregates.nil-in-fractions", level: .core,
            requirement: "Sums, averages and ends of fractions and decimals leave out nil, as those of integers do.",
            hint: nilHint
        ) { c in
            try AggregateProbe.insert(samples(), c)
            let all = FetchDescriptor<OptionalSample>()
            let real = expectedTotals(real: true)
            try AggregateProbe.expectTotals(
                c, of: "real",
                AggregateProbe.totals(c, all, .sum(\.real), .average(\.real), .minimum(\.real), .maximum(\.real)),
                are: real, and: "11 5.0 1.0 -2.0 6.0")
            try AggregateProbe.expectTotals(
                c, of: "single",
                AggregateProbe.totals(
                    c, all, .sum(\.single), .average(\.single), .minimum(\.single), .maximum(\.single)),
                are: real, and: "11 5.0 1.0 -2.0 6.0")
            try AggregateProbe.expectTotals(
                c, of: "amount",
                AggregateProbe.totals(
                    c, all, .sum(\.amount), .average(\.amount), .minimum(\.amount), .maximum(\.amount)),
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
                let whole: (groups: [String], all: String) = try AggregateProbe.totals(
                    c, some, .sum(\.whole), .average(\.whole), .minimum(\.whole), .maximum(\.whole))
                try c.expect(whole.all, is: "\(count) 0 nil nil nil", "of whole, where there are \(count) records:")
                let amount: (groups: [String], all: String) = try AggregateProbe.totals(
                    c, some, .sum(\.amount), .average(\.amount), .minimum(\.amount), .maximum(\.amount))
                try c.expect(amount.all, is: "\(count) 0 nil nil nil", "of amount, where there are \(count) records:")
                let probe = try PlanProbe(c)
                let condition = QueryExpression.compare(
                    .equal, try probe.property("label", of: "OptionalSample"), .constant(.string(label)))
                let functions: [AggregateProbe.Function] = [.count, .sum, .average, .minimum, .maximum]
                let query = StoreQuery("OptionalSample", conjuncts: [condition])
                guard c.subject.capabilities.contains(.aggregates), try probe.plan(query).isExact,
                    let stored = try AggregateProbe.stored(
                        c, "OptionalSample", by: [], functions, of: "whole", where: [condition])
                else { return }
                try c.expect(stored, is: ["\(count) 0 nil nil nil"], "the store's own, of \(count) records:")
            }
            try check("absent", 0)
            try AggregateProbe.insert(samples(), c)
            try check("absent", 0)
            try check("nil", 2)
        },
    ]
}
