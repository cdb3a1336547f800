import FaultWorkload
import Foundation
import MortiseCore
import MortiseEngine
import MortiseJSONFile
import Testing

/// Values at the limits of their types, through context, store and file.
@Suite struct ValueTests {
    private let disk = SimulatedFileSystem(seed: 3)

    private func open() throws -> ModelContainer {
        try ModelContainer(
            for: Schema([Sample.self]), configurations: [JSONFileConfiguration(path: "/values.json", in: disk)])
    }

    /// What a saved sample is after the file was closed and opened.
    private func roundTrip(_ samples: [Sample]) throws -> [Sample] {
        let container = try open()
        let context = ModelContext(container)
        for sample in samples { context.insert(sample) }
        try context.save()
        try container.close()
        let again = ModelContext(try open())
        return try again.fetch(FetchDescriptor<Sample>()).sorted { $0.key < $1.key }
    }

    private static let doubles: [Double] = [
        0, -0.0, .nan, .signalingNaN, -.nan, Double(bitPattern: 0x7FF8_0000_DEAD_BEEF), .infinity, -.infinity,
        .leastNonzeroMagnitude, .leastNormalMagnitude, .greatestFiniteMagnitude, -.greatestFiniteMagnitude, 0.1,
        9_007_199_254_740_992, Double(bitPattern: 2_024),
    ]

    @Test func numbersAtTheirLimitsComeBackToTheLastBit() throws {
        let integers: [Int64] = [.min, .max, -1, 0, 9_007_199_254_740_993]
        let naturals: [UInt64] = [.max, 0, UInt64(Int64.max) + 1]
        let found = try roundTrip(
            Self.doubles.enumerated().map { index, value in
                Sample(
                    key: index, double: value, float: Float(value), signed: integers[index % integers.count],
                    unsigned: naturals[index % naturals.count])
            })
        try #require(found.count == Self.doubles.count)
        for (index, sample) in found.enumerated() {
            #expect(sample.double.bitPattern == Self.doubles[index].bitPattern)
            #expect(sample.float.bitPattern == Float(Self.doubles[index]).bitPattern)
            #expect(sample.signed == integers[index % integers.count])
            #expect(sample.unsigned == naturals[index % naturals.count])
        }
        FaultLedger.add(["F30"], injected: Self.doubles.count * 4)
    }

    @Test func decimalsAndDatesComeBackToTheLastDigit() throws {
        let decimals = ["12345678901234567890123456789012345678", "-0.00000000000000000000000000000000000001", "0.1"]
            .map { Decimal(string: $0) ?? 0 }
        let dates: [Date] = [
            .distantPast, .distantFuture, Date(timeIntervalSinceReferenceDate: 0.1),
            Date(timeIntervalSinceReferenceDate: -1e15), Date(timeIntervalSince1970: 1_700_000_000.123_456_7),
        ]
        let found = try roundTrip(
            dates.enumerated().map { Sample(key: $0, decimal: decimals[$0 % 3], date: $1) })
        #expect(found.map(\.date.timeIntervalSinceReferenceDate) == dates.map(\.timeIntervalSinceReferenceDate))
        #expect(found.map(\.decimal) == dates.indices.map { decimals[$0 % 3] })
        FaultLedger.add(["F30"], injected: dates.count * 2)
    }

    @Test func textsOfEveryKindComeBackToTheLastCodeUnit() throws {
        let texts = [
            "\u{0}", "a\u{0}b", "é", "e\u{301}", "👩‍👩‍👧‍👦", "\u{202E}abc\u{202C}", "\u{FEFF}", "\u{2028}\u{2029}",
            "\"\\/\u{7F}",
            "\u{FFFF}", "\u{10FFFF}", "../../etc/passwd", String(repeating: "x", count: 100_000),
        ]
        let found = try roundTrip(texts.enumerated().map { Sample(key: $0, text: $1) })
        #expect(found.map { Array($0.text.utf8) } == texts.map { Array($0.utf8) })
        FaultLedger.add(["F29"], injected: texts.count)
    }

    @Test func codedValuesKeepTheirNumbersAndTheirDepth() throws {
        let fuses = [
            Fuse(name: "deep", nest: Nest(depth: 400)), Fuse(name: "", weight: -0.0),
            Fuse(name: "", weight: Double(bitPattern: 10_121)),
            Fuse(name: "", weight: .greatestFiniteMagnitude), Fuse(name: "", weight: .infinity),
        ]
        let found = try roundTrip(fuses.enumerated().map { Sample(key: $0, fuse: $1) })
        #expect(found.map(\.fuse) == fuses)
        #expect(found[1].fuse?.weight.sign == .minus)
        FaultLedger.add(["F27", "F30"], injected: fuses.count)
    }

    @Test func whatTheFileCannotHoldFailsTheWholeSaveAndNothingOfItIsThere() throws {
        let container = try open()
        let context = ModelContext(container)
        context.insert(Sample(key: 1))
        try context.save()
        let before = disk.contents(at: "/values.json")
        context.insert(Sample(key: 2))
        let bad = Sample(key: 3, fuse: Fuse(name: "deep", nest: Nest(depth: 600)))
        context.insert(bad)
        #expect(throws: (any Error).self) { try context.save() }
        #expect(context.hasChanges)
        #expect(disk.contents(at: "/values.json") == before)
        #expect(try ModelContext(container).fetchCount(FetchDescriptor<Sample>()) == 1)
        bad.fuse = nil
        try context.save()
        #expect(try ModelContext(container).fetchCount(FetchDescriptor<Sample>()) == 3)
        FaultLedger.add(["F30", "F33"], injected: 1)
    }

    @Test func userCodeThatThrowsInASaveLeavesNothingBehind() throws {
        let container = try open()
        let context = ModelContext(container)
        context.insert(Sample(key: 1, fuse: Fuse(name: "good")))
        try context.save()
        let before = disk.contents(at: "/values.json")
        let blown = Sample(key: 2, fuse: Fuse(name: "bad", isLit: true))
        context.insert(Sample(key: 3))
        context.insert(blown)
        let error = thrown { try context.save() }
        #expect(error != nil)
        #expect(context.hasChanges)
        #expect(disk.contents(at: "/values.json") == before)
        #expect(!disk.paths.contains { $0.hasSuffix(".mortise-tmp") })
        #expect(try ModelContext(container).fetchCount(FetchDescriptor<Sample>()) == 1)
        blown.fuse = Fuse(name: "mended")
        try context.save()
        #expect(!context.hasChanges)
        try container.close()
        let samples = try ModelContext(open()).fetch(FetchDescriptor<Sample>())
        #expect(samples.compactMap(\.fuse?.name).sorted() == ["good", "mended"])
        FaultLedger.add(["F33"], injected: 1)
    }
}
