import FaultWorkload
import Foundation
import MortiseCore
import MortiseEngine
import MortiseJSONFile
import Testing
import MortiseTestSupport

/// Values that come back as they were.
struct ValueCheck {
    /// What becomes of a sample on its way; of a store without mistakes nothing.
    var spoil: (Sample) -> Void = { _ in }

    /// What saved samples are after the file was closed and opened.
    private func roundTrip(_ samples: [Sample]) throws -> [Sample] {
        let disk = SimulatedFileSystem(seed: 3)
        func open() throws -> ModelContainer {
            try ModelContainer(
                for: Schema([Sample.self]), configurations: [JSONFileConfiguration(path: "/values.json", in: disk)])
        }
        let container = try open()
        let context = ModelContext(container)
        for sample in samples {
            spoil(sample)
            context.insert(sample)
        }
        try context.save()
        try container.close()
        return try ModelContext(try open()).fetch(FetchDescriptor<Sample>()).sorted { $0.key < $1.key }
    }

    private static let doubles: [Double] = [
        0, -0.0, .nan, .signalingNaN, -.nan, Double(bitPattern: 0x7FF8_0000_DEAD_BEEF), .infinity, -.infinity,
        .leastNonzeroMagnitude, .leastNormalMagnitude, .greatestFiniteMagnitude, -.greatestFiniteMagnitude, 0.1,
        9_007_199_254_740_992, Double(bitPattern: 2_024),
    ]

    func numbers() throws -> Findings {
        var findings = Findings()
        let integers: [Int64] = [.min, .max, -1, 0, 9_007_199_254_740_993]
        let naturals: [UInt64] = [.max, 0, UInt64(Int64.max) + 1]
        let found = try roundTrip(
            Self.doubles.enumerated().map { index, value in
                Sample(
                    key: index, double: value, float: Float(value), signed: integers[index % integers.count],
                    unsigned: naturals[index % naturals.count])
            })
        findings.inject(Self.doubles.count * 4)
        findings.expect(found.count == Self.doubles.count, "\(found.count) samples")
        for (sample, value) in zip(found, Self.doubles) {
            findings.expect(sample.double.bitPattern == value.bitPattern, "double \(value): \(sample.double)")
            findings.expect(sample.float.bitPattern == Float(value).bitPattern, "float \(value): \(sample.float)")
            let (integer, natural) = (integers[sample.key % integers.count], naturals[sample.key % naturals.count])
            findings.expect(sample.signed == integer, "\(integer): \(sample.signed)")
            findings.expect(sample.unsigned == natural, "\(natural): \(sample.unsigned)")
        }
        return findings
    }

    func decimalsAndDates() throws -> Findings {
        var findings = Findings()
        let decimals = ["12345678901234567890123456789012345678", "-0.00000000000000000000000000000000000001", "0.1"]
            .map { Decimal(string: $0) ?? 0 }
        let dates: [Date] = [
            .distantPast, .distantFuture, Date(timeIntervalSinceReferenceDate: 0.1),
            Date(timeIntervalSinceReferenceDate: -1e15), Date(timeIntervalSince1970: 1_700_000_000.123_456_7),
        ]
        let found = try roundTrip(
            dates.enumerated().map { Sample(key: $0, decimal: decimals[$0 % 3], date: $1) })
        findings.inject(dates.count * 2)
        let times = found.map(\.date.timeIntervalSinceReferenceDate)
        findings.expect(times == dates.map(\.timeIntervalSinceReferenceDate), "dates: \(times)")
        findings.expect(found.map(\.decimal) == dates.indices.map { decimals[$0 % 3] }, "\(found.map(\.decimal))")
        return findings
    }

    func texts() throws -> Findings {
        var findings = Findings()
        let texts = [
            "\u{0}", "a\u{0}b", "é", "e\u{301}", "👩‍👩‍👧‍👦", "\u{202E}abc\u{202C}", "\u{FEFF}", "\u{2028}\u{2029}",
            "\"\\/\u{7F}",
            "\u{FFFF}", "\u{10FFFF}", "../../etc/passwd", String(repeating: "x", count: 100_000),
        ]
        let found = try roundTrip(texts.enumerated().map { Sample(key: $0, text: $1) })
        findings.inject(texts.count)
        findings.expect(found.count == texts.count, "\(found.count) texts")
        for (sample, text) in zip(found, texts) {
            findings.expect(Array(sample.text.utf8) == Array(text.utf8), "text \(sample.key)")
        }
        return findings
    }
}

/// Coding of a value throws in the middle of a save.
struct UserCodeCheck {
    /// Inserts models and saves them.
    var save: (ModelContext, [Sample]) throws -> Void = { context, samples in
        for sample in samples { context.insert(sample) }
        try context.save()
    }

    func run() throws -> Findings {
        var findings = Findings()
        let disk = SimulatedFileSystem(seed: 3)
        func open() throws -> ModelContainer {
            try ModelContainer(
                for: Schema([Sample.self]), configurations: [JSONFileConfiguration(path: "/values.json", in: disk)])
        }
        let container = try open()
        let context = ModelContext(container)
        context.insert(Sample(key: 1, fuse: Fuse(name: "good")))
        try context.save()
        let before = disk.contents(at: "/values.json")
        let blown = Sample(key: 2, fuse: Fuse(name: "bad", isLit: true))
        findings.inject()
        findings.expect(thrown { try save(context, [Sample(key: 3), blown]) } != nil, "nothing was thrown")
        findings.expect(context.hasChanges, "the context is not dirty")
        findings.expect(disk.contents(at: "/values.json") == before, "the file has changed")
        findings.expect(!disk.paths.contains { $0.hasSuffix(".mortise-tmp") }, "left a temporary")
        let count = try ModelContext(container).fetchCount(FetchDescriptor<Sample>())
        findings.expect(count == 1, "\(count) records are visible")
        blown.fuse = Fuse(name: "mended")
        try context.save()
        findings.expect(!context.hasChanges, "the context is dirty")
        try container.close()
        let samples = try ModelContext(open()).fetch(FetchDescriptor<Sample>())
        findings.expect(samples.compactMap(\.fuse?.name).sorted() == ["good", "mended"], "\(samples.count) samples")
        return findings
    }
}

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

    @Test func numbersAtTheirLimitsComeBackToTheLastBit() throws { try ValueCheck().numbers().verify("F30") }

    @Test func decimalsAndDatesComeBackToTheLastDigit() throws { try ValueCheck().decimalsAndDates().verify("F30") }

    @Test func textsOfEveryKindComeBackToTheLastCodeUnit() throws { try ValueCheck().texts().verify("F29") }

    @Test func codedValuesKeepTheirNumbersAndTheirDepth() throws {
        let fuses = [
            Fuse(name: "deep", nest: Nest(depth: 400)), Fuse(name: "", weight: -0.0),
            Fuse(name: "", weight: Double(bitPattern: 10_121)),
            Fuse(name: "", weight: .greatestFiniteMagnitude), Fuse(name: "", weight: .infinity),
        ]
        let found = try roundTrip(fuses.enumerated().map { Sample(key: $0, fuse: $1) })
        #expect(found.map(\.fuse) == fuses)
        #expect(found[1].fuse?.weight.sign == .minus)
        FaultLedger.add(["F27", "F30"], trials: fuses.count)
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
        #expect { try context.save() } throws: { error in
            "\(error)".contains("Sample.fuse of Sample/3 is too large: expected at most 508 nested")
        }
        #expect(context.hasChanges)
        #expect(disk.contents(at: "/values.json") == before)
        #expect(try ModelContext(container).fetchCount(FetchDescriptor<Sample>()) == 1)
        bad.fuse = nil
        try context.save()
        #expect(try ModelContext(container).fetchCount(FetchDescriptor<Sample>()) == 3)
        FaultLedger.add(["F30", "F33"], trials: 1)
    }

    @Test func userCodeThatThrowsInASaveLeavesNothingBehind() throws { try UserCodeCheck().run().verify("F33") }
}
