import Foundation
import MortiseConformance
import MortiseCore
import PackageSubjects
import Testing

@Suite struct ConformanceReportTests {
    static let failing = ConformanceCase(
        "own.always-fails", level: .core, requirement: "Nothing is required.", hint: "There is none."
    ) { context in
        try context.session().insert()
        context.note("something was done")
        try context.expect(1, is: 2, "a number:")
    }
    static let passing = ConformanceCase(
        "own.always-passes", level: .core, requirement: "Nothing is required.", hint: "There is none."
    ) { _ in }
    static let throwing = ConformanceCase(
        "own.throws", level: .core, requirement: "Nothing is required.", hint: "There is none."
    ) { _ in throw CocoaError(.fileNoSuchFile) }

    @Test func failureSaysWhatWasDoneAndWhatCame() throws {
        let report = ConformanceRun(.reference, only: [Self.failing]).report()
        let failure = try #require(report.failures.first)
        #expect(failure.caseID == "own.always-fails")
        #expect(failure.expected == "a number: 2")
        #expect(failure.found == "1")
        #expect(failure.operations.contains("something was done"))
        let text = report.text
        for part in [
            "expected  a number: 2", "found     1", "hint      There is none.", "0 passed, 1 failed, 0 skipped",
        ] {
            #expect(text.contains(part))
        }
    }

    @Test func runGoesOnAfterAFailureAndAnUnexpectedError() {
        let report = ConformanceRun(.reference, only: [Self.failing, Self.throwing, Self.passing]).report()
        #expect(report.results.map(\.status) == [.failed, .failed, .passed])
        #expect(report.exitStatus == 1)
        #expect(report.failures.last?.expected == "no error")
    }

    @Test func subjectThatCannotBeSetUpFailsEveryCase() {
        let subject = ConformanceSubject("broken") { throw CocoaError(.fileWriteNoPermission) }
        let report = ConformanceRun(subject, only: [Self.passing, Self.failing]).report()
        #expect(report.failed == 2)
        #expect(report.failures.allSatisfy { $0.expected == "a fresh storage" })
    }

    @Test func cleanUpThatFailsIsAFailure() {
        let subject = ConformanceSubject("litter") {
            SubjectStorage(open: { ReferenceConfiguration(storage: ReferenceStorage()) }) {
                throw CocoaError(.fileNoSuchFile)
            }
        }
        #expect(ConformanceRun(subject, only: [Self.passing]).report().failed == 1)
    }

    @Test func aStoreThatStandsStillFailsTheCaseAndEndsNoRun() {
        let still = ConformanceCase(
            "own.stands-still", level: .full, requirement: "The store answers.", hint: "It waits."
        ) { context in
            context.note("ask")
            while true { Thread.sleep(forTimeInterval: 60) }
        }
        let subject = ConformanceSubject.reference.limitingCases(to: .milliseconds(300))
        let report = ConformanceRun(subject, only: [still]).report()
        #expect(report.failed == 1)
        #expect(report.failures.first?.expected == "an end within 0.3 seconds")
        #expect(report.failures.first?.operations == ["ask"])
        #expect(ConformanceRun(.reference, only: [Self.passing]).report().passed == 1)
    }

    @Test func excludedCaseThatFailsIsSkippedWithItsReason() throws {
        let subject = ConformanceSubject.reference.excluding([
            ConformanceExclusion("own.always-fails", .future, reason: "not yet")
        ])
        let report = ConformanceRun(subject, only: [Self.failing]).report()
        #expect(report.countsLine == "0 passed, 0 failed, 1 skipped")
        #expect(report.isClean)
        #expect(report.text.contains("(future: not yet)"))
        #expect(report.markdown.contains("| `own.always-fails` | excluded | future: not yet |"))
        try subject.check(Self.failing)
    }

    @Test func aRefusalIsCountedApartAndIsNoPass() throws {
        let case_ = try #require(ConformanceCase.all.first { $0.testsRefusal(by: .reference) })
        let report = ConformanceRun(.reference, only: [case_, Self.passing]).report()
        #expect(report.passed == 1 && report.refused == 1 && report.isClean)
        #expect(report.countsLine == "1 passed, 1 refused as declared, 0 failed, 0 skipped")
        #expect(report.text.contains("(not claimed; refuses cleanly)"))
    }

    @Test func exclusionsAreHeldToAccount() {
        let subject = ConformanceSubject.reference.excluding([
            ConformanceExclusion("own.always-passes", .bug, reason: "once"),
            ConformanceExclusion("own.unheard-of", .bug, reason: "once"),
            ConformanceExclusion("own.always-fails", .bug, reason: " "),
            ConformanceExclusion("own.always-fails", .bug, reason: "twice"),
        ])
        let report = ConformanceRun(subject, only: [Self.failing, Self.passing]).report()
        #expect(
            Set(report.findings) == [
                .needlessExclusion(caseID: "own.always-passes"), .unknownExclusion(caseID: "own.unheard-of"),
                .exclusionWithoutReason(caseID: "own.always-fails"), .repeatedExclusion(caseID: "own.always-fails"),
            ])
        #expect(report.exitStatus == 1)
        #expect(throws: ConformanceFailure.self) { try subject.check(Self.passing) }
    }

    @Test func casesThatWereNotRunAreFindings() {
        let report = ConformanceRun(.reference, level: .firstHour, cases: [Self.passing]).report()
        let missing = ConformanceCase.all(upTo: .firstHour).map { ConformanceReport.Finding.notRun(caseID: $0.id) }
        #expect(Set(report.findings) == Set(missing))
        #expect(!report.isClean)
        #expect(ConformanceRun.unaccounted(ran: Set(ConformanceCase.all.map(\.id)), .reference) == [])
    }

    @Test func jsonCanBeReadBack() throws {
        struct Summary: Decodable {
            let report: ConformanceReport
            let failed: Int
            let isClean: Bool
        }
        let json = try ConformanceRun(.reference, only: [Self.failing, Self.passing]).report().json()
        let summary = try JSONDecoder().decode(Summary.self, from: Data(json.utf8))
        #expect(summary.report.results.map(\.caseID) == ["own.always-fails", "own.always-passes"])
        #expect(summary.failed == 1)
        #expect(!summary.isClean)
    }
}

@Suite struct ConformanceFrameTests {
    @Test func impliedCapabilitiesAreDerived() {
        let capabilities: StoreCapabilities = [.versions, .erase]
        #expect(capabilities.contains(.concurrency))
        #expect(capabilities.contains(.queries))
        #expect(capabilities.declared == [.versions, .erase])
        #expect(!capabilities.contains(.reopening))
        #expect(capabilities.description == "concurrency, erase, queries, versions")
    }

    @Test func casesSpeakForThemselves() {
        for conformanceCase in ConformanceCase.all {
            #expect(conformanceCase.id.split(separator: ".").count == 2, "\(conformanceCase)")
            #expect(conformanceCase.requirement.hasSuffix("."), "\(conformanceCase)")
            #expect(!conformanceCase.hint.isEmpty, "\(conformanceCase)")
        }
        let firstHour = ConformanceCase.all(upTo: .firstHour).count
        #expect((18...26).contains(firstHour), "\(firstHour) cases of the first hour")
    }

    @Test func claimingTooMuchAndTooLittleAreFailures() throws {
        func reference(_ capabilities: StoreCapabilities) -> ConformanceSubject {
            ConformanceSubject("reference", capabilities: capabilities) {
                let storage = ReferenceStorage()
                return SubjectStorage(open: { ReferenceConfiguration(storage: storage) })
            }
        }
        let reopening = try #require(ConformanceCase.named("reopening.same-records"))
        let erase = try #require(ConformanceCase.named("lifecycle.erase"))
        let versions = try #require(ConformanceCase.named("store.versions-are-held"))
        #expect(throws: ConformanceFailure.self) { try reference([.erase]).check(reopening) }
        #expect(throws: ConformanceFailure.self) { try reference([.reopening]).check(erase) }
        #expect(throws: ConformanceFailure.self) { try reference([.versions]).check(versions) }
        try reference([.reopening, .erase]).check(versions)
        let declared = try #require(ConformanceCase.named("store.capabilities-are-declared"))
        #expect(throws: ConformanceFailure.self) { try reference([.erase]).check(declared) }
        #expect(throws: ConformanceFailure.self) { try reference([.durability, .erase, .history]).check(declared) }
        try reference([.durability, .erase]).check(declared)
    }

    @Test func capabilitiesThatAreNotDeclaredAreTheStoresOwn() {
        let subject = ConformanceSubject("reference") {
            let storage = ReferenceStorage()
            return SubjectStorage(open: { ReferenceConfiguration(storage: storage) })
        }
        #expect(subject.capabilities == [.durability, .erase])
    }
}

@Suite struct ConformanceProgramTests {
    private func run(_ arguments: String...) -> (status: Int32, output: String) {
        var output = ""
        let status = ConformanceProgram.main(subjects: [.reference], arguments: arguments) { output += $0 }
        return (status, output)
    }

    @Test func oneCaseCanBeRunAlone() {
        let (status, output) = run("--case", "lifecycle.saving-nothing")
        #expect(status == 0)
        #expect(output.hasSuffix("1 passed, 0 failed, 0 skipped\n"))
    }

    @Test func firstHourPassesAndIsReportedInEveryFormat() {
        #expect(run("--level", "first-hour").status == 0)
        #expect(run("--level", "first-hour", "--format", "json").output.hasPrefix("{"))
        #expect(
            run("--level", "first-hour", "--format", "markdown").output.hasPrefix("## Conformance of plain reference"))
    }

    @Test func casesAreListed() {
        let (status, output) = run("--list", "--level", "first-hour")
        #expect(status == 0)
        #expect(output.contains("identity.permanent-after-save  first-hour"))
        #expect(output.contains("reopening.same-records  first-hour [reopening]"))
    }

    @Test(arguments: [
        ["--case"], ["--case", "no.such-case"], ["--kills", "x"], ["--store", "x:"], ["--level", "x"],
        ["--format", "x"], ["--subject", "x"], ["x"], ["--time-limit", "0"], ["--time-limit", "nan"],
    ])
    func argumentsThatMakeNoSenseAreRefused(_ arguments: [String]) {
        var output = ""
        let status = ConformanceProgram.main(subjects: [.reference], arguments: arguments) { output += $0 }
        #expect(status == 2)
        #expect(output.contains("usage:"))
    }

    @Test func aReportSaysWhyNoProcessWasKilled() throws {
        let words = "no process killed: the subject has no folder that another process could open"
        #expect(run("--level", "core").output.contains(words))
        #expect(!run("--level", "first-hour").output.contains(words))
        let (status, output) = run("--case", "lifecycle.saving-nothing", "--kills", "3")
        #expect(status == 0)
        #expect(output.hasSuffix("\n\(words)\n\n1 passed, 0 failed, 0 skipped\n"), "\(output)")
        let markdown = run("--case", "lifecycle.saving-nothing", "--kills", "3", "--format", "markdown").output
        #expect(markdown.contains("N\(words.dropFirst())."), "\(markdown)")
    }

    /// Bug: the results of all cases were lost with the error.
    @Test func killsThatCannotBeTriedAreAFaultAndLoseNoResults() throws {
        var output = ""
        let status = ConformanceProgram.main(
            subjects: [PackageSubjects.csv], arguments: ["--case", "lifecycle.saving-nothing", "--kills", "3"],
            program: URL(fileURLWithPath: "/no/such/program"), output: { output += $0 })
        #expect(status == 1)
        #expect(output.contains("✗ lifecycle.saving-nothing"), "\(output)")
        #expect(output.contains("kills.tried: Processes can be started"), "\(output)")
        #expect(output.hasSuffix("0 passed, 1 failed, 0 skipped\n"), "\(output)")
    }

    @Test func faultySubjectGivesStatusOne() throws {
        let fault = try #require(StoreFault.all.first { $0.id == "counts-deleted" })
        var output = ""
        let status = ConformanceProgram.main(
            subjects: [fault.subject], arguments: ["--case", "delete.is-gone"]
        ) { output += $0 }
        #expect(status == 1)
        #expect(output.contains("found     "))
    }
}
