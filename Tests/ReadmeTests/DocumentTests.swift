import Foundation
import Testing

/// README and the guides show code that is compiled and run. `Document` says what the marks above their blocks mean.
@Suite struct DocumentTests {
    /// The kit's own tests compare these with the kit's reports, and know more marks.
    private static let checkedElsewhere = ["code", "failure", "counts"]

    static let pages = ["README.md"] + ((try? Document.documented()) ?? [])

    @Test func theCatalogsHavePages() {
        #expect(Self.pages.count > 15)
    }

    @Test(arguments: pages) func everyBlockOfSwiftNamesTheFileInWhichItIsCompiled(_ path: String) throws {
        for block in try Document(path).blocks where block.language == "swift" {
            let kind = block.mark?.prefix { $0 != ":" }
            #expect(
                kind.map { ["sample", "part", "manifest"].contains($0) || Self.checkedElsewhere.contains(String($0)) }
                    ?? false, "\(path):\(block.line) has no mark")
        }
    }

    @Test(arguments: pages) func everySampleReadsAsItIsCompiled(_ path: String) throws {
        let page = try Document(path)
        for (file, block) in page.marked("sample") + page.marked("manifest") {
            let compiled = try String(contentsOf: Document.package.appending(path: file), encoding: .utf8)
            #expect(block.text == compiled, "\(path):\(block.line) and \(file) differ: make them equal")
        }
        // A name without a folder is one of the kit's own tests.
        for (file, block) in page.marked("part") where file.contains("/") {
            let compiled = try String(contentsOf: Document.package.appending(path: file), encoding: .utf8)
            #expect(
                Document.isPart(block.text, of: compiled), "\(file) does not have the lines of \(path):\(block.line)")
        }
        // That the text is the right one is for the test in the file to say.
        for (file, block) in page.marked("prints") {
            let test = try String(contentsOf: Document.package.appending(path: file), encoding: .utf8)
            #expect(test.contains(".shows("), "\(path):\(block.line) is compared with nothing in \(file)")
        }
    }

    @Test(arguments: pages) func everyProgramPrintsWhatIsPrintedBelowIt(_ path: String) throws {
        for (programs, block) in try Document(path).marked("output") {
            for program in programs.split(separator: " ") {
                let folder = SampleRun.temporaryFolder()
                defer { try? FileManager.default.removeItem(at: folder) }
                let run = try SampleRun(of: String(program), in: folder)
                #expect(run.status == 0, "\(program) in \(path)")
                #expect(run.output == block.text, "\(program) in \(path)")
            }
        }
    }

    /// Links to files of the package lead somewhere. Those to other pages of a catalog are for `Tests/run docs`.
    @Test(arguments: pages) func everyLinkToAFileLeadsThere(_ path: String) throws {
        let folder = Document.package.appending(path: path).deletingLastPathComponent()
        for match in try Document(path).text.matches(of: #/\]\(([^)\s]+)\)/#) {
            let target = match.1.prefix { $0 != "#" }
            if target.isEmpty || target.contains("://") || target.hasPrefix("doc:") { continue }
            let file = folder.appending(path: String(target)).path(percentEncoded: false)
            #expect(FileManager.default.fileExists(atPath: file), "\(path) leads to \(target), which does not exist")
        }
    }

    /// Every guide is in the order that its catalog's first page gives.
    @Test func everyGuideIsListed() throws {
        let guides = Self.pages.filter { $0.hasPrefix("Sources/Mortise/") && !$0.hasSuffix("/Mortise.md") }
        let list = try Document.guide("Mortise").text
        for guide in guides {
            let name = guide.split(separator: "/").last?.dropLast(3) ?? ""
            #expect(list.contains("- <doc:\(name)>"), "\(name) is not listed")
        }
    }

    /// What newcomers look for is on the page on which they look.
    @Test func everySearchFindsItsAnswer() throws {
        let page = try String(
            contentsOf: Document.package.appending(path: "Tests/Docs/searches.md"), encoding: .utf8)
        let rows = page.split(separator: "\n").filter { $0.hasPrefix("| ") }.dropFirst()
        #expect(rows.count == 20)
        for row in rows {
            let cells = row.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
            try #require(cells.count == 3, "\(row)")
            let words = cells[2].matches(of: #/`([^`]+)`/#).map(\.1)
            let answer = try Document.guide(cells[1]).text
            #expect(!words.isEmpty && words.allSatisfy { answer.contains($0) }, "\(cells[0]): \(words)")
        }
    }

    @Test func aBlockWithoutAMarkHasNoneAndAMarkHoldsForOneBlock() {
        let page = Document(markdown: "<!-- sample: a.swift -->\n```swift\nx\n```\n\n```swift\ny\n```\n")
        #expect(page.blocks.map(\.mark) == ["sample: a.swift", nil])
        #expect(page.blocks.map(\.text) == ["x\n", "y\n"])
    }

    @Test func aPartIsFoundByItsLinesAndTheirIndentation() {
        let file = "func f() {\n    a\n\n      b\n}\n"
        #expect(Document.isPart("a\n\n  b\n", of: file))
        #expect(!Document.isPart("a\n\nb\n", of: file))
        #expect(!Document.isPart("a\nb\n", of: file))
        #expect(!Document.isPart("", of: file))
    }
}
