import CustomStore
import Foundation
import MortiseConformance
import PackageSubjects
import Testing

/// The guide for authors of stores shows code that is compiled here, and output that is compared with what the kit says.
///
/// A block under `<!-- code: FILE -->` is a file of this folder or, with a path, of the package, one under `<!-- failure: SUBJECT CASE -->` what the kit
/// says of a case, and one under `<!-- counts: SUBJECT LEVEL -->` the last line of a report.
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
        var text: String
    }

    private static let here = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    private static let package = here.appending(path: "../../..").standardizedFileURL
    private static let guide = package.appending(
        path: "Sources/MortiseConformance/MortiseConformance.docc/WritingAStore.md")

    private static func blocks() throws -> [Block] {
        var blocks: [Block] = []
        var mark: [String]?
        var lines: [Substring]?
        for line in try String(contentsOf: Self.guide, encoding: .utf8).split(
            separator: "\n", omittingEmptySubsequences: false)
        {
            if line.hasPrefix("<!-- ") {
                mark = line.dropFirst(5).dropLast(4).split(separator: " ").map(String.init)
            } else if line.hasPrefix("```"), let open = lines {
                if let mark { blocks.append(Block(mark: mark, text: open.joined(separator: "\n"))) }
                (lines, mark) = (nil, nil)
            } else if line.hasPrefix("```") {
                lines = []
            } else {
                lines?.append(line)
            }
        }
        return blocks
    }

    /// Numbers of identifiers are other ones in every process.
    private static func withoutNumbers(_ text: String) -> String {
        text.replacing(#/[0-9]+/#, with: "#")
    }

    @Test func theGuideShowsWhatIsCompiledAndWhatTheKitSays() throws {
        let blocks = try Self.blocks()
        #expect(blocks.count >= 8)
        for block in blocks {
            switch block.mark.first {
            case "code:":
                let folder = block.mark[1].contains("/") ? Self.package : Self.here
                let file = try String(contentsOf: folder.appending(path: block.mark[1]), encoding: .utf8)
                #expect(file == block.text + "\n", "\(block.mark)")
            case "failure:":
                let subject = try #require(Self.subjects[block.mark[1]])
                let conformanceCase = try #require(ConformanceCase.named(block.mark[2]))
                let said = ConformanceRun(subject, only: [conformanceCase]).report().failures.first?.description ?? ""
                #expect(Self.withoutNumbers(said) == Self.withoutNumbers(block.text), "\(block.mark) says:\n\(said)")
            case "counts:":
                let subject = try #require(Self.subjects[block.mark[1]])
                let level = try #require(ConformanceCase.Level(name: block.mark[2]))
                let report = ConformanceRun(subject.startingProcesses(of: KillConformanceTests.program), level: level)
                    .report()
                #expect(report.countsLine == block.text, "\(block.mark) says:\n\(report.text)")
            default: Issue.record("there is no \(block.mark)")
            }
        }
    }

    /// The lines of files of the sample that are neither empty nor comments.
    private static func lines(_ paths: String...) throws -> Int {
        try paths.map { path in
            let file = package.appending(path: "Samples/CustomStore").appending(path: path)
            return try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
                .map { $0.trimmingCharacters(in: .whitespaces) }.count { !$0.isEmpty && !$0.hasPrefix("//") }
        }.reduce(0, +)
    }

    @Test func theSampleIsAsShortAsTheGuideSays() throws {
        let folder = Self.package.appending(path: "Samples/CustomStore")
        let files = try FileManager.default.subpathsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".swift") }
        #expect(
            Set(files) == [
                "Program/main.swift", "Store/CSV.swift", "Store/CSVStore.swift", "Store/CSVStore+Queries.swift",
            ])
        let whole = try Self.lines("Program/main.swift", "Store/CSV.swift", "Store/CSVStore.swift")
        let pushed = try Self.lines("Store/CSVStore+Queries.swift")
        #expect(whole < 150)
        #expect(pushed <= 50)
        let text = try String(contentsOf: Self.guide, encoding: .utf8)
        #expect(text.contains("a store in \(whole) lines"))
        #expect(text.contains("extension of \(pushed) lines"))
    }
}
