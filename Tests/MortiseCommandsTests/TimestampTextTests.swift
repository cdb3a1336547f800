import Foundation
import MortiseCore
import PackageTestSupport
import Testing

/// Dates as text are the same dates, to the last bit.
@Suite struct TimestampTextTests {
    @Test(
        arguments: [
            (0, "2001-01-01T00:00:00Z"), (-0.5, "2000-12-31T23:59:59.5Z"), (-1, "2000-12-31T23:59:59Z"),
            (799_322_400.25, "2026-05-01T10:00:00.25Z"), (-63_113_904_000, "0001-01-01T00:00:00Z"),
            (252_423_993_599, "9999-12-31T23:59:59Z"), (5_097_600, "2001-03-01T00:00:00Z"),
            (-26_438_400, "2000-03-01T00:00:00Z"),
            (-26_524_800, "2000-02-29T00:00:00Z"), (1e300, "1e+300"), (252_423_993_600, "252423993600.0"),
            (.infinity, "inf"),
        ] as [(Double, String)]) func isWritten(_ interval: Double, _ expected: String)
    {
        #expect(TimestampText.text(of: Date(timeIntervalSinceReferenceDate: interval)) == expected)
    }

    @Test func comesBackToTheLastBit() throws {
        var generator = SeededGenerator(seed: testSeed())
        for round in 0..<20_000 {
            let scale = [1e-3, 1, 1e6, 1e9, 2.5e11][round % 5]
            let interval = Double.random(in: -scale...scale, using: &generator)
            guard interval > -63_113_904_000, interval < 252_423_993_600 else { continue }
            let text = TimestampText.text(of: Date(timeIntervalSinceReferenceDate: interval))
            let back = TimestampText.date(text)?.timeIntervalSinceReferenceDate ?? Double(text)
            #expect(back?.bitPattern == interval.bitPattern, "\(interval) as \(text)")
        }
    }

    @Test(arguments: [
        "", "2026", "2026-05", "2026-5-1", "2026-13-01", "2026-02-29", "2026-05-01T", "2026-05-01T10",
        "2026-05-01T24:00",
        "2026-05-01T10:60", "2026-05-01T10:00:60", "2026-05-01T10:00:00.", "2026-05-01T10:00:00+2",
        "2026-05-01T10:00Zx",
        "2026-05-01 ", "0000-00-00", "２０２６-05-01", "2026-05-01T10:00:00." + String(repeating: "1", count: 41),
    ]) func isNoDate(_ text: String) {
        #expect(TimestampText.date(text) == nil)
    }

    @Test(arguments: [
        ("2024-02-29", "2024-02-29T00:00:00Z"), ("2026-05-01T10:00", "2026-05-01T10:00:00Z"),
        ("2026-05-01 10:00:00", "2026-05-01T10:00:00Z"), ("2026-01-01T00:30:00+01:00", "2025-12-31T23:30:00Z"),
        ("2025-12-31T23:30:00-01:00", "2026-01-01T00:30:00Z"), ("1999-12-31T23:59:59.75Z", "1999-12-31T23:59:59.75Z"),
    ]) func isRead(_ text: String, _ expected: String) throws {
        #expect(TimestampText.text(of: try #require(TimestampText.date(text))) == expected)
    }
}
