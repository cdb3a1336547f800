import FaultWorkload
import Foundation
import MortiseCore
import MortiseEngine
import MortiseJSONFile
import Testing

/// Each mistake that a store could have is caught by the check that is there for it. A check that a mistake escapes is
/// worth nothing.
@Suite struct BrokenVariantTests {
    @Test(arguments: BrokenFileSystem.Mistake.allCases)
    func everyMistakeIsCaughtByItsCheck(mistake: BrokenFileSystem.Mistake) throws {
        // A broken store may also fail where the check expects it to work; that is caught, too.
        var violations: [String] = []
        if let error = thrown({ violations = try Self.check(mistake).violations }) { violations.append("\(error)") }
        #expect(!violations.isEmpty)
    }

    private static func check(_ mistake: BrokenFileSystem.Mistake) throws -> Findings {
        switch mistake {
        case .skipsDirectorySync, .skipsFileSync: try PowerCutCheck(mistake: mistake).run()
        case .writesInPlace: try StaleReaderCheck(mistake: mistake).run()
        case .ignoresShortWrites: try ShortTransferCheck(mistake: mistake).run()
        case .retriesFailedSync: try SyncFailureCheck(mistake: mistake).run()
        case .retriesFailedDirectorySync: try SyncFailureCheck(operation: .syncDirectory, mistake: mistake).run()
        case .doublesInterruptedWrites: try InterruptionCheck(mistake: mistake).run()
        case .ignoresLocks: try LockCheck(mistake: mistake).run()
        case .remembersInfo: try BehindTheBackCheck(mistake: mistake).run()
        case .findsNoOrphans: try OrphanCheck(mistake: mistake).run()
        case .followsNoLinks: try LinkCheck(mistake: mistake).run()
        case .forgetsPermissions: try PermissionCheck(mistake: mistake).run()
        case .ignoresFullDisk: try FullDiskCheck(mistake: mistake, step: 211).run()
        case .ignoresLengthLimit: try LengthLimitCheck(mistake: mistake).run()
        case .ignoresExhaustion: try ExhaustionCheck(mistake: mistake).run()
        case .ignoresReadOnly: try ReadOnlyCheck(mistake: mistake).run()
        case .writesElsewhere: try TouchedPathsCheck(mistake: mistake).run()
        case .buffersWrites: try PowerCutCheck(mistake: mistake).run()
        }
    }

    @Test func aStoreThatOverwritesInPlaceDoesNotSurviveAPowerCut() throws {
        #expect(try !PowerCutCheck(mistake: .writesInPlace).run().violations.isEmpty)
    }

    @Test func aStoreThatBelievesTheSecondSyncLosesSavesInAPowerCut() throws {
        let check = PowerCutCheck(mistake: .retriesFailedSync, failingSync: (.sync, 3))
        #expect(try !check.run().violations.isEmpty)
    }

    @Test func aStoreWithoutASealDoesNotNoticeFlippedBits() throws {
        #expect(try !BitFlipCheck(integrity: .acceptEdits).run().violations.isEmpty)
    }

    /// Killed in the middle of writing over the old content, there is neither the old one nor the new.
    @Test(
        .enabled(if: HelperProcess.strace != nil, "strace is not installed"),
        .enabled(if: ProcessInfo.processInfo.environment["MORTISE_SANITIZER"] == nil, "sanitizers cannot be traced"))
    func aStoreThatOverwritesInPlaceDoesNotSurviveAKill() throws {
        let findings = try KillSweep.run("pwrite64", "signal=SIGKILL", mistake: .writesInPlace)
        #expect(findings.violations.contains { $0.contains("not usable afterwards") })
    }

    /// Foundation's reader takes what a strict one must not: doubled keys, a mark of the byte order, a comma too many.
    @Test func aLenientReaderIsCaughtByTheGrammar() throws {
        let violations = JSONStrictnessCheck { bytes in
            _ = try JSONSerialization.jsonObject(with: Data(bytes), options: [.fragmentsAllowed])
        }.grammar().violations
        #expect(violations.contains("{\"a\":1,\"a\":2}"))
        #expect(violations.contains("{\"a\":1,\"\\u0061\":2}"))
        #expect(violations.contains("[1,]"))
        #expect(violations.contains("\u{FEFF}[]"))
    }

    @Test func aReaderThatMendsItsBytesIsCaughtByIllFormedText() throws {
        let mending = JSONStrictnessCheck { bytes in
            let text = String(decoding: bytes, as: UTF8.self)
            _ = try JSONSerialization.jsonObject(with: Data(text.utf8), options: [.fragmentsAllowed])
        }
        #expect(mending.encoding().violations.count == mending.encoding().injected)
    }

    @Test func aReaderWithoutALimitIsCaughtByNesting() throws {
        let limitless = JSONStrictnessCheck { bytes in
            struct Unbalanced: Error {}
            let open = bytes.count { $0 == UInt8(ascii: "[") || $0 == UInt8(ascii: "{") }
            let closed = bytes.count { $0 == UInt8(ascii: "]") || $0 == UInt8(ascii: "}") }
            if open != closed { throw Unbalanced() }
        }
        #expect(Set(limitless.nesting().violations) == ["depth 513", "depth 2000", "depth 100000"])
    }

    @Test func aStoreThatRoundsIsCaughtByTheLimitsOfNumbers() throws {
        let rounded = ValueCheck { $0.double = Double(String(format: "%.15g", $0.double)) ?? 0 }
        #expect(try !rounded.numbers().violations.isEmpty)
        let through = ValueCheck { $0.signed = Int64(clamping: Int(exactly: Double($0.signed)) ?? 0) }
        #expect(try !through.numbers().violations.isEmpty)
        let seconds = ValueCheck {
            $0.date = Date(timeIntervalSinceReferenceDate: $0.date.timeIntervalSinceReferenceDate.rounded())
        }
        #expect(try !seconds.decimalsAndDates().violations.isEmpty)
        let binary = ValueCheck { $0.decimal = Decimal(NSDecimalNumber(decimal: $0.decimal).doubleValue) }
        #expect(try !binary.decimalsAndDates().violations.isEmpty)
    }

    @Test func aStoreThatNormalizesIsCaughtByTexts() throws {
        #expect(try !ValueCheck { $0.text = $0.text.precomposedStringWithCanonicalMapping }.texts().violations.isEmpty)
        let ended = ValueCheck { $0.text = String($0.text.prefix { $0 != "\0" }) }
        #expect(try !ended.texts().violations.isEmpty)
    }

    @Test func aStoreThatWritesTheTimeIsCaughtByWritingTwice() throws {
        let stamped = ClockCheck {
            let line = "  \"saved\": \(Date().timeIntervalSinceReferenceDate)\n"
            return Array(line.utf8) + (try ClockCheck.saves())
        }
        #expect(try !stamped.run().violations.isEmpty)
    }

    @Test func aSaveThatKeepsWhatWasCodedBeforeTheErrorIsCaught() throws {
        let oneByOne = UserCodeCheck { context, samples in
            for sample in samples {
                context.insert(sample)
                try context.save()
            }
        }
        let violations = try oneByOne.run().violations
        #expect(violations.contains("the file has changed") && violations.contains("2 records are visible"))
        #expect(
            try !UserCodeCheck { context, samples in
                for sample in samples { context.insert(sample) }
                try? context.save()
            }.run().violations.isEmpty)
    }

    @Test func storesThatDoNotKnowOfEachOtherAreCaughtBySavingAtOnce() async throws {
        #expect(try await !ConcurrentSaveCheck(containers: 2, mistake: .ignoresLocks).run().violations.isEmpty)
    }

    @Test func aStoreThatReadsItsNewestFormatAloneIsCaughtByTheOlderFiles() throws {
        #expect(try !GoldenCheck { $0.replacing("\"records\"", with: "\"entities\"") }.run().violations.isEmpty)
        #expect(
            try !GoldenCheck { $0.replacing("\"formatVersion\": 1", with: "\"formatVersion\": 0") }.run()
                .violations.isEmpty)
    }

    @Test func withoutAMistakeEveryCheckIsSatisfied() async throws {
        let strict = JSONStrictnessCheck()
        let findings = [
            try PowerCutCheck().run(), try ShortTransferCheck().run(), try SyncFailureCheck().run(),
            try SyncFailureCheck(operation: .syncDirectory).run(), try InterruptionCheck().run(), try LockCheck().run(),
            try BehindTheBackCheck().run(), try OrphanCheck().run(), try LinkCheck().run(),
            try PermissionCheck().run(), try FullDiskCheck(step: 211).run(), try StaleReaderCheck().run(),
            try LengthLimitCheck().run(), try ExhaustionCheck().run(), try ReadOnlyCheck().run(),
            try TouchedPathsCheck().run(), strict.grammar(), strict.encoding(), strict.nesting(),
            try ValueCheck().numbers(), try ValueCheck().decimalsAndDates(), try ValueCheck().texts(),
            try ClockCheck().run(), try UserCodeCheck().run(), try await ConcurrentSaveCheck().run(),
            try GoldenCheck().run(),
        ]
        #expect(findings.flatMap(\.violations).isEmpty)
    }
}
