import Foundation
import Testing

@Suite struct ReadmeTests {
    @Test func everyBlockOfSwiftNamesTheFileInWhichItIsCompiled() throws {
        let swift = try Readme().blocks.filter { $0.language == "swift" }
        #expect(!swift.isEmpty)
        for block in swift {
            #expect(block.mark?.hasPrefix("sample: ") == true, "README.md:\(block.line) has no mark")
        }
    }

    @Test func everySampleReadsAsItIsCompiled() throws {
        for (file, block) in try Readme().marked("sample") {
            let compiled = try String(contentsOf: Readme.package.appending(path: file), encoding: .utf8)
            #expect(block.text == compiled, "README.md:\(block.line) and \(file) differ: make them equal")
        }
    }

    @Test func everyProgramPrintsWhatIsPrintedBelowIt() throws {
        let outputs = try Readme().marked("output")
        #expect(outputs.map(\.name).sorted() == ["ReadmeCustomStore", "ReadmeQuickStart"])
        for (program, block) in outputs {
            let folder = SampleRun.temporaryFolder()
            defer { try? FileManager.default.removeItem(at: folder) }
            let run = try SampleRun(of: program, in: folder)
            #expect(run.status == 0)
            #expect(run.output == block.text)
        }
    }

    @Test func theFirstSampleKeepsItsModelsInTheFileThatItNames() throws {
        let folder = SampleRun.temporaryFolder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let run = try SampleRun(of: "ReadmeQuickStart", in: folder)
        #expect(run.files.contains("trips.json"))
    }

    @Test func theCommandsOfTheFirstScreenExist() throws {
        let commands = try #require(try Readme().blocks.first { $0.language == "sh" })
        #expect(commands.text.contains("swift run trips"))
        #expect(commands.text.contains("Tests/run"))
        let manifest = try String(contentsOf: Readme.package.appending(path: "Package.swift"), encoding: .utf8)
        #expect(manifest.contains("\"trips\""))
        let tests = Readme.package.appending(path: "Tests/run").path(percentEncoded: false)
        #expect(FileManager.default.isExecutableFile(atPath: tests))
    }

    @Test func aBlockWithoutAMarkHasNoneAndAMarkHoldsForOneBlock() {
        let readme = Readme(markdown: "<!-- sample: a.swift -->\n```swift\nx\n```\n\n```swift\ny\n```\n")
        #expect(readme.blocks.map(\.mark) == ["sample: a.swift", nil])
        #expect(readme.blocks.map(\.text) == ["x\n", "y\n"])
    }
}
