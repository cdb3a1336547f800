import Foundation
import PackageTestSupport
import Testing

@testable import MortiseCore

/// Sums of decimals as whole numbers against adding decimals one after the other.
@Suite struct ScaledSumTests {
    private func number(_ random: inout SeededGenerator, _ digits: Int, _ exponents: ClosedRange<Int>) -> ScaledInteger
    {
        var mantissa: Int128 = 0
        for _ in 0..<Int.random(in: 0...digits, using: &random) {
            mantissa = mantissa * 10 + Int128(Int.random(in: 0...9, using: &random))
        }
        return ScaledInteger(
            mantissa: Bool.random(using: &random) ? mantissa : -mantissa,
            exponent: Int.random(in: exponents, using: &random))
    }

    @Test(arguments: [
        (4, -2...(-2)), (6, -3...1), (18, -4...0), (30, -2...2), (38, -30...30), (2, -128...90), (38, -2...(-2)),
    ])
    func theSumIsThatOfDecimals(digits: Int, exponents: ClosedRange<Int>) throws {
        let seed = testSeed()
        var random = SeededGenerator(seed: seed)
        let expression = QueryExpression.constant(.null)
        for _ in 0..<60 {
            let (sum, average) = (
                AggregateState(.sum(expression, .decimal)), AggregateState(.average(expression, .decimal))
            )
            for state in [sum, average] { state.reserve(groups: 2) }
            var expected: [Decimal] = [0, 0]
            var counts = [0, 0]
            for _ in 0..<Int.random(in: 1...40, using: &random) {
                let numbers = (0..<Int.random(in: 0...3, using: &random)).map { _ in number(&random, digits, exponents)
                }
                let groups = numbers.map { _ in Int.random(in: 0...1, using: &random) }
                for (number, group) in zip(numbers, groups) {
                    expected[group] += number.decimal
                    counts[group] += 1
                }
                let isSingle = random.chance(8)
                for state in [sum, average] {
                    if isSingle {
                        // As a store hands over what it has no other form of.
                        for (number, group) in zip(numbers, groups) {
                            try state.add(.decimal(number.decimal), group: group)
                        }
                    } else {
                        numbers.withUnsafeBufferPointer { numbers in
                            groups.withUnsafeBufferPointer { state.add(numbers, groups: $0) }
                        }
                    }
                }
            }
            for group in 0...1 {
                let text: Comment = "seed \(seed), \(digits) digits"
                #expect("\(try sum.result(group: group))" == "\(StoredValue.decimal(expected[group]))", text)
                let mean = counts[group] == 0 ? StoredValue.null : .decimal(expected[group] / Decimal(counts[group]))
                #expect("\(try average.result(group: group))" == "\(mean)", text)
            }
        }
    }

    @Test func aScaledIntegerIsItsDecimal() {
        #expect(ScaledInteger(mantissa: -1_250, exponent: -2).decimal == Decimal(string: "-12.5"))
        #expect(ScaledInteger(mantissa: 0, exponent: 7).decimal == 0)
        #expect(ScaledInteger(mantissa: 3, exponent: 5).decimal == 300_000)
        let most = ScaledInteger(mantissa: .max, exponent: 0).decimal
        #expect("\(most)" == "170141183460469231731687303715884105727")
    }
}
