import Foundation
import MortiseCore
import PackageTestSupport
import Testing

@testable import MortiseAppendLog

/// Decimals that are written digit by digit against the text of their description, which logs have had from the first version on.
@Suite struct DecimalWritingTests {
    private func text(_ number: Decimal) throws -> String {
        let catalog = LogCatalog(StoredSchema(entities: []), store: "store")
        var writer = ByteWriter()
        try writer.value(.decimal(number), catalog)
        let bytes = writer.bytes
        #expect(bytes.first == ValueTag.decimal && bytes.count < 2 + 128)
        #expect(bytes.dropFirst().first.map { Int($0) } == bytes.count - 2)
        let back = try Array(bytes).withUnsafeBytes { bytes in
            var reader = ByteReader(bytes)
            return try reader.value(catalog)
        }
        #expect(back == .decimal(number))
        return String(decoding: bytes.dropFirst(2), as: UTF8.self)
    }

    @Test func theTextIsTheirDescription() throws {
        let seed = testSeed()
        var random = SeededGenerator(seed: seed)
        for _ in 0..<2_000 {
            let digits = (0..<Int.random(in: 1...20, using: &random)).map { _ in
                "\(random.chance(3) ? 0 : Int.random(in: 0...9, using: &random))"
            }
            let significand = try #require(Decimal(string: digits.joined()))
            let number = Decimal(
                sign: random.chance(2) ? .minus : .plus, exponent: Int.random(in: -24...20, using: &random),
                significand: significand)
            #expect(try text(number) == number.description, "seed \(seed)")
        }
    }

    @Test(arguments: [
        "0", "-0.5", "0.05", "1200", "12.5", "-1", "100000000000000000000", "0.000000000000000001", "-99.99",
    ])
    func plainOnesAreWrittenPlainly(_ expected: String) throws {
        #expect(try text(#require(Decimal(string: expected))) == expected)
    }
}
