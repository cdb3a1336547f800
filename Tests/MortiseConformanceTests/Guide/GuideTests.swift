import CustomStore
import Foundation
import MortiseConformance
import PackageSubjects
import Testing

/// The guides for authors of stores show code that is compiled, and output that is compared with what the kit says.
///
/// A block under `<!-- code: FILE -->` is a file of this folder or, with a path, of the package; one under
/// `<!-- part: FILE -->` lines of it that follow each other, indented alike; one under `<!-- failure: SUBJECT CASE -->` what
/// the kit says of a case; and one under `<!-- counts: SUBJECT LEVEL -->` the last line of a report. Swift without a mark is a
/// failure: nobody would have compiled it.
@Suite struct GuideTests {
    private static let subjects: [String: ConformanceSubject] = [
        "FirstStore": ConformanceSubject("FirstStore") { SubjectStorage(open: { FirstConfiguration() }) },
        "SecondStore": ConformanceSubject("SecondStore") { SubjectStorage(open: { SecondConfiguration() }) },
        "PlainCSVStore": ConformanceSubject("CSV folder", folder: { PlainCSVConfiguration(folder: $0) }),
        "HastyCSVStore": ConformanceSubject("CSV folder", folder: { HastyCSVConfiguration(folder: $0) }),
        "CSVStore": PackageSubjects.csv,
    ]

    private struct Block {
        var mark: [String]
        var language: String
        var text: String
    }

    private static let here = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    private static let package = here.appending(path: "../../..").standardizedFileURL
    private static let documents = package.appending(path: "Sources/MortiseConformance/MortiseConformance.docc")
    private static let guide = documents.appending(path: "WritingAStore.md")
    private static let secondGuide = documents.appending(path: "WritingASQLStore.md")

    private static func blocks(of guide: URL) throws -> [Block] {
        var blocks: [Block] = []
        var mark: [String] = []
        var open: (language: String, lines: [Substring])?
        for line in try String(contentsOf: guide, encoding: .utf8).split(
            separator: "\n", omittingEmptySubsequences: false)
        {
            if line.hasPrefix("```"), let block = open {
                blocks.append(
                    Block(mark: mark, language: block.language, text: block.lines.joined(separator: "\n")))
                (open, mark) = (nil, [])
            } else if line.hasPrefix("```") {
                open = (String(line.dropFirst(3)), [])
            } else if open != nil {
                open?.lines.append(line)
            } else if line.hasPrefix("<!-- ") {
                mark = line.dropFirst(5).dropLast(4).split(separator: " ").map(String.init)
            }
        }
        return blocks
    }

    /// Whether a text's lines follow each other in a file, with the same indentation before each.
    private static func contains(_ file: String, _ text: String) -> Bool {
        let lines = file.split(separator: "\n", omittingEmptySubsequences: false)
        let part = text.split(separator: "\n", omittingEmptySubsequences: false)
        guard let first = part.first, lines.count >= part.count else { return false }
        return (0...lines.count - part.count).contains { start in
            guard lines[start].hasSuffix(first) else { return false }
            let indentation = lines[start].dropLast(first.count)
            return indentation.allSatisfy { $0 == " " }
                && zip(lines[start...], part).allSatisfy { $0 == ($1.isEmpty ? "" : indentation + $1) }
        }
    }

    /// A file that a mark names.
    private static func file(_ name: String) throws -> String {
        let folder = name.contains("/") ? package : here
        return try String(contentsOf: folder.appending(path: name), encoding: .utf8)
    }

    /// Numbers of identifiers are other ones in every process.
    private static func withoutNumbers(_ text: String) -> String {
        text.replacing(#/[0-9A-F]{8}-[0-9A-F-]{27}/#, with: "UUID").replacing(#/[0-9]+/#, with: "#")
    }

    @Test(arguments: ["WritingAStore.md", "WritingASQLStore.md"])
    func theGuideShowsWhatIsCompiledAndWhatTheKitSays(_ name: String) throws {
        let blocks = try Self.blocks(of: Self.documents.appending(path: name))
        #expect(blocks.count >= 8)
        for block in blocks {
            switch block.mark.first {
            case "code:": #expect(try Self.file(block.mark[1]) == block.text + "\n", "\(block.mark)")
            case "part:":
                #expect(
                    Self.contains(try Self.file(block.mark[1]), block.text),
                    "\(block.mark[1]) does not have these lines:\n\(block.text)")
            case "failure:":
                let subject = try #require(Self.subjects[block.mark[1]])
                let conformanceCase = try #require(ConformanceCase.named(block.mark[2]))
                let said = ConformanceRun(subject, only: [conformanceCase]).report().failures.first?.description ?? ""
                #expect(Self.withoutNumbers(said) == Self.withoutNumbers(block.text), "\(block.mark) says:\n\(said)")
            case "counts:":
                let subject = try #require(Self.subjects[block.mark[1]])
                let level = try #require(ConformanceCase.Level(name: block.mark[2]))
                if level == .full, !isFullSize {
                    // A whole run takes minutes.
                    let refused = ConformanceCase.all.count { $0.testsRefusal(by: subject) }
                    let passed = ConformanceCase.all.count - refused
                    #expect(
                        block.text == "\(passed) passed, \(refused) refused as declared, 0 failed, 0 skipped",
                        "\(block.mark)")
                    continue
                }
                let report = ConformanceRun(subject.startingProcesses(of: KillConformanceTests.program), level: level)
                    .report()
                let failures = report.failures.map(\.description).joined(separator: "\n")
                #expect(report.countsLine == block.text, "\(block.mark) says:\n\(failures)\n\(report.text)")
            case nil: #expect(block.language != "swift", "this is not known to compile:\n\(block.text)")
            default: Issue.record("there is no \(block.mark)")
            }
        }
    }

    /// The lines of files of the sample that are neither empty nor comments, nor name the trait that they are built with.
    private static func lines(_ paths: String...) throws -> Int {
        try paths.map { path in
            let file = package.appending(path: "Samples/CustomStore").appending(path: path)
            return try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
                .map { $0.trimmingCharacters(in: .whitespaces) }.count {
                    !$0.isEmpty && !$0.hasPrefix("//") && !$0.hasPrefix("#")
                }
        }.reduce(0, +)
    }

    @Test func theSampleIsAsShortAsTheGuideSays() throws {
        let folder = Self.package.appending(path: "Samples/CustomStore")
        let files = try FileManager.default.subpathsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".swift") }
        #expect(
            Set(files) == [
                "Program/main.swift", "Store/CSV.swift", "Store/CSVStore.swift", "Store/CSVStore+Queries.swift",
                "Store/CSVConfiguration+Migration.swift",
            ])
        let whole = try Self.lines("Program/main.swift", "Store/CSV.swift", "Store/CSVStore.swift")
        let pushed = try Self.lines("Store/CSVStore+Queries.swift")
        #expect(whole < 165)
        let migration = try Self.lines("Store/CSVConfiguration+Migration.swift")
        #expect(pushed <= 50)
        let text = try String(contentsOf: Self.guide, encoding: .utf8)
        #expect(text.contains("a store in \(whole) lines"))
        #expect(text.contains("extension of \(pushed) lines"))
        #expect(text.contains("is a file of \(migration) lines"))
    }

    @Test func theSampleOnSQLiteIsAsShortAsTheGuideSays() throws {
        let store = try Self.lines("../SQLiteStore/Store/Database.swift", "../SQLiteStore/Store/SQLiteStore.swift")
        let pushed = try Self.lines("../SQLiteStore/Store/SQL.swift")
        #expect(store < 300)
        let text = try String(contentsOf: Self.secondGuide, encoding: .utf8)
        #expect(text.contains("a store in \(store) lines"))
        #expect(text.contains("in \(pushed) more"))
    }

    /// The first cells of the rows of a guide's tables that begin with a text.
    private static func rows(of guide: URL, beginning prefix: String) throws -> [[String]] {
        try String(contentsOf: guide, encoding: .utf8).split(separator: "\n").filter { $0.hasPrefix("| `\(prefix)") }
            .map { row in row.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) } }
    }

    @Test func theGuideAndTheProgramNameTheSameOptions() throws {
        var help = ""
        _ = ConformanceProgram.main(
            subjects: [PackageSubjects.csv], arguments: ["--help"],
            stores: ["csv": { _ in PackageSubjects.csv }], output: { help += $0 })
        let offered = Set(help.matches(of: #/--[a-z-]+/#).map { String($0.output) })
        let told = try Self.rows(of: Self.guide, beginning: "--").map { row in
            String(row[0].prefix { $0 != " " }.filter { $0 != "`" })
        }
        #expect(Set(told) == offered)
        #expect(told.count == Set(told).count)
    }

    @Test func theGuideSaysWhichCasesTestEachCapability() throws {
        var told: [String: Set<String>] = [:]
        for row in try Self.rows(of: Self.secondGuide, beginning: "") where row.count == 4 {
            told[row[0].filter { $0 != "`" }] = Set(
                row[3].split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces).filter { $0 != "`" } })
        }
        for capability in StoreCapability.all + [.faultInjection] {
            let areas = Set(
                ConformanceCase.all.filter { $0.capability == capability }.map { String($0.id.prefix { $0 != "." }) })
            let text = areas.sorted().map { "`\($0)`" }.joined(separator: ", ")
            #expect(told["\(capability)"] == areas, "\(capability) is tested in \(text)")
        }
    }
}
