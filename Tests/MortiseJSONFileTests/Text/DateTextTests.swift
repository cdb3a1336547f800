import Foundation
import MortiseCore
import MortiseJSONFile
import PackageTestSupport
import Testing

@Suite struct DateTextTests {
    private func text(_ seconds: Double) throws -> String {
        try written { try DateText.write(Date(timeIntervalSinceReferenceDate: seconds), to: &$0) }
    }

    private func seconds(_ text: String) -> Double? {
        Array(text.utf8).withUnsafeBytes { DateText.date(from: $0)?.timeIntervalSinceReferenceDate }
    }

    @Test func knownDates() throws {
        for (seconds, text) in [
            (0, "2001-01-01T00:00:00Z"), (-978_307_200, "1970-01-01T00:00:00Z"), (0.5, "2001-01-01T00:00:00.5Z"),
            (-0.5, "2000-12-31T23:59:59.5Z"), (-0.25, "2000-12-31T23:59:59.75Z"), (-1, "2000-12-31T23:59:59Z"),
            (86_399, "2001-01-01T23:59:59Z"), (-26_352_000, "2000-03-02T00:00:00Z"),
            (-26_438_400, "2000-03-01T00:00:00Z"),
            (-26_524_800, "2000-02-29T00:00:00Z"), (-3_181_766_400, "1900-03-06T00:00:00Z"),
            (-63_113_904_000, "0001-01-01T00:00:00Z"), (-63_145_526_400, "0000-01-01T00:00:00Z"),
            (252_423_993_599, "9999-12-31T23:59:59Z"), (785_103_683.123, "2025-11-17T20:21:23.123Z"),
            (-978_307_199.75, "1970-01-01T00:00:00.25Z"), (0.0001, "2001-01-01T00:00:00.0001Z"),
        ] as [(Double, String)] {
            #expect(try self.text(seconds) == "\"\(text)\"")
            #expect(self.seconds(text)?.bitPattern == seconds.bitPattern)
        }
    }

    @Test func datesWithoutATextAreNumbers() throws {
        for value in [
            -0.0, 1e-5, -1e-300, 252_423_993_600, -63_145_526_401, -63_145_526_400.5, 1e300, .greatestFiniteMagnitude,
            .leastNonzeroMagnitude,
        ] {
            #expect(try text(value) == value.description)
        }
        #expect(try text(Date.distantPast.timeIntervalSinceReferenceDate) == "\"0000-12-30T00:00:00Z\"")
        #expect(try text(Date.distantFuture.timeIntervalSinceReferenceDate) == "\"4001-01-01T00:00:00Z\"")
    }

    /// Foundation's calendar is the judge of the days since 1589.
    @Test func theCalendarIsFoundations() throws {
        var calendar = Calendar(identifier: .iso8601)
        calendar.timeZone = .gmt
        var random = SeededGenerator(seed: testSeed())
        for _ in 0..<2_000 {
            let seconds = Double.random(in: -13_000_000_000...250_000_000_000, using: &random).rounded()
            let parts = calendar.dateComponents(
                [.year, .month, .day, .hour, .minute, .second], from: Date(timeIntervalSinceReferenceDate: seconds))
            let expected = [parts.year, parts.month, parts.day, parts.hour, parts.minute, parts.second]
                .map { String($0 ?? 0) }.enumerated().map {
                    $1.count < ($0 == 0 ? 4 : 2) ? String(repeating: "0", count: ($0 == 0 ? 4 : 2) - $1.count) + $1 : $1
                }
            let text = "\(expected[0])-\(expected[1])-\(expected[2])T\(expected[3]):\(expected[4]):\(expected[5])Z"
            #expect(try self.text(seconds) == "\"\(text)\"")
        }
    }

    @Test func everyDateComesBackToTheLastBit() throws {
        var random = SeededGenerator(seed: testSeed())
        var values: [Double] = []
        for exponent in -80...38 {
            for _ in 0..<50 {
                let value =
                    Double.random(in: 1..<2, using: &random) * Double(sign: .plus, exponent: exponent, significand: 1)
                values += [value, -value]
            }
        }
        for _ in 0..<10_000 {
            values.append(.random(in: -1e9...1e9, using: &random))
            values.append(Double(Int.random(in: -1_000_000_000_000...1_000_000_000_000, using: &random)) / 1000)
            values.append(.random(in: -70_000_000_000...260_000_000_000, using: &random))
            let any = Double(bitPattern: .random(in: 0 ... .max, using: &random))
            if any.isFinite { values.append(any) }
        }
        for day in stride(from: -63_145_526_400.0, to: 252_423_993_600, by: 86_400 * 17) { values.append(day) }
        for value in values {
            let text = try text(value)
            guard text.hasPrefix("\"") else { continue }
            #expect(seconds(String(text.dropFirst().dropLast()))?.bitPattern == value.bitPattern, "\(value) as \(text)")
        }
    }

    @Test(arguments: [
        "", "2001-01-01", "2001-01-01T00:00:00", "2001-01-01T00:00:00z", "2001-01-01 00:00:00Z",
        "2001-01-01T00:00:00+00:00",
        "2001-02-29T00:00:00Z", "2001-13-01T00:00:00Z", "2001-00-01T00:00:00Z", "2001-01-00T00:00:00Z",
        "2001-04-31T00:00:00Z",
        "2001-01-01T24:00:00Z", "2001-01-01T00:60:00Z", "2001-01-01T00:00:60Z", "2001-01-01T00:00:00.Z",
        "2001-01-01T00:00:00,5Z",
        "2001-01-01T00:00:0aZ", "1900-02-29T00:00:00Z", "0000-02-30T00:00:00Z", "20001-01-01T00:00:00Z",
        "-001-01-01T00:00:00Z",
        "2001-1-1T0:0:0Z", "2001-01-01T00:00:00.00000000000000000000000000000000000000001Z", "2001-01-01T00:00:00.5.5Z",
    ])
    func isNoDate(_ text: String) {
        #expect(seconds(text) == nil)
    }

    @Test func aTextWrittenByHandIsReadAsTheNearestDate() {
        #expect(seconds("2001-01-01T00:00:00.50Z") == 0.5)
        #expect(seconds("2001-01-01T00:00:00.000Z") == 0)
        #expect(seconds("2000-12-31T23:59:59.000Z") == -1)
        #expect(seconds("2001-01-01T00:00:00.1000000000000000055511151231257827021181Z") == 0.1)
        #expect(seconds("2000-12-31T23:59:59.9000000000000000000000000000000000000000Z") == -0.1)
        #expect(seconds("2004-02-29T00:00:00Z") == 99_705_600)
    }
}
