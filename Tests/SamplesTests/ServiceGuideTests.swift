import Foundation
import Testing

/// The guide "A service on Mortise" shows code of the sample Inventory.
///
/// A block under `<!-- part: FILE -->` has lines of that file that follow each other, indented alike. Swift without a mark is a
/// failure: nobody would have compiled it.
@Suite struct ServiceGuideTests {
    private static let package = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    private static let guide = package.appending(path: "Sources/Mortise/Mortise.docc/AServiceOnMortise.md")

    private struct Block {
        var file: String?
        var language: Substring
        var lines: [Substring] = []
    }

    private static func blocks(of text: String) -> [Block] {
        var blocks: [Block] = []
        var (file, isOpen): (String?, Bool) = (nil, false)
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            if line.hasPrefix("```") {
                if !isOpen { blocks.append(Block(file: file, language: line.dropFirst(3))) }
                (file, isOpen) = (nil, !isOpen)
            } else if isOpen {
                blocks[blocks.count - 1].lines.append(line)
            } else if let match = line.wholeMatch(of: /<!-- part: (\S+) -->/) {
                file = String(match.1)
            }
        }
        return blocks
    }

    private static func contains(_ file: [Substring], _ part: [Substring]) -> Bool {
        guard let first = part.first, !first.isEmpty, file.count >= part.count else { return false }
        return (0...file.count - part.count).contains { start in
            guard file[start].hasSuffix(first) else { return false }
            let indentation = file[start].dropLast(first.count)
            return indentation.allSatisfy { $0 == " " }
                && zip(file[start...], part).allSatisfy { $0 == ($1.isEmpty ? "" : indentation + $1) }
        }
    }

    @Test func theGuideShowsTheSample() throws {
        let blocks = Self.blocks(of: try String(contentsOf: Self.guide, encoding: .utf8))
        #expect(blocks.count { $0.file != nil } >= 10)
        for block in blocks {
            guard let name = block.file else {
                #expect(
                    block.language != "swift", "this is not known to compile:\n\(block.lines.joined(separator: "\n"))")
                continue
            }
            let file = try String(contentsOf: Self.package.appending(path: name), encoding: .utf8)
            #expect(
                Self.contains(file.split(separator: "\n", omittingEmptySubsequences: false), block.lines),
                "\(name) does not have these lines:\n\(block.lines.joined(separator: "\n"))")
        }
    }

    /// It says so.
    @Test func theSampleIsAsLongAsItsPageSays() throws {
        let folder = Self.package.appending(path: "Samples/Inventory")
        let files = try FileManager.default.subpathsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".swift") }
        var lines = 0
        for file in files {
            lines += try String(contentsOf: folder.appending(path: file), encoding: .utf8).split(separator: "\n")
                .count { !$0.trimmingCharacters(in: .whitespaces).hasPrefix("//") }
        }
        #expect((500...700).contains(lines), "\(lines)")
    }
}
