import Foundation
import Testing

/// Someone who does what "Getting started" says, word for word, has the package that it means.
@Suite struct FirstStepsTests {
    /// All steps in their order but the slow ones: the clone is an empty folder, and nothing is built.
    @Test func theStepsMakeThePackage() throws {
        let page = try Document.guide("GettingStarted")
        var script = ["set -e"]
        for block in page.blocks {
            if block.language == "sh" {
                for line in block.text.split(separator: "\n") {
                    let isClone = line == "git clone URL-OF-MORTISE Mortise"
                    script.append(isClone ? "mkdir Mortise" : line.hasPrefix("swift run") ? "pwd" : String(line))
                }
            } else if block.language == "swift" {
                let before = page.text.split(separator: "\n", omittingEmptySubsequences: false).prefix(block.line)
                let sentence = before.suffix(6).joined(separator: "\n")
                let file = try #require(sentence.firstMatch(of: #/`([\w/]+\.swift)`/#)?.1, "which file: \(sentence)")
                script += ["cat > \(file) <<'END-OF-FILE'", block.text + "END-OF-FILE"]
            }
        }
        let folder = SampleRun.temporaryFolder()
        defer { try? FileManager.default.removeItem(at: folder) }
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let (shell, pipe) = (Process(), Pipe())
        shell.executableURL = URL(fileURLWithPath: "/bin/sh")
        shell.arguments = ["-c", script.joined(separator: "\n")]
        shell.currentDirectoryURL = folder
        shell.standardOutput = pipe
        try shell.run()
        let output = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        shell.waitUntilExit()
        #expect(shell.terminationStatus == 0)
        // The main job runs in the clone, and the program in its own package.
        #expect(output.split(separator: "\n").map { $0.split(separator: "/").last } == ["Mortise", "Travels"])
        for (file, copy) in [
            ("Package.swift", "Manifest/Package.swift"), ("Sources/Travels/main.swift", "GettingStarted/main.swift"),
        ] {
            let made = try String(contentsOf: folder.appending(path: "Travels/\(file)"), encoding: .utf8)
            let compiled = Document.package.appending(path: "Tests/ReadmeTests/\(copy)")
            #expect(try made == String(contentsOf: compiled, encoding: .utf8))
        }
    }
}
