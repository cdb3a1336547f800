import MortiseCore
import MortiseJSONFile
import PackageTestSupport
import Testing

@Suite struct JSONNumberTests {
    private func number<Value>(_ text: String, _ value: (JSONReader, JSONNumber) -> Value) throws -> Value {
        try withReader(Array(text.utf8)) { reader in
            let number = try reader.readNumber()
            try reader.finish()
            return value(reader, number)
        }
    }

    @Test func integersAreExactAtTheirLimits() throws {
        for value in [0, 1, -1, .max, .min, .max - 1, .min + 1, 1_000_000_000_000_000_000, -999_999_999_999_999_999]
            as [Int64]
        {
            #expect(try number("\(value)") { $0.integer($1) } == value)
            #expect(try written { try $0.integer(value) } == "\(value)")
        }
        for value in [0, 9, 10, 99, .max, .max - 1, 10_000_000_000_000_000_000, 9_999_999_999_999_999_999] as [UInt64] {
            #expect(try number("\(value)") { $0.unsigned($1) } == value)
            #expect(try written { try $0.unsigned(value) } == "\(value)")
        }
        for power in 0..<64 {
            for value in [UInt64(1) << UInt64(power), (UInt64(1) << UInt64(power)) - 1] {
                #expect(try number("\(value)") { $0.unsigned($1) } == value)
                #expect(try written { try $0.unsigned(value) } == "\(value)")
            }
        }
    }

    @Test(arguments: [
        "9223372036854775808", "-9223372036854775809", "1.0", "1e2", "0.0", "99999999999999999999", "1e0", "-1.5",
    ])
    func isNoInteger(_ text: String) throws {
        #expect(try number(text) { $0.integer($1) } == nil)
    }

    @Test(arguments: ["18446744073709551616", "18446744073709551620", "184467440737095516150", "-1", "1.0", "1e2"])
    func isNoUnsignedInteger(_ text: String) throws {
        #expect(try number(text) { $0.unsigned($1) } == nil)
    }

    @Test(arguments: ["1e309", "-1e309", "1e-400", "1.7976931348623159e308", "1e100000000000000000000000", "2e-324"])
    func isNoDouble(_ text: String) throws {
        #expect(try number(text) { $0.double($1) } == nil)
    }

    @Test func zeroInEveryDressIsZero() throws {
        for text in ["0", "0.0", "0e0", "0e999999", "0.000e-999", "0E+0"] {
            #expect(try number(text) { $0.double($1) }?.bitPattern == 0)
            #expect(try number("-" + text) { $0.double($1) }?.bitPattern == (-0.0 as Double).bitPattern)
        }
    }

    /// The library's own conversion is the judge.
    @Test func decimalsReadAsTheNearestDouble() throws {
        var random = SeededGenerator(seed: testSeed())
        for _ in 0..<20_000 {
            let digits = String(UInt64.random(in: 0 ... .max, using: &random)).prefix(
                .random(in: 1...20, using: &random))
            let places = Int.random(in: 0...25, using: &random)
            let kept = digits.drop { $0 == "0" }
            var text = kept.isEmpty ? "0" : String(kept)
            if places > 0 { text += "." + String(UInt64.random(in: 0 ... .max, using: &random)).prefix(places) }
            if Bool.random(using: &random) { text += "e\(Int.random(in: -30...30, using: &random))" }
            #expect(try number(text) { $0.double($1) }?.bitPattern == Double(text)?.bitPattern, "\(text)")
            let float = try #require(Float(text))
            let isOutOfRange = float.isInfinite || float == 0 && Double(text) != 0
            #expect(try number(text) { $0.float($1) }?.bitPattern == (isOutOfRange ? nil : float.bitPattern), "\(text)")
        }
    }

    /// Halfway between two doubles, and a hair beside it.
    @Test func tiesRoundToEven() throws {
        for text in [
            "9007199254740993", "9007199254740993.0", "9007199254740993.0000000001", "9007199254740992.9999999999",
            "90071992547409.93", "900719925474099.35", "4503599627370496.5", "4503599627370497.5", "0.1", "0.3",
            "2.2250738585072011e-308", "2.2250738585072014e-308", "4.9406564584124654e-324", "1.7976931348623157e308",
            "123456789012345678", "1234567890123456789", "0.1234567890123456789", "9999999999999999999e-19",
            "1000000000000000128.0", "1000000000000000064.0", "18446744073709551615e-19",
        ] {
            #expect(try number(text) { $0.double($1) }?.bitPattern == Double(text)?.bitPattern, "\(text)")
        }
    }

    static let specialDoubles: [Double] = [
        0, -0.0, 1, -1, 0.1, 1.5, 100, 1e15, 1e16, 1e22, 1e23, 1e-4, 1e-5, 123_456_789.125, 0.01, 0.05, 99.99, 0.015,
        12_345_678_901_234.56, 9_999_999_999_999.99, 1e13, .pi, .ulpOfOne, .leastNonzeroMagnitude,
        .leastNormalMagnitude,
        .greatestFiniteMagnitude, -.greatestFiniteMagnitude, .leastNormalMagnitude.nextDown, 9_007_199_254_740_992,
        0x1p-1073,
    ]

    @Test func doublesAreWrittenAsShortAsSwiftDoesAndComeBack() throws {
        var random = SeededGenerator(seed: testSeed())
        var values = Self.specialDoubles
        for _ in 0..<10_000 {
            let bits = Double(bitPattern: .random(in: 0 ... .max, using: &random))
            if bits.isFinite { values.append(bits) }
            values.append(Double(Int.random(in: -10_000_000...10_000_000, using: &random)) / 100)
            values.append(Double(Int.random(in: -10_000_000...10_000_000, using: &random)) / 1000)
            values.append(.random(in: -1e9...1e9, using: &random))
        }
        for value in values {
            let text = try written { try $0.double(value) }
            #expect(text == value.description)
            #expect(try number(text) { $0.double($1) }?.bitPattern == value.bitPattern, "\(text)")
            let float = Float(value)
            guard float.isFinite else { continue }
            let floatText = try written { try $0.float(float) }
            #expect(try number(floatText) { $0.float($1) }?.bitPattern == float.bitPattern, "\(floatText)")
        }
    }
}
