import CustomStore
import Foundation
import MortiseConformance
import PackageSubjects
import Testing

/// The guide for authors of stores shows code that is compiled here, and output that is compared with what the kit says.
///
/// A block under `<!-- code: FILE -->` is a file of this folder, one under `<!-- failure: SUBJECT CASE -->` what the kit
/// says of a case, and one under `<!-- counts: SUBJECT LEVEL -->` the last line of a report.
@Suite struct GuideTests {
    private static let subjects: [String: ConformanceSubject] = [
        "FirstStore": ConformanceSubject("FirstStore") { SubjectStorage(open: { FirstConfiguration() }) },
        "SecondStore": ConformanceSubject("SecondStore") { SubjectStorage(open: { SecondConfiguration() }) },
        "CSVStore": PackageSubjects.csv,
    ]

    private struct Block {
        var mark: [String]
        var text: String
    }

    private static let here = URL(fileURLWithPath: #filePath).deletingLastPathComponent()

    private static func blocks() throws -> [Block] {
        let guide = here.appending(
            path: "../../../Sources/MortiseConformance/MortiseConformance.docc/WritingAStore.md"
        ).standardizedFileURL
        var blocks: [Block] = []
        var mark: [String]?
        var lines: [Substring]?
        for line in try String(contentsOf: guide, encoding: .utf8).split(
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
                let file = try String(contentsOf: Self.here.appending(path: block.mark[1]), encoding: .utf8)
                #expect(file == block.text + "\n", "\(block.mark)")
            case "failure:":
                let subject = try #require(Self.subjects[block.mark[1]])
                let conformanceCase = try #require(ConformanceCase.named(block.mark[2]))
                let said = ConformanceRun(subject, only: [conformanceCase]).report().failures.first?.description ?? ""
                #expect(Self.withoutNumbers(said) == Self.withoutNumbers(block.text), "\(block.mark) says:\n\(said)")
            case "counts:":
                let subject = try #require(Self.subjects[block.mark[1]])
                let level = try #require(ConformanceCase.Level(name: block.mark[2]))
                #expect(
                    ConformanceRun(subject, level: level).report().countsLine == block.text, "\(block.mark)")
            default: Issue.record("there is no \(block.mark)")
            }
        }
    }
}
