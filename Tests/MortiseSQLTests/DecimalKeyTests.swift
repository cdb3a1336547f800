import Foundation
import MortiseCore
@testable import MortiseSQL
import PackageTestSupport
import Testing

/// Keys of decimals are in the order of the numbers, byte by byte.
@Suite struct DecimalKeyTests {
    @Test func keysAreInTheOrderOfTheNumbers() throws {
        var numbers = SeededGenerator(seed: testSeed())
        func some() -> Decimal {
            if numbers.chance(20) { return numbers.chance(2) ? .nan : 0 }
            var digits = numbers.chance(2) ? "-" : ""
            for _ in 0..<(1 + numbers.below(numbers.chance(4) ? 38 : 4)) {
                digits += "\(numbers.below(numbers.chance(3) ? 2 : 10))"
            }
            let number = Decimal(string: digits) ?? 0
            var scaled = number
            var result = Decimal()
            _ = NSDecimalMultiplyByPowerOf10(&result, &scaled, Int16(numbers.below(60) - 40), .plain)
            return result
        }
        func key(_ number: Decimal) throws -> Data {
            let columns = AttributeColumns(.decimal, "x")
            let contents = try #require(columns.contents(of: .decimal(number)))
            #expect(columns.value(contents.main, contents.other) == .decimal(number))
            guard case .blob(let key) = contents.other else { throw DataStoreError.unsupportedFeature }
            return key
        }
        for _ in 0..<5_000 {
            let (a, b) = (some(), numbers.chance(8) ? some() : some())
            let (x, y) = (try key(a), try key(b))
            let wanted = ValueSemantics.sortOrder(.decimal(a), .decimal(b))
            let found: ComparisonResult =
                x == y ? .orderedSame : x.lexicographicallyPrecedes(y) ? .orderedAscending : .orderedDescending
            #expect(found == wanted, "\(a) and \(b)")
        }
    }

    @Test func textsThatAreNoDigitsHaveNoKey() {
        for text in ["", "x", "1e5", "--1", "1.2.3", " 1", "1 "] where text != "" {
            #expect(DecimalKey.key(ofDigits: text) == nil, "\(text)")
        }
        #expect(DecimalKey.key(ofDigits: "0.050") == DecimalKey.key(ofDigits: "0.05"))
        #expect(DecimalKey.key(ofDigits: "-0") == DecimalKey.key(ofDigits: "0"))
    }
}
