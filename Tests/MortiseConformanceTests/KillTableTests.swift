import Foundation
import MortiseConformance
import Testing

/// Proof that the kit bites: every faulty store is caught, every case catches one, and the correct ones raise no alarm.
///
/// The documentation says which case fails on which store. Here each of its rows is tried; at full size the whole table is
/// made anew, and has to hold what is documented.
@Suite struct KillTableTests {
    static let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appending(path: "../../Sources/MortiseConformance/MortiseConformance.docc/WhatTheKitCatches.md")
        .standardizedFileURL

    /// The cells of the documented tables: those of faults have the case in place 2, those of cases the fault.
    static let documented: (faults: [String: String], cases: [String: String]) = {
        var faults: [String: String] = [:]
        var cases: [String: String] = [:]
        let text = (try? String(contentsOf: file, encoding: .utf8)) ?? ""
        for line in text.split(separator: "\n") where line.hasPrefix("| ") {
            let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
            guard cells.count == 3 else { continue }
            let names = cells.map { $0.split(separator: "`").map(String.init) }
            if cells[0].hasPrefix("`") {
                cases[names[0][0]] = names[2].first ?? ""
            } else if cells[1].hasPrefix("`") {
                faults[names[1][0]] = names[2].first ?? ""
            }
        }
        return (faults, cases)
    }()

    /// Every fault with each case that the documentation says to catch it, of both tables.
    static let documentedPairs: [(fault: String, conformanceCase: String)] = {
        let text = (try? String(contentsOf: file, encoding: .utf8)) ?? ""
        return text.split(separator: "\n").filter { $0.hasPrefix("| ") }.flatMap { line in
            let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
            guard cells.count == 3 else { return [(fault: String, conformanceCase: String)]() }
            let names = cells.map { cell in
                cell.split(separator: "`").enumerated().filter { $0.offset % 2 == (cell.hasPrefix("`") ? 0 : 1) }
                    .map { String($0.element) }
            }
            if cells[0].hasPrefix("`"), let name = names[0].first {
                return names[2].map { (fault: $0, conformanceCase: name) }
            }
            guard cells[1].hasPrefix("`"), let fault = names[1].first else { return [] }
            return names[2].map { (fault: fault, conformanceCase: $0) }
        }
    }()

    @Test func thereAreSevenHundredFaultsAndNineHundredCasesAtLeast() {
        #expect(StoreFault.all.count >= 790)
        #expect(ConformanceCase.all.count >= 950)
        #expect(Set(StoreFault.all.map(\.id)).count == StoreFault.all.count)
        #expect(Set(ConformanceCase.all.map(\.id)).count == ConformanceCase.all.count)
    }

    /// What is said of them elsewhere is what there is.
    @Test func theDocumentationAndTheChangelogCountThem() throws {
        let count = "\(StoreFault.all.count) wrong stores and \(ConformanceCase.all.count) cases."
        #expect(try String(contentsOf: Self.file, encoding: .utf8).contains("\nThere are \(count)\n"), "\(count)")
        let changes = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appending(path: "../../CHANGELOG.md")
            .standardizedFileURL
        let changelog = try String(contentsOf: changes, encoding: .utf8)
        #expect(changelog.contains("The kill table has \(count)"), "\(count)")
    }

    @Test func largeCasesAreOfTheLastLevelAndTriedOnFaultsOfSizeAlone() throws {
        #expect(ConformanceCase.all.filter { $0.isLarge && $0.level != .full } == [])
        let large = try #require(ConformanceCase.named("sizes.refused-save-leaves-nothing"))
        #expect(large.isLarge)
        let faults = StoreFault.all.filter {
            ["saves-half", "large-saves-by-portions"].contains($0.id)
        }
        #expect(faults.map(\.isOfSize) == [false, true])
        // A store with the first fails the case too, and is not asked.
        #expect(KillTable.isCaught(faults[0], by: large))
        let table = KillTable(faults: faults, cases: [large])
        #expect(table.rows.map(\.caughtBy) == [[], [large.id]])
        #expect(table.falseAlarms == [])
    }

    /// Bugs: a context looked in a record of a superclass for a property that only the subclass has, and ended the process.
    @Test(arguments: ["families.deletion-at-every-level", "families.batch-deletion-of-the-middle"])
    func recordsOfAWrongClassEndNoProcess(_ id: String) throws {
        let table = KillTable(cases: [try #require(ConformanceCase.named(id))])
        #expect(table.falseAlarms == [])
        #expect(!table.unproved.contains(id))
    }

    @Test func everyCaseIsTriedByOneOfBoth() {
        let tried = Set(Self.casesOfOtherFaults.map(\.id)).union(Self.documented.faults.values)
        #expect(tried.isSuperset(of: ConformanceCase.all.map(\.id)))
        #expect(Self.casesOfOtherFaults.count < ConformanceCase.all.count)
    }

    @Test func theDocumentationNamesEveryFaultAndEveryCase() {
        #expect(Set(Self.documented.faults.keys) == Set(StoreFault.all.map(\.id)))
        #expect(Set(Self.documented.cases.keys) == Set(ConformanceCase.all.map(\.id)))
    }

    @Test(arguments: share(of: StoreFault.all, parts: 3)) func everyFaultIsCaughtAsDocumented(_ fault: StoreFault)
        throws
    {
        let id = try #require(Self.documented.faults[fault.id])
        let conformanceCase = try #require(ConformanceCase.named(id), "\(fault.id) is caught by \"\(id)\"")
        // A case of several threads meets the fault only in some of their interleavings.
        let tries = id.hasPrefix("concurrency.") ? 5 : 1
        #expect(
            (0..<tries).contains { _ in
                KillTable.isCaught(fault, by: conformanceCase, program: KillConformanceTests.program)
            },
            "a store that \(fault.summary)")
    }

    /// The cases that the documentation says to catch each fault, random ones left out.
    static let sharpCases = Dictionary(grouping: documentedPairs) { $0.fault }.mapValues { pairs in
        Set(pairs.map(\.conformanceCase).filter { !$0.hasPrefix("random.") })
    }

    /// A fault with one case alone passes as soon as that case is changed or excluded: give it a second case, and write both into
    /// the table.
    @Test func noFaultHangsOnOneCase() {
        let alone = StoreFault.all.filter { (Self.sharpCases[$0.id]?.count ?? 0) < 2 }
        #expect(alone == [])
    }

    /// So that the number above counts what is true: a fault is caught by each of the cases that the documentation names.
    @Test(arguments: share(of: StoreFault.all.filter { (sharpCases[$0.id]?.count ?? 0) == 2 }, parts: 6))
    func bothCasesCatchAsDocumented(_ fault: StoreFault) throws {
        for id in Self.sharpCases[fault.id] ?? [] where !id.hasPrefix("concurrency.") {
            let conformanceCase = try #require(ConformanceCase.named(id))
            #expect(
                KillTable.isCaught(fault, by: conformanceCase, program: KillConformanceTests.program),
                "\(id) on a store that \(fault.summary)")
        }
    }

    /// The cases whose fault is tried with another case by `everyFaultIsCaughtAsDocumented`: each pair is tried once.
    static let casesOfOtherFaults = ConformanceCase.all.filter { conformanceCase in
        guard let fault = documented.cases[conformanceCase.id] else { return true }
        return documented.faults[fault] != conformanceCase.id
    }

    @Test(arguments: share(of: casesOfOtherFaults, parts: 3)) func everyCaseFailsAsDocumented(
        _ conformanceCase: ConformanceCase
    ) throws {
        let id = try #require(Self.documented.cases[conformanceCase.id])
        let fault = try #require(StoreFault.all.first { $0.id == id }, "\(conformanceCase) fails on \"\(id)\"")
        #expect(
            KillTable.isCaught(fault, by: conformanceCase, program: KillConformanceTests.program),
            "\(conformanceCase.requirement)")
    }

    /// What is found by chance is told by a case small enough to read.
    @Test func randomFailuresAreShrunk() throws {
        let fault = try #require(StoreFault.all.first { $0.id == "less-or-equal-for-less" })
        let random = try #require(ConformanceCase.named("random.conditions"))
        let failure = #expect(throws: ConformanceFailure.self) { try fault.subject.check(random) }
        let text = try #require(failure).description
        let asked = try #require(text.split(separator: "\n").first { $0.contains("ask ") })
        let smallest = try #require(text.split(separator: "\n").first { $0.contains("smaller, and still wrong: ") })
        #expect(smallest.count < asked.count, "\(text)")
        // One comparison, without another condition around or beside it.
        #expect(!smallest.contains("&&") && !smallest.contains("||") && smallest.contains("<"), "\(text)")
    }

    @Test(.enabled(if: isFullSize, "the whole table is some ten minutes' work; MORTISE_TEST_SIZE=full"))
    func theWholeTableHoldsAndIsTheDocumentedOne() throws {
        let table = KillTable(program: KillConformanceTests.program)
        #expect(table.falseAlarms == [])
        #expect(table.uncaught.map(\.id) == [])
        #expect(table.unproved == [])
        let caught = Dictionary(uniqueKeysWithValues: table.rows.map { ($0.fault.id, Set($0.caughtBy)) })
        let untrue = Self.documentedPairs.filter { !(caught[$0.fault]?.contains($0.conformanceCase) ?? false) }
        #expect(Self.documentedPairs.count > StoreFault.all.count + ConformanceCase.all.count)
        // Which thread comes first decides some of what fails on stores with faults of concurrency.
        #expect(untrue.count <= Self.documentedPairs.count / 50, "\(untrue)")
    }
}
