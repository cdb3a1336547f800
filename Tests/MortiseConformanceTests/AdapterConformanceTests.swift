import Foundation
import MortiseConformance
import PackageSubjects
import PackageTestSupport
import Testing

/// Whether tests are run at their full size.
let isFullSize = ProcessInfo.processInfo.environment["MORTISE_TEST_SIZE"] == "full"

/// All of a long list at full size, and otherwise one part of it: another one in each run, by its seed.
func share<T>(of all: [T], parts: Int) -> [T] {
    if isFullSize { return all }
    return all.enumerated().filter { (UInt64($0.offset) &+ seedOfRun) % UInt64(parts) == 0 }.map(\.element)
}

/// As `share`, of pairs of a store and a case. Large cases are few and take most of the time: of their pairs it is a quarter of
/// what it is of the others'.
private func share(
    ofPairs all: [(ConformanceSubject, ConformanceCase)], parts: Int
) -> [(ConformanceSubject, ConformanceCase)] {
    share(of: all.filter { !$0.1.isLarge }, parts: parts) + share(of: all.filter { $0.1.isLarge }, parts: 4 * parts)
}

private let seedOfRun = testSeed("the part of the conformance cases that is tried") % 1_000

/// The whole kit on every store of this package; `ExampleTests` has it on the store in memory, and `GuideTests` on the sample.
@Suite struct AdapterConformanceTests {
    @Test(arguments: pairs) func conforms(_ subject: ConformanceSubject, to conformanceCase: ConformanceCase) throws {
        try subject.startingProcesses(of: KillConformanceTests.program).check(conformanceCase)
    }

    /// Every case is tried on one of the stores with files at least, with another seed on the other; of the large ones a part, all
    /// of which are tried on the store in memory.
    private static let pairs: [(ConformanceSubject, ConformanceCase)] = share(
        ofPairs: ConformanceCase.all.enumerated().flatMap { number, conformanceCase in
            let subjects = number % 2 == 0 ? simulated : simulated.reversed()
            return subjects.map { ($0, conformanceCase) }
        }, parts: simulated.count)
    private static let simulated = PackageSubjects.simulated.filter { $0.name != PackageSubjects.memory.name }

    /// The same files without the double between: what every case needs of a real disk is little, so that the first hour's
    /// are enough where time counts.
    @Test(
        arguments: [PackageSubjects.jsonOnDisk(), PackageSubjects.logOnDisk()],
        ConformanceCase.all(upTo: isFullSize ? .full : .firstHour))
    func conformsOnDisk(_ subject: ConformanceSubject, to conformanceCase: ConformanceCase) throws {
        try subject.startingProcesses(of: KillConformanceTests.program).check(conformanceCase)
    }

    @Test func theGuideHasTheLineThatEndsAReport() throws {
        let guide = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appending(path: "../../Sources/Mortise/Mortise.docc/AStoreOfYourOwn.md").standardizedFileURL
        let refused = ConformanceCase.all.count { $0.testsRefusal(by: PackageSubjects.memory) }
        let passed = ConformanceCase.all.count - refused
        // That each of them passes is what `ExampleTests` tries.
        let line =
            isFullSize
            ? ConformanceRun(PackageSubjects.memory).report().countsLine
            : "\(passed) passed, \(refused) refused as declared, 0 failed, 0 skipped"
        #expect(try String(contentsOf: guide, encoding: .utf8).contains("`\(line)`"), "\(line)")
    }

    @Test(arguments: PackageSubjects.all) func nothingIsExcluded(_ subject: ConformanceSubject) {
        #expect(subject.exclusions == [])
    }
}

/// The whole kit on its own reference stores.
@Suite struct ReferenceConformanceTests {
    @Test(arguments: pairs) func conforms(_ subject: ConformanceSubject, to conformanceCase: ConformanceCase) throws {
        try subject.startingProcesses(of: KillConformanceTests.program).check(conformanceCase)
    }

    /// Every case is tried on one of the references at least, those of a run on all of them in turn; of the large ones a part.
    private static let pairs: [(ConformanceSubject, ConformanceCase)] = share(
        ofPairs: ConformanceCase.all.enumerated().flatMap { number, conformanceCase in
            references.indices.map { (references[(number + $0) % references.count], conformanceCase) }
        }, parts: references.count)
    private static let references = ConformanceSubject.references.filter { isFullSize || shortened[$0.name] == nil }

    /// A large case is to show a limit, and not to take the time of an author.
    @Test(
        .enabled(if: isFullSize, "it measures; MORTISE_TEST_SIZE=full"), .serialized,
        arguments: ConformanceCase.all.filter(\.isLarge))
    func largeCasesTakeTwoSeconds(_ conformanceCase: ConformanceCase) throws {
        let took = try ContinuousClock().measure { try ConformanceSubject.reference.check(conformanceCase) }
        // Two seconds by itself. Other tests run at the same time, and without optimization everything takes longer.
        #expect(took < .seconds(_isDebugAssertConfiguration() ? 40 : 6), "\(conformanceCase)")
    }

    /// References that differ from others in little: at small size only the cases of that are run on them, a third in each run.
    private static let shortened: [String: Set<String>] = [
        "oneWay reference": ["schema"],
        "folder reference": ["schema", "reopening", "openers", "folder", "resources", "history"],
        "shared reference, chaos 2": ["schema", "reopening", "openers"],
        "batching reference": ["batch", "announcements", "read-consistency", "aggregates"],
    ]

    @Test(arguments: shortened.keys.sorted())
    func conformsInWhatDistinguishesIt(_ name: String) throws {
        let subject = try #require(ConformanceSubject.references.first { $0.name == name })
        let cases = ConformanceCase.all.filter { Self.shortened[name]?.contains($0.area) ?? false }
        #expect(!cases.isEmpty)
        for conformanceCase in share(of: cases.filter { isFullSize || !$0.isLarge }, parts: 3) {
            #expect(throws: Never.self, "\(conformanceCase.id)") {
                try subject.startingProcesses(of: KillConformanceTests.program).check(conformanceCase)
            }
        }
    }
}

/// The kit as a process, which starts others and kills them.
@Suite struct KillConformanceTests {
    /// The program beside the test bundle.
    static let program: URL? = ConformanceProgram.beside("mortise-conformance")

    private func run(_ arguments: String...) throws -> (status: Int32, output: String) { try run(arguments) }

    private func run(_ arguments: [String]) throws -> (status: Int32, output: String) {
        let process = Process()
        let output = Pipe()
        process.executableURL = Self.program
        process.arguments = arguments
        process.standardOutput = output
        try process.run()
        let data = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return (process.terminationStatus, String(decoding: data, as: UTF8.self))
    }

    @Test(
        .disabled(if: program == nil, "the program is not beside the tests"),
        arguments: ["JSONFile on disk", "AppendLog on disk", "CSV folder"])
    func acknowledgedSavesSurviveTheKillingOfTheirProcess(_ subject: String) throws {
        let kills = isFullSize ? "60" : "6"
        let (status, output) = try run(
            "--subject", subject, "--case", "lifecycle.saving-nothing", "--kills", kills, "--seed", "7")
        #expect(status == 0, "\(output)")
        #expect(output.contains("\(kills) processes killed, "), "\(output)")
    }

    @Test(.disabled(if: program == nil, "the program is not beside the tests"))
    func savesThatWereOnlyPromisedAreFound() throws {
        // Whether a process dies between a promise and its keeping is chance, the more so on a busy machine.
        var (status, output) = (Int32(0), "")
        for seed in 7..<27 where status == 0 {
            (status, output) = try run(
                "--subject", "CSV folder that writes late", "--case", "lifecycle.saving-nothing", "--kills", "6",
                "--seed", "\(seed)")
        }
        #expect(status == 1, "\(output)")
        #expect(output.contains("kills.keeps: What was acknowledged is there"), "\(output)")
    }

    /// Bug: lines of the store's own were taken for errors of its process, and messages beside them were lost.
    @Test(.disabled(if: program == nil, "the program is not beside the tests"))
    func aStoreMayWriteToStandardOutput() throws {
        let cases = [
            "lifecycle.thousand-records", "openers.second-process", "openers.process-after-closing",
            "openers.processes-in-turn", "values.dates-in-other-time-zones",
        ].filter { ConformanceCase.named($0) != nil }
        let (status, output) = try run(
            ["--subject", "CSV folder that logs", "--kills", "4", "--seed", "7"] + cases.flatMap { ["--case", $0] })
        #expect(status == 0, "\(output)")
        #expect(output.contains("4 processes killed, "), "\(output)")
        #expect(output.hasSuffix("\(cases.count) passed, 0 failed, 0 skipped\n"), "\(output)")
    }

    /// Each result comes as its case ends: here the next one never does.
    @Test(
        .disabled(if: program == nil, "the program is not beside the tests"), arguments: ["text", "json", "markdown"])
    func resultsAreToldWhileOtherCasesRun(_ format: String) throws {
        let process = Process()
        let (output, progress) = (Pipe(), Pipe())
        process.executableURL = Self.program
        process.arguments = [
            "--subject", "CSV folder that hangs", "--case", "lifecycle.saved-is-fetched", "--case",
            "lifecycle.thousand-records", "--time-limit", "30", "--format", format,
        ]
        process.standardOutput = output
        process.standardError = progress
        try process.run()
        var told = Data()
        let pipe = format == "text" ? output : progress
        while !String(decoding: told, as: UTF8.self).contains("✓ lifecycle.saved-is-fetched\n"),
            case let data = pipe.fileHandleForReading.availableData, !data.isEmpty
        { told += data }
        #expect(process.isRunning)
        #expect(!String(decoding: told, as: UTF8.self).contains("thousand-records"))
        // The threads of tests let a process inherit that it hears no softer signal. Its own child ends at the time limit.
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
        #expect(String(decoding: told, as: UTF8.self).contains("✓ lifecycle.saved-is-fetched\n"))
    }

    @Test(.disabled(if: program == nil, "the program is not beside the tests"))
    func aStoreThatTrapsFailsTheCaseAndTheReportGoesOn() throws {
        let (status, output) = try run(
            "--subject", "CSV folder that traps", "--case", "lifecycle.saved-is-fetched", "--case",
            "lifecycle.thousand-records", "--case", "reopening.same-records")
        #expect(status == 1, "\(output)")
        #expect(
            output.contains("✓ lifecycle.saved-is-fetched") && output.contains("✓ reopening.same-records"), "\(output)")
        #expect(output.contains("✗ lifecycle.thousand-records"), "\(output)")
        #expect(output.contains("found     the end of the process with signal"), "\(output)")
        // What was done last is told although the process is gone.
        #expect(output.contains("open the store"), "\(output)")
        #expect(output.hasSuffix("2 passed, 1 failed, 0 skipped\n"), "\(output)")
    }

    @Test(.disabled(if: program == nil, "the program is not beside the tests"))
    func aStoreThatTrapsAtTheLookAfterAKillFailsThatAlone() throws {
        let (status, output) = try run(
            "--subject", "CSV folder that traps when it is opened again", "--case", "lifecycle.saved-is-fetched",
            "--kills", "3", "--seed", "7")
        #expect(status == 1, "\(output)")
        #expect(output.contains("kills.opens: "), "\(output)")
        #expect(output.contains("found     the end of the process with signal"), "\(output)")
        #expect(output.contains("1 of 3 processes killed"), "\(output)")
    }

    @Test(.disabled(if: program == nil, "the program is not beside the tests"))
    func aStoreThatHangsFailsTheCaseAndTheReportGoesOn() throws {
        let (status, output) = try run(
            "--subject", "CSV folder that hangs", "--case", "lifecycle.thousand-records", "--case",
            "reopening.same-records", "--time-limit", "3")
        #expect(status == 1, "\(output)")
        #expect(
            output.contains("✗ lifecycle.thousand-records") && output.contains("✓ reopening.same-records"), "\(output)")
        #expect(output.contains("expected  an end within 3.0 seconds"), "\(output)")
        #expect(output.hasSuffix("1 passed, 1 failed, 0 skipped\n"), "\(output)")
    }

    @Test(.disabled(if: program == nil, "the program is not beside the tests"))
    func storesAreReachedByURL() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "stores-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        for store in ["memory:", "json:\(folder.path)", "log:\(folder.path)"] {
            let (status, output) = try run("--store", store, "--case", "lifecycle.saved-is-fetched", "--format", "json")
            #expect(status == 0, "\(output)")
            #expect(output.contains("\"passed\" : 1"), "\(output)")
        }
    }
}
